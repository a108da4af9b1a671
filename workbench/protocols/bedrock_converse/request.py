"""Requests whose content is made of blocks named by their key: as IR, as nodes to compare, and written as new bodies.

Facts: ``ConverseRequest`` in botocore's service model ``bedrock-runtime/2023-09-30`` and the AWS Bedrock User Guide,
"Inference request parameters and response fields for foundation models"; recorded by pydantic/pydantic-ai.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from workbench.errors import ProtocolMismatch, WireError
from workbench.ir import (
    NOTHING,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
)
from workbench.lazy_dataclass import replace
from workbench.protocols._params import Param, read_params, write_params
from workbench.protocols.bedrock_converse.content import FORMATS, STATUSES, Tree, put, read_content
from workbench.protocols.common.reading import Notes, misshapen_message, read_messages
from workbench.protocols.known_messages import KnownMessages
from workbench.provenance import escape
from workbench.wire import dumps, loads, type_words

PROTOCOL = "bedrock-converse"
CHOICES = ("auto", "any", "tool")

_IR_KEYS: Mapping[str, type] = {"messages": list, "system": list, "toolConfig": dict}
DOCUMENT = "document"
"""Name of a document that has none: without one it is refused."""

DOCUMENT_KEY = ("document", "name")
"""Keys of the name of a document in ``Media.extra``."""

_MODEL_FIELDS = "additionalModelRequestFields"
_THINKING = {"enabled": "on", "disabled": "off"}
_WRITTEN_THINKING = {"on": "enabled", "off": "disabled"}
PLACES: Mapping[str, str] = {
    "max_tokens": "/inferenceConfig/maxTokens",
    "temperature": "/inferenceConfig/temperature",
    "top_p": "/inferenceConfig/topP",
    "stop": "/inferenceConfig/stopSequences",
    "top_k": f"/{_MODEL_FIELDS}/top_k",
    "thinking_budget": f"/{_MODEL_FIELDS}/thinking/budget_tokens",
    "service_tier": "/serviceTier/type",
    "effort": "/outputConfig/effort",
    "response_schema": "/outputConfig/textFormat",
}
"""Name of a parameter → its place. What the protocol has no field for is the model's own, as its makers call it."""

_SUFFIXES = {media_type: form for form, media_type in FORMATS.items()}
MEDIA_TYPES: Mapping[str, frozenset[str]] = {
    kind: frozenset(t for t in FORMATS.values() if t.partition("/")[0] in families)
    for kind, families in {
        **{kind: (kind,) for kind in ("image", "video", "audio")},
        "document": ("application", "text"),
    }.items()
}
"""Kind of media → the types that have a format."""

_STATUS = {failed: status for status, failed in STATUSES.items()}


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; its model and whether it asks for a stream are in the URL.

    Raises:
        ProtocolMismatch: it has no ``messages``.
    """
    if not isinstance(body, dict) or "messages" not in body:
        raise ProtocolMismatch("not a request of this protocol: expected an object with 'messages'")
    notes = Notes()
    config = body.get("toolConfig")
    config = config if isinstance(config, dict) else {}
    params = {k: v for k, v in body.items() if not isinstance(v, _IR_KEYS.get(k, ()))}
    others = {k: v for k, v in config.items() if k not in ("tools", "toolChoice")} | _marks(config.get("tools"))
    return ModelRequest(
        protocol=PROTOCOL,
        model=None,
        messages=read_messages(body["messages"], notes, read_message, known),
        system=() if body.get("system") is None else read_content(body["system"], "/system", notes),
        tools=tuple(_tools(config.get("tools"), notes)),
        tool_choice=_choice(config.get("toolChoice"), notes),
        thinking=_thinking(body),
        params=params | ({"toolConfig": others} if others else {}) or NOTHING,
        anomalies=tuple(notes.anomalies),
    )


def read_message(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One message; a wrong value is kept, and an anomaly is noted."""
    notes.base = pointer
    if not isinstance(value, dict):
        return misshapen_message(value, "a message", pointer, notes)
    role = value.get("role")
    if not isinstance(role, str):
        notes.no_role(role)
    parts = read_content(value["content"], "/content", notes) if "content" in value else ()
    if "content" not in value:
        notes.shape("a message without content", "")
    own = ("role", "content") if isinstance(role, str) else ("content",)
    extra = {k: v for k, v in value.items() if k not in own}
    return Message(role if isinstance(role, str) else "", parts, extra or NOTHING, pointer)


def _marks(tools: JsonValue) -> dict[str, JsonValue]:
    """The marks for the cache among the tools, in their places."""
    entries = tools if isinstance(tools, list) else []
    marks = [tool if isinstance(tool, dict) and "cachePoint" in tool else None for tool in entries]
    return {"tools": marks} if any(marks) else {}


