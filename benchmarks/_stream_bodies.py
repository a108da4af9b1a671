"""Long streams of every protocol: text in small deltas, then one tool call, its arguments in small deltas where it has
such."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from workbench.wire.stream import aws_message, sealed_payload

Json: TypeAlias = dict[str, Any]

NAME = "write"


def words(count: int) -> Iterator[str]:
    """A text in this many pieces."""
    return (f"word{n} and " for n in range(count))


def arguments(count: int) -> list[str]:
    """An argument text in this many pieces."""
    return ['{"text": "', *(f"line {n} " for n in range(count - 2)), '"}']


def four(count: int) -> list[str]:
    """An argument text in this many pieces of four characters."""
    return ['{"t"', ': "a', *("abcd" for _ in range(count - 3)), 'ab"}']


def _dumps(value: object) -> bytes:
    return json.dumps(value).encode()


def _named(events: list[Json]) -> bytes:
    return b"".join(b"event: %s\ndata: %s\n\n" % (e["type"].encode(), _dumps(e)) for e in events)


def _block_events(text: Iterator[str], pieces: list[str]) -> list[Json]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    call = {"type": "tool_use", "id": "toolu_1", "name": NAME, "input": {}}
    kind = "content_block_delta"
    end = {"stop_reason": "tool_use", "stop_sequence": None}
    return [
        {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": kind, "index": 0, "delta": {"type": "text_delta", "text": t}} for t in text),
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": call},
        *({"type": kind, "index": 1, "delta": {"type": "input_json_delta", "partial_json": p}} for p in pieces),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": len(pieces)}},
        {"type": "message_stop"},
    ]


def messages(text: Iterator[str], pieces: list[str]) -> bytes:
    """Messages API."""
    return _named(_block_events(text, pieces))


def invoke(text: Iterator[str], pieces: list[str]) -> bytes:
    """The same in the frames of AWS."""
    return b"".join(aws_message("chunk", sealed_payload(_dumps(e))) for e in _block_events(text, pieces))


def chat(text: Iterator[str], pieces: list[str]) -> bytes:
    """Chat completion chunks."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}

    def chunk(delta: Json, reason: str | None = None) -> Json:
        return head | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]}

    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": NAME, "arguments": ""}}
    chunks = [
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": t}) for t in text),
        chunk({"tool_calls": [call]}),
        *(chunk({"tool_calls": [{"index": 0, "function": {"arguments": p}}]}) for p in pieces),
        chunk({}, "tool_calls"),
    ]
    return b"".join(b"data: %s\n\n" % _dumps(c) for c in chunks) + b"data: [DONE]\n\n"


def responses(text: Iterator[str], pieces: list[str]) -> bytes:
    """Responses API: every item repeated whole at its end, and at the end of the answer."""
    texts = list(text)
    said = {"type": "output_text", "text": "".join(texts), "annotations": [], "logprobs": []}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said]}
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": NAME, "status": "completed"}
    whole = call | {"arguments": "".join(pieces)}
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "output": []}
    head |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "in_progress"}
    first, second = {"item_id": "msg_1", "output_index": 0}, {"item_id": "fc_1", "output_index": 1}
    part = first | {"content_index": 0}
    events: list[tuple[str, Json]] = [
        ("created", {"response": head}),
        ("output_item.added", {"output_index": 0, "item": message | {"status": "in_progress", "content": []}}),
        ("content_part.added", part | {"part": said | {"text": ""}}),
        *(("output_text.delta", part | {"delta": t, "logprobs": []}) for t in texts),
        ("output_text.done", part | {"text": said["text"], "logprobs": []}),
        ("content_part.done", part | {"part": said}),
        ("output_item.done", {"output_index": 0, "item": message}),
        ("output_item.added", {"output_index": 1, "item": call | {"status": "in_progress", "arguments": ""}}),
        *(("function_call_arguments.delta", second | {"delta": p}) for p in pieces),
        ("function_call_arguments.done", second | {"arguments": whole["arguments"], "name": NAME}),
        ("output_item.done", {"output_index": 1, "item": whole}),
        ("completed", {"response": head | {"status": "completed", "output": [message, whole]}}),
    ]
    return _named([{"type": f"response.{k}", "sequence_number": n} | e for n, (k, e) in enumerate(events)])


def gemini(text: Iterator[str], pieces: list[str]) -> bytes:
    """Chunks of candidates; the call comes whole."""

    def chunk(part: Json, **more: str) -> Json:
        counts = {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0} | more
        return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "gemini-3", "responseId": "r"}

    call = {"functionCall": {"name": NAME, "args": json.loads("".join(pieces))}}
    chunks = [*(chunk({"text": t}) for t in text), chunk(call), chunk({"text": ""}, finishReason="STOP")]
    return b"".join(b"data: %s\r\n\r\n" % _dumps(c) for c in chunks)


def ollama(text: Iterator[str], pieces: list[str]) -> bytes:
    """Lines; the call comes whole."""

    def line(message: Json, **more: Any) -> bytes:
        head = {"model": "qwen3:8b", "created_at": "2026-08-07T06:08:09.335586Z"}
        return _dumps(head | {"message": {"role": "assistant", "content": ""} | message, "done": False} | more) + b"\n"

    call = {"function": {"name": NAME, "arguments": json.loads("".join(pieces))}}
    end = line({}, done=True, done_reason="stop", total_duration=9, prompt_eval_count=10, eval_count=9)
    return b"".join([*(line({"content": t}) for t in text), line({"tool_calls": [call]}), end])


def cohere(text: Iterator[str], pieces: list[str]) -> bytes:
    """Events of Cohere's second API."""

    def delta(kind: str, said: Json) -> Json:
        return {"type": kind, "index": 0, "delta": {"message": said}}

    call = {"id": "call_1", "type": "function", "function": {"name": NAME, "arguments": ""}}
    usage = {"tokens": {"input_tokens": 10, "output_tokens": 9}}
    return _named(
        [
            {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant", "content": []}}},
            delta("content-start", {"content": {"type": "text", "text": ""}}),
            *(delta("content-delta", {"content": {"text": t}}) for t in text),
            {"type": "content-end", "index": 0},
            delta("tool-call-start", {"tool_calls": call}),
            *(delta("tool-call-delta", {"tool_calls": {"function": {"arguments": p}}}) for p in pieces),
            {"type": "tool-call-end", "index": 0},
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": usage}},
        ]
    )


def converse(text: Iterator[str], pieces: list[str]) -> bytes:
    """Converse in the frames of AWS."""

    def delta(index: int, said: Json) -> tuple[str, Json]:
        return "contentBlockDelta", {"contentBlockIndex": index, "delta": said, "p": "abcdefgh"}

    start = {"toolUse": {"toolUseId": "t1", "name": NAME}}
    usage = {"inputTokens": 10, "outputTokens": 9, "totalTokens": 19}
    events: list[tuple[str, Json]] = [
        ("messageStart", {"role": "assistant"}),
        *(delta(0, {"text": t}) for t in text),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": start}),
        *(delta(1, {"toolUse": {"input": p}}) for p in pieces),
        ("contentBlockStop", {"contentBlockIndex": 1}),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": usage, "metrics": {"latencyMs": 9}}),
    ]
    return b"".join(aws_message(kind, _dumps(value)) for kind, value in events)
