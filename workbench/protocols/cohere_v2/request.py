"""Requests of Cohere's second API, ``/v2/chat``: messages like those of Chat Completions, other keys beside them.

Facts: ``v2/client.py`` and ``types/*_v2.py`` of the official ``cohere`` SDK 7.3. ``tool_choice`` is REQUIRED or NONE;
``strict_tools`` counts for every tool of the request; ``p`` and ``k`` are what others call ``top_p`` and ``top_k``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.errors import ProtocolMismatch
from workbench.ir import NOTHING, JsonValue, Message, ModelRequest, ToolChoice, ToolDef
from workbench.lazy_dataclass import replace
from workbench.protocols._params import Param, read_params
from workbench.protocols.common.reading import Notes, read_messages
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.shapes.chat.message import read_message
from workbench.protocols.shapes.chat.tools import read_tools, tool_json

PROTOCOL = "cohere-v2"

_IR_KEYS: Mapping[str, type] = {"model": str, "messages": list, "tools": list, "tool_choice": object, "stream": bool}
"""Keys that have a field of the IR to themselves, and the type they have to be of to fit into it."""

CHOICES: Mapping[str, str] = {"REQUIRED": "any", "NONE": "none"}
"""``tool_choice`` as sent → mode; left out it is "auto"."""

SWITCH: Mapping[str, str] = {"enabled": "on", "disabled": "off"}
PLACES: Mapping[str, str] = {
    "/max_tokens": "max_tokens",
    "/temperature": "temperature",
    "/p": "top_p",
    "/k": "top_k",
    "/stop_sequences": "stop",
    "/seed": "seed",
    "/frequency_penalty": "frequency_penalty",
    "/presence_penalty": "presence_penalty",
    "/thinking/token_budget": "thinking_budget",
}
"""Pointer of a parameter → its common name; ``response_format`` is read apart."""


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; with ``known``, it holds the texts of its messages.

    Raises:
        ProtocolMismatch: it has no ``messages``.
    """
    if not isinstance(body, dict) or "messages" not in body:
        raise ProtocolMismatch("not a request of this protocol: expected an object with 'messages'")
    notes, model = Notes(), body.get("model")
    messages = read_messages(body["messages"], notes, read_message, known)
    tools = tuple(read_tools(body, "tools", notes))
    if body.get("strict_tools") is True:
        tools = tuple(replace(tool, strict=True) if tool.strict is None else tool for tool in tools)
    return ModelRequest(
        protocol=PROTOCOL,
        model=model if isinstance(model, str) else None,
        messages=messages,
        tools=tools,
        tool_choice=_choice(body.get("tool_choice"), notes),
        stream=body.get("stream") is True,
        thinking=_thinking(body.get("thinking")),
        params={k: v for k, v in body.items() if v is None or not isinstance(v, _IR_KEYS.get(k, ()))} or NOTHING,
        anomalies=tuple(notes.anomalies),
    )


def find_params(request: ModelRequest) -> Iterator[Param]:
    """Every parameter that has no field of the request."""
    for param in read_params(request.params, PLACES):
        if param.pointer == "/response_format":
            yield _format(param)
        elif param.pointer == "/strict_tools" and param.value is True and request.tools:
            continue  # each tool says it
        elif not (param.pointer == "/thinking/type" and isinstance(param.value, str) and param.value in SWITCH):
            yield param


def _format(param: Param) -> Param:
    """JSON of any kind, or of a schema, whose key was ``schema`` once."""
    value = param.value if isinstance(param.value, dict) else {}
    if value.get("type") != "json_object":
        return param
    key = next((key for key in ("json_schema", "schema") if isinstance(value.get(key), dict)), None)
    if key is None:
        return Param(param.pointer, True, "response_json")
    return Param(f"{param.pointer}/{key}", {"schema": value[key]}, "response_schema")


def _choice(value: JsonValue, notes: Notes) -> ToolChoice | None:
    if value is None:
        return None
    if isinstance(value, str) and value in CHOICES:
        return ToolChoice(CHOICES[value], value=value)
    notes.add("choice.unsupported", "tool_choice is neither REQUIRED nor NONE", "/tool_choice")
    return ToolChoice("other", value=value)


def _thinking(value: JsonValue) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else None
    return SWITCH.get(kind, kind) if isinstance(kind, str) else None


def request_nodes(request: ModelRequest) -> tuple[Message, ...]:
    """A request as nodes that can be compared: its keys and its tools in the form of messages without parts."""
    own = {"model": request.model, "tool_choice": _choice_json(request.tool_choice)}
    keys = {k: v for k, v in own.items() if v is not None} | dict(request.params)
    is_strict = request.params.get("strict_tools") is True
    tools = (
        Message("", (), extra=_tool_json(tool, is_strict=is_strict), pointer=tool.pointer) for tool in request.tools
    )
    return (Message("", (), extra=keys), *tools, *request.messages)


def _choice_json(choice: ToolChoice | None) -> JsonValue:
    if choice is None or choice.mode == "other":
        return choice and choice.value
    return next((sent for sent, mode in CHOICES.items() if mode == choice.mode), choice.mode)


def _tool_json(tool: ToolDef, *, is_strict: bool) -> Mapping[str, JsonValue]:
    """A tool in wire form, where the request says for all of them that they are strict."""
    return tool_json(replace(tool, strict=None) if is_strict else tool)
