"""The same fault in a stream has the same name in every protocol and framing, at its own events; no fault, no finding.

Every stream is a healthy one, a text and a call, with one fault put in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.tui.samples import exchange, session
from workbench.contracts import Finding
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Exchange, Headers
from workbench.wire.stream import aws_message, sealed_payload

Json: TypeAlias = dict[str, Any]
Stream: TypeAlias = tuple[Json, ...]
Fault: TypeAlias = Callable[[list[Json]], object]

ARGUMENTS = ('{"city":', '"Oslo"}')


def messages() -> Stream:
    head: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    call = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
    delta = "content_block_delta"
    return (
        {"type": "message_start", "message": {**head, "usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": delta, "index": 0, "delta": {"type": "text_delta", "text": "I will "}},
        {"type": delta, "index": 0, "delta": {"type": "text_delta", "text": "look."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": call},
        *({"type": delta, "index": 1, "delta": {"type": "input_json_delta", "partial_json": a}} for a in ARGUMENTS),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    )


def chat() -> Stream:
    def chunk(delta: Json, reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ""}}
    return (
        chunk({"role": "assistant", "content": "I will "}),
        chunk({"content": "look."}),
        chunk({"tool_calls": [call]}),
        *(chunk({"tool_calls": [{"index": 0, "function": {"arguments": a}}]}) for a in ARGUMENTS),
        chunk({}, "tool_calls"),
    )


def responses() -> Stream:
    text, at = {"type": "output_text", "text": "I will look.", "annotations": []}, {"output_index": 0, "item_id": "m"}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
    of = {"output_index": 1, "item_id": "fc"}
    call = {"type": "function_call", "id": "fc", "call_id": "call_1", "name": "weather", "status": "completed"}
    whole = {**call, "arguments": "".join(ARGUMENTS)}
    head: Json = {"id": "resp_1", "object": "response", "model": "m", "status": "in_progress", "output": []}
    events: list[tuple[str, Json]] = [
        ("created", {"response": head}),
        ("output_item.added", {"output_index": 0, "item": {**message, "status": "in_progress", "content": []}}),
        ("content_part.added", {**at, "content_index": 0, "part": {**text, "text": ""}}),
        ("output_text.delta", {**at, "content_index": 0, "delta": "I will "}),
        ("output_text.delta", {**at, "content_index": 0, "delta": "look."}),
        ("output_text.done", {**at, "content_index": 0, "text": "I will look."}),
        ("content_part.done", {**at, "content_index": 0, "part": text}),
        ("output_item.done", {"output_index": 0, "item": message}),
        ("output_item.added", {"output_index": 1, "item": {**call, "status": "in_progress", "arguments": ""}}),
        *(("function_call_arguments.delta", {**of, "delta": a}) for a in ARGUMENTS),
        ("function_call_arguments.done", {**of, "arguments": "".join(ARGUMENTS)}),
        ("output_item.done", {"output_index": 1, "item": whole}),
        ("completed", {"response": {**head, "status": "completed", "output": [message, whole]}}),
    ]
    return tuple({"type": f"response.{kind}", "sequence_number": n, **more} for n, (kind, more) in enumerate(events))


def gemini() -> Stream:
    def chunk(*parts: Json, **more: Any) -> Json:
        candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}
        return {"candidates": [candidate], "modelVersion": "m", "responseId": "r"}

    call = {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}
    return chunk({"text": "I will "}), chunk({"text": "look."}), chunk(call), chunk({"text": ""}, finishReason="STOP")


def streamed() -> Stream:
    """Arguments in pieces, as Vertex streams them on request."""

    def chunk(call: Json, **more: Any) -> Json:
        candidate = {"content": {"role": "model", "parts": [{"functionCall": call}]}, **more}
        return {"candidates": [candidate], "modelVersion": "m", "responseId": "r"}

    def piece(text: str) -> Json:
        return {
            "partialArgs": [{"jsonPath": "$.city", "stringValue": text, "willContinue": True}],
            "willContinue": True,
        }

    end = {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]}
    return chunk({"name": "weather", "willContinue": True}), chunk(piece("Os")), chunk(piece("lo")), chunk({}), end


def ollama() -> Stream:
    def piece(done: bool = False, **more: Any) -> Json:
        message = {"role": "assistant", "content": "", **more}
        return {"model": "m", "created_at": "2026-08-07T06:08:09Z", "message": message, "done": done}

    call = {"id": "call_1", "function": {"index": 0, "name": "weather", "arguments": {"city": "Oslo"}}}
    end = {**piece(done=True), "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 9}
    return piece(content="I will "), piece(content="look."), piece(tool_calls=[call]), end


def cohere() -> Stream:
    function = {"name": "weather", "arguments": ""}
    call = {"id": "call_1", "type": "function", "function": function}

    def delta(kind: str, index: int, message: Json) -> Json:
        return {"type": kind, "index": index, "delta": {"message": message}}

    return (
        {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant", "content": []}}},
        delta("content-start", 0, {"content": {"type": "text", "text": ""}}),
        delta("content-delta", 0, {"content": {"text": "I will "}}),
        delta("content-delta", 0, {"content": {"text": "look."}}),
        {"type": "content-end", "index": 0},
        delta("tool-call-start", 0, {"tool_calls": call}),
        *(delta("tool-call-delta", 0, {"tool_calls": {"function": {"arguments": a}}}) for a in ARGUMENTS),
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"input_tokens": 9}}}},
    )


def converse() -> Stream:
    """Objects whose only key is the name of the event."""
    usage = {"inputTokens": 9, "outputTokens": 9, "totalTokens": 18}

    def delta(index: int, said: Json) -> Json:
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": said}}

    start = {"toolUse": {"toolUseId": "t1", "name": "weather"}}
    return (
        {"messageStart": {"role": "assistant"}},
        delta(0, {"text": "I will "}),
        delta(0, {"text": "look."}),
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"contentBlockStart": {"contentBlockIndex": 1, "start": start}},
        *(delta(1, {"toolUse": {"input": a}}) for a in ARGUMENTS),
        {"contentBlockStop": {"contentBlockIndex": 1}},
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": usage, "metrics": {"latencyMs": 9}}},
    )


def dumps(value: object) -> bytes:
    return json.dumps(value).encode()


def sse(events: Sequence[Json]) -> bytes:
    return b"".join(b"data: %s\n\n" % dumps(e) for e in events)


def named(events: Sequence[Json]) -> bytes:
    return b"".join(b"event: %s\ndata: %s\n\n" % (str(e.get("type", "x")).encode(), dumps(e)) for e in events)


def framed(events: Sequence[Json]) -> bytes:
    pairs = (next(iter(e.items())) for e in events)
    return b"".join(aws_message(k, dumps(v), kind="exception" if "Exc" in k else "event") for k, v in pairs)


def sealed(events: Sequence[Json]) -> bytes:
    return b"".join(aws_message("chunk", sealed_payload(dumps(e))) for e in events)


SSE, LINES, AWS = "text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"
Way: TypeAlias = tuple[str, Callable[[], Stream], Callable[[Sequence[Json]], bytes], str]
WAYS: dict[str, Way] = {
    "messages": ("anthropic-messages", messages, named, SSE),
    "invoke": ("bedrock-invoke", messages, sealed, AWS),
    "chat": ("openai-chat", chat, lambda events: sse(events) + b"data: [DONE]\n\n", SSE),
    "responses": ("openai-responses", responses, named, SSE),
    "gemini": ("gemini", gemini, sse, SSE),
    "gemini array": ("gemini", gemini, dumps, "application/json"),
    "gemini arguments": ("gemini", streamed, sse, SSE),
    "ollama": ("ollama", ollama, lambda events: b"".join(dumps(e) + b"\n" for e in events), LINES),
    "cohere": ("cohere-v2", cohere, named, SSE),
    "converse": ("bedrock-converse", converse, framed, AWS),
    "converse bare": ("bedrock-converse", converse, sse, SSE),
}
URLS = {
    "anthropic-messages": "/v1/messages",
    "bedrock-invoke": "/model/anthropic.claude-haiku-4-5/invoke-with-response-stream",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:streamGenerateContent",
    "ollama": "/api/chat",
    "cohere-v2": "/v2/chat",
    "bedrock-converse": "/model/m/converse-stream",
}


def found(protocol: str, body: bytes, kind: str, request: bytes | None = None) -> list[Finding]:
    made: Exchange = exchange(request, body, url="https://x" + URLS[protocol])
    assert made.response
    answer = replace(made.response, headers=Headers((("content-type", kind),)))
    made = replace(made, request=made.request if request else None, response=answer)
    findings = Inspector(session(made), protocol=protocol, provider="generic").run().findings
    return [f for f in findings if f.rule.startswith("stream.")]


def told(
    way: str, fault: Fault | None = None, edit: Callable[[bytes], bytes] = bytes
) -> Sequence[tuple[str, tuple[int, ...]]]:
    protocol, make, frame, kind = WAYS[way]
    events = [json.loads(json.dumps(e)) for e in make()]
    if fault:
        fault(events)
    return [(f.rule.removeprefix("stream."), f.events) for f in found(protocol, edit(frame(events)), kind)]


@pytest.mark.parametrize("way", WAYS)
def test_a_healthy_stream_has_no_finding(way: str) -> None:
    assert told(way) == []


def without(first: int, last: int | None = None) -> Fault:
    """Some events never came."""
    return lambda events: events.__delitem__(slice(first, last))


def twice(first: int, last: int, *, after: int | None = None) -> Fault:
    """Some events come again, after the last of them or after another."""

    def fault(events: list[Json]) -> None:
        at = last if after is None else after
        events[at:at] = json.loads(json.dumps(events[first:last]))

    return fault


def put(number: int, path: str, value: Any) -> Fault:
    """Another value at a path of an event; None for no such key."""

    def fault(events: list[Json]) -> None:
        node: Any = events[number]
        *steps, last = path.split(".")
        for step in steps:
            node = node[int(step) if isinstance(node, list) else step]
        key = int(last) if isinstance(node, list) else last
        if value is None:
            del node[key]
        else:
            node[key] = value

    return fault


def ends_with(number: int, event: Json) -> Fault:
    """From an event on there is another one alone."""
    return lambda events: events.__setitem__(slice(number, None), [event])


CALL = "choices.0.delta.tool_calls.0"


def move_by_id(events: list[Json]) -> None:
    """Both pieces of the arguments have the id of their call, each at an index of its own."""
    for number, index in ((3, 1), (4, 2)):
        put(number, CALL, {"index": index, "id": "call_1", "function": {"arguments": ARGUMENTS[number - 3]}})(events)


def name_late(events: list[Json]) -> None:
    """The name comes with the second piece of the arguments."""
    put(2, f"{CALL}.function", {"arguments": ""})(events)
    put(4, f"{CALL}.function.name", "weather")(events)


PART = "candidates.0.content.parts.0"
UNAVAILABLE = {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
FAILED = {"type": "error", "sequence_number": 10, "code": "server_error", "message": "Overloaded", "param": None}
DAMAGED = "l\ufffd\ufffdk."

Row: TypeAlias = tuple[str, str, Fault, Sequence[tuple[str, tuple[int, ...]]]]
ROWS: list[Row] = [
    ("no terminal event", "messages", without(10), [("no-terminator", (9,))]),
    ("no terminal event", "invoke", without(10), [("no-terminator", (9,))]),
    ("no terminal event", "responses", without(13), [("no-terminator", (12,))]),
    ("no terminal event", "gemini", without(3), [("no-terminator", (2,))]),
    ("no terminal event", "gemini array", without(3), [("no-terminator", (2,))]),
    ("no terminal event", "ollama", without(3), [("no-terminator", (2,))]),
    ("no terminal event", "cohere", without(9), [("no-terminator", (8,))]),
    ("no terminal event", "converse", without(8), [("no-terminator", (7,))]),
    ("no terminal event", "converse bare", without(8), [("no-terminator", (7,))]),
    ("cut inside a call", "messages", without(7), [("truncated", (5, 6))]),
    ("cut inside a call", "invoke", without(7), [("truncated", (5, 6))]),
    ("cut inside a call", "responses", without(10), [("truncated", (8, 9))]),
    ("cut inside a call", "gemini arguments", without(2), [("truncated", (0, 1)), ("no-terminator", (1,))]),
    ("cut inside a call", "cohere", without(7), [("truncated", (6,))]),
    ("cut inside a call", "converse", without(6), [("truncated", (4, 5))]),
    ("cut inside a call", "converse bare", without(6), [("truncated", (4, 5))]),
    ("an index is missing", "messages", put(6, "index", None), [("index", (6,))]),
    ("an index is missing", "invoke", put(6, "index", None), [("index", (6,))]),
    ("an index is missing", "chat", put(3, f"{CALL}.index", None), [("index", (3,))]),
    ("an index is missing", "responses", put(9, "output_index", None), [("index", (9,))]),
    ("an index is missing", "cohere", put(6, "index", None), [("index", (6,))]),
    ("an index is missing", "converse", put(5, "contentBlockDelta.contentBlockIndex", None), [("index", (5,))]),
    ("a delta of a call that never began", "messages", put(6, "index", 7), [("block-order", (6,))]),
    ("a delta of a call that never began", "invoke", put(6, "index", 7), [("block-order", (6,))]),
    ("a delta of a call that never began", "chat", put(3, f"{CALL}.index", 7), [("index", (3,))]),
    ("a delta of a call that never began", "gemini arguments", put(0, PART, {"text": "x"}), [("block-order", (1,))]),
    ("a delta of a call that never began", "cohere", put(6, "index", 7), [("index", (6,))]),
    (
        "a delta of a call that never began",
        "converse",
        put(5, "contentBlockDelta.contentBlockIndex", 7),
        [("block-order", (5,)), ("block-order", (5, 9))],
    ),
    ("a delta with the id of an open call at another index", "chat", move_by_id, [("index", (3,)), ("index", (4,))]),
    (
        "a delta with the id of an open call at another index",
        "responses",
        put(10, "output_index", 0),
        [("index", (10,))],
    ),
    ("a delta with an id that nothing has", "chat", put(4, f"{CALL}.id", "other"), [("id", (4,))]),
    ("a delta with an id that nothing has", "responses", put(10, "item_id", "other"), [("id", (10,))]),
    ("the name comes after the arguments", "chat", name_late, [("name", (4,))]),
    ("an index is used again", "messages", twice(5, 9), [("block-order", (9, 10, 11, 12))]),
    ("an index is used again", "invoke", twice(5, 9), [("block-order", (9, 10, 11, 12))]),
    ("an index is used again", "responses", twice(8, 13), [("framing", (13,)), ("index", (13,))]),
    ("an index is used again", "cohere", twice(5, 9), [("index", (9,)), ("id", (9,))]),
    ("an index is used again", "converse", twice(4, 8), [("block-order", (8,))]),
    ("an index that is open is used again", "messages", twice(5, 6, after=7), [("block-order", (7, 8, 9))]),
    ("an index that is open is used again", "cohere", twice(5, 6, after=7), [("index", (7,)), ("id", (7,))]),
    ("an index that is open is used again", "converse", twice(4, 5, after=6), [("block-order", (6,))]),
    ("a block never ends", "messages", without(8, 9), [("block-order", (5, 6, 7))]),
    ("a block never ends", "invoke", without(8, 9), [("block-order", (5, 6, 7))]),
    ("a block never ends", "responses", without(12, 13), [("framing", (12,)), ("block-order", (12,))]),
    ("a block never ends", "gemini arguments", without(3, 4), [("block-order", (0, 1, 2, 3))]),
    ("a block never ends", "cohere", without(8, 9), [("block-order", (5, 6, 7, 8))]),
    ("a block never ends", "converse", without(7, 8), [("block-order", (4, 5, 6, 8))]),
    ("the reason hides a call", "messages", put(9, "delta.stop_reason", "end_turn"), [("finish-reason", (9,))]),
    ("the reason hides a call", "invoke", put(9, "delta.stop_reason", "end_turn"), [("finish-reason", (9,))]),
    ("the reason hides a call", "chat", put(5, "choices.0.finish_reason", "stop"), [("finish-reason", (5,))]),
    ("the reason hides a call", "cohere", put(9, "delta.finish_reason", "COMPLETE"), [("finish-reason", (9,))]),
    ("the reason hides a call", "converse", put(8, "messageStop.stopReason", "end_turn"), [("finish-reason", (8,))]),
    ("the reason promises a call", "messages", without(5, 9), [("finish-reason", (5,))]),
    ("the reason promises a call", "chat", without(2, 5), [("finish-reason", (2,))]),
    ("the reason promises a call", "cohere", without(5, 9), [("finish-reason", (5,))]),
    ("the reason promises a call", "converse", without(4, 8), [("finish-reason", (4,))]),
    ("an error", "messages", ends_with(7, OVERLOADED), [("error-event", (7,))]),
    ("an error", "invoke", ends_with(7, OVERLOADED), [("error-event", (7,))]),
    ("an error", "chat", ends_with(4, {"error": {"message": "Overloaded"}}), [("error-event", (4,))]),
    ("an error", "responses", ends_with(10, FAILED), [("error-event", (10,))]),
    ("an error", "gemini", ends_with(2, UNAVAILABLE), [("error-event", (2,))]),
    ("an error", "gemini array", ends_with(2, UNAVAILABLE), [("error-event", (2,))]),
    ("an error", "ollama", ends_with(2, {"error": "Overloaded"}), [("error-event", (2,))]),
    (
        "an error",
        "cohere",
        ends_with(7, {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "Overloaded"}}),
        [("error-event", (7,))],
    ),
    ("an error", "converse", ends_with(6, {"throttlingException": {"message": "Slow"}}), [("error-event", (6,))]),
    ("an error", "converse bare", ends_with(6, {"throttlingException": {"message": "Slow"}}), [("error-event", (6,))]),
    *(
        ("an empty event", way, lambda events: events.insert(2, {}), [("framing", (2,))])
        for way in ("chat", "responses", "gemini", "gemini array", "gemini arguments", "ollama", "cohere")
    ),
    ("no choices", "chat", put(1, "choices", []), [("empty-choices", (1,))]),
    ("a done event says otherwise", "responses", put(5, "text", "Never."), [("block-order", (3, 4, 5))]),
    ("a done event says otherwise", "responses", put(11, "arguments", "{}"), [("block-order", (9, 10, 11))]),
    ("a done item says otherwise", "responses", put(12, "item.arguments", "{}"), [("block-order", (9, 10, 12))]),
    ("a damaged character", "messages", put(3, "delta.text", DAMAGED), [("encoding", (3,))]),
    ("a damaged character", "invoke", put(3, "delta.text", DAMAGED), [("encoding", (3,))]),
    ("a damaged character", "chat", put(1, "choices.0.delta.content", DAMAGED), [("encoding", (1,))]),
    ("a damaged character", "gemini", put(1, f"{PART}.text", DAMAGED), [("encoding", (1,))]),
    ("a damaged character", "ollama", put(1, "message.content", DAMAGED), [("encoding", (1,))]),
    ("a damaged character", "cohere", put(3, "delta.message.content.text", DAMAGED), [("encoding", (3,))]),
    ("a damaged character", "converse", put(2, "contentBlockDelta.delta.text", DAMAGED), [("encoding", (2,))]),
    ("a second beginning", "messages", twice(0, 1, after=5), [("block-order", (5,))]),
    ("a second beginning", "invoke", twice(0, 1, after=5), [("block-order", (5,))]),
    ("a second beginning", "responses", twice(0, 1, after=8), [("block-order", (8,))]),
    ("a second beginning", "cohere", twice(0, 1, after=5), [("block-order", (5,))]),
    ("a second beginning", "converse", twice(0, 1, after=4), [("block-order", (4,))]),
    ("more after the end", "messages", twice(3, 4, after=11), [("block-order", (11,)), ("framing", (11,))]),
    ("more after the end", "ollama", twice(1, 2, after=4), [("framing", (4,))]),
    ("more after the end", "cohere", twice(3, 4, after=10), [("framing", (10,)), ("block-order", (10,))]),
]
"""Protocols that cannot have a fault are missing: calls that come whole have neither index nor cut, and where every
answer ends with one reason (Gemini, Ollama, Responses), the reason contradicts nothing."""


@pytest.mark.parametrize(("way", "fault", "expected"), [r[1:] for r in ROWS], ids=[f"{r[0]}, {r[1]}" for r in ROWS])
def test_one_fault(way: str, fault: Fault, expected: Sequence[tuple[str, tuple[int, ...]]]) -> None:
    assert sorted(told(way, fault)) == sorted(expected)


def size_of(body: bytes, number: int) -> tuple[int, int]:
    """Where an AWS message stands."""
    at = 0
    for _ in range(number):
        at += int.from_bytes(body[at : at + 4], "big")
    return at, at + int.from_bytes(body[at : at + 4], "big")


def broken_checksum(body: bytes) -> bytes:
    _, end = size_of(body, 2)
    return body[: end - 1] + bytes([body[end - 1] ^ 1]) + body[end:]


def strange_bytes(body: bytes) -> bytes:
    at, _ = size_of(body, 3)
    return body[:at] + b"502 Bad Gateway: no upstream" + body[at:]


FRAMES: list[tuple[str, str, Callable[[bytes], bytes], Sequence[tuple[str, tuple[int, ...]]]]] = [
    ("a broken checksum", "invoke", broken_checksum, [("framing", (2,))]),
    ("a broken checksum", "converse", broken_checksum, [("framing", (2,))]),
    ("bytes between messages", "invoke", strange_bytes, [("framing", (3,))]),
    ("bytes between messages", "converse", strange_bytes, [("framing", (3,))]),
    ("an array that is not closed", "gemini array", lambda body: body[:-1], [("framing", (3,))]),
    *(
        ("the last event is torn", way, lambda body: body[:-9], [("truncated", (last,))])
        for way, last in (
            ("messages", 10),
            ("invoke", 10),
            ("responses", 13),
            ("gemini", 3),
            ("gemini array", 3),
            ("ollama", 3),
            ("cohere", 9),
            ("converse", 9),
            ("converse bare", 9),
        )
    ),
    *(
        ("an event is torn in two", way, lambda body: body.replace(b"look.", b"lo\nok."), [("framing", events)])
        for way, events in (("chat", (1,)), ("gemini", (1,)), ("cohere", (3,)))
    ),
    (
        "a line is torn in two",
        "ollama",
        lambda body: body.replace(b"look.", b"lo\nok."),
        [("framing", (1,)), ("framing", (2,))],
    ),
    *(
        ("no JSON", way, lambda body: body.replace(b'"look."', b'"look.'), [("framing", (number,))])
        for way, number in (("messages", 3), ("chat", 1), ("gemini", 1), ("cohere", 3), ("ollama", 1))
    ),
]


@pytest.mark.parametrize(("way", "edit", "expected"), [r[1:] for r in FRAMES], ids=[f"{r[0]}, {r[1]}" for r in FRAMES])
def test_one_fault_of_the_framing(
    way: str, edit: Callable[[bytes], bytes], expected: Sequence[tuple[str, tuple[int, ...]]]
) -> None:
    assert sorted(told(way, edit=edit)) == sorted(expected)


DATA = Path(__file__).parents[1] / "data"
FOLDERS = {
    "anthropic": "messages",
    "bedrock_converse": "converse",
    "bedrock_invoke": "invoke",
    "cohere": "cohere",
    "gemini": "gemini",
    "ollama": "ollama",
    "openai_chat": "chat",
    "openai_responses": "responses",
}
HEALTHY = sorted(
    path
    for folder in FOLDERS
    for path in (DATA / folder).glob("*-stream-*.response.*")
    if "refused" not in path.name and "cohere/loop-stream-3" not in path.as_posix()  # these hold errors
)


@pytest.mark.parametrize("path", HEALTHY, ids=[f"{path.parent.name}/{path.name}" for path in HEALTHY])
def test_what_servers_wrote_has_no_finding(path: Path) -> None:
    protocol, _, _, kind = WAYS[FOLDERS[path.parent.name]]
    request = path.with_name(path.name.partition(".")[0] + ".request.json")
    assert found(protocol, path.read_bytes(), kind, request.read_bytes()) == []
