"""Parts of a tool's result that did not reach the model, by comparing it with the tool result of the next request."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import WireError
from workbench.ir import JsonValue, Opaque, Part, Text, ToolResultIR
from workbench.named_tuple import NamedTuple
from workbench.wire import dumps, loads

SIGNIFICANT = 16
"""Characters at either end of a text that show that the rest of it was cut."""


class LostPart(NamedTuple):
    """A part of a result that the model did not get.

    Attributes:
        kind: ``"structured"``, ``"part"`` of the content, ``"cut"`` (an end of a text, or its middle) or ``"shadowed"``
            (a text for which the model got the structured content).
        pointer: of the part, in the response of the server.
        size: bytes that are missing.
        piece: first and last of the missing characters of a cut text; None if all of the part is missing.
    """

    kind: str
    pointer: str
    size: int
    piece: tuple[int, int] | None = None


def text_told(told: ToolResultIR) -> str:
    """All that a result tells the model in words; parts of unknown types as JSON."""
    return "\n".join(map(_words, told.content))


def _words(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    return dumps(part.value).decode("utf-8", "replace") if isinstance(part, Opaque) else ""


def lost_parts(result: dict[str, JsonValue], told: str, *, has_media: bool) -> Iterator[LostPart]:
    """Parts of a result that the model did not get.

    Args:
        told: the text that it got.
        has_media: it got an image or a file, too: which one cannot be told, because clients make them smaller.
    """
    told = "\n".join((told, *(leaf for leaf in leaves(value_in(told)) if isinstance(leaf, str))))
    structured = result.get("structuredContent")
    has_structured = structured is not None
    is_told = has_structured and all(is_in(leaf, told) for leaf in leaves(structured))
    if has_structured and not is_told:
        yield LostPart("structured", "/result/structuredContent", len(dumps(structured)))
    content = result.get("content")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        lost = _lost_content(part, told) if isinstance(part, dict) else None
        if lost is None or (lost.is_media and has_media):
            continue
        is_shadowed = is_told and not lost.is_media and not result.get("isError")
        kind = "shadowed" if is_shadowed else "cut" if lost.piece else "part"
        if not (is_shadowed and says_the_same(part.get("text"), structured)):
            yield LostPart(kind, f"/result/content/{number}{lost.pointer}", lost.size, lost.piece)


class _LostContent(NamedTuple):
    """Missing content of one part."""

    pointer: str
    size: int
    piece: tuple[int, int] | None = None
    is_media: bool = False


def _lost_content(part: dict[str, JsonValue], told: str) -> _LostContent | None:
    inner, kind = part.get("resource"), part.get("type")
    if kind == "text":
        return _lost_text(part.get("text"), "/text", told)
    if kind == "resource" and isinstance(inner, dict) and inner.get("text"):
        return _lost_text(inner["text"], "/resource/text", told)
    if kind in ("image", "audio"):
        return _lost_media(part.get("data"), "", "/data", told)
    if kind == "resource" and isinstance(inner, dict) and not inner.get("blob"):
        lost = _lost_link(inner, told)
        return lost._replace(pointer="/resource/uri") if lost else None
    if kind == "resource" and isinstance(inner, dict):
        return _lost_media(inner.get("blob"), inner.get("uri"), "/resource/blob", told)
    if kind == "resource_link":
        return _lost_link(part, told)
    return None


def _lost_media(data: JsonValue, name: JsonValue, pointer: str, told: str) -> _LostContent | None:
    if not isinstance(data, str) or data in told or (isinstance(name, str) and name and name in told):
        return None
    return _LostContent(pointer, len(data), is_media=True)


def _lost_link(part: dict[str, JsonValue], told: str) -> _LostContent | None:
    uri = part.get("uri")
    return None if not isinstance(uri, str) or uri in told else _LostContent("/uri", len(uri))


def _lost_text(text: JsonValue, pointer: str, told: str) -> _LostContent | None:
    if not isinstance(text, str) or not text.strip() or text.strip() in told:
        return None
    value = value_in(text)
    if value is not None and all(is_in(leaf, told) for leaf in leaves(value)):
        return None
    first = _length_told(text, told)
    last = _length_told(text[first:][::-1], told[::-1]) if first < len(text) else 0
    piece = (first, len(text) - last)
    size = len(text[slice(*piece)].encode("utf-8", "replace"))
    return _LostContent(pointer, size, piece if first or last else None)


def _length_told(text: str, told: str) -> int:
    """Length of the beginning of a text that was told; 0 if that is too short to be sure."""
    first = told.find(text[:SIGNIFICANT]) if len(text) >= SIGNIFICANT else -1
    if first < 0:
        return 0
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if told.startswith(text[:middle], first) else (low, middle - 1)
    return low


def says_the_same(text: JsonValue, structured: JsonValue) -> bool:
    """A text is the structured content as JSON, or the value that a server has wrapped in it (``{"result": …}``)."""
    value = value_in(text) if isinstance(text, str) else None
    wrapped = structured.get("result") if isinstance(structured, dict) and len(structured) == 1 else None
    return (value is not None and value in (structured, wrapped)) or (wrapped is not None and str(wrapped) == text)


def leaves(value: JsonValue) -> Iterator[JsonValue]:
    """Single values in a value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    else:
        yield value


def is_in(leaf: JsonValue, told: str) -> bool:
    """A single value is in a text, as JSON or as it is."""
    text = dumps(leaf).decode("utf-8", "replace")
    return text in told or (isinstance(leaf, str) and (leaf in told or text[1:-1] in told))


def value_in(text: str) -> JsonValue:
    """The object or array that a text is; None for other texts."""
    try:
        return loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except WireError:
        return None
