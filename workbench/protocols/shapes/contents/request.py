"""Requests whose conversation is ``contents``, bare or in the envelope of Code Assist.

Facts: ``types.py`` of the ``google-genai`` SDK 3.4 (``GenerateContentConfig``, ``Tool``, ``ToolConfig``) and what it
makes of them (``models.py``); recordings. The envelope ``{"model", "project", "request": {…}}`` is what Gemini CLI
sends to ``v1internal:generateContent``. Model and stream are in the URL otherwise.

Facts: ``Schema`` and ``Type`` in ``types.py`` of the ``google-genai`` SDK 3.4: OpenAPI 3.0, types in capitals,
``nullable`` in place of the type "null", 64-bit counts as strings (proto3 JSON), and ``propertyOrdering``, which is the
order of the properties here. Every other key stays in place, so that a pointer into the one is a pointer into
the other.

Facts: ``GenerationConfig`` and ``ThinkingConfig`` in ``types.py`` of the ``google-genai`` SDK 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from workbench.errors import ProtocolMismatch
from workbench.ir import NOTHING, JsonValue, Message, ModelRequest, Opaque, Part, Source, Text, ToolChoice, ToolDef
from workbench.protocols._params import Param, read_params, write_params
from workbench.protocols.common.reading import ITSELF, VERBATIM, Notes, read_messages, string_or_none
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.shapes.contents.nodes import ContentNode, as_list, key_of, member, snake
from workbench.protocols.shapes.contents.parts import read_content, read_parts
from workbench.protocols.shapes.contents.places import SDK_CONFIG
from workbench.wire import type_words

_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
"""In the order of the enumeration ``Type``, whose first number is 1: clients of its protobuf form write the numbers."""
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_BELOW = ("items", "additionalProperties", "additional_properties")
_LISTS = ("anyOf", "any_of", "prefixItems", "prefix_items")
_ORDERS = ("propertyOrdering", "property_ordering")
_TABLES = ("properties", "defs", "$defs")
_DEEPEST = 64
"""Schemas inside each other that are read. Real ones stay under 10."""


def json_schema(value: JsonValue, depth: int = _DEEPEST) -> JsonValue:
    """The same schema with its types, null, and the counts among its keywords, as JSON Schema writes them."""
    if not isinstance(value, dict) or not depth:
        return value
    schema = {key: _keyword(key, inner, depth - 1) for key, inner in value.items()}
    if isinstance(value.get("nullable"), bool) and schema.pop("nullable"):
        schema |= _with_null(schema)
    for key in _ORDERS:
        if isinstance(schema.get("properties"), dict) and isinstance(schema.get(key), list):
            schema["properties"] = _order(schema["properties"], schema.pop(key))
    return schema


def _keyword(key: str, value: JsonValue, depth: int) -> JsonValue:
    if key == "type":
        if type(value) is int and 0 < value <= len(_TYPES):
            return _TYPES[value - 1].lower()
        return value.lower() if isinstance(value, str) and value in _TYPES else value
    if key in _BELOW:
        return json_schema(value, depth)
    if key in _LISTS and isinstance(value, list):
        return [json_schema(branch, depth) for branch in value]
    if key in _TABLES and isinstance(value, dict):
        return {name: json_schema(inner, depth) for name, inner in value.items()}
    is_count = key in _COUNTS and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20
    return int(value) if is_count else value


def _with_null(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The keywords of a schema that refuse null, with null among what they take, behind everything else."""
    extended: dict[str, JsonValue] = {}
    declared = schema.get("type")
    if isinstance(declared, str) and declared != "null":
        extended["type"] = [declared, "null"]
    for key in ("anyOf", "any_of"):
        branches = schema.get(key)
        if isinstance(branches, list) and {"type": "null"} not in branches:
            extended[key] = [*branches, {"type": "null"}]
    values = schema.get("enum")
    if isinstance(values, list) and None not in values:
        extended["enum"] = [*values, None]
    return extended


def _order(properties: Mapping[str, JsonValue], order: list[JsonValue]) -> dict[str, JsonValue]:
    named = dict.fromkeys(name for name in order if isinstance(name, str) and name in properties)
    return {name: properties[name] for name in [*named, *(name for name in properties if name not in named)]}


