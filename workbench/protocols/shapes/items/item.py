"""Items: what ``input`` and ``output`` are lists of. Each is one message of the IR.

Facts: ``types/responses/response_input_item_param.py`` and ``response_output_item.py`` of the official ``openai`` SDK
3.54. What the model said (its messages, calls, reasoning) has the role ``assistant``, whatever the item; what answers a
client's call has the role ``tool``. An item of another type is kept verbatim.

Facts: ``types/responses/response_input_*_param.py``, ``response_output_text.py`` and ``response_output_refusal.py`` of
the official ``openai`` SDK 3.54. Other types are kept verbatim.

Facts: ``types/responses/response_input_item_param.py`` and ``response_output_item.py`` of the official ``openai`` SDK
3.54. A call is paired with its output by ``call_id``; ``id`` is the name of the item and pairs nothing. Items of tools
that the provider runs itself hold the call and often its outcome, and are named by ``id`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench.ir import (
    NOTHING,
    Carrier,
    JsonValue,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Source,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.named_tuple import NamedTuple
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes, misshapen_message
from workbench.protocols.shapes.chat.message import media_type, merge_nested, parse_arguments
from workbench.wire import type_name, type_words

FUNCTION, CUSTOM, BUILT_IN = "openai", "openai-custom", "openai-item"
"""Values of ``ToolCallIR.format``: a function, a custom tool with free-text input, a built-in tool's own item."""


class BuiltIn(NamedTuple):
    """A tool with its own item type.

    Attributes:
        name: name of the tool, which the item does not have.
        inputs: keys that may have its input; the first one that is present counts.
        is_server: the provider runs it.
    """

    name: str
    inputs: tuple[str, ...] = ()
    is_server: bool = True


BUILT_INS: Mapping[str, BuiltIn] = {
    "computer_call": BuiltIn("computer", ("action", "actions"), is_server=False),
    "local_shell_call": BuiltIn("local_shell", ("action",), is_server=False),
    "shell_call": BuiltIn("shell", ("action",), is_server=False),
    "apply_patch_call": BuiltIn("apply_patch", ("operation",), is_server=False),
    "tool_search_call": BuiltIn("tool_search", ("arguments",)),
    "web_search_call": BuiltIn("web_search", ("action", "arguments")),
    "file_search_call": BuiltIn("file_search", ("queries",)),
    "code_interpreter_call": BuiltIn("code_interpreter", ("code",)),
    "image_generation_call": BuiltIn("image_generation", ("revised_prompt",)),
    "mcp_call": BuiltIn("mcp", ("arguments",)),
    "program": BuiltIn("program", ("code",)),
}
"""Type of an item → its tool. If server or client may run it, ``_is_server`` decides."""

_CONTAINERS = ("container_auto", "container_reference")
"""Environments of a shell that the provider hosts."""


def read_call(block: BlockReader) -> tuple[Part, ...]:
    """The call in an item, and the outcome in it."""
    kind = block.value["type"]
    if kind in ("function_call", "custom_tool_call"):
        return (_function(block) if kind == "function_call" else _custom(block),)
    tool = BUILT_INS[kind]
    is_server = _is_server(block.value, tool)
    by_item = is_server and not block.value.get("call_id")
    call_id = block.string("id", "id" if by_item else "call_id")
    name = block.string("name", "name") if isinstance(block.value.get("name"), str) else tool.name
    key = next((key for key in tool.inputs if key in block.value), None)
    value, raw, error = _arguments(block, key) if key == "arguments" else (key and block.take("input", key), None, None)
    outcome = tuple(_outcome(block, call_id)) if is_server else ()
    call = ToolCallIR(
        call_id, name, value, BUILT_IN, raw, is_server, error, block.extra(typed=True), block.source()
    )  # fmt: skip
    return (call, *outcome)


