"""Requests whose input is a text, content, or a list of steps.

Facts: ``types/interactions/createmodelinteraction.py``, ``createagentinteraction.py``, ``tool.py``,
``toolchoiceconfig.py`` and ``generationconfig.py`` of the ``google-genai`` SDK 3.4. The server keeps an interaction
unless ``store`` is false; ``previous_interaction_id`` continues from it.
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
    Opaque,
    Part,
    Source,
    Text,
    ToolChoice,
    ToolDef,
)
from workbench.protocols._params import Param, read_params, write_params
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes, read_messages
from workbench.protocols.gemini_interactions.step import read_step
from workbench.protocols.known_messages import KnownMessages
from workbench.wire import type_name, type_words

PROTOCOL = "gemini-interactions"
KEY = "input"
PREVIOUS = "previous_interaction_id"
CONFIG = "generation_config"
ASKS = (KEY, PREVIOUS, "continuation_token")
"""Keys of which a request has at least one."""

_IR_KEYS: Mapping[str, type] = {
    "model": str,
    KEY: object,
    "system_instruction": object,
    "tools": list,
    "stream": bool,
    PREVIOUS: str,
}
"""Keys that have a field of the IR to themselves, and the type they have to be of to fit into it."""

MODES = ("auto", "any", "none")
PLACES: Mapping[str, str] = {
    "max_tokens": f"/{CONFIG}/max_output_tokens",
    "temperature": f"/{CONFIG}/temperature",
    "top_p": f"/{CONFIG}/top_p",
    "stop": f"/{CONFIG}/stop_sequences",
    "seed": f"/{CONFIG}/seed",
    "effort": f"/{CONFIG}/thinking_level",
    "service_tier": "/service_tier",
}
"""Common name → where it is."""

_SUMMARIES, _CHOICE = f"/{CONFIG}/thinking_summaries", f"/{CONFIG}/tool_choice"
_FORMAT, _MIME = "/response_format", "/response_mime_type"
_JSON = "application/json"


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; with ``known``, it holds the texts of its steps.

    Raises:
        ProtocolMismatch: it has nothing that could be answered.
    """
    if not isinstance(body, dict) or not any(key in body for key in ASKS):
        raise ProtocolMismatch("not a request of this protocol: expected an object with 'input'")
    notes = Notes()
    model, previous, config = body.get("model"), body.get(PREVIOUS), body.get(CONFIG)
    config = config if isinstance(config, dict) else {}
    return ModelRequest(
        protocol=PROTOCOL,
        model=model if isinstance(model, str) else None,
        messages=_messages(body, notes, known),
        system=_system(body.get("system_instruction"), notes),
        tools=tuple(_tools(body.get("tools"), notes)),
        tool_choice=_tool_choice(config.get("tool_choice"), notes),
        stream=body.get("stream") is True,
        thinking="on" if config.get("thinking_summaries") == "auto" else None,
        previous_id=previous if isinstance(previous, str) else None,
        params={k: v for k, v in body.items() if v is None or not isinstance(v, _IR_KEYS.get(k, ()))} or NOTHING,
        anomalies=tuple(notes.anomalies),
        itemized=True,
    )


def _messages(body: Mapping[str, JsonValue], notes: Notes, known: KnownMessages | None) -> tuple[Message, ...]:
    entries = body.get(KEY)
    if isinstance(entries, str):
        return (Message("user", (Text(entries, source=Source("", ITSELF)),), pointer=f"/{KEY}"),)
    if isinstance(entries, dict):
        message = read_step(entries, f"/{KEY}", notes)
        notes.base = ""
        return (message,)
    return () if entries is None else read_messages(entries, notes, read_step, known, key=KEY)


def _system(value: JsonValue, notes: Notes) -> tuple[Part, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(value, source=Source("/system_instruction", ITSELF)),)
    notes.shape(f"'system_instruction' is {type_words(value)}, not a string", "/system_instruction")
    return (Opaque(type_name(value), value, Source("/system_instruction", VERBATIM)),)


def _tools(value: JsonValue, notes: Notes) -> Iterator[ToolDef]:
    if not isinstance(value, list):
        if value is not None:
            notes.add("schema.malformed", f"'tools' is {type_words(value)}, not a list", "/tools")
        return
    for n, tool in enumerate(value):
        at = f"/tools/{n}"
        if not isinstance(tool, dict):
            notes.add("schema.malformed", f"a tool is {type_words(tool)}, not an object", at)
            yield ToolDef(None, None, None, extra={"value": tool}, pointer=at)
            continue
        kind = tool.get("type")
        if not isinstance(kind, str):
            notes.add("schema.malformed", "a tool without a type", at, lacks="type")
        if kind == "function" or not isinstance(kind, str):
            block = BlockReader(tool, at, notes)
            name, description = block.string("name", "name"), block.string("description", "description")
            schema = block.take("schema", "parameters")
            extra = block.extra(typed=kind != "function" and "type" in tool)
            yield ToolDef(name, description, schema, extra=extra, pointer=at)
        else:
            yield ToolDef(None, None, None, kind="server", extra=tool, pointer=at)


