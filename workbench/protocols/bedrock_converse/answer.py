"""Answers whose content is made of blocks named by their key: read, as nodes to compare, and written as new bodies.

Facts: ``ConverseResponse``, ``ConverseStreamOutput``, ``StopReason`` and ``TokenUsage`` in botocore's service model
``bedrock-runtime/2023-09-30``. ``inputTokens`` leaves out what was read from or written to a cache (recorded: the three
and ``outputTokens`` add up to ``totalTokens``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.ir import NOTHING, JsonValue, Message, ModelResponse, Part, Reasoning, Text, ToolCallIR, Usage
from workbench.protocols.bedrock_converse.request import PROTOCOL, message_nodes, read_message, write_block
from workbench.protocols.common.error_body import read_answer_body, write_exception
from workbench.protocols.common.reading import Notes, contradicts_content, whole_number
from workbench.wire import aws_message, dumps

STOPS: Mapping[str, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "filter",
    "content_filtered": "filter",
}
_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "filter": "content_filtered"}
_IR_KEYS = ("output", "stopReason", "usage")


def read_response(body: bytes, status: int) -> ModelResponse:
    """The answer in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'output' with a message")


def _read(value: JsonValue) -> ModelResponse | None:
    output = value.get("output") if isinstance(value, dict) else None
    return _answer(value, output["message"]) if isinstance(output, dict) and "message" in output else None


def _answer(body: Mapping[str, JsonValue], value: JsonValue) -> ModelResponse:
    notes = Notes()
    message = read_message(value, "/output/message", notes)
    notes.base = ""
    contradiction = contradicts_content("stopReason", body.get("stopReason"), message.parts)
    if contradiction:
        notes.add("stream.finish-reason", contradiction, "/stopReason")
    return ModelResponse(**envelope(body), messages=(message,), anomalies=tuple(notes.anomalies))


def envelope(body: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Keyword arguments of a ``ModelResponse`` except its content."""
    reason = body.get("stopReason")
    reason = reason if isinstance(reason, str) else None
    output = body.get("output")
    others = {k: v for k, v in output.items() if k != "message"} if isinstance(output, dict) else {}
    params = {k: v for k, v in body.items() if k not in _IR_KEYS} | ({"output": others} if others else {})
    return {
        "protocol": PROTOCOL,
        "finish_reason": reason,
        "stop": None if reason is None else STOPS.get(reason, "other"),
        "usage": _usage(body.get("usage")),
        "params": params or NOTHING,
    }


def _usage(value: JsonValue) -> Usage | None:
    if not isinstance(value, dict) or not value:
        return None
    return Usage(
        input=whole_number(value.get("inputTokens")),
        output=whole_number(value.get("outputTokens")),
        cache_read=whole_number(value.get("cacheReadInputTokens")),
        cache_write=whole_number(value.get("cacheWriteInputTokens")),
        raw=value,
    )


def response_nodes(response: ModelResponse) -> tuple[Message, ...]:
    """An answer as nodes that can be compared."""
    keys = dict(response.params)
    if response.finish_reason is not None:
        keys["stopReason"] = response.finish_reason
    if response.usage:
        keys["usage"] = response.usage.raw
    return (Message("", (), extra=keys), *message_nodes(response.messages))


def write_response(response: ModelResponse) -> dict[str, JsonValue]:
    """The body of an answer in normal form."""
    if response.error:
        return {"message": response.error.message}
    content = [write_block(part) for message in response.messages for part in message.parts]
    body: dict[str, JsonValue] = {"output": {"message": {"role": "assistant", "content": content}}}
    reason = _REASONS.get(response.stop or "")
    if reason:
        body["stopReason"] = reason
    return body | _written_usage(response)


def _written_usage(response: ModelResponse) -> dict[str, JsonValue]:
    usage = response.usage
    if usage is None:
        return {}
    cached = {"cacheReadInputTokens": usage.cache_read, "cacheWriteInputTokens": usage.cache_write}
    counts = {"inputTokens": usage.input or 0, "outputTokens": usage.output or 0}
    counts |= {k: v for k, v in cached.items() if v is not None}
    return {"usage": counts | {"totalTokens": sum(counts.values())}}


class KeyedWriter:
    """Writes the AWS event stream messages of one answer. Only calls have a start; the input of one comes as text."""

    content_type = "application/vnd.amazon.eventstream"

    def __init__(self) -> None:
        self._index = -1
        self._kind = ""
        self._is_said = False

    def start(self, response: ModelResponse) -> bytes:
        return self._event("messageStart", {"role": "assistant"})

    def choice(self, number: int) -> bytes:
        return b""

    def open(self, part: Part) -> bytes:
        self._index += 1
        self._is_said = False
        self._kind = "text" if isinstance(part, Text) else "reasoning" if isinstance(part, Reasoning) else "call"
        if not isinstance(part, ToolCallIR):
            return b""
        call = {k: v for k, v in write_block(part)["toolUse"].items() if k != "input"}
        return self._event("contentBlockStart", {"start": {"toolUse": call}, **self._place()})

    def grow(self, text: str) -> bytes:
        self._is_said = True
        if self._kind == "call":
            return self._delta({"toolUse": {"input": text}})
        return self._delta({"text": text} if self._kind == "text" else {"reasoningContent": {"text": text}})

    def close(self, part: Part) -> bytes:
        """Write what does not grow: a signature, unreadable content, a block of another kind."""
        encoded = b""
        if isinstance(part, Reasoning):
            reasoning_content = write_block(part)["reasoningContent"]
            last = {
                k: v
                for k, v in reasoning_content.get("reasoningText", reasoning_content).items()
                if k != "text" or not self._is_said
            }
            encoded = b"".join(self._delta({"reasoningContent": {key: value}}) for key, value in last.items())
        elif not isinstance(part, Text | ToolCallIR):
            encoded = self._delta(write_block(part))
        return encoded + self._event("contentBlockStop", self._place())

    def end(self, response: ModelResponse) -> bytes:
        if response.error:
            return write_exception(response.error)
        reason = _REASONS.get(response.stop or "")
        encoded = b""
        if response.is_complete:
            encoded = self._event("messageStop", {"stopReason": reason} if reason else {})
        return encoded + (self._event("metadata", _written_usage(response)) if response.usage else b"")

    def _delta(self, delta: dict[str, JsonValue]) -> bytes:
        return self._event("contentBlockDelta", {"delta": delta, **self._place()})

    def _place(self) -> dict[str, JsonValue]:
        return {"contentBlockIndex": self._index}

    def _event(self, name: str, value: JsonValue) -> bytes:
        return aws_message(name, dumps(value))