def read_result(block: BlockReader, *, is_server: bool) -> tuple[Part, ...]:
    """The result in an item."""
    kind = block.value["type"]
    by_item = kind == "local_shell_call_output" and "call_id" not in block.value
    call_id = block.string("tool_call_id", "id" if by_item else "call_id")
    read, key = _RESULTS[kind]
    content: tuple[Part, ...] = ()
    if block.value.get(key) is not None:
        content = read(block.take("content", key), f"/{key}", block.notes)
    elif kind != "apply_patch_call_output":  # may have nothing to say
        what = "null" if key in block.value else "absent"
        block.notes.add("content.empty", f"the {key} of a result is {what}", f"/{key}" if what == "null" else "")
        block.take("content", key)
    return (
        ToolResultIR(
            call_id,
            content,
            is_error=True if kind.startswith("apply_patch") and block.value.get("status") == "failed" else None,
            name=block.string("name", "name"),
            is_server=is_server,
            extra=block.extra(typed=kind != "function_call_output"),
            source=block.source(),
        ),
    )


def _is_server(value: Mapping[str, JsonValue], tool: BuiltIn) -> bool:
    """The provider runs this call."""
    if tool.name == "tool_search":
        return value.get("execution") != "client"
    environment = value.get("environment")
    is_hosted = isinstance(environment, dict) and environment.get("type") in _CONTAINERS
    return tool.is_server or (tool.name == "shell" and is_hosted)


def _function(block: BlockReader) -> Part:
    call_id, name = block.string("id", "call_id"), block.string("name", "name")
    value, raw, error = _arguments(block, "arguments")
    return ToolCallIR(call_id, name, value, FUNCTION, raw, error=error, extra=block.extra(), source=block.source())


def _custom(block: BlockReader) -> Part:
    call_id, name, value = block.string("id", "call_id"), block.string("name", "name"), block.take("input", "input")
    return ToolCallIR(call_id, name, value, CUSTOM, extra=block.extra(), source=block.source())


def _arguments(block: BlockReader, key: str) -> tuple[JsonValue, str | None, str | None]:
    """(parsed, text, why the text does not parse)."""
    value, is_function = block.take("input", key), block.value["type"] == "function_call"
    if isinstance(value, str):
        block.pairs.append(("raw", f"/{key}"))
        parsed, error = parse_arguments(value)
        return parsed, value, error
    if value is None and is_function:
        what = f"{key} is null" if key in block.value else f"a call without {key}"
        block.notes.add("args.empty", f"{what}: this protocol requires a string, even for an empty object", f"/{key}")
    elif is_function:
        block.notes.add("args.not-object", f"{key} is {type_words(value)}, not a string of JSON", f"/{key}")
    return value, None, None


def _outcome(block: BlockReader, call_id: str | None) -> Iterator[Part]:
    """Result of the provider's tool, if its item holds it in a readable form."""
    kind = block.value["type"]
    if kind == "mcp_call" and isinstance(block.value.get("output"), str):
        block.keys_read.add("output")
        content: tuple[Part, ...] = (Text(block.value["output"], source=Source("/output", ITSELF)),)
        failed = True if block.value.get("error") is not None else None
        yield _server_result(call_id, content, "/output", failed)
    elif kind == "code_interpreter_call" and isinstance(block.value.get("outputs"), list):
        block.keys_read.add("outputs")
        yield _server_result(call_id, tuple(_logs(block.value["outputs"], "/outputs", block.notes)), "/outputs")
    elif kind == "image_generation_call" and isinstance(block.value.get("result"), str):
        block.keys_read.add("result")
        image = Media("image", data=block.value["result"], source=Source("/result", {"data": ""}))
        yield _server_result(call_id, (image,), "/result")


def _server_result(call_id: str | None, content: tuple[Part, ...], at: str, is_error: bool | None = None) -> Part:
    return ToolResultIR(call_id, content, is_error, is_server=True, source=Source("", {"content": at}))


