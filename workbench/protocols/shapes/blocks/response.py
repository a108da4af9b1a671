"""Answers that are one message made of typed blocks, whole bodies and what streams add up to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.ir import NOTHING, JsonValue, ModelResponse, Usage
from workbench.protocols.common.error_body import read_answer_body
from workbench.protocols.common.reading import Notes, contradicts_content, string_or_none, whole_number
from workbench.protocols.shapes.blocks.request import PROTOCOL, read_message

STOPS: Mapping[str, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "filter",
    "pause_turn": "pause",
    "compaction": "pause",
}
"""``stop_reason`` in the vocabulary of the IR (``types/stop_reason.py`` and its beta twin in the ``anthropic`` SDK)."""

_IR_KEYS = frozenset(("id", "model", "role", "content", "stop_reason", "usage"))


def read_response(body: bytes, status: int) -> ModelResponse:
    """The answer in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'content'")


def _read(value: JsonValue) -> ModelResponse | None:
    return _answer(value) if isinstance(value, dict) and "content" in value else None


def _answer(body: Mapping[str, JsonValue]) -> ModelResponse:
    notes = Notes()
    message = read_message({"role": body.get("role"), "content": body["content"]}, "", notes)
    contradiction = contradicts_content("stop_reason", body.get("stop_reason"), message.parts)
    if contradiction:
        notes.add("stream.finish-reason", contradiction, "/stop_reason")
    return ModelResponse(**envelope(body), messages=(message,), anomalies=tuple(notes.anomalies))


def envelope(body: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Keyword arguments of a ``ModelResponse`` except its content."""
    reason = string_or_none(body.get("stop_reason"))
    return {
        "protocol": PROTOCOL,
        "id": string_or_none(body.get("id")),
        "model": string_or_none(body.get("model")),
        "finish_reason": reason,
        "stop": None if reason is None else STOPS.get(reason, "other"),
        "usage": read_usage(body.get("usage")),
        "params": {k: v for k, v in body.items() if k not in _IR_KEYS} or NOTHING,
    }


def read_usage(value: JsonValue) -> Usage | None:
    """Token counts. ``input_tokens`` leaves out what was read from or written to a cache: it is disjoint as it is."""
    if not isinstance(value, dict) or not value:
        return None
    details = value.get("output_tokens_details")
    return Usage(
        input=whole_number(value.get("input_tokens")),
        output=whole_number(value.get("output_tokens")),
        cache_read=whole_number(value.get("cache_read_input_tokens")),
        cache_write=whole_number(value.get("cache_creation_input_tokens")),
        reasoning=whole_number(details.get("thinking_tokens")) if isinstance(details, dict) else None,
        raw=value,
    )
