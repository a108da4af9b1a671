"""Turns cache-point blocks into ``cache_control`` keys on the part before them.

Normal form has the key; a block after something that cannot have the key stays a block.

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


def apply_cache_points(normal: NormalRequest) -> NormalRequest:
    """Turn each cache-point block into a ``cache_control`` key on the preceding part."""
    request = normal.request
    messages = tuple(
        message if (parts := _apply_to_parts(message.parts)) is message.parts else replace(message, parts=parts)
        for message in request.messages
    )
    tools, params = _apply_to_tools(request.tools, normal.params)
    changed = replace(request, messages=messages, system=_apply_to_parts(request.system), tools=tools)
    return replace(normal, request=changed, params=params)


def is_cache_point(value: JsonValue) -> bool:
    """True for an object that holds a cache point and nothing else."""
    return isinstance(value, dict) and value.keys() == {BLOCK}


def _apply_to_parts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
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
    """The ``cache_control`` value for a block; None if the block has fields that it cannot express."""
    inside = value[BLOCK] if is_cache_point(value) else None
    if not isinstance(inside, dict) or inside.get("type") != "default" or not inside.keys() <= {"type", "ttl"}:
        return None
    return {**inside, "type": "ephemeral"}


def _apply_to_tools(
    tools: tuple[ToolDef, ...], params: Iterable[Param]
) -> tuple[tuple[ToolDef, ...], tuple[Param, ...]]:
    """Tools with their cache keys, and the parameters without the cache points between tools."""
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