def _logs(outputs: list[JsonValue], at: str, notes: Notes) -> Iterator[Part]:
    """Output of code: ``{"type": "logs", "logs"}`` and ``{"type": "image", "url"}``."""
    for n, value in enumerate(outputs):
        kind = value.get("type") if isinstance(value, dict) else None
        block = BlockReader(value if isinstance(value, dict) else {}, f"{at}/{n}", notes)
        if kind == "logs" and isinstance(value.get("logs"), str):
            yield Text(block.take("text", "logs"), extra=block.extra(), source=block.source())
        elif kind == "image" and isinstance(value.get("url"), str):
            yield Media("image", url=block.take("url", "url"), extra=block.extra(), source=block.source())
        else:
            yield Opaque(kind if isinstance(kind, str) else type_name(value), value, Source(f"{at}/{n}", VERBATIM))


def _commands(value: JsonValue, at: str, notes: Notes) -> tuple[Part, ...]:
    """Output of shell commands: ``{"stdout", "stderr", "outcome"}`` each."""
    if not isinstance(value, list):
        return read_content(value, at, notes)
    return tuple(part for n, chunk in enumerate(value) for part in _command(chunk, f"{at}/{n}", notes))


def _command(value: JsonValue, at: str, notes: Notes) -> Iterator[Part]:
    streams = [key for key in ("stdout", "stderr") if isinstance(value, dict) and isinstance(value.get(key), str)]
    if not streams:
        notes.shape("a command output without stdout or stderr", at)
        yield Opaque(type_name(value), value, Source(at, VERBATIM))
        return
    block = BlockReader(value, at, notes)
    block.keys_read |= {*streams}
    extra = block.extra(typed="type" in value)
    for key in streams:
        fields = {"text": f"/{key}"} | ({"extra": ""} if extra else {})
        yield Text(value[key], extra, Source(at, fields))
        extra = NOTHING


def _verbatim(kind: str) -> ReadResult:
    return lambda value, at, notes: (Opaque(kind, value, Source(at, VERBATIM)),)


def _as_text(value: JsonValue, at: str, notes: Notes) -> tuple[Part, ...]:
    return read_content(value, at, notes)


ReadResult = Callable[[JsonValue, str, Notes], tuple[Part, ...]]
_RESULTS: Mapping[str, tuple[ReadResult, str]] = {
    "function_call_output": (_as_text, "output"),
    "custom_tool_call_output": (_as_text, "output"),
    "computer_call_output": (_as_text, "output"),
    "local_shell_call_output": (_as_text, "output"),
    "shell_call_output": (_commands, "output"),
    "apply_patch_call_output": (_as_text, "output"),
    "tool_search_output": (_verbatim("tools"), "tools"),
    "program_output": (_as_text, "result"),
}
"""Type of an item → how its outcome is read, and its key."""

CALLS = frozenset({"function_call", "custom_tool_call", *BUILT_INS})
RESULTS = frozenset(_RESULTS)


OUTPUT_TEXT, INPUT_TEXT = "output_text", "input_text"
"""Types of a text: of the model, and of all others."""


def read_content(
    content: JsonValue, at: str, notes: Notes, default_type: str = INPUT_TEXT, more: Mapping[str, Reader] = NOTHING
) -> tuple[Part, ...]:
    """The parts of a ``content`` or ``output`` value: a string, or a list of typed blocks.

    Args:
        content: the value; anything else becomes one opaque part and an anomaly.
        at: pointer of the value, relative to its message.
        notes: list to which anomalies are added.
        default_type: the type of text without a type.
        more: readers of the types of blocks that only one protocol has.
    """
    if isinstance(content, str):
        return (Text(content, source=Source(at, ITSELF)),)
    if isinstance(content, list):
        return tuple(_block(value, f"{at}/{n}", notes, default_type, more) for n, value in enumerate(content))
    if isinstance(content, dict) and isinstance(content.get("type"), str):  # of a computer's output: one screenshot
        return (_block(content, at, notes, default_type, more),)
    notes.shape(f"content is {type_words(content)}, not a string or a list of parts", at)
    return (Opaque(type_name(content), content, Source(at, VERBATIM)),)


