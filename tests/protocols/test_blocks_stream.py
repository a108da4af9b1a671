"""Streams of blocks: what they add up to, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.protocols import block_bodies as bodies
from tests.protocols.block_bodies import BEGIN, OK, OPEN_CALL, OPEN_TEXT, Json, delta, finish, start, stop
from tests.protocols.said import play
from workbench.ir import (
    Carrier,
    Opaque,
    Reasoning,
    Segment,
    Text,
    ToolCallIR,
)
from workbench.protocols.anthropic_messages import adapter
from workbench.wire.sse import read_events


def test_a_stream_and_its_sources() -> None:
    said = play(
        BEGIN,
        OPEN_TEXT,
        delta(0, "text_delta", text="ab"),
        delta(0, "text_delta", text="c"),
        stop(0),
        *finish("end_turn"),
    )
    (text,) = said.messages[0].parts
    assert text == Text("abc")
    assert text.source.pointer == "/content/0"
    assert text.source.segments == {"text": (Segment(2, "/delta/text"), Segment(3, "/delta/text"))}
    assert text.source.events == (1, 2, 3, 4)
    assert (said.is_stream, said.is_complete, said.finish_events) == (True, True, (5,))
    assert said.usage and (said.usage.input, said.usage.output) == (3, 9)


def test_arguments_are_parsed_when_they_are_whole() -> None:
    pieces = [delta(0, "input_json_delta", partial_json=piece) for piece in ("", '{"a"', ": 1}")]
    (call,) = play(BEGIN, OPEN_CALL, *pieces, stop(0), *finish("tool_use")).messages[0].parts
    assert call == ToolCallIR("toolu_1", "f", {"a": 1}, "anthropic", raw='{"a": 1}')
    assert call.source.segments["id"] == (Segment(1, "/content_block/id"),)
    assert [s.event for s in call.source.segments["input"]] == [2, 3, 4]


@pytest.mark.parametrize("deltas", [(), (delta(0, "input_json_delta", partial_json=""),)])
def test_no_arguments_are_an_empty_object(deltas: tuple[Json, ...]) -> None:
    said = play(BEGIN, OPEN_CALL, *deltas, stop(0), *finish("tool_use"))
    assert said.messages[0].parts == (ToolCallIR("toolu_1", "f", {}, "anthropic"),)
    assert not said.anomalies


@pytest.mark.parametrize(("caller", "is_missed"), [({}, True), ({"caller": {"type": "code_execution"}}, False)])
def test_arguments_that_come_with_the_start_alone_are_missed_by_some_clients(caller: Json, is_missed: bool) -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}, **caller}
    begun = {"type": "content_block_start", "index": 0, "content_block": block}
    said = play(BEGIN, begun, stop(0), *finish("tool_use"))
    assert [(found.slug, found.events) for found in said.anomalies] == [("stream.client-misses", (1,))] * is_missed


def test_arguments_that_do_not_parse_are_kept() -> None:
    said = play(BEGIN, OPEN_CALL, delta(0, "input_json_delta", partial_json='{"a": '), stop(0), *finish("max_tokens"))
    (call,) = said.messages[0].parts
    assert isinstance(call, ToolCallIR)
    assert (call.input, call.raw) == (None, '{"a": ')
    assert call.error and "JSON" in call.error
    assert not said.anomalies


def test_citations_compaction_and_what_is_not_known() -> None:
    said = play(
        BEGIN,
        OPEN_TEXT,
        delta(0, "citations_delta", citation={"url": "u"}),
        delta(0, "text_delta", text="a"),
        delta(0, "shiny_delta", shine=1),
        stop(0),
        start(1, type="compaction", content=None),
        delta(1, "compaction_delta", content="so far"),
        stop(1),
        {"type": "weather", "sun": True},
        *finish("end_turn"),
    )
    text, compaction = said.messages[0].parts
    assert text == Text("a", {"citations": [{"url": "u"}], "unknown_deltas": [{"type": "shiny_delta", "shine": 1}]})
    assert compaction == Opaque("compaction", {"type": "compaction", "content": "so far"})
    assert said.params["unknown_events"] == [{"type": "weather", "sun": True}]
    assert not said.anomalies


def test_a_surrogate_pair_split_between_deltas() -> None:
    halves = b'"\\ud83d"', b'"\\ude00"'
    raw = [bodies.frame(delta(0, "text_delta", text="?")).replace(b'"?"', half) for half in halves]
    assert play(BEGIN, OPEN_TEXT, *raw, stop(0), *finish("end_turn")).messages[0].parts == (Text("😀"),)


def test_content_that_comes_with_the_start() -> None:
    begin = {"type": "message_start", "message": bodies.message_body([{"type": "text", "text": "a"}], None)}
    (text,) = play(begin, *finish("end_turn")).messages[0].parts
    assert text == Text("a")
    assert text.source.segments == {"text": (Segment(0, "/message/content/0/text"),)}


BARE = {**BEGIN, "message": {key: value for key, value in BEGIN["message"].items() if key != "content"}}

BROKEN: list[tuple[str, Sequence[Json | bytes], list[tuple[str, tuple[int, ...]]]]] = [
    ("healthy", OK, []),
    ("no terminator", OK[:-1], [("stream.no-terminator", (4,))]),
    ("cut inside a block", OK[:3], [("stream.truncated", (1, 2))]),
    ("cut inside an event", [*OK[:4], b'event: message_delta\ndata: {"type": "mess'], [("stream.truncated", (4,))]),
    ("block never stops", [*OK[:3], *OK[4:]], [("stream.block-order", (1, 2))]),
    ("stopped twice", [*OK[:4], stop(0), *OK[4:]], [("stream.block-order", (4,))]),
    ("started twice", [BEGIN, *OK], [("stream.block-order", (1,))]),
    ("a start without content", [BARE, *OK[1:]], [("stream.block-order", (0,))]),
    (
        "index used twice",
        [*OK[:4], OPEN_TEXT, delta(0, "text_delta", text="b"), stop(0), *OK[4:]],
        [("stream.block-order", (4, 5, 6))],
    ),
    (
        "blocks overlap",
        [*OK[:3], start(1, type="text", text="x"), stop(0), stop(1), *OK[4:]],
        [("stream.block-order", (3,))],
    ),
    ("delta after the stop", [*OK[:4], delta(0, "text_delta", text="b"), *OK[4:]], [("stream.block-order", (4,))]),
    ("delta without a block", [BEGIN, delta(3, "text_delta", text="b"), *OK[4:]], [("stream.block-order", (1,))]),
    (
        "delta of another type",
        [*OK[:2], delta(0, "thinking_delta", thinking="b"), *OK[2:]],
        [("stream.block-order", (2,))],
    ),
    (
        "delta without index",
        [*OK[:2], {"type": "content_block_delta", "delta": {"type": "text_delta", "text": ""}}, *OK[2:]],
        [("stream.index", (2,))],
    ),
    ("delta without text", [*OK[:2], delta(0, "text_delta", text=5), *OK[2:]], [("content.shape", (2,))]),
    (
        "a call without input",
        [BEGIN, start(0, type="tool_use", id="toolu_1", name="f"), stop(0), *finish("tool_use")],
        [("content.shape", (1,))],
    ),
    ("before the start", [*OK[1:4], BEGIN, *OK[4:]], [("stream.block-order", (3,))]),
    ("after the end", [*OK, start(1, type="text", text="x"), stop(1)], [("stream.framing", (6, 7))]),
    ("ping after the end", [*OK, {"type": "ping"}], []),
    ("done marker", [*OK, b"data: [DONE]\n\n"], [("stream.framing", (6,))]),
    ("no JSON", [*OK[:3], b"data: oops\n\n", *OK[3:]], [("stream.framing", (3,))]),
    ("data is a list", [*OK[:3], b"data: []\n\n", *OK[3:]], [("stream.framing", (3,))]),
    (
        "wrong name",
        [*OK[:3], bodies.frame(stop(0)).replace(b"event: content_block_stop", b"event: x"), *OK[4:]],
        [("stream.framing", (3,))],
    ),
    ("keep-alives", [b": ping\n\n", *OK[:2], b": ping\n\n", *OK[2:]], []),
    ("says it calls a tool", [*OK[:4], *finish("tool_use")], [("stream.finish-reason", (4,))]),
    (
        "error",
        [*OK[:3], {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}],
        [("stream.error-event", (3,))],
    ),
    ("foreign error", [*OK[:3], b'data: {"error": {"message": "m"}}\n\n'], [("stream.error-event", (3,))]),
    ("error in words", [*OK[:3], b"event: error\ndata: m\n\n"], [("stream.error-event", (3,))]),
    ("damaged", [*OK[:2], delta(0, "text_delta", text="東\ufffd\ufffd"), *OK[3:]], [("stream.encoding", (2,))]),
    (
        "damaged between deltas",
        [*OK[:2], *(delta(0, "text_delta", text=t) for t in ("a\ufffd", "\ufffdb")), *OK[3:]],
        [("stream.encoding", (2, 3))],
    ),
    ("not UTF-8", [*OK[:2], bodies.frame(OK[2]).replace(b'"a"', b'"\xe6\x9d"'), *OK[3:]], [("stream.encoding", (2,))]),
    ("one", [*OK[:2], delta(0, "text_delta", text="\ufffd"), *OK[3:]], [("stream.encoding", (2,))]),
    ("never begins", OK[1:], [("stream.block-order", (0,))]),
    ("no reason to stop", [*OK[:4], OK[-1]], [("stream.finish-reason", (4,))]),
    (
        "every prefix twice",
        [b"data: " + bodies.frame(e)[bodies.frame(e).index(b"data:") :] for e in OK],
        [("stream.framing", tuple(range(6)))],
    ),
]


@pytest.mark.parametrize(("events", "expected"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_broken_streams(events: Sequence[Json | bytes], expected: list[tuple[str, tuple[int, ...]]]) -> None:
    said = play(*events)
    assert [(a.slug, a.events) for a in said.anomalies] == expected
    assert said.is_complete is (OK[-1] in events)
    assert bool(said.error) is any(slug == "stream.error-event" for slug, _ in expected)
    assert not said.error or said.error.message == "m"


def test_events_without_names_are_listed() -> None:
    (anomaly,) = play(*(bodies.frame(e).partition(b"\n")[2] for e in OK)).anomalies
    assert (anomaly.slug, anomaly.events) == ("stream.framing", (0, 1, 2, 3, 4, 5))


def test_reasoning_is_never_mixed_into_text() -> None:
    said = play(
        BEGIN,
        OPEN_TEXT,
        delta(0, "text_delta", text="a"),
        delta(0, "thinking_delta", thinking="b"),
        stop(0),
        *finish("end_turn"),
    )
    assert said.messages[0].parts == (Text("a"), Reasoning(Carrier.THINKING, "b"))


def test_a_message_that_begins_again_sets_the_first_attempt_aside() -> None:
    first = (BEGIN, OPEN_CALL, delta(0, "input_json_delta", partial_json='{"a'))
    said = play(*first, *OK)
    assert said.messages[0].parts == (Text("a"),)
    (left,) = said.params["abandoned_messages"]
    assert left["content"] == [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": '{"a'}]
    (noticed,) = said.anomalies
    assert noticed.message.endswith("and the calls of the first attempt are lost: 'toolu_1' of 'f'")


def test_the_result_may_be_asked_for_at_any_time() -> None:
    decoder = adapter.stream_decoder()
    assert decoder.result().messages == ()
    texts = []
    for event in read_events(b"".join(map(bodies.frame, OK))):
        decoder.feed(event)
        texts.append([p.text for m in decoder.result().messages for p in m.parts if isinstance(p, Text)])
    assert texts == [[], [""], ["a"], ["a"], ["a"], ["a"]]
