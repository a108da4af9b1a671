"""Content made of typed blocks (``{"type": "text", …}``), as parts.

Facts: the block types of the official ``anthropic`` SDK 2.11 (``types/*_block_param.py``). A block of another type is
kept verbatim; so is a block whose shape is wrong, with an anomaly beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from workbench.ir import (
    Carrier,
    JsonValue,
    Media,
    Opaque,
    Part,
    Reasoning,
    Source,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes
from workbench.wire import type_name, type_words

_REFERENCES = {"base64": "data", "url": "url", "file": "file_id"}
"""Type of a media source → the key that implies it."""


Reader: TypeAlias = Callable[[BlockReader], Part | None]
"""Makes a part of a block; None where its shape does not allow it."""


def read_content(content: JsonValue, at: str, notes: Notes, *, inner: bool = False) -> tuple[Part, ...]:
    """The parts of a ``content`` value.

    Args:
        content: a string or a list of blocks; anything else becomes one opaque part and an anomaly.
        at: pointer of the value, relative to its message.
        notes: takes the anomalies.
        inner: the content of a tool result, where calls and reasoning have no meaning.
    """
    if isinstance(content, str):
        return (Text(content, source=Source(at, ITSELF)),)
    if isinstance(content, list):
        return tuple(read_block(block, f"{at}/{n}", notes, inner=inner) for n, block in enumerate(content))
    if inner and isinstance(content, dict):  # results of server tools may be one block
        return (read_block(content, at, notes, inner=True),)
    notes.shape(f"content is {type_words(content)}, not a string or a list of blocks", at)
    return (Opaque(type_name(content), content, Source(at, VERBATIM)),)


def read_block(value: JsonValue, at: str, notes: Notes, *, inner: bool = False) -> Part:
    """The part that a content block becomes. Never raises."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        what = "a block without a type" if isinstance(value, dict) else f"a block is {type_words(value)}"
        notes.shape(f"{what}, not an object with a type", at)
        return Opaque("" if isinstance(value, dict) else type_name(value), value, Source(at, VERBATIM))
    read = _reader(kind, inner)
    if read is None:
        return Opaque(kind, value, Source(at, VERBATIM))
    part = read(BlockReader(value, at, notes))
    if part is None:
        notes.shape(f"a {kind} block without its {_ESSENTIAL[kind]}", at)
    return part or Opaque(kind, value, Source(at, VERBATIM))


def _reader(kind: str, inner: bool) -> Reader | None:
    if inner:
        return _INNER.get(kind)
    return _READERS.get(kind) or (_server_result if kind.endswith("_tool_result") else None)


def _text(block: BlockReader) -> Part | None:
    if not isinstance(block.value.get("text"), str):
        return None
    return Text(block.take("text", "text"), extra=block.extra(), source=block.source())


def _thinking(block: BlockReader) -> Part | None:
    text, signature = block.string("text", "thinking"), block.string("signature", "signature")
    return Reasoning(Carrier.THINKING, text, signature, extra=block.extra(), source=block.source())


def _redacted_thinking(block: BlockReader) -> Part | None:
    data = block.take("data", "data")
    return Reasoning(Carrier.REDACTED_THINKING, None, None, data, extra=block.extra(), source=block.source())


def _tool_use(block: BlockReader) -> Part | None:
    kind = block.value["type"]
    is_server = kind != "tool_use"
    if not isinstance(block.value.get("input"), dict):
        _note_input(block)
    return ToolCallIR(
        id=block.string("id", "id"),
        name=block.string("name", "name"),
        input=block.take("input", "input"),
        format="anthropic",
        is_server=is_server,
        extra=block.extra(typed=kind not in ("tool_use", "server_tool_use")),
        source=block.source(),
    )


def _note_input(block: BlockReader) -> None:
    if "input" in block.value:
        message = f"the input of a call is {type_words(block.value['input'])}, not an object"
        block.notes.add("args.not-object", message, f"{block.at}/input")
    else:
        block.notes.add(
            "args.not-object", "a call without input: this protocol requires an object, even for empty input", block.at
        )


def _tool_result(block: BlockReader) -> Part | None:
    return _result(block, is_server=False)


def _server_result(block: BlockReader) -> Part | None:
    return _result(block, is_server=True)


def _result(block: BlockReader, *, is_server: bool) -> Part:
    content = block.take("content", "content")
    return ToolResultIR(
        tool_call_id=block.string("tool_call_id", "tool_use_id"),
        content=() if content is None else read_content(content, f"{block.at}/content", block.notes, inner=True),
        is_error=block.flag("is_error", "is_error"),
        is_server=is_server,
        extra=block.extra(typed=is_server),
        source=block.source(),
    )


def _media(block: BlockReader) -> Part | None:
    origin = block.value.get("source")
    if not isinstance(origin, dict):
        return None
    inside = BlockReader(origin, f"{block.at}/source", block.notes)
    values = {name: inside.string(name, name) for name in ("media_type", "data", "url", "file_id")}
    block.keys_read.add("source")
    block.pairs += ((name, f"/source{suffix}") for name, suffix in inside.pairs)
    implied = values.get(_REFERENCES.get(str(origin.get("type")), "")) is not None
    rest = inside.extra(typed=not implied and "type" in origin)
    return Media(
        block.value["type"], **values, extra=block.extra(source=rest) if rest else block.extra(), source=block.source()
    )


_INNER: Mapping[str, Reader] = {"text": _text, "image": _media, "document": _media}
_READERS: Mapping[str, Reader] = {
    **_INNER,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
    "tool_use": _tool_use,
    "server_tool_use": _tool_use,
    "mcp_tool_use": _tool_use,
    "tool_result": _tool_result,
}
_ESSENTIAL: Mapping[str, str] = {"text": "text", "image": "source", "document": "source"}
