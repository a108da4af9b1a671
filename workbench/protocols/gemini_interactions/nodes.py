"""Members of a request or response beside its steps, in the form of messages without parts."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse
from workbench.protocols.gemini_interactions.request import CONFIG, PREVIOUS, choice_json, tool_json

READ = ("model", "tools", "tool_choice", "parallel", "stream", "thinking", "previous_id")
"""Fields of a request that are read from its keys."""

READ_OF_ANSWERS = ("id", "model", "finish_reason", "error")
"""The same of an answer."""


def request_nodes(request: ModelRequest) -> tuple[Message, ...]:
    """The keys of a request with its instructions, its choice, its tools, its steps."""
    own = {"model": request.model, PREVIOUS: request.previous_id}
    keys = _known_keys(own) | dict(request.params)
    choice = request.tool_choice
    choices = Message("", (), {} if choice is None else {"tool_choice": choice_json(choice)}, f"/{CONFIG}")
    tools = (Message("", (), tool_json(tool), tool.pointer) for tool in request.tools)
    return (Message("", request.system, keys), choices, *tools, *request.messages)


def response_nodes(response: ModelResponse) -> tuple[Message, ...]:
    """The keys of an answer, its steps."""
    own = {"id": response.id, "model": response.model, "status": response.finish_reason}
    keys = _known_keys(own) | dict(response.params)
    if response.usage:
        keys["usage"] = response.usage.raw
    return (Message("", (), keys), *response.messages)


def _known_keys(keys: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: value for key, value in keys.items() if value is not None}