def tool_json(tool: ToolDef) -> Mapping[str, JsonValue]:
    """A tool in wire form, its type left out where it is a function."""
    if tool.kind == "server":
        return tool.extra
    own = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {k: v for k, v in own.items() if v is not None} | dict(tool.extra)


def _tool_choice(value: JsonValue, notes: Notes) -> ToolChoice | None:
    if value is None:
        return None
    read = _choice(value)
    if read is None and not isinstance(value, dict) and value != "validated":
        notes.add("choice.unsupported", "'tool_choice' is not one of 'auto', 'any', 'none' and 'validated'", _CHOICE)
    return ToolChoice(*(read or ("other", None)), value=value)


def _choice(value: JsonValue) -> tuple[str, str | None] | None:
    """(mode, name) of a choice; None for one that the IR has no word for: a list of several tools."""
    if isinstance(value, str):
        return (value, None) if value in MODES else None
    if not isinstance(value, dict) or not isinstance(value.get("allowed_tools"), dict):
        return None
    allowed = value["allowed_tools"]
    mode, names = allowed.get("mode", "auto"), allowed.get("tools")
    if not names and mode in MODES:
        return mode, None
    is_one = mode == "any" and isinstance(names, list) and len(names) == 1 and isinstance(names[0], str)
    return ("tool", names[0]) if is_one else None


def choice_json(choice: ToolChoice) -> JsonValue:
    """A choice in wire form; the recorded value if it means the same."""
    if choice.mode == "other" or _choice(choice.value) == (choice.mode, choice.name):
        return choice.value
    value = choice.value if isinstance(choice.value, dict) else {}
    if choice.mode == "tool":
        allowed_tools = value.get("allowed_tools")
        named = {**(allowed_tools if isinstance(allowed_tools, dict) else {}), "mode": "any", "tools": [choice.name]}
        return {**value, "allowed_tools": named}
    return choice.mode


# -- parameters


def params_of(request: ModelRequest) -> Iterator[Param]:
    """Each parameter that has no field of the IR."""
    names = {pointer: name for name, pointer in PLACES.items()}
    own = dict.fromkeys((_SUMMARIES, _CHOICE, _FORMAT), "")
    for param in read_params(request.params, {**names, **own}):
        if param.pointer == _FORMAT:
            yield from _format(param)
        elif param.pointer == _MIME and param.value == _JSON:
            if "response_format" not in request.params:
                yield Param(_MIME, True, "response_json")
        elif not (_is_held(param, request)):
            yield param


def _is_held(param: Param, request: ModelRequest) -> bool:
    """A field of the request says it."""
    if param.pointer == _SUMMARIES:
        return param.value == "auto" and request.thinking == "on"
    return param.pointer == _CHOICE and param.value is not None


def _format(param: Param) -> Iterator[Param]:
    """A format: JSON with a schema, JSON of any kind; until May 2026 the schema alone."""
    value = param.value
    if not isinstance(value, dict):
        yield param
    elif value.get("type") == "text" and value.keys() <= {"type", "mime_type", "schema"}:
        if isinstance(value.get("schema"), dict):
            yield Param(_FORMAT, {"schema": value["schema"]}, "response_schema")
        elif value.get("mime_type") == _JSON:
            yield Param(_FORMAT, True, "response_json")
    else:
        yield param


def write_config(request: ModelRequest, body: dict[str, JsonValue]) -> None:
    """Put the parameters of a request in normal form, its choice and its thinking, into a body."""
    params = dict(request.params)
    schema, is_json = params.pop("response_schema", None), params.pop("response_json", None)
    write_params(params, PLACES, body)
    config = dict(body.pop(CONFIG, {}))
    if request.thinking == "on":
        config["thinking_summaries"] = "auto"
    if request.tool_choice:
        config["tool_choice"] = choice_json(ToolChoice(request.tool_choice.mode, request.tool_choice.name))
    if config:
        body[CONFIG] = config
    if schema is not None or is_json:
        shape = {} if schema is None else {"schema": schema["schema"]}
        body["response_format"] = {"type": "text", "mime_type": _JSON, **shape}


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
