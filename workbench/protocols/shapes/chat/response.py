"""Chat Completions answers: whole bodies, and what streams share with them.

Facts: ``types/chat/chat_completion.py`` and ``types/completion_usage.py`` of the official ``openai`` SDK 3.52; usage of
the dialects: ``prompt_cache_hit_tokens`` (DeepSeek), ``cached_tokens`` (Kimi), ``num_cached_tokens`` (Mistral);
``prompt_tokens`` counts cached tokens in, and ``completion_tokens`` the reasoning, except at xAI, where the sum tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.ir import NOTHING, JsonValue, Message, ModelResponse, ToolCallIR, Usage
from workbench.protocols.common.error_body import error_under_key, read_answer_body
from workbench.protocols.common.reading import Notes, count_at, nested_usage, string_or_none
from workbench.protocols.shapes.chat.message import read_message
from workbench.protocols.shapes.chat.request import PROTOCOL
from workbench.wire import type_words

_STOPS = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filter",
}
_IR_KEYS = ("id", "model", "choices", "usage", "error")
"""Keys of an answer that have a field of the IR to themselves."""


def read_response(body: bytes, status: int) -> ModelResponse:
    """The answer in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'choices'")


def _read(body: JsonValue) -> ModelResponse | None:
    if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
        return None
    notes = Notes()
    choices = [_choice(choice, f"/choices/{n}", notes) for n, choice in enumerate(body["choices"])]
    first = body["choices"][0] if choices and isinstance(body["choices"][0], dict) else {}
    return describe(
        body,
        messages=tuple(message for message in choices if message),
        finish_reason=string_or_none(first.get("finish_reason")) or None,
        usage=read_usage(body.get("usage") or first.get("usage")),
        error=error_under_key(body) if body.get("error") else None,
        anomalies=tuple(notes.anomalies),
    )


def describe(body: Mapping[str, JsonValue], finish_reason: str | None, **fields: Any) -> ModelResponse:
    """An answer: its choices and the keys next to them."""
    return ModelResponse(
        PROTOCOL,
        id=string_or_none(body.get("id")),
        model=string_or_none(body.get("model")),
        finish_reason=finish_reason,
        stop=None if finish_reason is None else _STOPS.get(finish_reason, "other"),
        params=_remainder(body),
        **fields,
    )


def contradiction(reason: str | None, message: Message) -> str | None:
    """Describe how a finish reason contradicts the content."""
    has_calls = any(isinstance(part, ToolCallIR) for part in message.parts)
    stop = _STOPS.get(reason or "")
    if stop == "stop" and has_calls:
        return f"the finish reason is {reason!r}, but the response contains tool calls"
    if stop == "tool_calls" and not has_calls:
        return f"the finish reason is {reason!r}, but the response contains no tool call"
    return None


def read_usage(value: JsonValue) -> Usage | None:
    """Token counts; None where there are none."""
    if not isinstance(value, dict):
        return None
    prompt, completion, total = (count_at(value, f"{name}_tokens") for name in ("prompt", "completion", "total"))
    details = value.get("prompt_tokens_details") or value.get("prompt_token_details")
    cached = count_at(details, "cached_tokens")
    for key in ("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens"):
        cached = count_at(value, key) if cached is None else cached
    cache_writes = count_at(details, "cache_write_tokens")
    reasoning = count_at(value.get("completion_tokens_details"), "reasoning_tokens")
    return nested_usage(
        value, prompt, completion, cached=cached, cache_writes=cache_writes, reasoning=reasoning, total=total
    )


def _choice(choice: JsonValue, at: str, notes: Notes) -> Message | None:
    if not isinstance(choice, dict) or "message" not in choice:
        notes.base = ""
        notes.shape(f"a choice is {type_words(choice)}, not an object with a message", at)
        return None
    message = read_message(choice["message"], f"{at}/message", notes, is_answer=True)
    notes.base = ""
    wrong = contradiction(string_or_none(choice.get("finish_reason")), message)
    if wrong:
        notes.add("stream.finish-reason", wrong, f"{at}/finish_reason")
    return message


def _remainder(body: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Every key without a field in the IR, also of the choices."""
    rest = {key: value for key, value in body.items() if key not in _IR_KEYS}
    choices = body.get("choices")
    beside = [_beside(choice) for choice in choices] if isinstance(choices, list) else []
    if any(beside):
        rest["choices"] = beside
    return rest or NOTHING


def _beside(choice: JsonValue) -> Mapping[str, JsonValue]:
    ir_keys = ("index", "message", "finish_reason")
    return {k: v for k, v in choice.items() if k not in ir_keys} if isinstance(choice, dict) else {}
