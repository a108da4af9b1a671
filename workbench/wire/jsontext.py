"""Parses, writes and edits JSON of the wire without changing any other byte.

The one place that parses JSON from the wire. ``JsonIndex`` finds values in the original bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue
from workbench.wire._loads import dumps, dumps_ascii, dumps_parsed, loads
from workbench.wire._members import Members, ParsedMembers
from workbench.wire._outline import ListOutline, outline
from workbench.wire._runs import ObjectList, list_spans, runs
from workbench.wire.json_index import JsonIndex, JsonPlace, Span
from workbench.wire.json_strings import ESCAPE, decode, encode

__all__ = [
    "JsonIndex",
    "ListOutline",
    "Members",
    "ObjectList",
    "ParsedMembers",
    "dumps",
    "dumps_parsed",
    "list_spans",
    "loads",
    "outline",
    "replace",
    "runs",
    "string_slice_span",
    "writer_like",
]

_UNICODE_ESCAPE: Final = regex.compile(rb"(?<!\\)(?:\\\\)*+\\u(?!00[0-7])")


def replace(text: bytes, edits: Mapping[str, JsonValue]) -> bytes:
    r"""Replace values at pointers; bytes outside their spans stay the same.

    Pointers may go through strings: the new text is then escaped once for each string. Text that writes non-ASCII
    characters as ``\uXXXX`` stays that way.

    Raises:
        LocalProtocolError: no value at a pointer, overlapping edits, or a value that JSON cannot express.
    """
    index = JsonIndex(text)
    cuts = sorted((*_target(index, pointer), pointer) for pointer in edits)
    pieces, at, before = list[bytes](), 0, ""
    for start, end, pointer in cuts:
        if start < at:
            raise LocalProtocolError("two edits overlap", where=f"{before}, {pointer}", hint="make one after the other")
        place = index.find(pointer)
        assert place is not None  # _target found it
        pieces += (text[at:start], _value_text(edits[pointer], text, place))
        at, before = end, pointer
    return b"".join((*pieces, text[at:]))


def _target(index: JsonIndex, pointer: str) -> Span:
    span = index.span(pointer)
    if span is None:
        raise LocalProtocolError("nothing to replace", where=pointer or "the whole text", hint="check the pointer")
    return span


def _value_text(value: JsonValue, text: bytes, place: JsonPlace) -> bytes:
    """JSON text of a value for its layer, escaped for every enclosing string."""
    layers = [text, *(inside.text for inside in place.strings)]
    new = writer_like(layers.pop())(value)
    while layers:
        new = writer_like(layers.pop())(decode(new))[1:-1]
    return new


def writer_like(text: bytes) -> Callable[[JsonValue], bytes]:
    r"""The writer that matches a text: with ``\uXXXX`` if all its non-ASCII characters are written so."""
    escapes = text.isascii() and b"\\u" in text and _UNICODE_ESCAPE.search(text)
    return dumps_ascii if escapes else dumps


def string_slice_span(text: bytes, span: Span, start_char: int, end_char: int) -> Span:
    """Byte range of characters ``start_char`` to ``end_char`` of the JSON string at ``span`` (with its quotes).

    Characters are those of the parsed string: an escape or a surrogate pair is one. Ends past the string are clipped.
    """
    start, end = span[0] + 1, span[1] - 1
    first = _byte_of_char(text, start, end, start_char)
    return first, _byte_of_char(text, first, end, end_char - start_char)


def _byte_of_char(text: bytes, at: int, end: int, count: int) -> int:
    """Offset of the character ``count`` after the one at byte ``at``."""
    while count > 0 and at < end:
        stop = text.find(b"\\", at, end)
        run = decode(text[at : stop if stop >= 0 else end])
        if count <= len(run):
            return at + len(encode(run[:count]))
        count -= len(run)
        if stop < 0:
            return end
        found = ESCAPE.match(text, stop, end)
        at = found.end() if found else end
        count -= 1
    return at
