"""Answers of Ollama's own API: one object, or one for each line of a stream.

Facts: ``api/types.go`` (``ChatResponse``, ``GenerateResponse``, ``Metrics``, ``StatusError``) of Ollama, ``_types.py``
of the ``ollama`` client 0.6. ``done_reason`` is "stop" also where the answer calls a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.ir import NOTHING, ApiError, JsonValue, Message, ModelResponse, ToolCallIR, Usage
from workbench.protocols.common.error_body import read_answer_body, read_error
from workbench.protocols.common.reading import BlockReader, Notes, whole_number
from workbench.protocols.ollama.message import CALLER, read_content, read_images, read_message, read_thinking
from workbench.protocols.ollama.request import PROTOCOL
from workbench.provenance import escape

STOPS: Mapping[str, str] = {"stop": "stop", "length": "length"}
"""``done_reason`` in the vocabulary of the IR; "load" and "unload" answer requests without messages."""

COUNTS = ("prompt_eval_count", "eval_count")
DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
"""Nanoseconds."""

_IR_KEYS: dict[str, type] = {
    "model": str,
    "done_reason": str,
    **dict.fromkeys(("message", *COUNTS, *DURATIONS), object),
}
_IR_KEYS_OF_PROMPT: dict[str, type] = _IR_KEYS | dict.fromkeys(("response", "thinking", "images"), object)
"""Keys that have a field of the IR to themselves, and the type they have to be of to fit into it."""


def read_response(body: bytes, status: int) -> ModelResponse:
    """The answer in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'message', 'response'", read_failure)


def _read(value: JsonValue) -> ModelResponse | None:
    return _answer(value) if is_answer(value) else None


def is_answer(value: JsonValue) -> bool:
    """The value is an answer, or a piece of one."""
    if not isinstance(value, dict) or value.get("error"):
        return False
    return isinstance(value.get("message"), dict) or isinstance(value.get("response"), str) or "done" in value


def read_failure(value: JsonValue) -> ApiError | None:
    """The error that a body or line is: ``{"error": "…"}``, or its kind as the key (ollama/ollama#11704)."""
    if isinstance(value, dict) and len(value) == 1:
        key, text = next(iter(value.items()))
        if key != "error" and key.startswith("error") and isinstance(text, str):
            return ApiError(f"{key}: {text}", raw=value, pointer=f"/{escape(key)}")
    return read_error(value)


def read_said(body: Mapping[str, JsonValue], notes: Notes) -> Message | None:
    """The message of an answer; of ``/api/generate`` what is beside its other keys."""
    if "message" in body:
        message = read_message(body["message"], "/message", notes, is_answer=True)
        notes.base = ""
        return message
    if "response" not in body:
        return None
    block = BlockReader({k: v for k, v in body.items() if k in ("response", "thinking", "images")}, "", notes)
    parts = (*read_thinking(block), *read_content(block, "response", is_said=True), *read_images(block))
    return Message(CALLER, parts, block.extra())


def describe(body: Mapping[str, JsonValue], messages: Iterable[Message], **fields: Any) -> ModelResponse:
    """An answer: its message and the keys next to it."""
    messages = tuple(messages)
    model, reason = body.get("model"), body.get("done_reason")
    reason = reason if isinstance(reason, str) else None
    stop = None if reason is None else STOPS.get(reason, "other")
    if stop == "stop" and any(isinstance(part, ToolCallIR) for message in messages for part in message.parts):
        stop = "tool_calls"
    ir_keys = _IR_KEYS if "message" in body else _IR_KEYS_OF_PROMPT
    return ModelResponse(
        PROTOCOL,
        model=model if isinstance(model, str) else None,
        messages=messages,
        finish_reason=reason,
        stop=stop,
        usage=read_usage(body),
        params={k: v for k, v in body.items() if not isinstance(v, ir_keys.get(k, ()))} or NOTHING,
        **fields,
    )


def read_usage(body: Mapping[str, JsonValue]) -> Usage | None:
    """Token counts, which are beside the message with the durations; None where there are none."""
    raw = {k: body[k] for k in (*COUNTS, *DURATIONS) if k in body}
    if not raw:
        return None
    return Usage(input=whole_number(raw.get("prompt_eval_count")), output=whole_number(raw.get("eval_count")), raw=raw)


def _answer(body: Mapping[str, JsonValue]) -> ModelResponse:
    notes = Notes()
    message = read_said(body, notes)
    return describe(
        body,
        (message,) if message else (),
        is_complete=body.get("done") is not False,
        anomalies=tuple(notes.anomalies),
    )


def response_nodes(response: ModelResponse) -> tuple[Message, ...]:
    """A response as nodes that can be compared; token counts are members of the final line."""
    own = {"model": response.model, "done_reason": response.finish_reason}
    keys = {k: v for k, v in own.items() if v is not None} | dict(response.params)
    if response.usage:
        keys |= response.usage.raw
    return (Message("", (), extra=keys), *response.messages)
