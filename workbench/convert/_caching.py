"""Marks for the cache: a key of what they stand on, or a block of their own behind it.

Normal form has the key, ``cache_control``; a block that marks nothing that could have it stays what it is.

Facts: ``types/cache_control_ephemeral_param.py`` of the official ``anthropic`` SDK 2.12; ``CachePointBlock`` in
botocore's service model ``bedrock-runtime/2023-09-30``: type "default", and the same ``ttl``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.convert.normal import NormalRequest
from workbench.ir import JsonValue, Media, Opaque, Part, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.protocols import Param

KEY = "cache_control"
BLOCK = "cachePoint"


def marked(normal: NormalRequest) -> NormalRequest:
    """The request with every block for the cache as a key of what stands before it."""
    request = normal.request
    messages = tuple(
        message if (parts := _marked(message.parts)) is message.parts else replace(message, parts=parts)
        for message in request.messages
    )
    tools, params = _marked_tools(request.tools, normal.params)
    changed = replace(request, messages=messages, system=_marked(request.system), tools=tools)
    return replace(normal, request=changed, params=params)


def is_mark(value: JsonValue) -> bool:
    """A block for the cache, and nothing beside it."""
    return isinstance(value, dict) and value.keys() == {BLOCK}


def _marked(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    if not any(isinstance(part, Opaque) and part.type == BLOCK for part in parts):
        return parts
    kept = list[Part]()
    for part in parts:
        key = _key_of(part.value) if isinstance(part, Opaque) else None
        before = kept[-1] if kept else None
        if key and isinstance(before, Text | Media | ToolCallIR | ToolResultIR) and KEY not in before.extra:
            kept[-1] = replace(before, extra={**before.extra, KEY: key})
        else:
            kept.append(part)
    return tuple(kept)


def _key_of(value: JsonValue) -> JsonValue:
    """``cache_control`` for a block; None where it says more than that has words for."""
    inside = value[BLOCK] if is_mark(value) else None
    if not isinstance(inside, dict) or inside.get("type") != "default" or not inside.keys() <= {"type", "ttl"}:
        return None
    return {**inside, "type": "ephemeral"}


def _marked_tools(tools: tuple[ToolDef, ...], params: Iterable[Param]) -> tuple[tuple[ToolDef, ...], tuple[Param, ...]]:
    """Tools, and the parameters without the marks that stand between tools."""
    held, rest = list(tools), list[Param]()
    for param in params:
        place, _, number = param.pointer.rpartition("/")
        key = _key_of(param.value) if number.isdecimal() and len(number) < 9 else None
        before = [n for n, tool in enumerate(held) if key and tool.pointer == f"{place}/{int(number) - 1}"]
        if before and KEY not in held[before[0]].extra:
            tool = held[before[0]]
            held[before[0]] = replace(tool, extra={**tool.extra, KEY: key})
        else:
            rest.append(param)
    return tuple(held), tuple(rest)
