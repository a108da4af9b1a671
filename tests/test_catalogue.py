"""The catalogue of published breakages, scored by the tool that lies beside it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import yaml

from workbench.cli import main
from workbench.cli._report import finding_json
from workbench.inspection import Inspector
from workbench.wire.exchange import Body, Chunk, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession


def test_every_breakage_is_found_where_it_is(shared, tool, monkeypatch, capsys, stated):
    """The tool as it is, but that the command runs in this process: hundreds of them would take minutes."""

    def answers(command, provider, files):
        main(["check", "--format", "json", *(["--provider", provider] if provider else []), *map(str, files)])
        return {Path(file["path"]).name: file for file in json.loads(capsys.readouterr().out)["files"]}

    monkeypatch.setattr(tool, "run", answers)
    monkeypatch.setattr(sys, "argv", ["score", str(shared / "reference" / "breakages.yaml"), "--verbose"])
    status, said = tool.main(), capsys.readouterr().out
    assert status == 0, said
    stated(said.strip().splitlines()[-1])


TWO_HOPS = ("B059", "B088", "B089")
"""Entries that show what came in and what went on: one turn at two places, which the tool does not hand over."""

LOOK = [{"name": "get_weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]
ASKED = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1024,
    "stream": True,
    "tools": LOOK,
    "messages": [{"role": "user", "content": "How is the weather?"}],
}


@pytest.fixture(scope="session")
def tool(shared):
    """The score tool as a module: how entries name places and contracts."""
    spec = importlib.util.spec_from_file_location("score_breakages", shared / "tools" / "score_breakages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def entries(shared):
    """The catalogue, id → entry."""
    text = (shared / "reference" / "breakages.yaml").read_text(encoding="utf-8")
    return {entry["id"]: entry for entry in yaml.load(text, yaml.CSafeLoader)["entries"]}


def sighting(hop, url, asked, answer, status, cuts=()):
    """One exchange at one place; ``cuts`` are the borders of its network chunks."""
    request = HttpRequest(url=url, body=Body(json.dumps(asked, ensure_ascii=False).encode()))
    is_stream = isinstance(answer, str)
    body = answer.encode() if is_stream else json.dumps(answer).encode()
    chunks = tuple(Chunk(end, 0.1 * n) for n, end in enumerate((*cuts, len(body)))) if cuts else ()
    kind = "text/event-stream" if is_stream else "application/json"
    answered = HttpResponse(status, Headers((("content-type", kind),)), Body(body, chunks=chunks))
    return Exchange(hop, request, answered, hop=hop)


def two_hops(entry, url):
    """(before the gateway, behind it), and the index of the one that holds the fault."""
    evidence, status = entry["evidence"], entry["http_status"]
    if "forwarded" in evidence:
        refused = {"error": {"message": entry["symptom"]}}
        came = sighting("client", url, evidence["request"], refused, status)
        return (came, sighting("upstream", url, evidence["forwarded"], refused, status)), 1
    got = sighting("client", url, ASKED, evidence["sse"], status)
    return (got, sighting("upstream", url, ASKED, evidence["upstream_sse"], status, evidence["cuts"])), 0


@pytest.mark.parametrize("name", TWO_HOPS)
def test_breakages_between_two_places_are_found_where_they_are(name, entries, tool):
    entry = entries[name]
    expected = entry["expected"]
    session, broken = two_hops(entry, tool.URLS[entry["protocol"]])
    result = Inspector(MemorySession(name, session), provider=tool.contract(entry)).run()
    found = [finding_json(f) for f in result.findings]
    here = [f for f in found if f["rule"] == expected["rule"] and f["exchange"] == broken]
    text = entry["evidence"].get("sse", "")
    assert any(tool.at(f, place, text) for f in here for place in expected["location"]), found
    assert {f["severity"] for f in here} == {expected["severity"]}
    origins = {(f["origin"]["exchange"], f["origin"]["hop"]) for f in here}
    assert origins == {(broken, session[broken].hop)}
    allowed = {expected["rule"], *expected.get("also", ())}
    assert not [f for f in found if f["severity"] == "error" and f["rule"] not in allowed | {"gateway.altered-bytes"}]
