"""Members of a request or response beside its messages, in the form of messages without parts.

So it can be compared and written back like any other: ``extra`` holds keys at their places on the wire.
"""

from __future__ import annotations

from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse, ToolChoice
from workbench.protocols.families.chat.request import MODES
from workbench.protocols.families.chat.tools import tool_json

READ = ("model", "tools", "tool_choice", "parallel", "stream", "thinking")
"""Fields of a request that are read from its keys."""


def request_nodes(request: ModelRequest) -> tuple[Message, ...]:
    """The keys of a request, its tools, its messages."""
    own = {"model": request.model, "parallel_tool_calls": request.parallel, "tool_choice": _choice(request.tool_choice)}
    keys = {k: v for k, v in own.items() if v is not None} | dict(request.params)
    tools = (Message("", (), tool_json(tool), tool.pointer) for tool in request.tools)
    return (Message("", (), keys), *tools, *request.messages)


def response_nodes(response: ModelResponse) -> tuple[Message, ...]:
    """The keys of an answer, its first finish reason, its messages."""
    own = {"id": response.id, "model": response.model}
    keys = {k: v for k, v in own.items() if v is not None} | dict(response.params)
    if response.usage:
        keys["usage"] = response.usage.raw
    reason = {"finish_reason": response.finish_reason} if response.finish_reason is not None else {}
    return (Message("", (), keys), Message("", (), reason, "/choices/0"), *response.messages)


def _choice(choice: ToolChoice | None) -> JsonValue:
    if choice is None or choice.mode == "other":
        return choice and choice.value
    if choice.mode != "tool":
        same = isinstance(choice.value, str) and MODES.get(choice.value) == choice.mode
        return choice.value if same else next(sent for sent, mode in MODES.items() if mode == choice.mode)
    sent = choice.value if isinstance(choice.value, dict) else {"type": "function", "function": {}}
    key = "custom" if sent.get("type") == "custom" else "function"
    inner = sent.get(key)
    return {**sent, key: {**inner, "name": choice.name}} if isinstance(inner, dict) else {**sent, "name": choice.name}