def _block(value: JsonValue, at: str, notes: Notes, default_type: str, more: Mapping[str, Reader]) -> Part:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        notes.shape(
            "a content part without a type" if isinstance(value, dict) else f"{type_words(value)} as a content part", at
        )
        return Opaque("" if isinstance(value, dict) else type_name(value), value, Source(at, VERBATIM))
    read = more.get(kind) or _READERS.get(kind)
    part = read(BlockReader(value, at, notes), default_type) if read else None
    if read and part is None:
        notes.shape(f"a content part of type {kind!r} without its {_ESSENTIAL[kind]}", at)
    return part or Opaque(kind, value, Source(at, VERBATIM))


def _text(block: BlockReader, default_type: str) -> Part | None:
    if not isinstance(block.value.get("text"), str):
        return None
    text = block.take("text", "text")
    return Text(text, extra=block.extra(typed=block.value["type"] != default_type), source=block.source())


def _image(block: BlockReader, default_type: str) -> Part | None:
    """``image_url`` is a URL or a ``data:`` URL; an image without it has a ``file_id``."""
    if not any(isinstance(block.value.get(key), str) for key in ("image_url", "file_id")):
        return None
    url, file_id = block.string("url", "image_url"), block.string("file_id", "file_id")
    extra = block.extra(typed=block.value["type"] != "input_image")
    return Media("image", media_type(url), url=url, file_id=file_id, extra=extra, source=block.source())


def _file(block: BlockReader, default_type: str) -> Part | None:
    """One of ``file_data`` (base64, or a ``data:`` URL), ``file_url`` and ``file_id``."""
    value = block.value
    if not any(isinstance(value.get(key), str) for key in ("file_data", "file_url", "file_id")):
        return None
    kind = media_type(value.get("file_data"))
    url = data = None
    if kind and not isinstance(value.get("file_url"), str):
        url = block.string("url", "file_data")
    else:
        url, data = block.string("url", "file_url"), block.string("data", "file_data")
    file_id = block.string("file_id", "file_id")
    return Media("file", kind, data, url, file_id, block.extra(), block.source())


def _audio(block: BlockReader, default_type: str) -> Part | None:
    inside = block.value.get("input_audio")
    if not isinstance(inside, dict):
        return None
    inner = BlockReader(inside, block.at, block.notes)
    data, form = inner.string("data", "data"), inside.get("format")
    extra = merge_nested(block, "input_audio", inner)
    return Media("audio", f"audio/{form}" if isinstance(form, str) else None, data, extra=extra, source=block.source())


Reader = Callable[[BlockReader, str], Part | None]
_READERS: Mapping[str, Reader] = {
    **dict.fromkeys((INPUT_TEXT, OUTPUT_TEXT, "text"), _text),
    **dict.fromkeys(("input_image", "computer_screenshot"), _image),
    "input_file": _file,
    "input_audio": _audio,
}
_ESSENTIAL: Mapping[str, str] = {
    **dict.fromkeys((INPUT_TEXT, OUTPUT_TEXT, "text"), "text"),
    **dict.fromkeys(("input_image", "computer_screenshot"), "image_url or file_id"),
    "input_file": "file_data, file_url or file_id",
    "input_audio": "input_audio",
}


_ROLES: Mapping[str, str] = {
    "item_reference": "assistant",  # what is worth a reference was said by the model
    "compaction": "assistant",
    "mcp_list_tools": "assistant",
    "mcp_approval_request": "assistant",
    "mcp_approval_response": "user",
    "additional_tools": "developer",
    "configuration_update": "developer",
}
"""Type of an item that is kept verbatim → whose it is."""

_TEXTS = ("summary", "content")
"""Lists of a reasoning item with readable text."""


def read_item(value: JsonValue, pointer: str, notes: Notes, more: Mapping[str, Reader] = NOTHING) -> Message:
    """One item of a request; a wrong value is kept, and an anomaly is noted. ``more``: as in ``read_content``."""
    return _read(value, pointer, notes, more, is_answer=False)


