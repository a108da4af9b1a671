"""What the Responses adapter owes for every leaf, on fixtures, recordings and generated bodies."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.protocols import laws
from tests.protocols import response_bodies as bodies
from tests.protocols.laws import Subject
from tests.thinning import Thin
from workbench.formats.importers import open_input
from workbench.ir import Message, ModelResponse
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.openai_responses import adapter
from workbench.provenance import Leaf
from workbench.wire.sse import read_events

NAME = adapter.name
FOLDER = Path(__file__).resolve().parent.parent / "data" / "openai_responses"
WHOLE = sorted(FOLDER.glob("*.json"))
STREAMS = sorted(FOLDER.glob("*.sse"))
DERIVING = ("/execution", "/environment/type", "/status", "/type", "/role")
"""Leaves that say what kind of node it is: other values make other nodes."""


def chosen(found: Iterable[tuple[Message, Leaf]]) -> Iterator[tuple[Message, Leaf]]:
    """Leaves whose change changes nothing but a value."""
    for message, leaf in found:
        names_two = leaf.name == "id" and len(message.parts) > 1  # the call and its outcome in the same item
        makes_id = leaf.pointer.endswith("/call_id") and leaf.value in (None, "")
        if not (leaf.pointer.endswith(DERIVING) or names_two or makes_id):
            yield message, leaf


def check_stream(body: bytes) -> None:
    """Each leaf decodes from its place; changed, it is changed wherever the stream says it."""
    subject = laws.check_places(body, RESPONSE, NAME)
    for message, leaf in chosen(subject.leaves()):
        if laws.is_structure(leaf):
            continue
        new = laws.other(leaf.value)
        changed = subject.encode(subject.with_leaf(message, leaf, new), body)
        after = Subject(changed, RESPONSE, NAME)
        again = [found for found in after.leaves() if laws.alike(found[1], leaf)]
        assert not again or laws.same(again[0][1].value, new), leaf.pointer
        assert after.said.anomalies == subject.said.anomalies, leaf.pointer
        assert says_its_end(after.said, changed), leaf.pointer
        back = subject.encode(subject.said, changed)
        assert back == body or Subject(back, RESPONSE, NAME).said == subject.said, leaf.pointer


def says_its_end(said: ModelResponse, body: bytes) -> bool:
    """The items of a stream are those of its last event."""
    last = json.loads(read_events(body)[-1].data or b"{}").get("response", {})
    return adapter.decode_response(json.dumps(last).encode()).messages == said.messages if last else True


@pytest.mark.parametrize("path", WHOLE, ids=lambda p: p.name)
def test_fixtures(path: Path) -> None:
    body = path.read_bytes()
    if b'"error":{' not in body.replace(b" ", b""):
        laws.check(body, REQUEST if "request" in path.name else RESPONSE, NAME, chosen)


@pytest.mark.parametrize("path", STREAMS, ids=lambda p: p.name)
def test_streamed_fixtures(path: Path) -> None:
    check_stream(path.read_bytes())


@given(bodies.REQUEST)
@settings(max_examples=40)
def test_generated_requests(body: Any) -> None:
    laws.check(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"), REQUEST, NAME, chosen)


@given(bodies.RESPONSE)
@settings(max_examples=40)
def test_generated_answers(body: Any) -> None:
    laws.check(json.dumps(body).encode(), RESPONSE, NAME, chosen)


@given(bodies.STREAM)
@settings(max_examples=30)
def test_generated_streams(body: bytes) -> None:
    check_stream(body)


# -- recordings


def recorded(folder: Path) -> Iterator[tuple[str, DecodedExchange]]:
    for path in sorted(folder.glob("*/*/*")):
        if not path.is_file() or path.parts[-3] in ("pi-mono", "inspect_ai", "inspect_scout", "gemini-cli"):
            continue
        if not any(mark in path.read_bytes() for mark in (b"/responses", b"response.created")):
            continue
        session = open_input(str(path))
        for n in range(len(session)):
            decoded = DecodedExchange(n, session.exchange(n))
            if decoded.protocol == NAME:
                yield f"{path.name}#{n}", decoded
        session.close()


def test_recordings_obey_the_laws(recordings: Path, thin: Thin) -> None:
    seen = {"requests": 0, "answers": 0, "streams": 0}
    for name, decoded in thin(recorded(recordings), 2):
        assert not decoded.problems, name
        if decoded.request:
            laws.check(decoded.request_text, REQUEST, NAME, lambda found: every(7, chosen(found)))
            seen["requests"] += 1
        if decoded.response is None or decoded.response.error:
            continue
        if decoded.events:
            check_recorded_stream(decoded)
            seen["streams"] += 1
        else:
            laws.check(decoded.response_text, RESPONSE, NAME, lambda found: every(7, chosen(found)))
            seen["answers"] += 1
    assert min(seen.values()) >= 8, seen


def every(step: int, found: Iterable[Any]) -> Iterator[Any]:
    """Some of them: recordings are long and say the same often."""
    return (item for n, item in enumerate(found) if n % step == 0)


def check_recorded_stream(decoded: DecodedExchange) -> None:
    said = decoded.response
    assert said is not None
    laws.check_places(decoded.response_text, RESPONSE, NAME)
    last = json.loads(decoded.events[-1].data or b"{}")["response"]
    whole = adapter.decode_response(json.dumps(last).encode())
    if said.anomalies:
        assert [a.slug for a in said.anomalies] == ["stream.block-order"]  # four answers in one file
        assert said.messages == whole.messages
    else:
        assert said == whole


def test_what_is_copied_goes_on_alone() -> None:
    events = read_events((FOLDER / "loop-stream-1.response.sse").read_bytes())
    for cut in range(0, len(events), 9):
        decoder = adapter.stream_decoder()
        for event in events[:cut]:
            decoder.feed(event)
        before = decoder.result()
        other = copy.deepcopy(decoder)
        for event in events[cut:]:
            other.feed(event)
        assert decoder.result() == before
        assert other.result().is_complete and not other.result().anomalies
