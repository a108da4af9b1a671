"""Requests with contents as nodes that can be compared, so that an edit finds the bytes it changes."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import JsonValue, Message, ModelRequest, ToolDef
from workbench.protocols.shapes.contents.request import ENVELOPE, KEY, choice_json, choice_pointer, schema_key, unwrap
from workbench.wire import value_at


def request_nodes(request: ModelRequest, before: ModelRequest, body: JsonValue) -> tuple[Message, ...]:
    """A request as nodes that can be compared: its keys, choice and tools in the form of messages without parts."""
    inner, at = unwrap(body, ENVELOPE, (KEY,))
    keys = dict(request.params)
    if before.model is not None:
        keys |= {"model": request.model}
    choice = request.tool_choice
    config = choice_json(choice) if choice else None
    choices = Message("", (), config if isinstance(config, dict) else {}, choice_pointer(inner, at))
    tools = (Message("", (), _tool_json(tool, value_at(body, tool.pointer)), tool.pointer) for tool in request.tools)
    return (Message("", request.system, keys), choices, *tools, *request.messages)


def _tool_json(tool: ToolDef, declared: JsonValue) -> Mapping[str, JsonValue]:
    if tool.kind == "server":
        return tool.extra
    own: dict[str, JsonValue] = {"name": tool.name, "description": tool.description}
    if isinstance(declared, dict):
        own[schema_key(declared) or "parameters"] = tool.schema
    return {k: v for k, v in own.items() if v is not None} | dict(tool.extra)
