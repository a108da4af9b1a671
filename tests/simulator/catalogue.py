"""The catalogue of published breakages, posted to simulators."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.breakages import Entry, entries
from tests.breakages.artefacts import before_answer
from workbench import contracts
from workbench.protocols.common.error_body import read_error
from workbench.simulator import SimulatedReply, Simulator
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import loads
from workbench.wire.session import MemorySession

PATHS = {
    "anthropic-messages": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/gemini-3-pro:generateContent",
    "ollama": "/api/chat",
}
_JSON = ("content-type", "application/json")


class Posted(NamedTuple):
    """What became of an entry: status and text of its request, status of the corrected one (None: it has none)."""

    entry: Entry
    status: int
    text: str
    body: str
    fixed: int | None
    fixed_text: str = ""

    @property
    def is_same(self) -> bool:
        texts = (self.text, self.body)  # some symptoms quote the body and not its message
        return self.status == self.entry["http_status"] and any(is_same_text(self.entry["symptom"], t) for t in texts)

    @property
    def is_fixed(self) -> bool:
        return self.fixed is None or 200 <= self.fixed < 300

    def line(self) -> str:
        said = f"{self.entry['id']} {self.entry['http_status']}→{self.status} {self.text[:150]!r}"
        return said if self.is_fixed else f"{said} · corrected: {self.fixed} {self.fixed_text[:150]!r}"


def refused_entries() -> list[Entry]:
    """The entries with a request that was refused with a status from 400 to 499."""
    return [e for e in entries() if 400 <= (e.get("http_status") or 0) < 500 and _body(e) is not None]


def label_of(entry: Entry) -> str:
    """The contract that an entry is posted to; the permissive one's terms where the catalogue names no tool."""
    return entry["contract"] or "generic"


def post(entry: Entry) -> Posted:
    """Post both requests of an entry to simulators of their own, without a socket."""
    label, body = label_of(entry), _body(entry)
    assert body is not None
    known = _known(entry)
    reply = Simulator(label, known=known).send("POST", target_of(entry), _headers(entry), body)
    posted = Posted(entry, reply.status, *texts_of(reply), None)
    if "fixed_request" not in entry:
        return posted
    fixed = json.dumps(entry["fixed_request"]).encode()
    mended = Simulator(label, known=known).send("POST", target_of(entry), (_JSON,), fixed)
    return posted._replace(fixed=mended.status, fixed_text=texts_of(mended)[0])


def target_of(entry: Entry) -> str:
    """The path of an entry, as its client asked for it."""
    url = entry["evidence"].get("url")
    return re.sub(r"^https?://[^/]+", "", url) if url else PATHS[entry["protocol"]]


def texts_of(reply: SimulatedReply) -> tuple[str, str]:
    """The innermost message of an error body, and the body."""
    body = reply.body().decode("utf-8", "replace")
    error = read_error(loads(body.encode())) if reply.status >= 400 else None
    return error.message if error else "", body


def is_same_text(owed: str, said: str) -> bool:
    """The texts are the same once ids, names and numbers are masked; an excerpt has to be in the whole."""
    wanted, found = _masked(owed), _masked(said)
    return bool(wanted) and (wanted in found or found in wanted)


_FRAMES = (r"^\d{3} ", r"^Error from provider \(\w+\): ")
_VARIABLE = re.compile(
    r"(?<=')[^']*(?=')|(?<=\")[^\"]*(?=\")|(?<=context=)\([^)]*\)"  # what is quoted by apostrophes or quotes
    r"|\b(?:toolu|call|fc|rs|msg|resp)_[\w.…]+|\b(?:rs|fc)_\.\.\.|…|\.\.\."
    r"|\b\w*\d[\w-]*\b|\b[NMKP]\b"
)


def _masked(text: str) -> str:
    for frame in _FRAMES:
        text = re.sub(frame, "", text)
    text = _VARIABLE.sub("·", text)
    text = re.sub(r"·(?:, ?·)+", "·", text)
    return re.sub(r"\s+", " ", text.lower()).strip(" .·")


def _body(entry: Entry) -> bytes | None:
    evidence = entry["evidence"]
    if "request_raw" in evidence:
        return evidence["request_raw"].encode("utf-8", "surrogatepass")
    asked = evidence.get("forwarded", evidence.get("request"))  # what a gateway made of it is what the provider saw
    return None if asked is None else json.dumps(asked).encode()


def _headers(entry: Entry) -> Iterator[tuple[str, str]]:
    yield _JSON
    for name, value in entry["evidence"].get("headers", {}).items():
        yield name, str(value)


def _known(entry: Entry) -> MemorySession | None:
    """The answer that the request replays, as what the provider said before."""
    answer = entry["evidence"].get("response")
    if answer is None:
        return None
    contract = contracts.get(label_of(entry))
    asked = HttpRequest(
        "POST",
        target_of(entry),
        Headers((_JSON,)),
        Body(json.dumps(before_answer(entry["evidence"]["request"])).encode()),
    )
    said = HttpResponse(200, Headers((_JSON,)), Body(json.dumps(answer).encode()))
    return MemorySession(contract.name, (Exchange("before", asked, said),))
