"""Requests and answers made of typed blocks as nodes that can be compared value by value."""

from __future__ import annotations

from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse, ToolChoice, ToolDef


def request_nodes(request: ModelRequest) -> tuple[Message, ...]:
    """A request as nodes that can be compared: its own keys and its tools in the form of messages without parts."""
    choice = request.tool_choice
    own = {"model": request.model, "tool_choice": choice and _choice_json(choice)}
    keys = {k: v for k, v in own.items() if v is not None} | dict(request.params)
    tools = (Message("", (), extra=_tool_json(tool), pointer=tool.pointer) for tool in request.tools)
    return (Message("", request.system, extra=keys), *tools, *request.messages)


def _choice_json(choice: ToolChoice) -> JsonValue:
    if choice.mode == "other":
        return choice.value
    sent = choice.value if isinstance(choice.value, dict) else {}
    return sent | {"type": choice.mode} | ({} if choice.name is None else {"name": choice.name})


def _tool_json(tool: ToolDef) -> dict[str, JsonValue]:
    own = {"name": tool.name, "description": tool.description, "input_schema": tool.schema, "strict": tool.strict}
    return {k: v for k, v in own.items() if v is not None} | dict(tool.extra)


def response_nodes(response: ModelResponse) -> tuple[Message, ...]:
    """An answer as such nodes."""
    own = {"id": response.id, "model": response.model, "stop_reason": response.finish_reason}
    keys = {k: v for k, v in own.items() if v is not None} | dict(response.params)
    if response.usage:
        keys["usage"] = response.usage.raw
    return (Message("", (), extra=keys), *response.messages)
