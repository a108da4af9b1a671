"""Laws of the Gemini adapter: places, edits, streams and known messages, over generated bodies and real ones."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols import gemini_bodies as bodies
from tests.protocols import laws
from tests.protocols.block_bodies import BODY_STYLE, JSON, dump
from tests.protocols.gemini_bodies import Json, answer, feed, frame
from tests.thinning import Thin
from workbench.errors import ProtocolMismatch, WireError
from workbench.formats.importers import open_input
from workbench.ir import ModelRequest, ModelResponse, Text
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.gemini import adapter
from workbench.protocols.known_messages import KnownMessages
from workbench.wire.encoding import decode_body
from workbench.wire.sse import read_events

NAME = "gemini"
FIXTURES = Path(__file__).resolve().parent.parent / "data" / "gemini"


@settings(max_examples=30)
@given(bodies.REQUEST | bodies.REQUEST.map(bodies.snaked) | bodies.WRONG_REQUEST, BODY_STYLE)
def test_laws_of_request_leaves(body: Json, style: Json) -> None:
    laws.check(dump(body, **style), REQUEST, NAME)


@settings(max_examples=30)
@given(st.lists(bodies.ANSWERED | bodies.WRONG, max_size=4), BODY_STYLE, st.booleans())
def test_laws_of_answer_leaves(parts: list[Any], style: Json, wrapped: bool) -> None:
    body = bodies.answer_body(parts)
    laws.check(dump({"response": body, "traceId": "t"} if wrapped else body, **style), RESPONSE, NAME)


PARTS = st.lists(bodies.ANSWERED.filter(lambda part: part.get("text") != ""), max_size=4)


def _is_plain(part: Json) -> bool:
    return part.keys() <= {"text", "thought"}


def _runs_together(parts: list[Json]) -> bool:
    """Two texts that a stream cannot keep apart."""
    return any(_is_plain(a) and _is_plain(b) and a.keys() == b.keys() for a, b in pairwise(parts))


STREAMED = PARTS.filter(lambda parts: not _runs_together(parts)).flatmap(
    lambda parts: st.tuples(st.just(parts), bodies.streamed(parts))
)


@settings(max_examples=30)
@given(STREAMED, st.integers(1, 40))
def test_a_stream_says_what_the_body_says(drawn: tuple[list[Json], list[Json]], size: int) -> None:
    parts, chunks = drawn
    data, whole = b"".join(map(frame, chunks)), answer(bodies.answer_body(parts))
    said = feed(data)
    assert feed(data, size=size) == said
    assert said.messages == whole.messages
    assert (said.stop, said.usage, said.id, said.model) == (whole.stop, whole.usage, whole.id, whole.model)
    assert said.is_complete
    assert {a.slug for a in said.anomalies} == {a.slug for a in whole.anomalies}


@settings(max_examples=30)
@given(STREAMED)
def test_laws_of_stream_leaves(drawn: tuple[list[Json], list[Json]]) -> None:
    laws.check(b"".join(map(frame, drawn[1])), RESPONSE, NAME)


@settings(max_examples=30)
@given(st.lists(bodies.WRONG, min_size=1, max_size=4), st.randoms(use_true_random=False), JSON)
def test_wrong_chunks_never_raise(parts: list[Any], chance: random.Random, wrong: Any) -> None:
    chunks = [bodies.answer_body([part], None) for part in parts]
    twisted = [c | {chance.choice(list(c)): wrong} if chance.random() < 0.4 else c for c in chunks]
    data = b"".join(map(frame, twisted))
    assert feed(data).protocol == NAME
    laws.check_places(data, RESPONSE, NAME)


PARTIAL = st.fixed_dictionaries(
    {"jsonPath": st.sampled_from(["$.a", "$.a.b", "$.l[0]", "$.l[1].x", "$['q r']", "$", "$.l[999999999]", "x", 3])},
    optional={"stringValue": bodies.TEXT | JSON, "numberValue": JSON, "nullValue": JSON, "willContinue": JSON},
)
CALLS = st.fixed_dictionaries(
    {},
    optional={"name": st.just("f"), "partialArgs": st.lists(PARTIAL | JSON) | JSON, "willContinue": JSON, "args": JSON},
)


@settings(max_examples=30)
@given(st.lists(CALLS, min_size=1, max_size=6))
def test_streamed_arguments_never_raise(calls: list[Json]) -> None:
    data = b"".join(frame(bodies.answer_body([{"functionCall": call}], None)) for call in calls)
    assert feed(data).protocol == NAME
    laws.check_places(data, RESPONSE, NAME)


@settings(max_examples=30)
@given(STREAMED)
def test_a_copy_goes_on_by_itself(drawn: tuple[list[Json], list[Json]]) -> None:
    events = read_events(b"".join(map(frame, drawn[1])))
    decoder = adapter.stream_decoder()
    for event in events:
        other, before = copy.deepcopy(decoder), decoder.result()
        other.feed(event)
        assert decoder.result() == before
        decoder.feed(event)
        assert other.result() == decoder.result()


@settings(max_examples=30)
@given(bodies.REQUEST | bodies.WRONG_REQUEST)
def test_known_contents_change_nothing(body: Json) -> None:
    known, data = KnownMessages(), dump(body)
    alone = adapter.decode_request(data)
    for _ in range(2):
        said = adapter.decode_request(data, known)
        assert said == alone
        assert [m.pointer for m in said.messages] == [m.pointer for m in alone.messages]


@settings(max_examples=30)
@given(bodies.REQUEST)
def test_both_spellings_say_the_same(body: Json) -> None:
    camel, snake = adapter.decode_request(dump(body)), adapter.decode_request(dump(bodies.snaked(body)))
    assert [m.role for m in camel.messages] == [m.role for m in snake.messages]
    for a, b in zip(
        (camel.system, *(m.parts for m in camel.messages)),
        (snake.system, *(m.parts for m in snake.messages)),
        strict=True,
    ):
        assert [type(part) for part in a] == [type(part) for part in b]
    assert (camel.thinking, camel.tool_choice, camel.model) == (snake.thinking, snake.tool_choice, snake.model)
    assert [p[1:] for p in adapter.params(camel) if p.name] == [p[1:] for p in adapter.params(snake) if p.name]


@settings(max_examples=30)
@given(st.binary(max_size=60) | JSON.map(dump))
def test_random_bytes_never_crash(data: bytes) -> None:
    for decode in (adapter.decode_request, adapter.decode_response):
        with contextlib.suppress(WireError, ProtocolMismatch):
            decode(data)
    assert feed(b"data: " + data.replace(b"\n", b"\ndata: ") + b"\n\n").protocol == NAME


# -- the fixtures: a real client against a scripted server


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda p: p.name)
def test_fixtures(path: Path) -> None:
    side = REQUEST if ".request" in path.name else RESPONSE
    subject = laws.Subject(path.read_bytes(), side, NAME)
    allowed = {"stream.error-event"} if path.name == "refused-stream-1.response.sse" else set()
    assert {a.slug for a in subject.said.anomalies} == allowed
    laws.check(subject.body, side, NAME)


@pytest.mark.parametrize("name", ["loop-whole", "loop-stream", "server-whole", "server-stream"])
def test_the_client_replays_what_the_answer_brought(name: str) -> None:
    """Equal parts: that is what closure and the ledger rest on."""
    brought = next(FIXTURES.glob(f"{name}-1.response.*")).read_bytes()
    said = feed(brought) if name.endswith("stream") else adapter.decode_response(brought)
    replayed = adapter.decode_request((FIXTURES / f"{name}-2.request.json").read_bytes()).messages[1]
    assert _joined(replayed.parts) == _joined(said.messages[0].parts)


def _joined(parts: tuple[Any, ...]) -> list[Any]:
    """Parts, neighbouring thoughts as one: the client keeps one for each chunk."""
    made: list[Any] = []
    for part in parts:
        extra = _camel(getattr(part, "extra", {}))
        shown = (
            type(part).__name__,
            {n: getattr(part, n) for n in ("id", "name", "input", "text") if hasattr(part, n)},
            extra,
        )
        if made and shown[0] == "Reasoning" == made[-1][0] and shown[1]["text"] and made[-1][1]["text"]:
            made[-1][1]["text"] += shown[1]["text"]
        else:
            made.append(shown)
    return made


def _camel(extra: Any) -> str:
    return json.dumps(extra, sort_keys=True, default=dict).replace("tool_type", "toolType")


# -- recordings

HEALTHY_FAULTS: dict[str, set[str]] = {}


def recorded(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    """(file, side, body) of everything of this protocol."""
    for path in sorted(
        p for p in folder.glob("*/google*/*") if "interactions" not in p.name and "gemini-cli" not in str(p)
    ):
        if path.name.endswith(".json"):
            continue
        session = open_input(str(path))
        for n in range(len(session)):
            exchange = session.exchange(n)
            if DecodedExchange(n, exchange).protocol != NAME:
                continue
            for side, http in ((REQUEST, exchange.request), (RESPONSE, exchange.response)):
                body = decode_body(http.body) if http else b""
                if body.strip():
                    yield path.name, side, body


def sample(found: Any) -> Any:
    """Some leaves of a large body: each edit reads it anew."""
    return [found[n] for n in range(0, len(found), max(len(found) // 12, 1))]


def test_recordings_keep_the_laws(recordings: Path, thin: Thin) -> None:
    seen = 0
    for name, side, body in thin(recorded(recordings), 3):
        said = laws.Subject(body, side, NAME).said
        assert not said.anomalies, (name, said.anomalies)
        laws.check(body, side, NAME, sample)
        seen += 1
    assert seen > 25


def check_against_sdk(said: ModelResponse, body: bytes) -> None:
    """Text and calls are what the official SDK's types make of the same chunks."""
    from google.genai import types

    read = types.GenerateContentResponse._from_response  # as the client does: unknown keys are ignored
    chunks = [read(response=json.loads(e.data), kwargs={}) for e in read_events(body) if e.data]
    parts = [p for c in chunks for p in (c.candidates[0].content.parts or []) if c.candidates]
    text = "".join(p.text for p in parts if p.text and not p.thought)
    assert "".join(p.text for p in said.messages[0].parts if isinstance(p, Text)) == text
    named = [p.function_call for p in parts if p.function_call and p.function_call.name]
    calls = [call for _, call in said.messages[0].tool_calls()]
    assert [(c.name, c.id) for c in calls] == [(c.name, c.id) for c in named]
    for call, theirs in zip(calls, named, strict=True):
        assert theirs.will_continue or call.input == (theirs.args or {})