def _tools(value: JsonValue, notes: Notes) -> Iterator[ToolDef]:
    """Every tool; marks for the cache between them are none."""
    if value is not None and not isinstance(value, list):
        notes.add("schema.malformed", f"'tools' is {type_words(value)}, not a list", "/toolConfig/tools")
    for n, tool in enumerate(value if isinstance(value, list) else ()):
        at = f"/toolConfig/tools/{n}"
        if not isinstance(tool, dict):
            notes.add("schema.malformed", f"a tool is {type_words(tool)}, not an object", at)
            yield ToolDef(None, None, None, extra={"value": tool}, pointer=at)
        elif "cachePoint" not in tool:
            yield _tool(Tree(tool, at, notes))


def _tool(tree: Tree) -> ToolDef:
    key = "systemTool" if "systemTool" in tree.value else "toolSpec"
    return ToolDef(
        name=tree.take("name", key, "name", kind=str),
        description=tree.take("description", key, "description", kind=str),
        schema=tree.take("schema", key, "inputSchema", "json"),
        kind="server" if key == "systemTool" else "client",
        strict=tree.take("strict", key, "strict", kind=bool),
        extra=tree.extra(),
        pointer=tree.at,
    )


def _choice(value: JsonValue, notes: Notes) -> ToolChoice | None:
    if value is None:
        return None
    mode = next((m for m in CHOICES if isinstance(value, dict) and isinstance(value.get(m), dict)), None)
    if mode is None:
        message = "toolChoice is not an object with exactly one of the keys 'auto', 'any' and 'tool'"
        notes.add("choice.unsupported", message, "/toolConfig/toolChoice")
        return ToolChoice("other", value=value)
    name = value[mode].get("name")
    return ToolChoice(mode, name if isinstance(name, str) else None, value)


def _thinking(body: Mapping[str, JsonValue]) -> str | None:
    fields = body.get(_MODEL_FIELDS)
    thinking = fields.get("thinking") if isinstance(fields, dict) else None
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    return _THINKING.get(kind, kind) if isinstance(kind, str) else None


def params(request: ModelRequest) -> tuple[Param, ...]:
    """Every parameter that has no field of ``ModelRequest``."""
    thinking = f"/{_MODEL_FIELDS}/thinking/type"
    names = {place: name for name, place in PLACES.items()} | {thinking: ""}
    read = (inner for p in read_params(request.params, names) for inner in _of_tools(p))
    found = (_format(p) if p.name == "response_schema" else p for p in read)
    return tuple(p for p in found if not (p.pointer == thinking and isinstance(p.value, str)))


def _of_tools(param: Param) -> Iterator[Param]:
    """Members beside the tools, and every cache point among them."""
    if param.pointer != "/toolConfig" or not isinstance(param.value, dict):
        yield param
        return
    for key, value in param.value.items():
        at = f"{param.pointer}/{escape(key)}"
        if key == "tools" and isinstance(value, list):
            yield from (Param(f"{at}/{n}", mark) for n, mark in enumerate(value) if mark is not None)
        else:
            yield Param(at, value)


def _format(param: Param) -> Param:
    """The schema of an answer, which is there as JSON text."""
    match param.value:
        case {"type": "json_schema", "structure": {"jsonSchema": {"schema": str(text), **others}}}:
            with suppress(WireError):
                return Param(param.pointer, {"schema": loads(text), **others}, param.name)
    return param._replace(name="")


def _text_format(value: JsonValue) -> JsonValue:
    schema_format = {k: v for k, v in value.items() if k in ("name", "description")}
    schema = dumps(value["schema"]).decode()
    return {"type": "json_schema", "structure": {"jsonSchema": {"schema": schema, **schema_format}}}


# -- as nodes


def request_nodes(request: ModelRequest) -> tuple[Message, ...]:
    """A request as nodes that can be compared: its own keys and its tools in the form of messages without parts."""
    keys = {k: v for k, v in request.params.items() if k != "toolConfig"}
    config = request.params.get("toolConfig")
    config = dict(config) if isinstance(config, dict) else {}
    marks = config.pop("tools", None)
    if request.tool_choice:
        config["toolChoice"] = _written_choice(request.tool_choice)
    listed = enumerate(marks if isinstance(marks, list) else ())
    return (
        Message("", _as_written(request.system), extra=keys),
        Message("", (), extra=config, pointer="/toolConfig"),
        *(Message("", (), extra=mark or {}, pointer=f"/toolConfig/tools/{n}") for n, mark in listed),
        *(Message("", (), extra=write_tool(tool), pointer=tool.pointer) for tool in request.tools),
        *message_nodes(request.messages),
    )


