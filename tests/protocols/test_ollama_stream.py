"""Streams of Ollama's own API: healthy ones, and every fault seen in public."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.protocols import laws
from tests.protocols import ollama_bodies as bodies
from tests.protocols.ollama_bodies import Json, call, dump, line, stream
from workbench.ir import Carrier, Message, ModelResponse, Part, Reasoning, Segment, Text, ToolCallIR, Usage
from workbench.protocols.decode import RESPONSE
from workbench.protocols.ollama import adapter
from workbench.wire.stream import Framing, read_stream

FIXTURES = Path(__file__).resolve().parent.parent / "data" / "ollama"
NAME = adapter.name


def feed(body: bytes) -> ModelResponse:
    decoder = adapter.stream_decoder()
    for event in read_stream(body, framing=Framing.NDJSON).events:
        decoder.feed(event)
    return decoder.result()


def play(*lines: Json | bytes) -> ModelResponse:
    return feed(stream(lines))


def made(name: str, value: Any, call_id: str | None = None, **more: Any) -> ToolCallIR:
    return ToolCallIR(call_id, name, value, "ollama", **more)


def thought(text: str) -> Reasoning:
    return Reasoning(Carrier.MESSAGE_THINKING, text)


SAID: list[tuple[str, list[Json], tuple[Part, ...]]] = [
    ("text", [line({"content": "a"}), line({"content": "é"}), line({"content": ""})], (Text("aé"),)),
    ("nothing", [line({"content": ""})], ()),
    (
        "thinking before text",
        [line({"content": "", "thinking": "r"}), line({"content": "", "thinking": "s"}), line({"content": "a"})],
        (thought("rs"), Text("a")),
    ),
    (
        "calls in one line",
        [line({"content": "", "tool_calls": [call("f", {"a": [1]}), call("f", {})]})],
        (made("f", {"a": [1]}), made("f", {})),
    ),
    (
        "calls at one index are two calls",
        [
            line({"tool_calls": [{"function": {"index": 0, "name": name, "arguments": {"a": name}}}]})
            for name in ("f", "g")
        ],
        tuple(made(name, {"a": name}, extra={"function": {"index": 0}}) for name in ("f", "g")),
    ),
    ("an id", [line({"tool_calls": [call("f", {}, id="c")]})], (made("f", {}, "c"),)),
    (
        "reasoning in the text",
        [line({"content": c}) for c in ("<th", "ink>", "r", "s</", "think>\n", "a")],
        (Reasoning(Carrier.THINK_TEXT, "rs"), Text("\na")),
    ),
    (
        "an answer to a prompt",
        [
            {"model": "m", "response": "a", "done": False},
            {"model": "m", "response": "b", "thinking": "t", "done": False},
        ],
        (thought("t"), Text("ab")),
    ),
]


@pytest.mark.parametrize(("lines", "parts"), [s[1:] for s in SAID], ids=[s[0] for s in SAID])
def test_what_a_stream_says(lines: list[Json], parts: tuple[Part, ...]) -> None:
    is_prompt = "response" in lines[0]
    last = {"model": "m", "response": "", "done": True, "done_reason": "stop"} if is_prompt else line()
    result = play(*lines, last)
    assert result.messages[0].parts == parts
    assert result.messages[0].role == "assistant"
    assert result.stop == ("tool_calls" if any(isinstance(p, ToolCallIR) for p in parts) else "stop")
    assert not result.anomalies and result.is_complete and result.is_stream
    laws.check(stream([*lines, last]), RESPONSE, NAME)


def test_what_stands_beside() -> None:
    result = play(line({"content": "a", "new": 1}), line(eval_count=2, prompt_eval_count=3, eval_duration=5))
    assert result.messages == (Message("assistant", (Text("a"),), {"new": 1}),)
    assert result.usage == Usage(3, 2, raw={"prompt_eval_count": 3, "eval_count": 2, "eval_duration": 5})
    assert (result.model, result.finish_reason, result.finish_events) == ("m", "stop", (1,))
    assert set(result.params) == {"created_at", "done"}


def test_sources() -> None:
    message = play(line({"content": "a"}), line({"content": "b", "tool_calls": [call("f", {"x": {"y": 1}})]})).messages[
        0
    ]
    text, made_call = message.parts
    assert text.source.segments == {"text": (Segment(0, "/message/content"), Segment(1, "/message/content"))}
    place = "/message/tool_calls/0/function"
    assert made_call.source.segments == {
        "name": (Segment(1, f"{place}/name"),),
        "input": (Segment(1, f"{place}/arguments"),),
    }
    assert made_call.source.events == (1,)
    assert message.absolute(made_call, "input") == f"{place}/arguments"


def test_an_edit_of_arguments_changes_their_line() -> None:
    body = stream([line({"content": "a"}), line({"tool_calls": [call("f", {"x": 1, "y": "é"})]}), line()])
    said = laws.decode(body, RESPONSE, NAME).response
    assert said
    message = said.messages[0]
    parts = (message.parts[0], replace(message.parts[1], input={"x": 2, "y": "é"}))
    edited = replace(said, messages=(replace(message, parts=parts),))
    assert adapter.encode_response(edited, body) == body.replace(b'"x": 1', b'"x": 2')


def test_one_line_that_is_a_stream_is_edited_as_one() -> None:
    body = stream([line({"content": "a"}, done=True, done_reason="stop")])
    said = feed(body)
    edited = replace(said, messages=(replace(said.messages[0], parts=(replace(said.messages[0].parts[0], text="b"),)),))
    assert adapter.encode_response(said, body) == body
    assert adapter.encode_response(edited, body) == body.replace(b'"a"', b'"b"')


FAULTS: list[tuple[str, list[Json | bytes], list[tuple[str, str, tuple[int, ...]]]]] = [
    ("no end", [line({"content": "a"})], [("stream.no-terminator", "", (0,))]),
    ("nothing at all", [], [("stream.no-terminator", "", (0,))]),
    ("an error ends it", [line({"content": "a"}), {"error": "no"}], [("stream.error-event", "/error", (1,))]),
    (
        "an error in its older form",
        [line({"content": "a"}), {"error parsing tool call": "no"}],
        [("stream.error-event", "/error parsing tool call", (1,))],
    ),
    ("a line after the end", [line(), line({"content": "a"})], [("stream.framing", "", (1,))]),
    ("no JSON", [b"data", line()], [("stream.framing", "", (0,))]),
    ("no object", [b"[1]", b"null", line()], [("stream.framing", "", (0,)), ("stream.framing", "", (1,))]),
    ("another object", [{"status": "pulling"}, line()], [("stream.framing", "", (0,))]),
    ("content that is a list", [line({"content": [1]}), line()], [("content.shape", "/message/content", (0,))]),
    ("no message", [{**line(), "message": "a", "done": False}, line()], [("content.shape", "/message", (0,))]),
    (
        "arguments as text",
        [line({"tool_calls": [call("f", "{}")]}), line()],
        [("args.not-object", "/message/tool_calls/0/function/arguments", (0,))],
    ),
    ("damaged text", [line({"content": "a\ufffd"}), line()], [("stream.encoding", "/message/content", (0,))]),
]


@pytest.mark.parametrize(("lines", "noted"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_faults_are_noted(lines: list[Json | bytes], noted: list[tuple[str, str, tuple[int, ...]]]) -> None:
    result = play(*lines)
    assert [(a.slug, a.pointer, a.events) for a in result.anomalies] == noted


def test_a_line_that_is_cut() -> None:
    body = stream([line({"content": "a"}), line()])
    result = feed(body[:-9])
    assert [(a.slug, a.events) for a in result.anomalies] == [("stream.truncated", (1,))]
    assert not result.is_complete and result.messages[0].parts == (Text("a"),)


def test_the_refused_fixture() -> None:
    result = feed((FIXTURES / "refused-stream-1.response.ndjson").read_bytes())
    assert result.error and result.error.message.startswith("error parsing tool call")
    assert [a.slug for a in result.anomalies] == ["stream.error-event"]
    assert result.messages[0].parts and not result.is_complete


def test_a_result_may_be_asked_for_at_any_time() -> None:
    decoder, texts = adapter.stream_decoder(), []
    assert decoder.result().messages == ()
    for event in read_stream(stream([line({"content": c}) for c in "abc"])).events:
        decoder.feed(event)
        texts.append(decoder.result().messages[0].parts)
    assert texts == [(Text("a"),), (Text("ab"),), (Text("abc"),)]


def test_a_copy_goes_on_by_itself() -> None:
    events = read_stream(stream([line({"content": "a"}), line({"tool_calls": [call("f", {})]}), line()])).events
    decoder = adapter.stream_decoder()
    decoder.feed(events[0])
    other = copy.deepcopy(decoder)
    for event in events[1:]:
        other.feed(event)
    assert decoder.result().messages[0].parts == (Text("a"),)
    assert other.result().messages[0].parts == (Text("a"), made("f", {}))
    assert other.result().is_complete


@given(bodies.STREAM)
@settings(max_examples=80)
def test_generated_streams_obey_the_laws(body: bytes) -> None:
    if read_stream(body).framing is Framing.NDJSON:
        laws.check(body, RESPONSE, NAME)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.ndjson")), ids=lambda p: p.name)
def test_fixtures_obey_the_laws(path: Path) -> None:
    laws.check(path.read_bytes(), RESPONSE, NAME)


def test_many_lines_take_their_time_and_no_more() -> None:
    result = feed(
        stream([*(line({"content": "<think>a</think>", "tool_calls": [call("f", {})]}) for _ in range(3_000)), line()])
    )
    assert result.is_complete and len(list(result.messages[0].tool_calls())) == 3_000


def test_lines_are_claimed() -> None:
    assert adapter.claims_event(None, line({"content": "a"})) > 0.9
    assert adapter.claims_event(None, {"error": "no"}) == 0
    assert dump(line()).startswith(b"{")
