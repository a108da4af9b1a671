"""The catalogue of published breakages, posted: the status and the text that people saw, and 2xx once corrected."""

from __future__ import annotations

import http.client
import json

import pytest

from tests.simulator.catalogue import label_of, post, refused_entries, target_of
from workbench.simulator import Simulator

MISSES: dict[str, str] = {
    "B015": "the catalogue names no provider: the permissive twin refuses nothing",
    "B017": "the symptom is a paraphrase of the text that the provider answers",
    "B030": "the symptom is a paraphrase: it leaves out the underscore and the backticks",
    "B073": "the catalogue has the text of Converse, and the request is one of Messages",
    "B086": "the catalogue names no provider: the permissive twin refuses nothing",
    "B090": "the catalogue names no provider: the permissive twin refuses nothing",
}
"""Entry → why it is answered otherwise."""


@pytest.fixture(scope="module")
def entries():
    return refused_entries()


def test_every_breakage_is_refused_as_it_was(entries, stated):
    posted = [post(entry) for entry in entries]
    same = [p for p in posted if p.is_same]
    mended = [p for p in posted if p.is_fixed]
    score = f"{len(same)} of {len(posted)} with status and text, {len(mended)} of {len(posted)} corrected ones accepted"
    stated(f"breakages, posted to simulators: {score}")
    assert [p.line() for p in posted if not p.is_fixed] == []
    assert [p.line() for p in posted if not p.is_same and p.entry["id"] not in MISSES] == []
    assert [p.entry["id"] for p in same if p.entry["id"] in MISSES] == [], "no longer missed: take them off the list"


@pytest.mark.parametrize("name", ["B001", "B003", "B019", "B066", "B071"])
def test_over_http_it_is_the_same(entries, served, name):
    entry = next(e for e in entries if e["id"] == name)
    server = served(Simulator(label_of(entry)))
    client = http.client.HTTPConnection("127.0.0.1", server.port)
    in_process = post(entry)
    for key, status in (("request", in_process.status), ("fixed_request", in_process.fixed)):
        body = json.dumps(entry["evidence"][key] if key == "request" else entry[key])
        client.request("POST", target_of(entry), body, {"content-type": "application/json"})
        answer = client.getresponse()
        said = answer.read().decode()
        assert answer.status == status
        assert key != "request" or in_process.text[:60] in json.loads(said)["error"]["message"]
    client.close()
