"""Requests whose conversation is a list of items.

Facts: ``types/responses/response_create_params.py``, ``tool_param.py`` and ``tool_choice_*_param.py`` of the official
``openai`` SDK 3.54.

So it can be compared and written back like any other: ``extra`` holds keys at their places on the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench.errors import ProtocolMismatch
from workbench.ir import (
    NOTHING,
    JsonValue,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    Source,
    Text,
    ToolChoice,
    ToolDef,
    ToolResultIR,
)
from workbench.lazy_dataclass import replace
from workbench.protocols._params import Param, read_params, write_params
from workbench.protocols.common.changes import differs
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes, read_messages
from workbench.protocols.history import where
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.shapes.items.item import read_item
from workbench.wire import type_name, type_words

PROTOCOL = "openai-responses"

ASKS = ("input", "prompt", "previous_response_id", "conversation")
"""Keys of which a request has at least one."""

_IR_KEYS: Mapping[str, type] = {
    "model": str,
    "input": object,
    "instructions": object,
    "tools": list,
    "tool_choice": object,
    "parallel_tool_calls": bool,
    "stream": bool,
    "previous_response_id": str,
}
"""Keys that have a field of the IR to themselves, and the type they have to be of to fit into it."""

MODES = {"auto": "auto", "none": "none", "required": "any"}
"""``tool_choice`` as sent → mode."""

_RUN_BY_CLIENT = {
    "local_shell": "local_shell",
    "shell": "shell",
    "apply_patch": "apply_patch",
    "computer": "computer",
    "computer_use_preview": "computer",
}
"""Type of a built-in tool whose calls the client answers → the name its calls have."""


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; with ``known``, it holds the texts of its items.

    Raises:
        ProtocolMismatch: it has nothing that could be answered.
    """
    return read_items_request(body, known, PROTOCOL, read_item)


def read_items_request(
    body: JsonValue, known: KnownMessages | None, protocol: str, read: Callable[[JsonValue, str, Notes], Message]
) -> ModelRequest:
    """The same for any protocol whose conversation is the list ``input``; ``read`` reads an item of it."""
    if not isinstance(body, dict) or not any(key in body for key in ASKS):
        raise ProtocolMismatch("not a request of this protocol: expected an object with 'input'")
    notes = Notes()
    messages = _messages(body, notes, known, read)
    model, parallel = body.get("model"), body.get("parallel_tool_calls")
    return ModelRequest(
        protocol=protocol,
        model=model if isinstance(model, str) else None,
        messages=messages,
        system=_system(body.get("instructions"), notes),
        tools=(*_tools(body.get("tools"), "/tools", notes), *_later_tools(messages, notes)),
        tool_choice=_tool_choice(body.get("tool_choice"), notes),
        parallel=parallel if isinstance(parallel, bool) else None,
        stream=body.get("stream") is True,
        thinking=_thinking(body.get("reasoning")),
        previous_id=_previous(body),
        params={k: v for k, v in body.items() if v is None or not isinstance(v, _IR_KEYS.get(k, ()))} or NOTHING,
        anomalies=tuple(notes.anomalies),
        itemized=True,
    )


def _messages(
    body: Mapping[str, JsonValue],
    notes: Notes,
    known: KnownMessages | None,
    read: Callable[[JsonValue, str, Notes], Message],
) -> tuple[Message, ...]:
    entries = body.get("input")
    if isinstance(entries, str):
        return (Message("user", (Text(entries, source=Source("", ITSELF)),), pointer="/input"),)
    return () if entries is None else read_messages(entries, notes, read, known, key="input")


def _system(value: JsonValue, notes: Notes) -> tuple[Part, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(value, source=Source("/instructions", ITSELF)),)
    notes.shape(f"'instructions' is {type_words(value)}, not a string", "/instructions")
    return (Opaque(type_name(value), value, Source("/instructions", VERBATIM)),)


