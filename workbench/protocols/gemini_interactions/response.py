"""Answers that are lists of steps: whole bodies and what streams add up to.

Facts: ``types/interactions/interaction.py``, ``usage.py`` and ``error.py`` of the ``google-genai`` SDK 3.4; recorded
counts. Until May 2026 the list was called ``outputs`` and held content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.ir import NOTHING, ApiError, JsonValue, Message, ModelResponse, Usage
from workbench.protocols.common.error_body import read_answer_body, read_error
from workbench.protocols.common.reading import Notes, count_at, string_or_none
from workbench.protocols.gemini_interactions.request import PROTOCOL
from workbench.protocols.gemini_interactions.step import read_output
from workbench.wire import type_words

LISTS = ("steps", "outputs")
UNFINISHED = ("in_progress", "queued")
STOPS: Mapping[str, str] = {
    "completed": "stop",
    "requires_action": "tool_calls",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "pause",
}
"""``status`` in the vocabulary of the IR; with open calls in the answer, ``completed`` is "tool_calls"."""

STATUSES = frozenset({*STOPS, *UNFINISHED, "failed", "cancelled"})
_IR_KEYS = ("id", "model", "status", "usage", *LISTS)


def is_answer(value: JsonValue) -> bool:
    """A parsed body is an interaction."""
    if not isinstance(value, dict):
        return False
    return value.get("object") == "interaction" or any(isinstance(value.get(key), list) for key in LISTS)


def read_response(body: bytes, status: int) -> ModelResponse:
    """The answer in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'steps'")


def _read(body: JsonValue) -> ModelResponse | None:
    if not is_answer(body):
        return None
    notes, key = Notes(), list_of(body)
    steps = body.get(key)
    if steps is not None and not isinstance(steps, list):
        notes.shape(f"{key} is {type_words(steps)}, not a list", f"/{key}")
    entries = steps if isinstance(steps, list) else ()
    messages = tuple(read_output(step, f"/{key}/{n}", notes) for n, step in enumerate(entries))
    return describe(
        body,
        messages,
        is_complete=body.get("status") not in UNFINISHED,
        error=error_of(body, messages),
        anomalies=tuple(notes.anomalies),
    )


def list_of(body: Mapping[str, JsonValue]) -> str:
    """The key of its steps."""
    return next((key for key in LISTS if isinstance(body.get(key), list)), LISTS[0])


def describe(body: Mapping[str, JsonValue], messages: tuple[Message, ...], **fields: Any) -> ModelResponse:
    """An answer: its steps and the keys next to them."""
    status = string_or_none(body.get("status"))
    rest = {k: v for k, v in body.items() if k not in _IR_KEYS or not _is_held(k, v)}
    return ModelResponse(
        PROTOCOL,
        id=string_or_none(body.get("id")),
        model=string_or_none(body.get("model")),
        messages=messages,
        finish_reason=status,
        stop=_stop(status, messages),
        usage=read_usage(body.get("usage")),
        params=rest or NOTHING,
        itemized=True,
        **fields,
    )


def _is_held(key: str, value: JsonValue) -> bool:
    kind = dict if key == "usage" else list if key in LISTS else str
    return isinstance(value, kind)


def _stop(status: str | None, messages: Iterable[Message]) -> str | None:
    if status is None or status in UNFINISHED:
        return None
    if status == "completed" and any(True for message in messages for _ in message.tool_calls()):
        return "tool_calls"
    return STOPS.get(status, "other")


def error_of(body: Mapping[str, JsonValue], messages: Iterable[Message] = ()) -> ApiError | None:
    """Why an interaction failed: its own error, or that of the step in which it failed."""
    errors = body.get("errors")
    found = [body.get("error"), *(errors if isinstance(errors, list) else ())]
    if body.get("status") == "failed":
        found += (message.extra.get("error") for message in messages)
    return next((read_error({"error": value}) for value in found if value), None)


def read_usage(value: JsonValue) -> Usage | None:
    """Token counts made disjoint: the input includes cached tokens, the output excludes thoughts (recorded)."""
    if not isinstance(value, dict):
        return None
    asked, output, cached, thoughts, used = (
        count_at(value, f"total_{name}_tokens") for name in ("input", "output", "cached", "thought", "tool_use")
    )
    return Usage(
        input=None if asked is None else max(asked - (cached or 0), 0) + (used or 0),
        output=None if output is None and thoughts is None else (output or 0) + (thoughts or 0),
        cache_read=cached,
        reasoning=thoughts,
        raw=value,
    )
