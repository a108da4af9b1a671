"""Parts of a tool's result that did not reach the model, by comparing it with the tool result of the next request."""

from __future__ import annotations

import html
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from unicodedata import normalize
from urllib.parse import quote

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue, Opaque, Part, Text, ToolResultIR
from workbench.named_tuple import NamedTuple
from workbench.wire import dumps, loads

SIGNIFICANT = 16
"""Length in characters of an equal beginning or end of a text that shows that its rest was cut."""


class LostPart(NamedTuple):
    """A part of a tool server's result that the model did not receive, or received in another form.

    Attributes:
        kind: ``"structured"``, ``"part"`` of the content, ``"cut"`` (an end of a text, or its middle), ``"shadowed"``
            (a text instead of which the model received the structured content) or ``"altered"`` (received in another
            form).
        pointer: of the part, in the response of the server.
        size: bytes that are missing.
        piece: first and last of the missing characters of a cut text; None if the whole part is missing.
        form: the form in which an altered part reached the model, in words.
    """

    kind: str
    pointer: str
    size: int
    piece: tuple[int, int] | None = None
    form: str = ""


def text_for_model(result: ToolResultIR) -> str:
    """All text of a result that reaches the model; parts of unknown types as JSON."""
    return "\n".join(map(_words, result.content))


def _words(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    return dumps(part.value).decode("utf-8", "replace") if isinstance(part, Opaque) else ""


def lost_parts(result: dict[str, JsonValue], text: str, *, has_media: bool) -> Iterator[LostPart]:
    """Parts of a tool server's result that the model did not receive.

    Args:
        text: the text that the model received.
        has_media: it received an image or a file, too. Which one is not compared, because clients shrink images.
    """
    text = "\n".join((text, *(leaf for leaf in leaves(value_in(text)) if isinstance(leaf, str))))
    structured = result.get("structuredContent")
    has_structured = structured is not None
    missing = [leaf for leaf in leaves(structured) if not is_in(leaf, text)] if has_structured else []
    form = _ROUNDED if missing and _are_rounded(missing, text) else ""
    is_told = has_structured and (not missing or bool(form))
    if missing:
        yield LostPart(
            "altered" if form else "structured", "/result/structuredContent", len(dumps(structured)), None, form
        )
    content = result.get("content")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        lost = _lost_content(part, text) if isinstance(part, dict) else None
        if lost is None or (lost.is_media and has_media):
            continue
        is_shadowed = is_told and not lost.is_media and not result.get("isError")
        kind = "shadowed" if is_shadowed else "altered" if lost.form else "cut" if lost.piece else "part"
        if not (is_shadowed and says_the_same(part.get("text"), structured)):
            yield LostPart(kind, f"/result/content/{number}{lost.pointer}", lost.size, lost.piece, lost.form)


class _LostContent(NamedTuple):
    """Missing content of one part."""

    pointer: str
    size: int
    piece: tuple[int, int] | None = None
    is_media: bool = False
    form: str = ""


def _lost_content(part: dict[str, JsonValue], text: str) -> _LostContent | None:
    inner, kind = part.get("resource"), part.get("type")
    if kind == "text":
        return _lost_text(part.get("text"), "/text", text)
    if kind == "resource" and isinstance(inner, dict) and inner.get("text"):
        return _lost_text(inner["text"], "/resource/text", text)
    if kind in ("image", "audio"):
        return _lost_media(part.get("data"), "", "/data", text)
    if kind == "resource" and isinstance(inner, dict) and not inner.get("blob"):
        lost = _lost_link(inner, text)
        return lost._replace(pointer="/resource/uri") if lost else None
    if kind == "resource" and isinstance(inner, dict) and (blob_text := _text_of_blob(inner)) and blob_text not in text:
        lost = _lost_text(blob_text, "/resource/blob", text) if inner["blob"] not in text else None
        return lost._replace(is_media=True) if lost else None  # a client may pass it on as a file
    if kind == "resource" and isinstance(inner, dict):
        return _lost_media(inner.get("blob"), inner.get("uri"), "/resource/blob", text)
    if kind == "resource_link":
        return _lost_link(part, text)
    return None


_TEXTS = ("text/", "application/json", "application/xml", "application/yaml")
"""Beginnings of media types whose files are texts."""


def _text_of_blob(resource: dict[str, JsonValue]) -> str:
    """The text of a file of text that is sent in base64 (LibreChat's issue 15595); empty for another file."""
    blob, kind = resource.get("blob"), str(resource.get("mimeType") or "").lower()
    if not isinstance(blob, str) or not kind.startswith(_TEXTS) or len(blob) > _MOST_SEARCHED:
        return ""
    try:
        return b64decode(blob, validate=True).decode()
    except ValueError:
        return ""


def _lost_media(data: JsonValue, name: JsonValue, pointer: str, text: str) -> _LostContent | None:
    if not isinstance(data, str) or data in text or (isinstance(name, str) and name and name in text):
        return None
    return _LostContent(pointer, len(data), is_media=True)


def _lost_link(part: dict[str, JsonValue], text: str) -> _LostContent | None:
    uri = part.get("uri")
    return None if not isinstance(uri, str) or uri in text else _LostContent("/uri", len(uri))


def _lost_text(text: JsonValue, pointer: str, words: str) -> _LostContent | None:
    if not isinstance(text, str) or not text.strip() or text.strip() in words or _lines(text.strip()) in _lines(words):
        return None
    value = value_in(text)
    missing = [leaf for leaf in leaves(value) if not is_in(leaf, words)]
    if value is not None and not missing:
        return None
    form = (
        _wrong_decoding(text.strip(), words)
        or _other_form(text.strip(), words)
        or (_ROUNDED if value is not None and _are_rounded(missing, words) else "")
    )
    if form:
        return _LostContent(pointer, len(text.encode("utf-8", "replace")), form=form)
    first = _length_told(text, words)
    last = _length_told(text[first:][::-1], words[::-1]) if first < len(text) else 0
    piece = (first, len(text) - last)
    size = len(text[slice(*piece)].encode("utf-8", "replace"))
    return _LostContent(pointer, size, piece if first or last else None)


_ROUNDED = "integers above 2^53 were rounded"
_EXACT = 2**53
_NUMBER = regex.compile(r"\d{16,}+(?:\.\d++)?+(?:[eE]\+?\d++)?+|\d\.\d++[eE]\+?\d++")


def _are_rounded(missing: Sequence[JsonValue], text: str) -> bool:
    """All of these values are integers that no double holds, and the text has the nearest doubles."""
    if not all(isinstance(leaf, int) and abs(leaf) > _EXACT for leaf in missing):
        return False
    found = {float(number) for number in _NUMBER.findall(text)}
    return all(abs(float(leaf)) in found for leaf in missing if isinstance(leaf, int))


_ONE_BYTE = [bytes((n,)).decode("cp1252") if n not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(n) for n in range(256)]
"""The character of each byte for a program that reads Windows-1252."""

_NOT_ASCII = regex.compile(r"[^\x00-\x7f]")
_FEW = 4
"""Length in characters up to which a text is too short to be recognised in another form."""


def _wrong_decoding(text: str, words: str) -> str:
    """How a text that is not ASCII was decoded wrongly; empty if it is not in the other one in such a form."""
    if text.isascii() or len(text) < _FEW:
        return ""
    data = text.encode("utf-8", "replace")
    if "".join(_ONE_BYTE[byte] for byte in data) in words:
        return "UTF-8 text was read as Windows-1252"
    if data.decode("latin-1") in words:
        return "UTF-8 text was read as Latin-1"
    forms = [_NOT_ASCII.sub(mark, text) for mark in ("?", "??", "")]
    is_lost = any(form in words for form in forms if len(form.replace("?", "")) >= _FEW)
    return "characters outside ASCII were lost" if is_lost else ""


def _lines(text: str) -> str:
    """A text with one kind of line breaks."""
    return text.replace("\r\n", "\n") if "\r" in text else text


_ESCAPES = regex.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("characters were escaped for HTML", html.escape),
    ("HTML escapes were decoded", html.unescape),
    ("the text was encoded for a URL", quote),
    ("control sequences were removed", lambda text: _ESCAPES.sub("", text)),
    ("the Unicode normalisation was changed", lambda text: normalize("NFC", text)),
    ("the Unicode normalisation was changed", lambda text: normalize("NFD", text)),
    ("the text was encoded as base64", lambda text: b64encode(text.encode("utf-8", "replace")).decode()),
)
"""What a client may have made of a text, in words, and how."""

