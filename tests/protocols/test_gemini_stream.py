"""Streams of the Gemini adapter: what they add up to, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.protocols.gemini_bodies import Json, answer_body, feed, frame, play
from workbench.ir import Carrier, Reasoning, Text, ToolCallIR
from workbench.protocols.gemini import adapter
from workbench.wire.sse import read_events

PROOF = Carrier.THOUGHT_SIGNATURE
END = answer_body([{"text": ""}])


def chunk(*parts: Any) -> Json:
    return answer_body(list(parts), None)


def call(**fields: Any) -> Json:
    return chunk({"functionCall": fields})


def piece(path: str, more: bool = False, **value: Any) -> Json:
    entry = {"jsonPath": path, **value} | ({"willContinue": True} if more else {})
    return call(partialArgs=[entry], willContinue=True)


def said(*chunks: Json) -> tuple[Any, ...]:
    return play(*chunks).messages[0].parts


SIGNED = {"text": "b", "thoughtSignature": "s"}


@pytest.mark.parametrize(
    ("chunks", "parts"),
    [
        pytest.param([chunk({"text": "a"}), chunk({"text": "b"}), END], (Text("ab"),), id="texts-run-together"),
        pytest.param([chunk({"text": "a"}, {"text": "b"}), END], (Text("a"), Text("b")), id="two-parts-in-one-chunk"),
        pytest.param(
            [chunk({"text": "a", "thought": True}), chunk({"text": "b", "thought": True}), chunk({"text": "c"}), END],
            (Reasoning(PROOF, "ab"), Text("c")),
            id="thoughts-and-text-stay-apart",
        ),
        pytest.param(
            [chunk({"text": "a"}), chunk(SIGNED), chunk({"text": "c"}), END],
            (Text("a"), Reasoning(PROOF, None, "s"), Text("b"), Text("c")),
            id="a-signed-text-is-a-part-of-its-own",
        ),
        pytest.param(
            [chunk({"text": "a"}), answer_body([{"text": "", "thoughtSignature": "s"}])],
            (Text("a"), Reasoning(PROOF, "", "s")),
            id="a-signature-at-the-end",
        ),
        pytest.param(
            [chunk({"functionCall": {"name": "f", "args": {"a": 1}}}), call(name="g"), END],
            (ToolCallIR(None, "f", {"a": 1}, "gemini"), ToolCallIR(None, "g", {}, "gemini")),
            id="calls-come-whole",
        ),
        pytest.param([chunk({"text": "a"}), END, END], (Text("a"),), id="an-empty-text-says-nothing"),
    ],
)
def test_parts(chunks: list[Json], parts: Any) -> None:
    assert said(*chunks) == parts
    assert not play(*chunks).anomalies


@pytest.mark.parametrize(
    ("pieces", "args"),
    [
        pytest.param([piece("$.a", stringValue="x")], {"a": "x"}, id="one"),
        pytest.param(
            [piece("$.a", True, stringValue="x"), piece("$.a", True, stringValue="y"), piece("$.a", stringValue="")],
            {"a": "xy"},
            id="continued",
        ),
        pytest.param([piece("$.a", stringValue="x"), piece("$.a", stringValue="y")], {"a": "y"}, id="said-anew"),
        pytest.param(
            [
                piece("$.l[0].a", numberValue=0.5),
                piece("$.l[1].a", boolValue=False),
                piece("$.n", nullValue="NULL_VALUE"),
            ],
            {"l": [{"a": 0.5}, {"a": False}], "n": None},
            id="values",
        ),
        pytest.param([piece("$['a.b']['c\\'d'][\"e\"]", stringValue="x")], {"a.b": {"c'd": {"e": "x"}}}, id="quoted"),
        pytest.param([piece("$.é.日", stringValue="x")], {"é": {"日": "x"}}, id="not-ascii"),
        pytest.param([call(willContinue=True), piece("$.a", stringValue="x")], {"a": "x"}, id="empty-chunk"),
    ],
)
def test_streamed_arguments(pieces: list[Json], args: Any) -> None:
    opened = chunk({"functionCall": {"name": "f", "id": "c", "willContinue": True}, "thoughtSignature": "s"})
    found = play(opened, *pieces, call(), END)
    assert found.messages[0].parts == (Reasoning(PROOF, None, "s"), ToolCallIR("c", "f", args, "gemini"))
    assert (found.stop, found.anomalies) == ("tool_calls", ())
    part = found.messages[0].parts[1]
    assert part.source.fields == {"id": "/functionCall/id", "name": "/functionCall/name"}
    assert part.source.events == tuple(range(len(pieces) + 2))


@pytest.mark.parametrize(
    "path", ["", "a", "$", "$.l[1]", "$.l[999999999]", "$.s.x", "$..a", "$[*]", "$." + "a." * 900 + "b"]
)
def test_pieces_without_a_place_are_kept(path: str) -> None:
    found = play(call(name="f", willContinue=True), piece("$.s", stringValue="x"), piece(path, stringValue="y"), END)
    part = found.messages[0].parts[0]
    assert isinstance(part, ToolCallIR)
    assert part.input["s"] == "x"
    assert part.extra == {"functionCall": {"partialArgs": [{"jsonPath": path, "stringValue": "y"}]}}


def test_two_streamed_calls() -> None:
    found = play(
        call(name="f", willContinue=True), piece("$.a", numberValue=1), call(),
        call(name="g", willContinue=True), call(partialArgs=[{"jsonPath": "$.b", "numberValue": 2}]), END,
    )  # fmt: skip
    assert found.messages[0].parts == (
        ToolCallIR(None, "f", {"a": 1}, "gemini"),
        ToolCallIR(None, "g", {"b": 2}, "gemini"),
    )
    assert not found.anomalies


def slugs(*chunks: Json | bytes) -> list[tuple[str, tuple[int, ...]]]:
    return [(a.slug, a.events) for a in play(*chunks).anomalies]


@pytest.mark.parametrize(
    ("chunks", "found"),
    [
        pytest.param([chunk({"text": "a"})], [("stream.no-terminator", (0,))], id="no-reason"),
        pytest.param([frame(chunk({"text": "a"}))[:-30]], [("stream.truncated", (0,))], id="cut-inside-a-chunk"),
        pytest.param(
            [call(name="f", willContinue=True), piece("$.a", True, stringValue="x")],
            [("stream.truncated", (0, 1)), ("stream.no-terminator", (1,))],
            id="cut-inside-a-call",
        ),
        pytest.param([call(name="f", willContinue=True), END], [("stream.block-order", (0, 1))], id="call-never-ends"),
        pytest.param(
            [call(name="f", willContinue=True), call(), piece("$.a", stringValue="x"), call(), END],
            [("stream.block-order", (2,))],
            id="arguments-after-the-end",
        ),
        pytest.param([END, b"data: [DONE]\n\n"], [("stream.framing", (1,))], id="a-foreign-end"),
        pytest.param([b"data: x\n\n", END], [("stream.framing", (0,))], id="no-json"),
        pytest.param([b"data: 3\n\n", END], [("stream.framing", (0,))], id="no-object"),
        pytest.param([{"a": 1}, END], [("stream.framing", (0,))], id="no-chunk"),
        pytest.param(
            [chunk({"text": "a"}), {"error": {"code": 503, "message": "m"}}], [("stream.error-event", (1,))], id="error"
        ),
        pytest.param(
            [b'data: [{"error": {"message": "m"}}]\n\n'], [("stream.error-event", (0,))], id="error-in-a-list"
        ),
        pytest.param([{"candidates": [3]}, END], [("content.shape", (0,))], id="no-candidate"),
        pytest.param([{"candidates": {}}, END], [("content.shape", (0,))], id="no-candidates"),
        pytest.param([chunk({"text": "a\ufffd"}), END], [("stream.encoding", (0,))], id="damaged"),
        pytest.param([chunk({"functionCall": {"name": "f", "args": 3}}), END], [("args.not-object", (0,))], id="args"),
    ],
)
def test_what_is_wrong(chunks: list[Json | bytes], found: list[Any]) -> None:
    assert slugs(*chunks) == found


def test_an_error_inside_a_stream() -> None:
    found = play(chunk({"text": "a"}), {"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}})
    assert found.error and (found.error.message, found.error.type, found.error.code) == ("m", "UNAVAILABLE", "503")
    assert found.messages[0].parts == (Text("a"),)
    assert not found.is_complete


def test_the_last_counts_count() -> None:
    first = {"usageMetadata": {"promptTokenCount": 9, "trafficType": "X"}}
    last = {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4}}
    found = play(answer_body([{"text": "a"}], None) | first, END | last)
    assert found.usage and (found.usage.input, found.usage.output) == (9, 4)
    assert found.usage.raw["trafficType"] == "X"


def test_where_pieces_stand() -> None:
    found = play(
        chunk({"text": "a"}), chunk({"text": "b"}), chunk({"functionCall": {"name": "f", "args": {"x": 1}}}), END
    )
    text, made = found.messages[0].parts
    at = "/candidates/0/content/parts/0"
    assert text.source.segments == {"text": ((0, f"{at}/text"), (1, f"{at}/text"))}
    assert made.source.segments == {
        "name": ((2, f"{at}/functionCall/name"),),
        "input": ((2, f"{at}/functionCall/args"),),
    }
    assert (text.source.pointer, made.source.pointer, found.finish_events) == ("/parts/0", "/parts/1", (3,))


def test_every_byte_of_the_fixtures() -> None:
    folder = Path(__file__).resolve().parent.parent / "data" / "gemini"
    for path in sorted(folder.glob("structured-stream-*.sse")):
        data = path.read_bytes()
        whole = feed(data)
        assert all(feed(data, size=size) == whole for size in (1, 2, 7, 64))
        decoder = adapter.stream_decoder()
        for event in read_events(data):
            decoder.feed(event)
            assert decoder.result().is_stream
        assert decoder.result() == whole