def message_nodes(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages with the IR's own terms replaced by those of the wire format."""
    return tuple(replace(message, parts=_as_written(message.parts)) for message in messages)


def _as_written(parts: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(_part_as_written(part) for part in parts)


def _part_as_written(part: Part) -> Part:
    if isinstance(part, ToolResultIR):
        content = _as_written(part.content)
        if part.is_error is None:
            return replace(part, content=content)
        extra = put(part.extra, ("toolResult", "status"), _STATUS[part.is_error])
        return replace(part, content=content, is_error=None, extra=extra)
    if isinstance(part, Media) and part.media_type is not None:
        form = _SUFFIXES.get(part.media_type, part.media_type)
        return replace(part, media_type=None, extra=put(part.extra, (part.kind, "format"), form))
    return part


# -- written anew


def write_request(request: ModelRequest) -> dict[str, JsonValue]:
    """The body of a request in normal form."""
    body: dict[str, JsonValue] = {"messages": _messages(request.messages)}
    if request.system:
        body["system"] = write_content(request.system)
    config: dict[str, JsonValue] = {"tools": [*_write_tools(request.tools)]} if request.tools else {}
    if request.tool_choice:
        config["toolChoice"] = _written_choice(request.tool_choice)
    if config:
        body["toolConfig"] = config
    if request.thinking is not None:
        kind = _WRITTEN_THINKING.get(request.thinking, request.thinking)
        body[_MODEL_FIELDS] = {"thinking": {"type": kind}}
    own = dict(request.params)
    if "response_schema" in own:
        own["response_schema"] = _text_format(own["response_schema"])
    write_params(own, PLACES, body)
    return body


def _messages(messages: Sequence[Message]) -> list[JsonValue]:
    """Results and the user message after them are one message."""
    entries: list[JsonValue] = []
    after_results = False
    for message in messages:
        content = write_content(message.parts)
        if message.role == "user" and after_results:
            entries[-1]["content"] += content
        else:
            entries.append({"role": "user" if message.role == "tool" else message.role, "content": content})
        after_results = message.role == "tool"
    return entries


def write_content(parts: Sequence[Part]) -> list[JsonValue]:
    """Blocks, each with its mark for the cache behind it."""
    return [block for part in parts for block in (write_block(part), *_cache_point(part))]


def _write_tools(tools: Sequence[ToolDef]) -> Iterator[JsonValue]:
    for tool in tools:
        yield write_tool(replace(tool, extra=NOTHING))
        yield from _cache_point(tool)


def _cache_point(part: Part | ToolDef) -> Iterator[dict[str, JsonValue]]:
    mark = None if isinstance(part, Opaque) else part.extra.get("cache_control")
    if mark is not None:
        yield {"cachePoint": {**mark, "type": "default"}}


def write_block(part: Part) -> dict[str, JsonValue]:
    """One block."""
    match part:
        case Text():
            return {"text": part.text}
        case Reasoning():
            return {"reasoningContent": _reasoning(part)}
        case ToolCallIR():
            named = {"toolUseId": part.id, "name": part.name}
            return {"toolUse": {**{k: v for k, v in named.items() if v is not None}, "input": part.input}}
        case ToolResultIR():
            return {"toolResult": _result(part)}
        case Media():
            return {part.kind: _media(part)}
        case Opaque(type="json"):
            return {"json": part.value}
        case _:
            raise AssertionError("not a part in normal form")


def _result(part: ToolResultIR) -> JsonValue:
    block = {
        "toolUseId": part.tool_call_id,
        "content": write_content(part.content),
        "status": None if part.is_error is None else _STATUS[part.is_error],
    }
    return {k: v for k, v in block.items() if v is not None}


def _reasoning(part: Reasoning) -> JsonValue:
    if part.text is None:
        return {"redactedContent": part.data}
    block = {"text": part.text, "signature": part.signature}
    return {"reasoningText": {k: v for k, v in block.items() if v is not None}}


def _media(part: Media) -> JsonValue:
    form = _SUFFIXES.get(part.media_type or "")
    where = {"bytes": part.data} if part.data is not None else {"s3Location": {"uri": part.url}}
    named = {"name": DOCUMENT, **part.extra.get("document", {})} if part.kind == "document" else {}
    return {**({"format": form} if form else {}), **named, "source": where}


def write_tool(tool: ToolDef) -> dict[str, JsonValue]:
    """A declared tool, with its further keys."""
    key = "systemTool" if tool.kind == "server" else "toolSpec"
    declaration: dict[str, JsonValue] = dict(tool.extra)
    for path, value in (
        ((key, "name"), tool.name),
        ((key, "description"), tool.description),
        ((key, "inputSchema", "json"), tool.schema),
        ((key, "strict"), tool.strict),
    ):
        if value is not None:
            declaration = put(declaration, path, value)
    return declaration


def _written_choice(choice: ToolChoice) -> JsonValue:
    if choice.mode == "other":
        return choice.value
    return {choice.mode: {} if choice.name is None else {"name": choice.name}}
