"""Requests whose messages are made of typed blocks.

Facts: ``types/message_create_params.py`` and its beta twin in the official ``anthropic`` SDK 2.11.

Facts: ``types/message_create_params.py``, ``output_config_param.py`` and ``thinking_config_*_param.py`` of the official
``anthropic`` SDK 2.12.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.errors import ProtocolMismatch
from workbench.ir import (
    NOTHING,
    JsonValue,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    ToolChoice,
    ToolDef,
)
from workbench.protocols._params import Param, read_params
from workbench.protocols.common.reading import BlockReader, Notes, misshapen_message, read_messages
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.shapes.blocks.content import read_content
from workbench.wire import type_words

PROTOCOL = "anthropic-messages"

_IR_KEYS: Mapping[str, type] = {
    "model": str,
    "messages": list,
    "system": object,
    "tools": list,
    "tool_choice": object,
    "stream": bool,
}
"""Keys that have a field of the IR to themselves, and the type they have to be of to fit into it."""

_THINKING = {"enabled": "on", "disabled": "off"}
_CHOICES = ("auto", "any", "tool", "none")
_RUN_BY_CLIENT = ("custom", "function", "bash_", "text_editor_", "computer_", "memory_", "browser_")
"""Beginnings of tool types whose calls the client must answer, although some have no schema of their own."""


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; with ``known``, it holds the texts of its messages.

    Raises:
        ProtocolMismatch: it has no ``messages``.
    """
    if not isinstance(body, dict) or "messages" not in body:
        raise ProtocolMismatch("not a request of this protocol: expected an object with 'messages'")
    notes = Notes()
    choice = body.get("tool_choice")
    thread = body.get("thread")
    model = body.get("model")
    return ModelRequest(
        protocol=PROTOCOL,
        model=model if isinstance(model, str) else None,
        messages=read_messages(body["messages"], notes, read_message, known),
        system=_system(body.get("system"), notes),
        tools=_tools(body.get("tools"), notes),
        tool_choice=_tool_choice(choice, notes),
        parallel=_parallel(choice),
        stream=body.get("stream") is True,
        thinking=_thinking(body.get("thinking")),
        previous_id=_string(thread, "previous_message_id"),
        params=_params(body),
        anomalies=tuple(notes.anomalies),
    )


