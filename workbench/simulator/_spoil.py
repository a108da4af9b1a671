"""Argument faults: healthy calls made wrong, each in one way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.ir import JsonValue, ToolCallIR
from workbench.wire import dumps

UNKNOWN_TOOL = "no_such_tool"


def spoil_call(call: ToolCallIR, fault: str, schema: JsonValue) -> ToolCallIR:
    """The call with one fault of ``ARGUMENT_FAULTS``; unchanged for "". Only ``raw`` is sent."""
    raw, value = call.raw or "", call.input
    match fault:
        case "invalid-json":
            return replace(call, raw=raw.replace('"', "'") if '"' in raw else raw + "}")
        case "double-encoded":
            return replace(call, raw=dumps(raw).decode())
        case "empty":
            return replace(call, raw="")
        case "truncated":
            return replace(call, raw=raw[: max(1, len(raw) * 2 // 3)])
        case "unknown-tool":
            return replace(call, name=UNKNOWN_TOOL)
        case "wrong-type" | "missing-required" if isinstance(value, dict):
            changed = _with_wrong_type(value) if fault == "wrong-type" else _without(value, schema)
            return replace(call, input=changed, raw=dumps(changed).decode())
    return call


def _with_wrong_type(value: Mapping[str, JsonValue]) -> JsonValue:
    """The first argument as a list of itself, or as text if it is a list."""
    first = next(iter(value), None)
    if first is None:
        return ["no object"]
    held = value[first]
    return {**value, first: str(held) if isinstance(held, list | dict) else [held]}


def _without(value: Mapping[str, JsonValue], schema: JsonValue) -> JsonValue:
    """Without the first required argument; without any argument if none is required."""
    required = schema.get("required") if isinstance(schema, dict) else None
    names = [name for name in required or () if name in value] if isinstance(required, list) else []
    return {k: v for k, v in value.items() if k != names[0]} if names else {}
