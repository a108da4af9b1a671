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

_KEPT = 24
"""Characters at the beginning of a text that show that its rest was cut."""


class LostPart(NamedTuple):
    """A part of a result that the model did not get.

    Attributes:
        kind: ``"structured"``, ``"text"``, or ``"cut"``: the beginning of a text, without its end.
        pointer: of the part, in the response of the server.
        size: bytes that are missing.
    """

    kind: str
    pointer: str
    size: int


def lost_parts(result: dict[str, JsonValue], told: str) -> Iterator[LostPart]:
    """Parts of a result that are not in the text that the model got."""
    told = "\n".join((told, *(leaf for leaf in _leaves(_json(told)) if isinstance(leaf, str))))
    structured = result.get("structuredContent")
    has_structured = structured is not None
    is_told = has_structured and all(_is_in(leaf, told) for leaf in _leaves(structured))
    lost_texts = list(_lost_texts(result.get("content"), told))
    if has_structured and not is_told and not result.get("isError"):
        yield LostPart("structured", "/result/structuredContent", len(dumps(structured)))
    if not is_told or result.get("isError"):
        yield from lost_texts


def _lost_texts(content: JsonValue, told: str) -> Iterator[LostPart]:
    for number, part in enumerate(content if isinstance(content, list) else ()):
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
        if not isinstance(text, str) or not text.strip() or text.strip() in told:
            continue
        value = _json(text)
        if value is not None and all(_is_in(leaf, told) for leaf in _leaves(value)):
            continue
        kept = _kept(text, told)
        kind = "cut" if kept >= _KEPT else "text"
        yield LostPart(kind, f"/result/content/{number}/text", len(text[kept:].encode("utf-8", "replace")))


def _kept(text: str, told: str) -> int:
    """Length of the beginning of a text that was told."""
    first = told.find(text[:_KEPT])
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
    """A single value is told, as JSON or as plain text."""
    text = dumps(leaf).decode("utf-8", "replace")
    return text in told or (isinstance(leaf, str) and (leaf in told or text[1:-1] in told))


def _json(text: str) -> JsonValue:
    try:
        return loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except WireError:
        return None