PROTOCOL = "gemini"
KEY = "contents"
ENVELOPE = "request"
SCHEMAS = ("parametersJsonSchema", "parameters")
"""Keys of a declaration that hold the schema of its arguments; only one may be given."""

_MODES = {"AUTO": "auto", "ANY": "any", "NONE": "none", "MODE_UNSPECIFIED": "auto"}
_WORDS = {"auto": "AUTO", "any": "ANY", "none": "NONE", "tool": "ANY"}
_KNOWN_MODES = (*_MODES, "VALIDATED")


def unwrap(body: JsonValue, envelope: str, keys: tuple[str, ...]) -> tuple[JsonValue, str]:
    """(the object itself, its pointer), where it may be in an envelope."""
    inner = body.get(envelope) if isinstance(body, dict) else None
    if isinstance(inner, dict) and not any(key in body for key in keys) and any(key in inner for key in keys):
        return inner, f"/{envelope}"
    return body, ""


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; with ``known``, it holds the texts of its contents.

    Raises:
        ProtocolMismatch: it has no ``contents``.
    """
    inner, at = unwrap(body, ENVELOPE, (KEY,))
    if not isinstance(inner, dict) or KEY not in inner:
        raise ProtocolMismatch("not a request of this protocol: expected an object with 'contents'")
    notes = Notes()
    return ModelRequest(
        protocol=PROTOCOL,
        model=string_or_none(body.get("model")),
        messages=_contents(inner[KEY], at, notes, known),
        system=_system(inner, at, notes),
        tools=tuple(_tools(inner, at, notes)),
        tool_choice=_tool_choice(inner, at, notes),
        thinking=thinking_of(inner),
        params=_params(body, inner, at),
        anomalies=tuple(notes.anomalies),
    )


def _contents(value: JsonValue, at: str, notes: Notes, known: KnownMessages | None) -> tuple[Message, ...]:
    if not isinstance(value, dict | str):
        return read_messages(value, notes, read_content, known, f"{at}/{KEY}"[1:])
    message = read_content(value, f"{at}/{KEY}", notes)  # one object is taken for a list of one
    notes.base = ""
    return (message,)


def _system(inner: Mapping[str, JsonValue], at: str, notes: Notes) -> tuple[Part, ...]:
    key = key_of(inner, "systemInstruction")
    value, pointer = inner.get(key), f"{at}/{key}"
    if isinstance(value, dict):
        return read_parts(value.get("parts"), f"{pointer}/parts", notes)
    if not isinstance(value, str | list):
        return ()
    notes.shape(f"a system instruction is {type_words(value)}, not an object with parts", pointer)
    known = Text(value, source=Source(pointer, ITSELF)) if isinstance(value, str) else None
    return (known or Opaque("array", value, Source(pointer, VERBATIM)),)


def _tools(inner: Mapping[str, JsonValue], at: str, notes: Notes) -> Iterator[ToolDef]:
    value, place, config = inner.get("tools"), f"{at}/tools", inner.get(SDK_CONFIG)
    if value is None and isinstance(config, dict):
        value, place = config.get("tools"), f"{at}/{SDK_CONFIG}/tools"
    for tool, pointer in as_list(value, place) if value is not None else ():
        if not isinstance(tool, dict):
            notes.add("schema.malformed", f"a tool is {type_words(tool)}, not an object", pointer)
            yield ToolDef(None, None, None, extra={"value": tool}, pointer=pointer)
            continue
        declarations = key_of(tool, "functionDeclarations")
        for key, inside in tool.items():
            if key == declarations and isinstance(inside, list | dict):
                yield from (_declaration(d, p, notes) for d, p in as_list(inside, f"{pointer}/{key}"))
            elif isinstance(inside, dict):  # a tool that the provider runs, by its name
                yield ToolDef(key, None, None, "server", extra=inside, pointer=f"{pointer}/{key}")
            else:
                yield ToolDef(key, None, None, "server", extra={key: inside}, pointer=pointer)


def _declaration(value: JsonValue, at: str, notes: Notes) -> ToolDef:
    if not isinstance(value, dict):
        notes.add("schema.malformed", f"a function is {type_words(value)}, not an object", at)
        return ToolDef(None, None, None, extra={"value": value}, pointer=at)
    node, key = ContentNode(value, at, notes), schema_key(value)
    schema = node.take("schema", key) if key else None
    return ToolDef(
        name=node.string("name", "name"),
        description=node.string("description", "description"),
        schema=json_schema(schema) if key == "parameters" else schema,
        extra=node.rest(),
        pointer=at,
    )


def schema_key(declaration: Mapping[str, JsonValue]) -> str:
    """The key under which a declaration holds its schema, "" where it has none."""
    return next((k for key in SCHEMAS if declaration.get(k := key_of(declaration, key)) is not None), "")


def choice_pointer(inner: Mapping[str, JsonValue], at: str) -> str:
    """Pointer of the tool choice in a request that has one."""
    key = key_of(inner, "toolConfig")
    return f"{at}/{key}/{key_of(inner[key], 'functionCallingConfig')}" if isinstance(inner.get(key), dict) else ""


def _tool_choice(inner: Mapping[str, JsonValue], at: str, notes: Notes) -> ToolChoice | None:
    config = member(member(inner, "toolConfig"), "functionCallingConfig")
    if config is None:
        return None
    mode, name = choice_of(config)
    if not isinstance(config, dict) or str(config.get("mode", "AUTO")).upper() not in _KNOWN_MODES:
        what = "the mode of functionCallingConfig is not one of AUTO, ANY, NONE and VALIDATED"
        notes.add("choice.unsupported", what, choice_pointer(inner, at))
    return ToolChoice(mode, name, config)


def choice_of(config: JsonValue) -> tuple[str, str | None]:
    """Mode and name of a ``functionCallingConfig``. An empty list of allowed names is no restriction.

    Modes are taken in lower case too: recorded, crmne/ruby_llm, Gemini API, 2026-08.
    """
    mode = config.get("mode", "AUTO") if isinstance(config, dict) else None
    found = _MODES.get(mode.upper(), "other") if isinstance(mode, str) else "other"
    names = member(config, "allowedFunctionNames")
    if found != "any" or not names:
        return found, None
    if isinstance(names, list) and len(names) == 1 and isinstance(names[0], str):
        return "tool", names[0]
    return "other", None


def choice_json(choice: ToolChoice) -> JsonValue:
    """The ``functionCallingConfig`` for a choice; the recorded object if it means the same."""
    if choice.mode == "other" or choice_of(choice.value) == (choice.mode, choice.name):
        return choice.value
    sent = dict(choice.value) if isinstance(choice.value, dict) else {}
    sent["mode"] = _WORDS.get(choice.mode, choice.mode)
    if choice.mode == "tool":
        sent[key_of(sent, "allowedFunctionNames")] = [choice.name]
    return sent


def thinking_of(inner: Mapping[str, JsonValue]) -> str | None:
    """Thinking that the request asks for. A budget of 0 switches it off, -1 leaves it to the model.

    A level alone says how much, and not that thoughts are wanted (docstring of ``ThinkingConfig``).
    """
    config = member(member(inner, "generationConfig"), "thinkingConfig")
    budget = member(config, "thinkingBudget")
    if type(budget) is int:
        return "off" if budget == 0 else "adaptive" if budget < 0 else "on"
    return "on" if member(config, "includeThoughts") is True else None


def _params(body: Mapping[str, JsonValue], inner: Mapping[str, JsonValue], at: str) -> Mapping[str, JsonValue]:
    """Every key that no field of the IR holds in full, of the envelope too."""
    rest = dict(_rest(inner))
    if not at:
        return rest or NOTHING
    outer = {k: v for k, v in body.items() if k != ENVELOPE and not _is_model(k, v)}
    return (outer | {ENVELOPE: rest} if rest else outer) or NOTHING


def _rest(inner: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    types = {KEY: (list, dict, str), "tools": (list, dict, str, int, float), "model": (str,)}
    inside: dict[str, tuple[str, ...]] = {key_of(inner, "systemInstruction"): ("role", "parts")}
    config = key_of(inner, "toolConfig")
    inside[config] = (key_of(inner[config], "functionCallingConfig"),) if isinstance(inner.get(config), dict) else ()
    for key, value in inner.items():
        if key in inside and isinstance(value, dict):
            others = {k: v for k, v in value.items() if k not in inside[key]}
            if others:
                yield key, others
        elif not isinstance(value, types.get(key, (str, list) if key in inside and key != config else ())):
            yield key, value


def _is_model(key: str, value: JsonValue) -> bool:
    return key == "model" and isinstance(value, str)


_CONFIG = "/generationConfig"
PLACES: Mapping[str, str] = {
    "max_tokens": f"{_CONFIG}/maxOutputTokens",
    "temperature": f"{_CONFIG}/temperature",
    "top_p": f"{_CONFIG}/topP",
    "top_k": f"{_CONFIG}/topK",
    "stop": f"{_CONFIG}/stopSequences",
    "seed": f"{_CONFIG}/seed",
    "frequency_penalty": f"{_CONFIG}/frequencyPenalty",
    "presence_penalty": f"{_CONFIG}/presencePenalty",
    "count": f"{_CONFIG}/candidateCount",
    "effort": f"{_CONFIG}/thinkingConfig/thinkingLevel",
    "thinking_budget": f"{_CONFIG}/thinkingConfig/thinkingBudget",
    "response_schema": f"{_CONFIG}/responseJsonSchema",
    "response_json": f"{_CONFIG}/responseMimeType",
    "service_tier": "/serviceTier",
}
"""Common name → where it is written."""

_DIALECT = f"{_CONFIG}/responseSchema"
_THOUGHTS = f"{_CONFIG}/thinkingConfig/includeThoughts"
_JSON = "application/json"


def _spellings() -> Iterator[tuple[str, str]]:
    """Every pointer in every mix of spellings: the SDK itself writes ``thinkingConfig/include_thoughts``."""
    for name, pointer in (*PLACES.items(), ("dialect", _DIALECT), ("thoughts", _THOUGHTS)):
        for steps in product(*((step, snake(step)) for step in pointer.split("/")[1:])):
            yield f"/{'/'.join(steps)}", name
            yield f"/{ENVELOPE}/{'/'.join(steps)}", name


_NAMES: Mapping[str, str] = dict(_spellings())


def params_of(request: ModelRequest) -> tuple[Param, ...]:
    """Every parameter that has no field of the IR."""
    found = tuple(read_params(request.params, _NAMES))
    has_schema = any(param.name in ("response_schema", "dialect") for param in found)
    common = (_common(param, request, has_schema=has_schema) for param in found)
    return tuple(param for param in common if param)


def _common(param: Param, request: ModelRequest, *, has_schema: bool) -> Param | None:
    """The parameter in its common form; None where something else says the same."""
    pointer, value, name = param
    if name == "response_schema":
        return Param(pointer, {"schema": value}, name)
    if name == "dialect":
        return Param(pointer, {"schema": json_schema(value)}, "response_schema")
    if name == "response_json":
        return Param(pointer, value) if value != _JSON else None if has_schema else Param(pointer, True, name)
    if name == "effort" and isinstance(value, str):
        return None if value.endswith("_UNSPECIFIED") else Param(pointer, value.lower(), name)  # an enum in capitals
    if name == "thinking_budget" and type(value) is int and value <= 0:
        return None
    if name == "thoughts":
        return None if value is True and request.thinking == "on" else Param(pointer, value)
    return param


def write_config(request: ModelRequest, body: dict[str, JsonValue]) -> None:
    """Put the parameters of a request in normal form, and its thinking, into a body."""
    params = dict(request.params)
    schema = params.pop("response_schema", None)
    if params.pop("response_json", None) or schema is not None:
        params["response_json"] = _JSON
    if schema is not None:
        params["response_schema"] = schema.get("schema")
    if request.thinking == "off":
        params["thinking_budget"] = 0
    write_params(params, PLACES, body)
    if request.thinking == "on":
        write_params({"thoughts": True}, {"thoughts": _THOUGHTS}, body)
