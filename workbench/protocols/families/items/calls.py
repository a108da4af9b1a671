"""Items that are calls, and items that answer them.

Facts: ``types/responses/response_input_item_param.py`` and ``response_output_item.py`` of the official ``openai`` SDK
3.54. A call is paired with its output by ``call_id``; ``id`` is the name of the item and pairs nothing. Items of tools
that the provider runs itself hold the call and often its outcome, and are named by ``id`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from workbench.ir import NOTHING, JsonValue, Media, Opaque, Part, Source, Text, ToolCallIR, ToolResultIR
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes, kind_of
from workbench.protocols.families.chat.calls import parse_arguments
from workbench.protocols.families.items.content import read_content

FUNCTION, CUSTOM, BUILT_IN = "openai", "openai-custom", "openai-item"
"""Values of ``ToolCallIR.format``: a function, a custom tool with free-text input, a built-in tool's own item."""


class BuiltIn(NamedTuple):
    """A tool that has an item type of its own.

    Attributes:
        name: what the tool is called; the item does not say it.
        inputs: keys that may hold its input, the first one that is there counts.
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
"""Type of an item → its tool. Where a server or the client may run it, ``_is_server`` says who does."""

_CONTAINERS = ("container_auto", "container_reference")
"""Environments of a shell that the provider hosts."""


def read_call(block: BlockReader) -> tuple[Part, ...]:
    """The call that an item is, and the outcome that it holds."""
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
    """The result that an item is."""
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
        block.notes.add("args.empty", f"{what}: in this protocol even an empty object is a string", f"/{key}")
    elif is_function:
        block.notes.add("args.not-object", f"{key} is {kind_of(value)}, not a string of JSON", f"/{key}")
    return value, None, None


def _outcome(block: BlockReader, call_id: str | None) -> Iterator[Part]:
    """Result of the provider's tool, if its item holds it in a readable form."""
    kind = block.value["type"]
    if kind == "mcp_call" and isinstance(block.value.get("output"), str):
        block.taken.add("output")
        content: tuple[Part, ...] = (Text(block.value["output"], source=Source("/output", ITSELF)),)
        failed = True if block.value.get("error") is not None else None
        yield _server_result(call_id, content, "/output", failed)
    elif kind == "code_interpreter_call" and isinstance(block.value.get("outputs"), list):
        block.taken.add("outputs")
        yield _server_result(call_id, tuple(_logs(block.value["outputs"], "/outputs", block.notes)), "/outputs")
    elif kind == "image_generation_call" and isinstance(block.value.get("result"), str):
        block.taken.add("result")
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
            yield Opaque(kind if isinstance(kind, str) else kind_of(value), value, Source(f"{at}/{n}", VERBATIM))


def _commands(value: JsonValue, at: str, notes: Notes) -> tuple[Part, ...]:
    """Output of shell commands: ``{"stdout", "stderr", "outcome"}`` each."""
    if not isinstance(value, list):
        return read_content(value, at, notes)
    return tuple(part for n, chunk in enumerate(value) for part in _command(chunk, f"{at}/{n}", notes))


def _command(value: JsonValue, at: str, notes: Notes) -> Iterator[Part]:
    streams = [key for key in ("stdout", "stderr") if isinstance(value, dict) and isinstance(value.get(key), str)]
    if not streams:
        notes.shape("an output of a command without stdout or stderr", at)
        yield Opaque(kind_of(value), value, Source(at, VERBATIM))
        return
    block = BlockReader(value, at, notes)
    block.taken |= {*streams}
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
"""Type of an item → how its outcome is read, and the key that holds it."""

CALLS = frozenset({"function_call", "custom_tool_call", *BUILT_INS})
RESULTS = frozenset(_RESULTS)
