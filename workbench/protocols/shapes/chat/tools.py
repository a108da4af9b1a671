"""Tools that are declared as functions: ``{"type": "function", "function": {"name", "description", "parameters"}}``.

Facts: ``types/chat/chat_completion_{function,custom}_tool_param.py`` of the official ``openai`` SDK 3.52, ``Tool`` of
the ``ollama`` client 0.6, ``types/tool_v2.py`` of the ``cohere`` SDK 7.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import JsonValue, ToolDef
from workbench.protocols.common.reading import BlockReader, Notes
from workbench.protocols.shapes.chat.message import merge_nested
from workbench.wire import type_words


def read_tools(body: Mapping[str, JsonValue], key: str, notes: Notes) -> Iterator[ToolDef]:
    """The tools at a key of a request: ``tools``, or the deprecated ``functions`` without the object around each."""
    value = body.get(key)
    if isinstance(value, list):
        wrapped = key == "tools"
        yield from ((_tool if wrapped else _function)(tool, f"/{key}/{n}", notes) for n, tool in enumerate(value))
    elif value is not None:
        notes.add("schema.malformed", f"{key} is {type_words(value)}, not a list", f"/{key}")


def _tool(value: JsonValue, at: str, notes: Notes) -> ToolDef:
    if not isinstance(value, dict):
        return _function(value, at, notes)
    tool, kind = BlockReader(value, at, notes), value.get("type")
    key = "custom" if kind == "custom" else "function"
    inside = value.get(key)
    if isinstance(inside, dict):
        return _read_tool(tool, key, BlockReader(inside, f"{at}/{key}", notes))
    if not isinstance(kind, str) or kind in ("function", "custom"):
        notes.add("schema.malformed", f"a tool without its {key!r} object", at, lacks=key)
    is_server = isinstance(kind, str) and kind not in ("function", "custom")
    name = value.get("name")
    return ToolDef(
        name if isinstance(name, str) else None,
        None,
        None,
        kind="server" if is_server else "client",
        extra=value,
        pointer=at,
    )


def _read_tool(tool: BlockReader, key: str, inner: BlockReader) -> ToolDef:
    return ToolDef(
        name=inner.string("name", "name"),
        description=inner.string("description", "description"),
        schema=inner.take("schema", "parameters"),
        kind="custom" if key == "custom" else "client",
        strict=inner.flag("strict", "strict"),
        extra=merge_nested(tool, key, inner, typed=tool.value.get("type") not in ("function", "custom", None)),
        pointer=tool.at,
    )


def _function(value: JsonValue, at: str, notes: Notes) -> ToolDef:
    """One entry of the deprecated ``functions``: a function without the object around it."""
    if not isinstance(value, dict):
        notes.add("schema.malformed", f"a tool is {type_words(value)}, not an object", at)
        return ToolDef(None, None, None, extra={"value": value}, pointer=at)
    function = BlockReader(value, at, notes)
    return ToolDef(
        name=function.string("name", "name"),
        description=function.string("description", "description"),
        schema=function.take("schema", "parameters"),
        strict=function.flag("strict", "strict"),
        extra=function.extra(typed="type" in value),
        pointer=at,
    )


def tool_json(tool: ToolDef) -> Mapping[str, JsonValue]:
    """A tool in wire form."""
    own = {"name": tool.name, "description": tool.description, "parameters": tool.schema, "strict": tool.strict}
    members = {k: v for k, v in own.items() if v is not None}
    if tool.pointer.startswith("/functions/"):
        return members | dict(tool.extra)
    if tool.kind == "server" or "name" in tool.extra:  # kept as it was
        return tool.extra
    key = "custom" if tool.kind == "custom" else "function"
    inner = tool.extra.get(key) or {}
    return {**tool.extra, key: members | inner} if isinstance(inner, dict) else tool.extra
