"""Compares the result of a tool with what its client told the model of it.

Clients choose: some give the model the text, some the structured content, some both. What one of them says as well as
the other is not lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire import dumps, loads

_SIGNIFICANT = 16
"""Characters at the beginning of a text that show that its rest was cut."""


class LostPart(NamedTuple):
    """A part of a result that the model did not get.

    Attributes:
        kind: ``"structured"``, ``"part"`` of the content, or ``"cut"``: the beginning of a text, without its end.
        pointer: of the part, in the response of the server.
        size: bytes that are missing.
    """

    kind: str
    pointer: str
    size: int


def lost_parts(result: dict[str, JsonValue], told: str, *, has_media: bool) -> Iterator[LostPart]:
    """Parts of a result that the model did not get.

    Args:
        told: the text that it got.
        has_media: it got an image or a file, too: which one cannot be told, because clients make them smaller.
    """
    told = "\n".join((told, *(leaf for leaf in _leaves(_json(told)) if isinstance(leaf, str))))
    structured = result.get("structuredContent")
    has_structured = structured is not None
    is_told = has_structured and all(_is_in(leaf, told) for leaf in _leaves(structured))
    if has_structured and not is_told:
        yield LostPart("structured", "/result/structuredContent", len(dumps(structured)))
    content = result.get("content")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        lost = _lost_part(part, told) if isinstance(part, dict) else None
        is_media = lost is not None and not isinstance(lost.text, str)
        if lost and not (has_media if is_media else is_told and not result.get("isError")):
            yield lost.at(f"/result/content/{number}")


class _LostContent(NamedTuple):
    """A lost part of the content; ``text`` is None for what is no text."""

    kind: str
    pointer: str
    size: int
    text: str | None

    def at(self, part: str) -> LostPart:
        return LostPart(self.kind, part + self.pointer, self.size)


def _lost_part(part: dict[str, JsonValue], told: str) -> _LostContent | None:
    """Lost content of one part: the bytes that did not reach the model."""
    inner, kind = part.get("resource"), part.get("type")
    name: JsonValue = ""
    if kind == "text":
        return _lost_text(part.get("text"), "/text", told)
    if kind == "resource" and isinstance(inner, dict) and "text" in inner:
        return _lost_text(inner["text"], "/resource/text", told)
    if kind == "image":
        data, pointer = part.get("data"), "/data"
    elif kind == "resource" and isinstance(inner, dict):
        data, name, pointer = inner.get("blob"), inner.get("uri"), "/resource/blob"
    else:
        return None
    if not isinstance(data, str) or data in told or (isinstance(name, str) and name and name in told):
        return None
    return _LostContent("part", pointer, len(data), None)


def _lost_text(text: JsonValue, pointer: str, told: str) -> _LostContent | None:
    if not isinstance(text, str) or not text.strip() or text.strip() in told:
        return None
    value = _json(text)
    if value is not None and all(_is_in(leaf, told) for leaf in _leaves(value)):
        return None
    kept = _length_told(text, told)
    size = len(text[kept:].encode("utf-8", "replace"))
    return _LostContent("cut" if kept >= _SIGNIFICANT else "part", pointer, size, text)


def _length_told(text: str, told: str) -> int:
    """Length of the beginning of a text that was told."""
    first = told.find(text[:_SIGNIFICANT])
    if first < 0:
        return 0
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if told.startswith(text[:middle], first) else (low, middle - 1)
    return low


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value


def _is_in(leaf: JsonValue, told: str) -> bool:
    """A single value is in the text, as JSON or as it is."""
    text = dumps(leaf).decode("utf-8", "replace")
    return text in told or (isinstance(leaf, str) and (leaf in told or text[1:-1] in told))


def _json(text: str) -> JsonValue:
    try:
        return loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except WireError:
        return None
