"""Members of an itemized request or response beside its items, in the form of messages without parts.

So it can be compared and written back like any other: ``extra`` holds keys at their places on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse, ToolDef
from workbench.protocols.common.changes import differs
from workbench.protocols.families.items.request import choice_json, tool_json

READ = ("model", "tools", "tool_choice", "parallel", "stream", "thinking", "previous_id")
"""Fields of a request that are read from its keys."""

READ_OF_ANSWERS = ("id", "model", "finish_reason", "error")
"""The same of an answer."""


def request_nodes(request: ModelRequest) -> tuple[Message, ...]:
    """The keys of a request with its instructions, its tools, its items."""
    own = {
        "model": request.model,
        "parallel_tool_calls": request.parallel,
        "tool_choice": choice_json(request.tool_choice),
        "previous_response_id": None if request.params.get("conversation") else request.previous_id,
    }
    keys = {k: v for k, v in own.items() if v is not None} | dict(request.params)
    tools = (Message("", (), tool_json(tool), tool.pointer) for tool in _request_tools(request))
    return (Message("", request.system, keys), *tools, *request.messages)


def response_nodes(response: ModelResponse) -> tuple[Message, ...]:
    """The keys of an answer, its items."""
    own = {"id": response.id, "model": response.model}
    keys = {k: v for k, v in own.items() if v is not None} | dict(response.params) | dict(_ending(response))
    if response.usage:
        keys["usage"] = response.usage.raw
    return (Message("", (), keys), *response.messages)


def _ending(response: ModelResponse) -> Mapping[str, JsonValue]:
    """The finish reason where it was: in the details of an incomplete answer, or as its status."""
    details = response.params.get("incomplete_details")
    if response.finish_reason is None:
        return {}
    if isinstance(details, dict) and "status" in response.params:
        return {"incomplete_details": {**details, "reason": response.finish_reason}}
    return {"status": response.finish_reason}


def settle_tools(request: ModelRequest, before: ModelRequest, written: ModelRequest) -> ModelRequest:
    """The request as edited; tools that nobody touched are as their items state now."""
    if differs(_item_tools(request), _item_tools(before)):
        return request
    return replace(request, tools=(*_request_tools(request), *_item_tools(written)))


def _request_tools(request: ModelRequest) -> tuple[ToolDef, ...]:
    """Tools of the request itself."""
    return tuple(tool for tool in request.tools if tool.pointer.startswith("/tools/"))


def _item_tools(request: ModelRequest) -> tuple[ToolDef, ...]:
    """Tools that are in items: they are edited there."""
    return tuple(tool for tool in request.tools if not tool.pointer.startswith("/tools/"))
