"""Messages whose content is one string: pictures, thinking and calls are separate keys, arguments are objects.

Facts: ``api/types.go`` of Ollama (``Message``, ``ToolCall``, ``ToolCallFunction``) and ``_types.py`` of the ``ollama``
client 0.6. ``id`` and ``tool_call_id`` are there in newer versions only; without them calls and results are paired by
name and order.

``Message.extra`` holds every key that became no part, also a known one whose value is null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import (
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
from workbench.protocols.common import think_tags
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes, misshapen_message
from workbench.protocols.shapes.chat.message import merge_nested, read_blocks
from workbench.wire import type_name, type_words

FORMAT = "ollama"
"""``ToolCallIR.format``: a function with an object of arguments."""

CALLER, RESULT = "assistant", "tool"


def read_message(value: JsonValue, pointer: str, notes: Notes, *, is_answer: bool = False) -> Message:
    """One message; a wrong value is kept, and an anomaly is noted. The role of an answer goes without saying."""
    notes.base = pointer
    if not isinstance(value, dict):
        return misshapen_message(value, "a message", pointer, notes)
    block = BlockReader(value, "", notes)
    role = value.get("role")
    if isinstance(role, str):
        block.keys_read.add("role")
    elif not is_answer:
        notes.no_role(role)
    role = role if isinstance(role, str) else CALLER if is_answer else ""
    content = (*read_content(block, "content", is_said=role == CALLER), *read_images(block))
    parts = (_result(block, content),) if role == RESULT else (*read_thinking(block), *content)
    return Message(role, (*parts, *_calls(block)), block.extra(typed="type" in value), pointer)


def read_thinking(block: BlockReader) -> Iterator[Part]:
    """The reasoning next to the content."""
    value = block.value.get("thinking")
    if isinstance(value, str):
        block.keys_read.add("thinking")
        yield Reasoning(Carrier.MESSAGE_THINKING, value, source=Source("/thinking", ITSELF))
    elif value is not None:
        block.notes.shape(f"'thinking' is {type_words(value)}, not a string", "/thinking")


def read_content(block: BlockReader, key: str, *, is_said: bool) -> Iterator[Part]:
    """The text at a key; of what the model said, the reasoning in it apart. A list of parts is read, and refused."""
    content, at = block.value.get(key), f"/{key}"
    if content is None:
        return
    block.keys_read.add(key)
    if isinstance(content, str):
        text = Text(content, source=Source(at, ITSELF))
        yield from think_tags.parts(text) if is_said else (text,)
        return
    block.notes.shape(f"{key!r} is {type_words(content)}, not a string", at)
    if isinstance(content, list):
        yield from read_blocks(content, at, block.notes)
    else:
        yield Opaque(type_name(content), content, Source(at, VERBATIM))


def read_images(block: BlockReader) -> Iterator[Part]:
    """The pictures next to the content, each as base64."""
    for n, image in enumerate(block.elements("images")):
        at = f"/images/{n}"
        if isinstance(image, str):
            yield Media("image", _media_type(image), image, source=Source(at, _DATA))
        else:
            block.notes.shape(f"an image is {type_words(image)}, not a string", at)
            yield Opaque(type_name(image), image, Source(at, VERBATIM))


_DATA: Mapping[str, str] = {"data": ""}
_BEGINNINGS = {"iVBORw0KGg": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
"""Beginning of an image's base64 → MIME type, which this protocol lacks and others require."""


def _media_type(data: str) -> str | None:
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), None)


def _result(block: BlockReader, parts: tuple[Part, ...]) -> Part:
    if isinstance(block.value.get("content"), str):
        block.pairs.append(("content", "/content"))
    elif "content" not in block.keys_read:
        what = "null" if "content" in block.value else "absent"
        block.notes.add("content.empty", f"the content of a result is {what}", "/content" if what == "null" else "")
    return ToolResultIR(
        tool_call_id=block.string("tool_call_id", "tool_call_id"),
        content=parts,
        name=block.string("name", "tool_name"),
        source=block.source(),
    )


def _calls(block: BlockReader) -> Iterator[Part]:
    yield from (_call(call, f"/tool_calls/{n}", block.notes) for n, call in enumerate(block.elements("tool_calls")))


def _call(value: JsonValue, at: str, notes: Notes) -> Part:
    if not isinstance(value, dict):
        notes.shape(f"a tool call is {type_words(value)}, not an object", at)
        return Opaque(type_name(value), value, Source(at, VERBATIM))
    call, inside = BlockReader(value, at, notes), value.get("function")
    is_typed = value.get("type") not in ("function", None)
    call_id = call.string("id", "id")
    if not isinstance(inside, dict):
        notes.shape("a tool call without a 'function' object", at)
        return ToolCallIR(call_id, None, None, FORMAT, extra=call.extra(typed=is_typed), source=call.source())
    function = BlockReader(inside, f"{at}/function", notes)
    name, arguments = function.string("name", "name"), function.take("input", "arguments")
    if "arguments" not in inside:
        notes.add(
            "args.not-object",
            "a call without arguments: this protocol requires an object, even for empty arguments",
            function.at,
        )
    elif not isinstance(arguments, dict):
        message = f"the arguments of a call are {type_words(arguments)}, not an object"
        notes.add("args.not-object", message, f"{function.at}/arguments")
    extra = merge_nested(call, "function", function, typed=is_typed)
    return ToolCallIR(call_id, name, arguments, FORMAT, extra=extra, source=call.source())