def _tools(value: JsonValue, at: str, notes: Notes) -> Iterator[ToolDef]:
    if isinstance(value, list):
        for n, tool in enumerate(value):
            yield from _tool(tool, f"{at}/{n}", notes)
    elif value is not None:
        notes.add("schema.malformed", f"'tools' is {type_words(value)}, not a list", at)


def brings_tools(message: Message) -> bool:
    """An item that may declare tools."""
    return any(
        part.type == "additional_tools"
        if isinstance(part, Opaque)
        else isinstance(part, ToolResultIR) and part.extra.get("type") == "tool_search_output"
        for part in message.parts
    )


def _later_tools(messages: tuple[Message, ...], notes: Notes) -> Iterator[ToolDef]:
    """Tools that items bring: declared in mid-conversation, or found by a search. Their items say it too."""
    for _, message in where(messages, brings_tools):
        for part in message.parts:
            if isinstance(part, Opaque) and part.type == "additional_tools":
                yield from _tools(part.value.get("tools"), f"{message.pointer}/tools", notes)
            elif isinstance(part, ToolResultIR) and part.extra.get("type") == "tool_search_output":
                found = (p for p in part.content if isinstance(p, Opaque))
                for inner in found:
                    yield from _tools(inner.value, message.absolute(inner), notes)


def _tool(value: JsonValue, at: str, notes: Notes) -> Iterator[ToolDef]:
    """A tool; of a namespace, itself and then the tools in it."""
    if not isinstance(value, dict):
        notes.add("schema.malformed", f"a tool is {type_words(value)}, not an object", at)
        yield ToolDef(None, None, None, extra={"value": value}, pointer=at)
        return
    kind = value.get("type")
    if not isinstance(kind, str):
        notes.add("schema.malformed", "a tool without a type", at, lacks="type")
    if kind in ("function", "custom") or not isinstance(kind, str):
        yield _read_tool(BlockReader(value, at, notes))
        return
    is_client = kind in _RUN_BY_CLIENT and not _is_hosted(value)
    is_client |= kind == "tool_search" and value.get("execution") == "client"
    name = value.get("name", _RUN_BY_CLIENT.get(kind, "tool_search" if is_client else None))
    inner = value.get("tools") if kind == "namespace" else None
    own = {k: v for k, v in value.items() if k != "tools"} if isinstance(inner, list) else value
    described = value.get("description")
    yield ToolDef(
        name if isinstance(name, str) else None,
        described if isinstance(described, str) else None,
        None,
        kind="client" if is_client else "server",
        extra=own,
        pointer=at,
    )
    if isinstance(inner, list):
        yield from _tools(inner, f"{at}/tools", notes)


def _is_hosted(value: Mapping[str, JsonValue]) -> bool:
    environment = value.get("environment")
    return isinstance(environment, dict) and str(environment.get("type")).startswith("container")


def _read_tool(tool: BlockReader) -> ToolDef:
    if isinstance(tool.value.get("function"), dict):
        tool.notes.add("schema.malformed", "a tool wrapped in 'function', which this protocol does not use", tool.at)
    kind = tool.value.get("type")
    return ToolDef(
        name=tool.string("name", "name"),
        description=tool.string("description", "description"),
        schema=tool.take("schema", "parameters"),
        kind="custom" if kind == "custom" else "client",
        strict=tool.flag("strict", "strict"),
        extra=tool.extra(typed=kind not in ("function", "custom", None)),
        pointer=tool.at,
    )


def tool_json(tool: ToolDef) -> Mapping[str, JsonValue]:
    """A tool in wire form, its type left out where it is a function or custom."""
    if isinstance(tool.extra.get("type"), str):  # kept as it was
        return tool.extra
    own = {"name": tool.name, "description": tool.description, "parameters": tool.schema, "strict": tool.strict}
    return {k: v for k, v in own.items() if v is not None} | dict(tool.extra)


