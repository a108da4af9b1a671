"""Chat Completions requests, official and of every dialect.

Facts: ``types/chat/completion_create_params.py`` of the official ``openai`` SDK 3.54. Dialects add switches of thinking
(``thinking.type`` of DeepSeek, Kimi and GLM, ``enable_thinking`` of Qwen, ``chat_template_kwargs`` of vLLM and SGLang,
``reasoning`` of OpenRouter, ``reasoning_effort``) and ``top_k`` (vLLM, OpenRouter). What has no field in the IR is kept
in ``extra``, at its place on the wire.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.errors import ProtocolMismatch
from workbench.ir import NOTHING, JsonValue, Message, ModelRequest, ModelResponse, ToolChoice
from workbench.protocols._params import Param, read_params
from workbench.protocols.common.reading import Notes, read_messages
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.shapes.chat.message import read_message
from workbench.protocols.shapes.chat.tools import read_tools, tool_json

PROTOCOL = "openai-chat"

_IR_KEYS: Mapping[str, type] = {
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
        raise ProtocolMismatch("not a request of this protocol: expected an object with 'messages'")
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
        params={k: v for k, v in body.items() if v is None or not isinstance(v, _IR_KEYS.get(k, ()))} or NOTHING,
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
    message = "tool_choice is not 'auto', 'none', 'required' or an object that names a tool"
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
        return choice.value if same else next(value for value, mode in MODES.items() if mode == choice.mode)
    value = choice.value if isinstance(choice.value, dict) else {"type": "function", "function": {}}
    key = "custom" if value.get("type") == "custom" else "function"
    inner = value.get(key)
    return {**value, key: {**inner, "name": choice.name}} if isinstance(inner, dict) else {**value, "name": choice.name}


_THINKING_KEY = "thinking"
"""Stands for the places that ``ModelRequest.thinking`` is read from."""

_PLACES: Mapping[str, str] = {
    "/max_completion_tokens": "max_tokens",
    "/max_tokens": "max_tokens",
    "/temperature": "temperature",
    "/top_p": "top_p",
    "/top_k": "top_k",
    "/stop": "stop",
    "/seed": "seed",
    "/frequency_penalty": "frequency_penalty",
    "/presence_penalty": "presence_penalty",
    "/reasoning_effort": "effort",
    "/reasoning/effort": "effort",
    "/reasoning/max_tokens": "thinking_budget",
    "/thinking/budget_tokens": "thinking_budget",
    "/thinking_budget": "thinking_budget",
    "/n": "count",
    "/user": "user",
    "/service_tier": "service_tier",
    "/thinking/type": _THINKING_KEY,
    "/enable_thinking": _THINKING_KEY,
    "/chat_template_kwargs/enable_thinking": _THINKING_KEY,
    "/chat_template_kwargs/thinking": _THINKING_KEY,
    "/reasoning/enabled": _THINKING_KEY,
}
WIRE_NAMES: Mapping[str, str] = {
    "max_tokens": "/max_completion_tokens",
    "temperature": "/temperature",
    "top_p": "/top_p",
    "stop": "/stop",
    "seed": "/seed",
    "frequency_penalty": "/frequency_penalty",
    "presence_penalty": "/presence_penalty",
    "effort": "/reasoning_effort",
    "count": "/n",
    "user": "/user",
    "service_tier": "/service_tier",
}
"""Name → the place it is written to; ``write_format`` writes the form of the answer."""

NAMES = frozenset((*WIRE_NAMES, "response_schema", "response_json"))
_MEANINGS: Mapping[JsonValue, str] = {"enabled": "on", "disabled": "off", True: "on", False: "off"}
_FORMAT_KEYS = ("schema", "name", "strict", "description")


def params(request: ModelRequest) -> tuple[Param, ...]:
    """Every parameter that has no field of ``ModelRequest``."""
    return tuple(_find_params(request))


def _find_params(request: ModelRequest) -> Iterator[Param]:
    for param in read_params(request.params, _PLACES):
        if param.pointer == "/response_format":
            yield from _find_format(param)
        elif param.name == _THINKING_KEY:
            if not (isinstance(param.value, str | bool) and _meaning(param.value) == request.thinking):
                yield param._replace(name="")
        elif not (param.name == "effort" and param.value == "none" and request.thinking == "off"):
            yield param


def _meaning(value: str | bool) -> str:
    return _MEANINGS.get(value, str(value))


def _find_format(param: Param) -> Iterator[Param]:
    """``response_format``: any JSON, or JSON of a schema."""
    value = param.value if isinstance(param.value, dict) else {}
    inside = value.get("json_schema")
    if value.get("type") == "json_object":
        yield Param(param.pointer, True, "response_json")
    elif value.get("type") == "json_schema" and isinstance(inside, dict) and "schema" in inside:
        format_members = {k: v for k, v in inside.items() if k in _FORMAT_KEYS and v is not None}
        yield Param(f"{param.pointer}/json_schema", format_members, "response_schema")
    else:
        yield param


def write_format(params: Mapping[str, JsonValue], body: dict[str, JsonValue]) -> None:
    """Say the form of the answer."""
    if "response_schema" in params:
        body["response_format"] = {"type": "json_schema", "json_schema": dict(params["response_schema"])}
    elif "response_json" in params:
        body["response_format"] = {"type": "json_object"}