_MOST_SEARCHED = 100_000
"""Characters of a text that is looked for in other forms."""


def _other_form(text: str, words: str) -> str:
    """The form in which a text is in another one; empty if it is in none that is known."""
    if len(text) < SIGNIFICANT or max(len(text), len(words)) > _MOST_SEARCHED:
        return ""
    for form, make in _FORMS:
        changed_text = make(text)
        if changed_text != text and changed_text in words:
            return form
    plain = "".join(text.split())
    return "spaces or line breaks are different" if plain and plain in "".join(words.split()) else ""


def _length_told(text: str, words: str) -> int:
    """Length of the beginning of a text that was told; 0 if that is too short to be sure."""
    first = words.find(text[:SIGNIFICANT]) if len(text) >= SIGNIFICANT else -1
    if first < 0:
        return 0
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if words.startswith(text[:middle], first) else (low, middle - 1)
    return low


def says_the_same(text: JsonValue, structured: JsonValue) -> bool:
    """True if a text is the structured content as JSON, or the value wrapped in it (``{"result": …}``)."""
    value = value_in(text) if isinstance(text, str) else None
    wrapped = structured.get("result") if isinstance(structured, dict) and len(structured) == 1 else None
    return (value is not None and value in (structured, wrapped)) or (wrapped is not None and str(wrapped) == text)


def leaves(value: JsonValue) -> Iterator[JsonValue]:
    """The single values (strings, numbers …) in a value, at any depth."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    else:
        yield value


def is_in(leaf: JsonValue, words: str) -> bool:
    """True if a single value is in a text, as JSON or unchanged."""
    text = dumps(leaf).decode("utf-8", "replace")
    return text in words or (isinstance(leaf, str) and (leaf in words or text[1:-1] in words))


def string_in(text: str) -> str:
    """The text that a string of JSON is; empty for other texts."""
    try:
        found = loads(text) if text[:1] == '"' else ""
    except WireError:
        return ""
    return found if isinstance(found, str) else ""


def value_in(text: str) -> JsonValue:
    """The JSON object or array that a text contains; None if it is other text."""
    try:
        return loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except WireError:
        return None
