"""Content made of blocks that are named by their only key (``{"text": …}``, ``{"toolUse": {…}}``), as parts.

Facts: ``ContentBlock``, ``ToolResultContentBlock`` and ``SystemContentBlock`` in botocore's service model
``bedrock-runtime/2023-09-30``. A block of another key is kept verbatim; so is one whose shape is wrong, with an anomaly
beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from workbench.ir import (
    NOTHING,
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
from workbench.protocols.common.reading import VERBATIM, Notes
from workbench.wire import type_name, type_words

FORMATS: Mapping[str, str] = {
    "png": "image/png",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "mp4": "video/mp4",
    "webm": "video/webm",
    "flv": "video/x-flv",
    "mpeg": "video/mpeg",
    "wmv": "video/x-ms-wmv",
    "three_gp": "video/3gpp",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
}
"""``format`` of media → MIME type."""

STATUSES: Mapping[str, bool] = {"success": False, "error": True}
"""``status`` of a tool result → whether the tool failed."""

Path: TypeAlias = tuple[str, ...]


class Tree:
    """An object of the wire, taken apart path by path: members that are not read stay in ``extra``, at their place."""

    __slots__ = ("at", "notes", "pairs", "rest", "value")

    def __init__(self, value: Mapping[str, JsonValue], at: str, notes: Notes) -> None:
        self.value = value
        self.rest = value
        self.at = at
        self.notes = notes
        self.pairs: list[tuple[str, str]] = []

    def look(self, path: Path) -> JsonValue:
        """The value at a path, None where there is none."""
        node: JsonValue = self.value
        for step in path:
            node = node.get(step) if isinstance(node, dict) else None
        return node

    def take(self, name: str, *path: str, kind: type = object) -> Any:
        """The value at a path as the IR field ``name``; one of another type is left and noted."""
        value = self.look(path)
        if value is None:
            return None
        pointer = "/" + "/".join(path)
        if not isinstance(value, kind):
            self.notes.shape(f"{path[-1]!r} is {type_words(value)}, which is not allowed", self.at + pointer)
            return None
        self.pairs.append((name, pointer))
        self.drop(*path)
        return value

    def drop(self, *path: str) -> None:
        """Something else says this value."""
        self.rest = _without(self.rest, path)

    def extra(self) -> Mapping[str, JsonValue]:
        """Members that no field has read; call it before ``source``."""
        if self.rest:
            self.pairs.append(("extra", ""))
        return self.rest or NOTHING

    def source(self) -> Source:
        """Source of the part."""
        return Source(self.at, dict(self.pairs))


def put(tree: Mapping[str, JsonValue], path: Path, value: JsonValue) -> dict[str, JsonValue]:
    """The tree with a value at a path."""
    child = tree.get(path[0])
    inner = put(child if isinstance(child, Mapping) else {}, path[1:], value) if len(path) > 1 else value
    return {**tree, path[0]: inner}


def _without(tree: Mapping[str, JsonValue], path: Path) -> dict[str, JsonValue]:
    remainder = {k: v for k, v in tree.items() if k != path[0]}
    inner = _without(tree[path[0]], path[1:]) if len(path) > 1 else {}
    return {**remainder, path[0]: inner} if inner else remainder


def read_content(content: JsonValue, at: str, notes: Notes, *, inner: bool = False) -> tuple[Part, ...]:
    """The parts of a ``content`` list; ``inner``: that of a tool result. Anything else becomes one opaque part."""
    if isinstance(content, list):
        return tuple(read_block(block, f"{at}/{n}", notes, inner=inner) for n, block in enumerate(content))
    notes.shape(f"content is {type_words(content)}, not a list of blocks", at)
    return (Opaque(type_name(content), content, Source(at, VERBATIM)),)


def read_block(value: JsonValue, at: str, notes: Notes, *, inner: bool = False) -> Part:
    """The part that a block becomes. Never raises."""
    if not isinstance(value, dict):
        notes.shape(f"a block is {type_words(value)}, not an object", at)
        return Opaque(type_name(value), value, Source(at, VERBATIM))
    readers = _IN_RESULTS if inner else _READERS
    kind = next((key for key in value if key in readers), None)
    if kind is None:
        return Opaque(next(iter(value), ""), value, Source(at, VERBATIM))
    part = readers[kind](Tree(value, at, notes), kind)
    if part is None:
        notes.shape(f"the value of a {kind} block is {type_words(value[kind])}, which is not allowed", at)
    return part or Opaque(kind, value, Source(at, VERBATIM))


def _text(tree: Tree, kind: str) -> Part | None:
    if not isinstance(tree.value[kind], str):
        return None
    return Text(tree.take("text", kind), extra=tree.extra(), source=tree.source())


def _call(tree: Tree, kind: str) -> Part | None:
    block = tree.value[kind]
    if not isinstance(block, dict):
        return None
    if not isinstance(block.get("input"), dict):
        what = f"is {type_words(block['input'])}, not an object" if "input" in block else "is missing"
        tree.notes.add("args.not-object", f"the input of a call {what}", f"{tree.at}/{kind}")
    return ToolCallIR(
        id=tree.take("id", kind, "toolUseId", kind=str),
        name=tree.take("name", kind, "name", kind=str),
        input=tree.take("input", kind, "input"),
        format="bedrock",
        is_server=block.get("type") == "server_tool_use",
        extra=tree.extra(),
        source=tree.source(),
    )


def _result(tree: Tree, kind: str) -> Part | None:
    block = tree.value[kind]
    if not isinstance(block, dict):
        return None
    content = tree.look((kind, "content"))
    tree.drop(kind, "content") if "content" in block else None
    status = block.get("status")
    is_error = STATUSES.get(status) if isinstance(status, str) else None
    if is_error is not None:
        tree.drop(kind, "status")
    parts = () if content is None else read_content(content, f"{tree.at}/{kind}/content", tree.notes, inner=True)
    if "content" in block:
        tree.pairs.append(("content", f"/{kind}/content"))
    return ToolResultIR(
        tool_call_id=tree.take("tool_call_id", kind, "toolUseId", kind=str),
        content=parts,
        is_error=is_error,
        is_server=isinstance(block.get("type"), str),  # only the results of the service's own tools have a type
        extra=tree.extra(),
        source=tree.source(),
    )


def _json(tree: Tree, kind: str) -> Part | None:
    """A JSON value, as nobody else has it: nothing may be beside its key."""
    if len(tree.value) > 1:
        return None
    return Opaque("json", tree.value[kind], Source(f"{tree.at}/{kind}", VERBATIM))


def _media(tree: Tree, kind: str) -> Part | None:
    block = tree.value[kind]
    if not isinstance(block, dict) or not isinstance(block.get("source"), dict):
        return None
    form = block.get("format")
    media_type = FORMATS.get(form) if isinstance(form, str) else None
    if media_type:
        tree.drop(kind, "format")
    return Media(
        kind,
        media_type,
        data=tree.take("data", kind, "source", "bytes", kind=str),
        url=tree.take("url", kind, "source", "s3Location", "uri", kind=str),
        extra=tree.extra(),
        source=tree.source(),
    )


def _reasoning(tree: Tree, kind: str) -> Part | None:
    if not isinstance(tree.value[kind], dict):
        return None
    return Reasoning(
        Carrier.REASONING_BLOCK,
        text=tree.take("text", kind, "reasoningText", "text", kind=str),
        signature=tree.take("signature", kind, "reasoningText", "signature", kind=str),
        data=tree.take("data", kind, "redactedContent"),
        extra=tree.extra(),
        source=tree.source(),
    )


Reader: TypeAlias = Callable[[Tree, str], Part | None]

_INNER: Mapping[str, Reader] = {"text": _text, "image": _media, "document": _media, "video": _media, "audio": _media}
_IN_RESULTS: Mapping[str, Reader] = {**_INNER, "json": _json}
_READERS: Mapping[str, Reader] = {
    **_INNER,
    "toolUse": _call,
    "toolResult": _result,
    "reasoningContent": _reasoning,
}