def read_output(value: JsonValue, pointer: str, notes: Notes, more: Mapping[str, Reader] = NOTHING) -> Message:
    """One item of a response: the provider made all of it."""
    return _read(value, pointer, notes, more, is_answer=True)


def kind_of_item(value: Mapping[str, JsonValue]) -> str | None:
    """Type of an item. Messages may leave it out, and so may references (``easy_input_message_param.py``)."""
    kind = value.get("type")
    if kind is None and ("role" in value or "content" in value):
        return "message"
    if kind is None and value.keys() == {"id"}:
        return "item_reference"
    return kind if isinstance(kind, str) else None


def _read(value: JsonValue, pointer: str, notes: Notes, more: Mapping[str, Reader], *, is_answer: bool) -> Message:
    notes.base = pointer
    if not isinstance(value, dict):
        return misshapen_message(value, "an item", pointer, notes)
    kind = kind_of_item(value)
    block = BlockReader(value, "", notes)
    if kind == "message":
        return _message(block, pointer, more, is_answer=is_answer)
    if kind in CALLS:
        return Message("assistant", read_call(block), pointer=pointer)
    if kind in RESULTS:
        is_server = is_answer or kind == "program_output" or value.get("execution") == "server"
        parts = read_result(block, is_server=is_server)
        return Message("assistant" if is_server else "tool", parts, pointer=pointer)
    if kind == "reasoning":
        return Message("assistant", tuple(_reasoning(block)), pointer=pointer)
    if kind is None:
        notes.shape("an item without a type", "")
    role = _ROLES.get(kind or "") or value.get("role", "assistant" if is_answer else "")
    parts = (Opaque(kind or "", value, Source("", VERBATIM)),)
    return Message(role if isinstance(role, str) else "", parts, pointer=pointer)


def _message(block: BlockReader, pointer: str, more: Mapping[str, Reader], *, is_answer: bool) -> Message:
    value = block.value
    role = value.get("role")
    if isinstance(role, str):
        block.keys_read.add("role")
    elif not is_answer:
        block.notes.no_role(role)
    role = role if isinstance(role, str) else "assistant" if is_answer else ""
    block.keys_read.add("content")
    parts: tuple[Part, ...] = ()
    if value.get("content") is not None:
        parts = read_content(
            value["content"], "/content", block.notes, OUTPUT_TEXT if role == "assistant" else INPUT_TEXT, more
        )
    else:
        block.notes.shape("a message without content", "/content" if "content" in value else "")
    return Message(role, parts, block.extra(typed="type" in value), pointer)


def _reasoning(block: BlockReader) -> Iterator[Part]:
    """The texts of an item, one part each; the first has the other members.

    Its ``extra`` has the lists of the texts too, without the texts, so that the item can be written again as it was.
    """
    texts = list[tuple[str, str]]()
    lists: dict[str, JsonValue] = {}
    for key in _TEXTS:
        entries = block.value.get(key)
        if isinstance(entries, list) and all(isinstance(entry, dict) and "type" in entry for entry in entries):
            block.keys_read.add(key)
            readable = [isinstance(entry.get("text"), str) for entry in entries]
            lists[key] = [
                {k: v for k, v in entry.items() if k != "text" or not is_text}
                for entry, is_text in zip(entries, readable, strict=True)
            ]
            texts += (
                (f"/{key}/{n}/text", entry["text"])
                for n, (entry, is_text) in enumerate(zip(entries, readable, strict=True))
                if is_text
            )
        elif entries is not None:
            block.notes.shape(f"{key!r} of a reasoning item is not a list of objects with a type", f"/{key}")
    data = block.string("data", "encrypted_content")
    first = texts[0] if texts else None
    if first:
        block.pairs.append(("text", first[0]))
    first_text = first[1] if first else None
    yield Reasoning(Carrier.ENCRYPTED_ITEM, first_text, None, data, block.extra(**lists), block.source())
    for at, text in texts[1:]:
        yield Reasoning(Carrier.ENCRYPTED_ITEM, text, extra=NOTHING, source=Source("", {"text": at}))
