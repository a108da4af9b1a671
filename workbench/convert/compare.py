"""Whether a body says what was meant: the proof of a conversion, for tests and for whoever writes an adapter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench import protocols
from workbench.convert._caching import marked
from workbench.convert.convert import Converted, read_body
from workbench.convert.losses import keys
from workbench.convert.normal import normal_request, normal_response
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
from workbench.protocols.decode import REQUEST, RESPONSE

_REQUEST = ("model", "system", "messages", "tools", "tool_choice", "parallel", "stream", "thinking", "params")
_RESPONSE = ("id", "model", "messages", "stop", "usage", "is_complete")
_TAGS = re.compile(r"</?(?:mm:)?think(?:ing)?>|\s+")


def unsaid(converted: Converted) -> tuple[str, ...]:
    """Fields of ``converted.meant`` that decoding ``converted.body`` does not give back, in words; none is the proof.

    Raises:
        WireError, ProtocolMismatch: the body cannot be read at all.
    """
    meant = converted.meant
    adapter = protocols.get(converted.protocol)
    if isinstance(meant, ModelRequest):
        read = read_body(adapter, converted.body, REQUEST)
        assert isinstance(read, ModelRequest)
        normal = normal_request(read, adapter)
        normal = marked(normal) if adapter.capabilities.cache_markers else normal
        said = normal.request
        url = adapter.read_url(converted.path)
        if url.model is not None:  # "models/x" and "x" are one model where they make one URL
            is_same = adapter.path(replace(meant, model=url.model)) == adapter.path(meant)
            said = replace(said, model=meant.model if is_same else url.model)
        said = replace(said, stream=said.stream if url.stream is None else url.stream)
        more = [p.pointer for p in normal.params if not p.name and p.value is not None and p.value not in ([], {})]
        return (*_different(meant, said, _REQUEST), *(f"{pointer} was not meant" for pointer in more))
    if isinstance(meant, ModelResponse):
        read = read_body(adapter, converted.body, RESPONSE)
        assert isinstance(read, ModelResponse)
        answer = normal_response(read).response
        wrong = differing(meant, answer)
        meant_error, error = (node.error and (node.error.message, node.error.type) for node in (meant, answer))
        return wrong if meant_error == error else (*wrong, f"error: {meant_error!r:.200} became {error!r:.200}")
    return ()


def differing(meant: ModelResponse, said: ModelResponse) -> tuple[str, ...]:
    """Fields in which two answers in normal form do not say the same, in words; errors aside."""
    fields = [name for name in _RESPONSE if not (meant.error and name in ("id", "model", "is_complete"))]
    return _different(_stopped(meant), _stopped(said), fields)


def _stopped(answer: ModelResponse) -> ModelResponse:
    """An answer in words that every protocol has.

    Where it holds calls, some say "stop" for it and some have a word of its own. Where it failed, some say so by a
    finish reason, too, and some begin an answer that others do not begin.
    """
    if answer.error:
        messages = tuple(message for message in answer.messages if message.parts)
        answer = replace(answer, messages=messages, stop=None if answer.stop == "other" else answer.stop)
    has_calls = any(True for message in answer.messages for _ in message.tool_calls())
    return replace(answer, stop="tool_calls") if has_calls and answer.stop == "stop" else answer


def _different(meant: Any, said: Any, fields: Iterable[str]) -> tuple[str, ...]:
    found = []
    for name in fields:
        wanted, got = _comparable(getattr(meant, name)), _comparable(getattr(said, name))
        if wanted != got:
            wanted, got = _apart(wanted, got)
            found.append(f"{name}: {wanted!r:.400} became {got!r:.400}")
    return tuple(found)


def _apart(wanted: Any, got: Any) -> tuple[Any, Any]:
    """The first items in which two values differ."""
    while isinstance(wanted, tuple) and isinstance(got, tuple) and len(wanted) == len(got):
        wanted, got = next((a, b) for a, b in zip(wanted, got, strict=True) if a != b)
    return wanted, got


def _comparable(value: Any) -> Any:
    """A value without what is no part of what it says: sources, usage as sent, how arguments were written."""
    if isinstance(value, tuple):
        return tuple(_comparable(item) for item in value)
    if isinstance(value, Message):
        return value.role, _parts(value.parts) if value.role == "assistant" else _comparable(value.parts)
    if isinstance(value, ToolResultIR):
        extra = dict(keys(value.extra, ""))
        return replace(value, content=(), is_error=value.is_error or None, extra=extra), _comparable(value.content)
    if isinstance(value, Reasoning):
        return replace(value, extra=_unnamed(value.extra))
    if isinstance(value, ToolCallIR):
        extra = _unnamed(dict(keys(value.extra, "")))
        return replace(value, error=None, raw=value.raw if value.input is None else None, extra=extra)
    if isinstance(value, Usage):
        return value.input, value.output, value.cache_read, value.cache_write, value.reasoning
    if isinstance(value, Text | Media) and value.extra:
        return replace(value, extra=dict(keys(value.extra, "")))
    return dict(value) if hasattr(value, "keys") else None if value == "" else value


def _unnamed(extra: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Without the name of an item, which a new body of the Responses API has to have."""
    return {key: value for key, value in extra.items() if key.removeprefix("/") != "id"}


def _parts(parts: Sequence[Part]) -> Any:
    """Tags of reasoning in a text mean the same whether they were told apart or not."""
    if not any(_is_tagged(p) or (isinstance(p, Text) and "think>" in p.text) for p in parts):
        return tuple(_comparable(part) for part in parts)
    texts = [p.text or "" for p in parts if isinstance(p, Text) or _is_tagged(p)]  # type: ignore[union-attr]
    rest = [_comparable(p) for p in parts if not (isinstance(p, Text) or _is_tagged(p))]
    return _TAGS.sub("", "".join(texts)), rest


def _is_tagged(part: Part) -> bool:
    return isinstance(part, Reasoning) and part.carrier is Carrier.THINK_TEXT
