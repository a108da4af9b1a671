"""Calls in Chat Completions messages.

Facts: ``types/chat/chat_completion_message_{function,custom}_tool_call.py`` and the deprecated ``function_call`` of the
official ``openai`` SDK 3.52. Arguments are a string of JSON; servers that send an object, null or nothing are known.
"""

from __future__ import annotations

from workbench.errors import WireError
from workbench.ir import JsonValue, Opaque, Part, Source, ToolCallIR
from workbench.protocols.common.reading import VERBATIM, BlockReader, Notes, kind_of
from workbench.protocols.families.chat.blocks import merge_nested
from workbench.wire import loads

FUNCTION, CUSTOM, LEGACY = "openai", "openai-custom", "openai-function-call"
"""Values of ``ToolCallIR.format``: a function, a custom tool with free-text input, the deprecated single call."""


def parse_arguments(raw: str) -> tuple[JsonValue, str | None]:
    """(value, None), or (None, why it is not one JSON value)."""
    if not raw.strip():
        return None, "the argument text is empty"
    try:
        return loads(raw), None
    except WireError as error:
        return None, str(error)


def read_call(value: JsonValue, at: str, notes: Notes) -> Part:
    """One entry of ``tool_calls``."""
    if not isinstance(value, dict):
        notes.shape(f"a tool call is {kind_of(value)}, not an object", at)
        return Opaque(kind_of(value), value, Source(at, VERBATIM))
    call, kind = BlockReader(value, at, notes), value.get("type")
    inside = value.get("custom" if kind == "custom" else "function")
    if isinstance(inside, dict):
        inner = BlockReader(inside, f"{at}/{'custom' if kind == 'custom' else 'function'}", notes)
        return _custom(call, inner) if kind == "custom" else _function(call, inner)
    if isinstance(kind, str) and kind not in ("function", "custom"):
        return Opaque(kind, value, Source(at, VERBATIM))
    notes.shape("a tool call without the object that names its function", at)
    call_id, extra = call.string("id", "id"), call.extra(typed="type" in value)
    return ToolCallIR(call_id, None, None, FUNCTION, extra=extra, source=call.source())


def is_zero(value: JsonValue) -> bool:
    """An object without a value: servers that write whole structs have it in place of what is absent."""
    return isinstance(value, dict) and not any(value.values())


def read_function_call(call: BlockReader) -> Part:
    """The deprecated ``function_call`` of a message."""
    name = call.string("name", "name")
    value, raw, error = _arguments(call)
    return ToolCallIR(None, name, value, LEGACY, raw, error=error, extra=call.extra(), source=call.source())


def _function(call: BlockReader, function: BlockReader) -> Part:
    kind = call.value.get("type")
    call_id, name = call.string("id", "id"), function.string("name", "name")
    value, raw, error = _arguments(function)
    extra = merge_nested(call, "function", function, typed=kind not in ("function", None))
    return ToolCallIR(call_id, name, value, FUNCTION, raw, error=error, extra=extra, source=call.source())


def _custom(call: BlockReader, custom: BlockReader) -> Part:
    call_id, name, value = call.string("id", "id"), custom.string("name", "name"), custom.take("input", "input")
    extra = merge_nested(call, "custom", custom)
    return ToolCallIR(call_id, name, value, CUSTOM, extra=extra, source=call.source())


def _arguments(function: BlockReader) -> tuple[JsonValue, str | None, str | None]:
    """(parsed, text, why the text does not parse)."""
    value = function.take("input", "arguments")
    if isinstance(value, str):
        function.pairs.append(("raw", "/arguments"))
        parsed, error = parse_arguments(value)
        return parsed, value, error
    if value is None:
        what = "arguments is null" if "arguments" in function.value else "a call without arguments"
        function.notes.add(
            "args.empty", f"{what}: in this protocol even an empty object is a string", f"{function.at}/arguments"
        )
    else:
        message = f"arguments is {kind_of(value)}, not a string of JSON"
        function.notes.add("args.not-object", message, f"{function.at}/arguments")
    return value, None, None
