"""Answers of Cohere's second API, whole bodies and what streams share with them.

Facts: ``v2/types/v2chat_response.py``, ``types/assistant_message_response.py`` and ``types/usage.py`` of the official
``cohere`` SDK 7.3. ``tokens`` counts everything, the prompt as the model saw it and what of it was cached;
``billed_units`` what is paid for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.ir import NOTHING, JsonValue, Message, ModelResponse, ToolCallIR, Usage
from workbench.protocols.cohere_v2.request import PROTOCOL
from workbench.protocols.common.error_body import read_answer_body
from workbench.protocols.common.reading import Notes
from workbench.protocols.shapes.chat.message import read_message

STOPS: Mapping[str, str] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR_LIMIT": "length",
    "ERROR_TOXIC": "filter",
}
"""``finish_reason`` in the vocabulary of the IR (``types/chat_finish_reason.py``, the last two from its first years);
ERROR and TIMEOUT are "other"."""

_IR_KEYS: Mapping[str, type] = {"id": str, "finish_reason": str, "message": dict, "usage": dict}


def read_response(body: bytes, status: int) -> ModelResponse:
    """The answer in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'message'")


def _read(value: JsonValue) -> ModelResponse | None:
    is_answer = isinstance(value, dict) and isinstance(value.get("message"), dict) and not value.get("error")
    return _answer(value) if is_answer else None


def describe(body: Mapping[str, JsonValue], **fields: Any) -> ModelResponse:
    """An answer: its message and the keys next to it."""
    reason, answer_id = body.get("finish_reason"), body.get("id")
    reason = reason if isinstance(reason, str) else None
    return ModelResponse(
        PROTOCOL,
        id=answer_id if isinstance(answer_id, str) else None,
        finish_reason=reason,
        stop=None if reason is None else STOPS.get(reason, "other"),
        usage=read_usage(body.get("usage")),
        params={k: v for k, v in body.items() if not isinstance(v, _IR_KEYS.get(k, ()))} or NOTHING,
        **fields,
    )


def contradiction(reason: JsonValue, message: Message) -> str | None:
    """Describe how a finish reason contradicts the content."""
    has_calls = any(isinstance(part, ToolCallIR) for part in message.parts)
    stop = STOPS.get(reason) if isinstance(reason, str) else None
    if stop == "stop" and has_calls:
        return f"the finish reason is {reason!r}, but the response contains tool calls"
    if stop == "tool_calls" and not has_calls:
        return f"the finish reason is {reason!r}, but the response contains no tool call"
    return None


def read_usage(value: JsonValue) -> Usage | None:
    """Token counts; None where there are none."""
    if not isinstance(value, dict):
        return None
    prompt, output = (_count(value.get("tokens"), f"{name}_tokens") for name in ("input", "output"))
    cached = _count(value, "cached_tokens")
    return Usage(
        input=None if prompt is None else max(prompt - (cached or 0), 0), output=output, cache_read=cached, raw=value
    )


def _count(value: JsonValue, key: str) -> int | None:
    """A count; the SDK types them as floats."""
    found = value.get(key) if isinstance(value, dict) else None
    if type(found) is float and found.is_integer():
        return int(found)
    return found if type(found) is int else None


def _answer(body: Mapping[str, JsonValue]) -> ModelResponse:
    notes = Notes()
    message = read_message(body["message"], "/message", notes, is_answer=True)
    notes.base = ""
    wrong = contradiction(body.get("finish_reason"), message)
    if wrong:
        notes.add("stream.finish-reason", wrong, "/finish_reason")
    return describe(body, messages=(message,), anomalies=tuple(notes.anomalies))


def response_nodes(response: ModelResponse) -> tuple[Message, ...]:
    """A response as nodes that can be compared."""
    own = {"id": response.id, "finish_reason": response.finish_reason}
    keys = {k: v for k, v in own.items() if v is not None} | dict(response.params)
    if response.usage:
        keys["usage"] = response.usage.raw
    return (Message("", (), extra=keys), *response.messages)