def read_message(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One message; a wrong value is kept, and an anomaly is noted."""
    notes.base = pointer
    if not isinstance(value, dict):
        return misshapen_message(value, "a message", pointer, notes)
    role = value.get("role")
    own = {"role", "content"} if isinstance(role, str) else {"content"}
    if not isinstance(role, str):
        notes.no_role(role)
    content = value.get("content")
    parts: tuple[Part, ...] = ()
    if content is not None:
        parts = read_content(content, "/content", notes)
    else:
        notes.shape("a message without content", "/content" if "content" in value else "")
    extra = {k: v for k, v in value.items() if k not in own}
    return Message(role if isinstance(role, str) else "", parts, extra or NOTHING, pointer)


def _system(value: JsonValue, notes: Notes) -> tuple[Part, ...]:
    return () if value is None else read_content(value, "/system", notes)


def _tools(value: JsonValue, notes: Notes) -> tuple[ToolDef, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        notes.add("schema.malformed", f"'tools' is {type_words(value)}, not a list", "/tools")
        return ()
    return tuple(_tool(tool, f"/tools/{n}", notes) for n, tool in enumerate(value))


def _tool(value: JsonValue, at: str, notes: Notes) -> ToolDef:
    if not isinstance(value, dict):
        notes.add("schema.malformed", f"a tool is {type_words(value)}, not an object", at)
        return ToolDef(None, None, None, extra={"value": value}, pointer=at)
    if isinstance(value.get("function"), dict):
        notes.add("schema.malformed", "a tool wrapped in 'function', which this protocol does not use", at)
    tool, kind = BlockReader(value, at, notes), value.get("type")
    return ToolDef(
        name=tool.string("name", "name"),
        description=tool.string("description", "description"),
        schema=tool.take("schema", "input_schema"),
        kind=_tool_kind(kind, value),
        strict=tool.flag("strict", "strict"),
        extra=tool.extra(typed="type" in value),
        pointer=at,
    )


def _tool_kind(kind: JsonValue, value: Mapping[str, JsonValue]) -> str:
    ours = not isinstance(kind, str) or "input_schema" in value or kind.startswith(_RUN_BY_CLIENT)
    return "client" if ours else "server"


def _tool_choice(value: JsonValue, notes: Notes) -> ToolChoice | None:
    if value is None:
        return None
    kind = value.get("type") if isinstance(value, dict) else None
    if kind not in _CHOICES:
        notes.add(
            "choice.unsupported", "tool_choice is not an object of type 'auto', 'any', 'tool' or 'none'", "/tool_choice"
        )
        return ToolChoice("other", value=value)
    return ToolChoice(kind, _string(value, "name"), value)


def _parallel(choice: JsonValue) -> bool | None:
    off = choice.get("disable_parallel_tool_use") if isinstance(choice, dict) else None
    return not off if isinstance(off, bool) else None


def _thinking(value: JsonValue) -> str | None:
    kind = _string(value, "type")
    return None if kind is None else _THINKING.get(kind, kind)


def _string(value: JsonValue, key: str) -> str | None:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _params(body: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Every key that no field of the IR holds in full."""
    return {k: v for k, v in body.items() if v is None or not isinstance(v, _IR_KEYS.get(k, ()))} or NOTHING


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
    value = choice.value if isinstance(choice.value, dict) else {}
    return value | {"type": choice.mode} | ({} if choice.name is None else {"name": choice.name})


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


_PLACES: Mapping[str, str] = {
    "/max_tokens": "max_tokens",
    "/temperature": "temperature",
    "/top_p": "top_p",
    "/top_k": "top_k",
    "/stop_sequences": "stop",
    "/output_config/effort": "effort",
    "/output_config/format": "response_schema",
    "/output_format": "response_schema",
    "/thinking/budget_tokens": "thinking_budget",
    "/metadata/user_id": "user",
    "/service_tier": "service_tier",
    "/thinking/type": "",
    "/thread/previous_message_id": "",
}
WIRE_NAMES: Mapping[str, str] = {
    "max_tokens": "/max_tokens",
    "temperature": "/temperature",
    "top_p": "/top_p",
    "top_k": "/top_k",
    "stop": "/stop_sequences",
    "effort": "/output_config/effort",
    "response_schema": "/output_config/format",
    "thinking_budget": "/thinking/budget_tokens",
    "user": "/metadata/user_id",
    "service_tier": "/service_tier",
}
"""Name → the place it is written to."""

_HELD_POINTERS = ("/thinking/type", "/thread/previous_message_id")
"""Strings that have a field of ``ModelRequest``."""


def params(request: ModelRequest) -> tuple[Param, ...]:
    """Every parameter that has no field of ``ModelRequest``."""
    return tuple(_find_params(request))


def _find_params(request: ModelRequest) -> Iterator[Param]:
    for param in read_params(request.params, _PLACES):
        if param.name == "response_schema":
            yield _format(param)
        elif not (param.pointer in _HELD_POINTERS and isinstance(param.value, str)):
            yield param


def _format(param: Param) -> Param:
    value = param.value
    if isinstance(value, dict) and value.get("type") == "json_schema" and value.keys() == {"type", "schema"}:
        return Param(param.pointer, {"schema": value["schema"]}, "response_schema")
    return param._replace(name="")


def in_place(params: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The values as they are written."""
    values = dict(params)
    if "response_schema" in values:
        values["response_schema"] = {"type": "json_schema", "schema": values["response_schema"]["schema"]}
    return values
