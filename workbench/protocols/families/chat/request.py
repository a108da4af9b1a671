"""Chat Completions requests, official and of every dialect.

Facts: ``types/chat/completion_create_params.py`` of the official ``openai`` SDK 3.52. Switches of thinking:
``thinking.type`` (DeepSeek, Kimi, GLM), ``enable_thinking`` (Qwen), ``chat_template_kwargs`` (vLLM, SGLang),
``reasoning`` (OpenRouter), ``reasoning_effort``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.errors import ProtocolMismatch
from workbench.ir import NOTHING, JsonValue, ModelRequest, ToolChoice
from workbench.protocols.common.reading import Notes, read_messages
from workbench.protocols.families.chat.message import read_message
from workbench.protocols.families.chat.tools import read_tools
from workbench.protocols.known_messages import KnownMessages

PROTOCOL = "openai-chat"

_HELD: Mapping[str, type] = {
    "model": str,
    "messages": list,
    "tools": list,
    "functions": list,
    "tool_choice": object,
    "function_call": object,
    "parallel_tool_calls": bool,
    "stream": bool,
}
"""Keys that have a field of the IR to themselves, and the type they have to be of to fit into it."""

MODES = {"auto": "auto", "none": "none", "required": "any", "any": "any"}
"""``tool_choice`` as sent → mode."""

_SWITCH = {"enabled": "on", "disabled": "off", True: "on", False: "off"}


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; with ``known``, it holds the texts of its messages.

    Raises:
        ProtocolMismatch: it has no ``messages``.
    """
    if not isinstance(body, dict) or "messages" not in body:
        raise ProtocolMismatch("not a request of this protocol: it is not an object with 'messages'")
    notes = Notes()
    model, parallel = body.get("model"), body.get("parallel_tool_calls")
    return ModelRequest(
        protocol=PROTOCOL,
        model=model if isinstance(model, str) else None,
        messages=read_messages(body["messages"], notes, read_message, known),
        tools=(*read_tools(body, "tools", notes), *read_tools(body, "functions", notes)),
        tool_choice=_tool_choice(body.get("tool_choice", body.get("function_call")), notes),
        parallel=parallel if isinstance(parallel, bool) else None,
        stream=body.get("stream") is True,
        thinking=next(_thinking(body), None),
        params={k: v for k, v in body.items() if v is None or not isinstance(v, _HELD.get(k, ()))} or NOTHING,
        anomalies=tuple(notes.anomalies),
    )


def _tool_choice(value: JsonValue, notes: Notes) -> ToolChoice | None:
    if value is None:
        return None
    if isinstance(value, str) and value in MODES:
        return ToolChoice(MODES[value], value=value)
    if isinstance(value, dict):
        kind = value.get("type")
        if kind == "allowed_tools":
            return ToolChoice("other", value=value)
        inside = value.get("custom" if kind == "custom" else "function", value)
        name = inside.get("name") if isinstance(inside, dict) else None
        if isinstance(name, str):
            return ToolChoice("tool", name, value)
    message = "tool_choice is not auto, none, required or an object that names a tool"
    notes.add("choice.unsupported", message, "/tool_choice")
    return ToolChoice("other", value=value)


def _thinking(body: Mapping[str, JsonValue]) -> Iterator[str]:
    """Values of the switches in the request, the most explicit first."""
    kind = _inside(body, "thinking", "type")
    switches = (
        kind,
        body.get("enable_thinking"),
        _inside(body, "chat_template_kwargs", "enable_thinking"),
        _inside(body, "chat_template_kwargs", "thinking"),
        _inside(body, "reasoning", "enabled"),
    )
    yield from (_SWITCH.get(s, str(s)) for s in switches if isinstance(s, str | bool))
    if _inside(body, "reasoning", "max_tokens") is not None:
        yield "on"
    for effort in (_inside(body, "reasoning", "effort"), body.get("reasoning_effort")):
        if isinstance(effort, str):
            yield "off" if effort == "none" else "on"


def _inside(body: Mapping[str, JsonValue], key: str, inner: str) -> JsonValue:
    value = body.get(key)
    return value.get(inner) if isinstance(value, dict) else None
