"""Answers that are candidates, each one content; whole bodies and what streams add up to.

Facts: ``GenerateContentResponse``, ``Candidate``, ``FinishReason`` and ``GenerateContentResponseUsageMetadata`` in
``types.py`` of the ``google-genai`` SDK 3.4; recordings. Code Assist wraps the answer: ``{"response": {…}}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.ir import NOTHING, ApiError, JsonValue, Message, ModelResponse, Usage
from workbench.protocols.common.error_body import read_answer_body, read_error
from workbench.protocols.common.reading import Notes, string_or_none, whole_number
from workbench.protocols.shapes.contents.nodes import key_of, member
from workbench.protocols.shapes.contents.parts import read_answer
from workbench.protocols.shapes.contents.request import PROTOCOL, unwrap
from workbench.wire import type_words

ENVELOPE = "response"
KEYS = ("candidates", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata")
"""Keys of which an answer has one."""

_FILTERS = (
    *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "ESCALATION", "MODEL_ARMOR"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "PUP_LIMITED_DISABLED"),
)
STOPS: Mapping[str, str] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "pause",
    **dict.fromkeys(_FILTERS, "filter"),
}
"""``finishReason`` in the vocabulary of the IR; with calls in the answer, ``STOP`` is "tool_calls"."""


def read_response(body: bytes, status: int) -> ModelResponse:
    """The answer in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'candidates'")


def _read(value: JsonValue) -> ModelResponse | None:
    inner, _ = unwrap(value, ENVELOPE, KEYS)
    return _answer(value) if isinstance(inner, dict) and any(key in inner for key in KEYS) else None


def _answer(value: JsonValue) -> ModelResponse:
    notes = Notes()
    inner, at = unwrap(value, ENVELOPE, KEYS)
    candidates, messages = inner.get("candidates"), list[Message]()
    if candidates is not None and not isinstance(candidates, list):
        notes.shape(f"'candidates' is {type_words(candidates)}, not a list", f"{at}/candidates")
    for n, candidate in enumerate(candidates if isinstance(candidates, list) else ()):
        pointer = f"{at}/candidates/{n}"
        if isinstance(candidate, dict):
            messages.append(read_answer(candidate.get("content"), f"{pointer}/content", notes))
        else:
            notes.base = ""
            notes.shape(f"a candidate is {type_words(candidate)}, not an object", pointer)
    return ModelResponse(
        **describe(value, messages), messages=tuple(messages), anomalies=tuple(notes.anomalies), error=error_in(inner)
    )


def error_in(chunk: JsonValue) -> ApiError | None:
    """The error next to candidates, or instead of them."""
    return read_error({"error": chunk["error"]}) if isinstance(chunk, dict) and chunk.get("error") else None


def describe(value: JsonValue, messages: Iterable[Message]) -> dict[str, Any]:
    """Keyword arguments of a ``ModelResponse`` except its contents."""
    inner, at = unwrap(value, ENVELOPE, KEYS)
    reason, _ = reason_of(inner)
    rest = _rest(inner)
    if at:
        outer = {k: v for k, v in value.items() if k != ENVELOPE}
        rest = outer | {ENVELOPE: rest} if rest else outer
    return {
        "protocol": PROTOCOL,
        "id": string_or_none(member(inner, "responseId")),
        "model": string_or_none(member(inner, "modelVersion")),
        "finish_reason": reason,
        "stop": stop_of(inner, messages),
        "usage": read_usage(member(inner, "usageMetadata")),
        "params": rest or NOTHING,
    }


def reason_of(inner: JsonValue) -> tuple[str | None, str]:
    """(why the answer ended, where that is): the first candidate's reason, or why the prompt was blocked."""
    candidates = inner.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates and isinstance(candidates[0], dict) else {}
    reason = string_or_none(member(first, "finishReason"))
    if reason is not None:
        return reason, f"/candidates/0/{key_of(first, 'finishReason')}"
    feedback = key_of(inner, "promptFeedback")
    blocked = string_or_none(member(inner.get(feedback), "blockReason"))
    return blocked, "" if blocked is None else f"/{feedback}/{key_of(inner[feedback], 'blockReason')}"


def stop_of(inner: JsonValue, messages: Iterable[Message]) -> str | None:
    """Why the answer ended, in the vocabulary of the IR."""
    reason, at = reason_of(inner)
    if reason is None:
        return None
    if not at.startswith("/candidates"):
        return "filter"
    first = next(iter(messages), None)
    if reason == "STOP" and first is not None and any(True for _ in first.tool_calls()):
        return "tool_calls"
    return STOPS.get(reason, "other")


def read_usage(value: JsonValue) -> Usage | None:
    """Token counts made disjoint.

    ``promptTokenCount`` holds what was read from a cache, and not what results of server tools added;
    ``candidatesTokenCount`` leaves thoughts out (docstrings of the SDK's type; recorded totals).
    """
    if not isinstance(value, dict) or not value:
        return None
    prompt, cached = _count(value, "promptTokenCount"), _count(value, "cachedContentTokenCount")
    answer, thoughts = _count(value, "candidatesTokenCount"), _count(value, "thoughtsTokenCount")
    used = _count(value, "toolUsePromptTokenCount")
    return Usage(
        input=None if prompt is None else max(prompt - (cached or 0), 0) + (used or 0),
        output=None if answer is None and thoughts is None else (answer or 0) + (thoughts or 0),
        cache_read=cached,
        reasoning=thoughts,
        raw=value,
    )


def _count(value: JsonValue, key: str) -> int | None:
    return whole_number(member(value, key))


def _rest(inner: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Every key without a field in the IR, also of the candidates."""
    ir_keys = {key_of(inner, key) for key in ("responseId", "modelVersion") if isinstance(member(inner, key), str)}
    ir_keys |= {key_of(inner, key) for key in ("usageMetadata",) if isinstance(member(inner, key), dict)}
    rest = {k: v for k, v in inner.items() if k not in ir_keys and k != "candidates" and not (k == "error" and v)}
    candidates = inner.get("candidates")
    if isinstance(candidates, list):
        beside = [candidate_rest(c) for c in candidates]
        rest.update({"candidates": beside} if any(beside) else {})
    elif candidates is not None:
        rest["candidates"] = candidates
    reason, at = reason_of(inner)
    if reason is not None and not at.startswith("/candidates"):
        feedback, key = at.split("/")[1:]
        rest[feedback] = {k: v for k, v in inner[feedback].items() if k != key}
    return rest


def candidate_rest(candidate: JsonValue) -> JsonValue:
    """Members of a candidate other than its content."""
    if not isinstance(candidate, dict):
        return {}
    own = {"content", "index"}
    if isinstance(member(candidate, "finishReason"), str):
        own.add(key_of(candidate, "finishReason"))
    return {k: v for k, v in candidate.items() if k not in own}