def _tool_choice(value: JsonValue, notes: Notes) -> ToolChoice | None:
    if value is None:
        return None
    if isinstance(value, str) and value in MODES:
        return ToolChoice(MODES[value], value=value)
    kind = value.get("type") if isinstance(value, dict) else None
    if kind in ("function", "custom") and isinstance(value.get("name"), str):
        return ToolChoice("tool", value["name"], value)
    if not isinstance(kind, str) or kind in ("function", "custom"):
        message = "tool_choice is not 'auto', 'none', 'required' or an object that names a tool"
        notes.add("choice.unsupported", message, "/tool_choice")
    return ToolChoice("other", value=value)


def choice_json(choice: ToolChoice | None) -> JsonValue:
    """A tool choice in wire form."""
    if choice is None or choice.mode == "other":
        return choice and choice.value
    if choice.mode == "tool":
        value = choice.value if isinstance(choice.value, dict) else {}
        return {"type": "function", **value, "name": choice.name}
    return next(value for value, mode in MODES.items() if mode == choice.mode)


def _thinking(value: JsonValue) -> str | None:
    """``reasoning`` asks for it, unless its effort is ``none``."""
    if not isinstance(value, dict):
        return None
    return "off" if value.get("effort") == "none" else "on"


def _previous(body: Mapping[str, JsonValue]) -> str | None:
    """The answer or conversation that the server is trusted to remember."""
    found = body.get("previous_response_id")
    if found is None:
        conversation = body.get("conversation")
        found = conversation.get("id") if isinstance(conversation, dict) else conversation
    return found if isinstance(found, str) else None


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


def settle_tools(request: ModelRequest, before: ModelRequest, model_request: ModelRequest) -> ModelRequest:
    """The request as edited; tools that nobody touched are as their items state now."""
    if differs(_item_tools(request), _item_tools(before)):
        return request
    return replace(request, tools=(*_request_tools(request), *_item_tools(model_request)))


def _request_tools(request: ModelRequest) -> tuple[ToolDef, ...]:
    """Tools of the request itself."""
    return tuple(tool for tool in request.tools if tool.pointer.startswith("/tools/"))


def _item_tools(request: ModelRequest) -> tuple[ToolDef, ...]:
    """Tools that are in items: they are edited there."""
    return tuple(tool for tool in request.tools if not tool.pointer.startswith("/tools/"))


PLACES: Mapping[str, str] = {
    "/max_output_tokens": "max_tokens",
    "/temperature": "temperature",
    "/top_p": "top_p",
    "/reasoning/effort": "effort",
    "/user": "user",
    "/service_tier": "service_tier",
}
"""Pointer of each parameter → common name."""

_FORMAT = "/text/format"
_PARTS = ("schema", "name", "strict", "description")


def read_item_params(params: Mapping[str, JsonValue]) -> Iterator[Param]:
    """Each parameter of a request. A format of plain text is what goes without saying."""
    for param in read_params(params, {**PLACES, _FORMAT: "response_schema"}):
        if param.pointer != _FORMAT:
            yield param
        elif isinstance(param.value, dict):
            yield from _format(param.value)
        else:
            yield Param(_FORMAT, param.value)


def _format(value: Mapping[str, JsonValue]) -> Iterator[Param]:
    kind = value.get("type")
    if kind == "json_schema" and isinstance(value.get("schema"), dict) and value.keys() <= {"type", *_PARTS}:
        members = {key: value[key] for key in _PARTS if value.get(key) is not None}
        yield Param(_FORMAT, members, "response_schema")
    elif kind == "json_object" and value.keys() == {"type"}:
        yield Param(_FORMAT, True, "response_json")
    elif value != {"type": "text"}:
        yield Param(_FORMAT, value)


def write_item_params(params: Mapping[str, JsonValue], body: dict[str, JsonValue]) -> None:
    """Put parameters of common names into a body."""
    own = {key: value for key, value in params.items() if key not in ("response_schema", "response_json")}
    write_params(own, {name: place for place, name in PLACES.items()}, body)
    schema = params.get("response_schema")
    if schema is not None:
        body["text"] = {"format": {"type": "json_schema", **schema}}
    elif params.get("response_json"):
        body["text"] = {"format": {"type": "json_object"}}
