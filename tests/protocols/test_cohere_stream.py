"""Streams of Cohere's second API: healthy ones, and what goes wrong in them."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols import cohere_bodies as bodies
from tests.protocols import laws
from tests.protocols.cohere_bodies import START, Json, call, end, event, stream, text
from workbench.ir import Carrier, Message, ModelResponse, Part, Reasoning, Segment, Text, ToolCallIR, Usage
from workbench.protocols.cohere_v2 import adapter
from workbench.protocols.decode import RESPONSE
from workbench.wire.sse import SseReader, read_events

FIXTURES = Path(__file__).resolve().parent.parent / "data" / "cohere"
NAME = adapter.name


def feed(data: bytes, cuts: list[int] | None = None) -> ModelResponse:
    decoder, reader, at = adapter.stream_decoder(), SseReader(), 0
    for cut in sorted(cuts or []):
        for found in reader.feed(data[at:cut]):
            decoder.feed(found)
        at = cut
    for found in (*reader.feed(data[at:]), *reader.close()):
        decoder.feed(found)
    return decoder.result()


def play(*events: Json | bytes) -> ModelResponse:
    return feed(stream(events))


def plan(*pieces: str) -> list[Json]:
    return [event("tool-plan-delta", {"tool_plan": piece}) for piece in pieces]


def made(call_id: str, name: str, value: object, raw: str, error: str | None = None) -> ToolCallIR:
    return ToolCallIR(call_id, name, value, "openai", raw, error=error)


SAID: list[tuple[str, list[Json], tuple[Part, ...]]] = [
    ("text", text("a", "é"), (Text("aé"),)),
    ("nothing", [], ()),
    ("empty text", text(), (Text(""),)),
    (
        "thinking before text",
        [*text("r", "s", kind="thinking"), *text("a", index=1)],
        (Reasoning(Carrier.THINKING_CHUNK, "rs"), Text("a")),
    ),
    (
        "a plan and two calls",
        [*plan("I ", "will"), *call("c", "f", '{"a"', ":1}"), *call("d", "g", "{}", index=1)],
        (
            Reasoning(Carrier.TOOL_PLAN, "I will"),
            made("c", "f", {"a": 1}, '{"a":1}'),
            made("d", "g", {}, "{}"),
        ),
    ),
    ("no arguments", call("c", "f"), (made("c", "f", None, "", "the argument text is empty"),)),
    ("an index that is used again", [*text("a"), *text("b")], (Text("a"), Text("b"))),
    (
        "reasoning in the text",
        text("<th", "ink>r", "</think>", "a"),
        (Reasoning(Carrier.THINK_TEXT, "r"), Text("a")),
    ),
]


@pytest.mark.parametrize(("events", "parts"), [s[1:] for s in SAID], ids=[s[0] for s in SAID])
def test_what_a_stream_says(events: list[Json], parts: tuple[Part, ...]) -> None:
    last = end("TOOL_CALL" if any(isinstance(p, ToolCallIR) for p in parts) else "COMPLETE")
    result = play(START, *events, last)
    assert result.messages == (Message("assistant", parts),)
    assert not result.anomalies and result.is_complete and result.is_stream
    assert (result.id, result.finish_events) == ("m1", (len(events) + 1,))
    laws.check(stream([START, *events, last]), RESPONSE, NAME)


def test_what_stands_beside() -> None:
    citation = {"start": 0, "end": 1, "text": "a", "sources": []}
    usage = {"tokens": {"input_tokens": 3, "output_tokens": 2}}
    debug = {"type": "debug", "prompt": "p"}
    result = play(
        debug, START, *text("a"), event("citation-start", {"citations": citation}, 0), event("citation-end", index=0),
        end(usage=usage, new=1), b"[DONE]",
    )  # fmt: skip
    assert result.messages == (Message("assistant", (Text("a"),), {"citations": [citation]}),)
    assert result.usage == Usage(3, 2, raw=usage)
    assert result.params == {"new": 1, "unknown_events": [debug]}
    assert result.stop == "stop" and not result.anomalies


def test_sources() -> None:
    message = play(START, *plan("p"), *text("a", "b"), *call("c", "f", "{", "}"), end("TOOL_CALL")).messages[0]
    thought, said, wish = message.parts
    assert thought.source.segments == {"text": (Segment(1, "/delta/message/tool_plan"),)}
    place = "/delta/message/content/text"
    assert said.source.segments == {"text": tuple(Segment(n, place) for n in (2, 3, 4))}
    place = "/delta/message/tool_calls"
    arguments = tuple(Segment(n, f"{place}/function/arguments") for n in (6, 7, 8))
    assert wish.source.segments == {
        "id": (Segment(6, f"{place}/id"),),
        "name": (Segment(6, f"{place}/function/name"),),
        "input": arguments,
        "raw": arguments,
    }
    assert wish.source.events == (6, 7, 8, 9)


def test_lists_in_deltas_are_read() -> None:
    start = event("tool-call-start", {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}, 0)
    events = [START, start, event("tool-call-end", index=0), end("TOOL_CALL")]
    assert play(*events).messages[0].parts == (made("c", "f", {}, "{}"),)
    laws.check(stream(events), RESPONSE, NAME)


def test_deltas_without_a_start() -> None:
    """Gateways leave the starts out: what is thought and what is said is not mixed up."""
    deltas = [event("content-delta", {"content": {key: key[0]}}, 0) for key in ("thinking", "text")]
    result = play(START, *deltas, end())
    assert result.messages[0].parts == (Reasoning(Carrier.THINKING_CHUNK, "t"), Text("t"))
    assert [(a.slug, a.events) for a in result.anomalies] == [
        ("stream.block-order", (1,)),
        ("stream.block-order", (2,)),
    ]


GROWN, ENDED = call("c", "f", '{"a'), event("tool-call-end", index=0)
FAULTS: list[tuple[str, list[Json | bytes], list[tuple[str, str, tuple[int, ...]]]]] = [
    ("no end", [START, *text("a")], [("stream.no-terminator", "", (3,))]),
    (
        "an end inside arguments",
        [START, *GROWN[:-1]],
        [("stream.truncated", "/message/tool_calls/0/function/arguments", (2,))],
    ),
    ("an error at the end", [START, end("ERROR", error="no")], [("stream.error-event", "/delta/error", (1,))]),
    ("an error in between", [START, {"message": "no"}], [("stream.error-event", "/message", (1,))]),
    ("events after the end", [START, end(), *text("a")[:1]], [("stream.framing", "", (2,))]),
    ("a second start", [START, START, end()], [("stream.block-order", "/message", (1,))]),
    ("no JSON", [START, b"{", end()], [("stream.framing", "", (1,))]),
    ("no object", [START, b"[1]", end()], [("stream.framing", "", (1,))]),
    ("no type", [START, {"x": 1}, end()], [("stream.framing", "", (1,))]),
    ("an end of nothing", [START, ENDED, end()], [("stream.block-order", "/message/tool_calls", (1,))]),
    (
        "a delta of no call",
        [START, event("tool-call-delta", {"tool_calls": {"function": {"arguments": "{}"}}}, 0), end("TOOL_CALL")],
        [("stream.index", "/message/tool_calls/0", (1,))],
    ),
    (
        "two calls at one index",
        [START, *call("c", "f", "{}")[:-1], *call("d", "g", "{}"), end("TOOL_CALL")],
        [("stream.index", "/message/tool_calls/1", (3,))],
    ),
    (
        "no message",
        [START, {"type": "content-delta", "index": 0}, end()],
        [("content.shape", "/message", (1,)), ("content.shape", "/message/content", (1,))],
    ),
    (
        "a reason against calls",
        [START, *call("c", "f", "{}"), end()],
        [("stream.finish-reason", "/finish_reason", (4,))],
    ),
    ("damaged text", [START, *text("a\ufffd"), end()], [("stream.encoding", "/message/content/0/text", (2,))]),
]


@pytest.mark.parametrize(("events", "noted"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_faults_are_noted(events: list[Json | bytes], noted: list[tuple[str, str, tuple[int, ...]]]) -> None:
    result = play(*events)
    assert [(a.slug, a.pointer, a.events) for a in result.anomalies] == noted


def test_a_failed_answer() -> None:
    result = feed((FIXTURES / "loop-stream-3.response.sse").read_bytes())
    assert result.error and result.error.message == "internal: «out of memory»"
    assert (result.finish_reason, result.stop, result.is_complete) == ("ERROR", "other", True)
    assert result.messages[0].parts == (Text("Not at"),)


def test_a_block_that_is_cut() -> None:
    result = feed(stream([START, *text("a"), end()])[:-20])
    assert [a.slug for a in result.anomalies] == ["stream.truncated"]
    assert not result.is_complete


def test_a_copy_goes_on_by_itself() -> None:
    decoder, events = (
        adapter.stream_decoder(),
        read_events(stream([START, *call("c", "f", "{", "}"), end("TOOL_CALL")])),
    )
    for found in events[:3]:
        decoder.feed(found)
    other = copy.deepcopy(decoder)
    for found in events[3:]:
        other.feed(found)
    assert other.result().messages[0].parts == (made("c", "f", {}, "{}"),)
    assert not other.result().anomalies
    (part,) = decoder.result().messages[0].parts
    assert isinstance(part, ToolCallIR) and part.raw == "{"


@given(bodies.STREAM, st.lists(st.integers(0, 1_000), max_size=8))
@settings(max_examples=80)
def test_any_chunking_gives_the_same(body: bytes, cuts: list[int]) -> None:
    assert feed(body, cuts) == feed(body)


@given(bodies.STREAM)
@settings(max_examples=80)
def test_generated_streams_obey_the_laws(body: bytes) -> None:
    if body:
        subject = laws.check_places(body, RESPONSE, NAME)
        if not any(a.slug == "stream.name" for a in subject.said.anomalies):  # a repeated name, edited, is another one
            laws.check(body, RESPONSE, NAME)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.sse")), ids=lambda p: p.name)
def test_fixtures_obey_the_laws(path: Path) -> None:
    laws.check(path.read_bytes(), RESPONSE, NAME)


def test_many_events_take_their_time_and_no_more() -> None:
    many = [found for n in range(1_000) for found in call(f"c{n}", "f", "{}")]
    result = play(START, *many, end("TOOL_CALL"))
    assert result.is_complete and len(list(result.messages[0].tool_calls())) == 1_000


def test_events_are_claimed() -> None:
    for found in (START, *text("a"), *call("c", "f"), end()):
        assert adapter.claims_event(found["type"], found) > adapter.claims_event(None, found) > 0.9
    assert adapter.claims_event(None, {"type": "content-delta"}) == 0
