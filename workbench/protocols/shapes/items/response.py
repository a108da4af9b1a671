"""Answers that are a list of items: whole bodies, and what streams share with them.

Facts: ``types/responses/response.py``, ``response_status.py`` and ``response_usage.py`` of the official ``openai`` SDK
3.54. No status says that calls were made: an answer that is completed and holds calls waits for their results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.ir import NOTHING, JsonValue, Message, ModelResponse, Usage
from workbench.protocols.common.error_body import error_under_key, read_answer_body
from workbench.protocols.common.reading import Notes, count_at, nested_usage, string_or_none
from workbench.protocols.shapes.items.item import read_output
from workbench.protocols.shapes.items.request import PROTOCOL

UNFINISHED = ("queued", "in_progress")
"""Statuses of an answer that is still being made."""

_REASONS = {"max_output_tokens": "length", "content_filter": "filter"}
_IR_KEYS = ("id", "model", "output", "usage", "error", "status")
"""Keys of an answer that have a field of the IR to themselves; a status only where it is the reason of the end."""


def read_response(body: bytes, status: int) -> ModelResponse:
    """The answer in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'output'")


def _read(body: JsonValue) -> ModelResponse | None:
    if not isinstance(body, dict) or not isinstance(body.get("output"), list):
        return None
    notes = Notes()
    messages = tuple(read_output(item, f"/output/{n}", notes) for n, item in enumerate(body["output"]))
    return describe(
        body,
        messages,
        is_complete=body.get("status") not in UNFINISHED,
        error=error_under_key(body) if body.get("error") else None,
        anomalies=tuple(notes.anomalies),
    )


def describe(body: Mapping[str, JsonValue], messages: tuple[Message, ...], **fields: Any) -> ModelResponse:
    """An answer: its items and the keys next to them."""
    reason = finish_reason(body)
    return ModelResponse(
        PROTOCOL,
        id=string_or_none(body.get("id")),
        model=string_or_none(body.get("model")),
        messages=messages,
        finish_reason=reason,
        stop=_stop(body, reason, messages),
        usage=read_usage(body.get("usage")),
        params=_remainder(body, reason),
        itemized=True,
        **fields,
    )


def finish_reason(body: Mapping[str, JsonValue]) -> str | None:
    """Why the answer ended: the reason why it is incomplete, else its status."""
    details = body.get("incomplete_details")
    reason = string_or_none(details.get("reason")) if isinstance(details, dict) else None
    return string_or_none(body.get("status")) if reason is None else reason


def _stop(body: Mapping[str, JsonValue], reason: str | None, messages: Iterable[Message]) -> str | None:
    status = body.get("status")
    if reason is None or status in UNFINISHED:
        return None
    if reason in _REASONS:
        return _REASONS[reason]
    if reason != "completed":
        return "other"
    return "tool_calls" if any(True for message in messages for _ in message.tool_calls()) else "stop"


def _remainder(body: Mapping[str, JsonValue], reason: str | None) -> Mapping[str, JsonValue]:
    """Every key that has no field of its own, and what is left of the details that held the reason."""
    rest = {key: value for key, value in body.items() if key not in _IR_KEYS}
    details, status = body.get("incomplete_details"), body.get("status")
    if isinstance(details, dict) and isinstance(details.get("reason"), str):
        rest["incomplete_details"] = {key: value for key, value in details.items() if key != "reason"}
    if status is not None and status != reason:
        rest["status"] = status
    return rest or NOTHING


def read_usage(value: JsonValue) -> Usage | None:
    """Token counts; None where there are none. Cached tokens are counted into the input, reasoning into the output.

    The total shows whether a server counts reasoning in addition to the output.
    """
    if not isinstance(value, dict):
        return None
    asked, output, total = (count_at(value, f"{name}_tokens") for name in ("input", "output", "total"))
    details = value.get("input_tokens_details")
    cached, cache_writes = count_at(details, "cached_tokens"), count_at(details, "cache_write_tokens")
    reasoning = count_at(value.get("output_tokens_details"), "reasoning_tokens")
    return nested_usage(
        value, asked, output, cached=cached, cache_writes=cache_writes, reasoning=reasoning, total=total
    )