def test_recorded_streams_add_up_as_in_the_official_sdk(recordings: Path) -> None:
    checked = 0
    for name, side, body in recorded(recordings):
        if side == RESPONSE and body.startswith(b"data:"):
            check_against_sdk(feed(body), body)
            checked += 1
        assert name
    assert checked >= 6


def test_a_request_is_what_decoding_gives() -> None:
    assert isinstance(adapter.decode_request(b'{"contents": []}'), ModelRequest)


# -- hostile depth

DEEP = 300


@pytest.mark.parametrize(
    "body",
    [
        b'{"contents":[{"parts":[{"functionCall":{"args":%s}}]}]}' % (b'{"a":' * DEEP + b"1" + b"}" * DEEP),
        b'{"contents":[{"parts":[{"functionResponse":{"response":%s}}]}]}' % (b'{"a":' * DEEP + b"1" + b"}" * DEEP),
        b'{"contents":[],"tools":[{"functionDeclarations":[{"parameters":%s}]}]}'
        % (b'{"items":' * DEEP + b"1" + b"}" * DEEP),
    ],
    ids=["args", "response", "schema"],
)
def test_deep_requests(body: bytes) -> None:
    said = adapter.decode_request(body)
    assert adapter.encode_request(said, body) == body


def test_a_copy_of_a_deep_stream() -> None:
    deep: Any = 1
    for _ in range(DEEP):
        deep = {"a": deep}
    decoder = adapter.stream_decoder()
    chunk = bodies.answer_body([{"functionCall": {"name": "f", "args": deep, "willContinue": True}}], None)
    path = "$" + ".a" * 200
    partial = bodies.answer_body([{"functionCall": {"partialArgs": [{"jsonPath": path, "numberValue": 1}]}}])
    for event in read_events(frame(chunk | {"more": deep}) + frame(partial)):
        decoder.feed(event)
        assert copy.deepcopy(decoder).result() == decoder.result()
