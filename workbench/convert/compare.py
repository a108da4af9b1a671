"""Checks that a converted body decodes to the intended IR, for tests and for authors of adapters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench import protocols, regex
from workbench.convert.convert import Conversion, read_body
from workbench.convert.losses import keys
from workbench.convert.normal import apply_cache_points, normal_request, normal_response
from workbench.ir import (
    Carrier,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
    Usage,
)
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, RESPONSE

_REQUEST = ("model", "system", "messages", "tools", "tool_choice", "parallel", "stream", "thinking", "params")
_RESPONSE = ("id", "model", "messages", "stop", "usage", "is_complete")
_TAGS = regex.compile(r"</?(?:mm:)?think(?:ing)?>|\s+")


def roundtrip_differences(converted: Conversion) -> tuple[str, ...]:
    """Describe fields of ``converted.normal`` that decoding ``converted.body`` does not give back; empty if it does.

    Raises:
        WireError, ProtocolMismatch: the body cannot be read at all.
    """
    expected = converted.normal
    adapter = protocols.get(converted.protocol)
    if isinstance(expected, ModelRequest):
        read = read_body(adapter, converted.body, REQUEST)
        assert isinstance(read, ModelRequest)
        normal = normal_request(read, adapter)
        normal = apply_cache_points(normal) if adapter.capabilities.request.cache_markers else normal
        actual = normal.request
        url = adapter.read_url(converted.path)
        if url.model is not None:  # "models/x" and "x" are one model where they make one URL
            is_same = adapter.path(replace(expected, model=url.model)) == adapter.path(expected)
            actual = replace(actual, model=expected.model if is_same else url.model)
        actual = replace(actual, stream=actual.stream if url.stream is None else url.stream)
        more = [p.pointer for p in normal.params if not p.name and p.value is not None and p.value not in ([], {})]
        return (
            *_field_differences(expected, actual, _REQUEST),
            *(f"{pointer} is in the result but not in the original" for pointer in more),
        )
    if isinstance(expected, ModelResponse):
        read = read_body(adapter, converted.body, RESPONSE)
        assert isinstance(read, ModelResponse)
        answer = normal_response(read).response
        wrong = response_differences(expected, answer)
        meant_error, error = (node.error and (node.error.message, node.error.type) for node in (expected, answer))
        return wrong if meant_error == error else (*wrong, f"error: {meant_error!r:.200} became {error!r:.200}")
    return ()


def response_differences(expected: ModelResponse, actual: ModelResponse) -> tuple[str, ...]:
    """Describe fields in which two responses in normal form differ, errors aside."""
    fields = [name for name in _RESPONSE if not (expected.error and name in ("id", "model", "is_complete"))]
    return _field_differences(_normalize_ending(expected), _normalize_ending(actual), fields)


def _normalize_ending(answer: ModelResponse) -> ModelResponse:
    """A response with an ending that every protocol can express.

    For a response with tool calls some protocols say "stop" and some have a word of their own. For a failed one some
    send a finish reason as well, and some start a message that others do not start.
    """
    if answer.error:
        messages = tuple(message for message in answer.messages if message.parts)
        answer = replace(answer, messages=messages, stop=None if answer.stop == "other" else answer.stop)
    has_calls = any(True for message in answer.messages for _ in message.tool_calls())
    return replace(answer, stop="tool_calls") if has_calls and answer.stop == "stop" else answer


def _field_differences(expected: Any, actual: Any, fields: Iterable[str]) -> tuple[str, ...]:
    found = []
    for name in fields:
        before, after = _comparable(getattr(expected, name)), _comparable(getattr(actual, name))
        if before != after:
            before, after = _first_difference(before, after)
            found.append(f"{name}: {before!r:.400} became {after!r:.400}")
    return tuple(found)


def _first_difference(before: Any, after: Any) -> tuple[Any, Any]:
    """The first items in which two values differ."""
    while isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        before, after = next((a, b) for a, b in zip(before, after, strict=True) if a != b)
    return before, after


def _comparable(value: Any) -> Any:
    """A value without details that may differ: sources, usage as sent, spelling of arguments."""
    if isinstance(value, tuple):
        return tuple(_comparable(item) for item in value)
    if isinstance(value, Message):
        return value.role, _parts(value.parts) if value.role == "assistant" else _comparable(value.parts)
    if isinstance(value, ToolResultIR):
        extra = dict(keys(value.extra, ""))
        return replace(value, content=(), is_error=value.is_error or None, extra=extra), _comparable(value.content)
    if isinstance(value, Reasoning):
        return replace(value, extra=_without_id(value.extra))
    if isinstance(value, ToolCallIR):
        extra = _without_id(dict(keys(value.extra, "")))
        return replace(value, error=None, raw=value.raw if value.input is None else None, extra=extra)
    if isinstance(value, Usage):
        return value.input, value.output, value.cache_read, value.cache_write, value.reasoning
    if isinstance(value, Text | Media) and value.extra:
        return replace(value, extra=dict(keys(value.extra, "")))
    return dict(value) if hasattr(value, "keys") else None if value == "" else value


def _without_id(extra: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Without the id of an item, which a new body of the Responses API must have."""
    return {key: value for key, value in extra.items() if key.removeprefix("/") != "id"}


def _parts(parts: Sequence[Part]) -> Any:
    """Parts of an answer; text and tagged reasoning are joined, since ``<think>`` tags may be parsed or not."""
    if not any(_is_tagged(p) or (isinstance(p, Text) and "think>" in p.text) for p in parts):
        return tuple(_comparable(part) for part in parts)
    texts = [p.text or "" for p in parts if isinstance(p, Text) or _is_tagged(p)]  # type: ignore[union-attr]
    rest = [_comparable(p) for p in parts if not (isinstance(p, Text) or _is_tagged(p))]
    return _TAGS.sub("", "".join(texts)), rest


def _is_tagged(part: Part) -> bool:
    return isinstance(part, Reasoning) and part.carrier is Carrier.THINK_TEXT
