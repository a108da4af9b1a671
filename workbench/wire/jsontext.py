"""JSON of the wire: parsed, written, and edited without touching a byte more than was asked for.

The one place that parses JSON from the wire. ``JsonIndex`` says where in the original bytes a value stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue
from workbench.wire._loads import dumps, dumps_ascii, elements, loads
from workbench.wire._members import Members
from workbench.wire._runs import Run, runs
from workbench.wire.json_index import JsonIndex, Place, Span
from workbench.wire.json_strings import ESCAPE, decode, encode

__all__ = [
    "JsonIndex",
    "Members",
    "Run",
    "dumps",
    "elements",
    "loads",
    "replace",
    "runs",
    "string_slice_span",
    "writer_like",
]

_UNICODE_ESCAPE: Final = re.compile(rb"(?<!\\)(?:\\\\)*+\\u(?!00[0-7])")


def replace(text: bytes, edits: Mapping[str, JsonValue]) -> bytes:
    r"""Put new values at pointers; bytes outside their spans stay as they are.

    Pointers may go through strings: the new text is then escaped once for each string it is in. A text that writes
    everything outside ASCII as ``\uXXXX`` is continued so.

    Raises:
        LocalProtocolError: nothing is at a pointer, one edit lies inside another, or a value is no JSON value.
    """
    index = JsonIndex(text)
    cuts = sorted((*_target(index, pointer), pointer) for pointer in edits)
    pieces, at, before = list[bytes](), 0, ""
    for start, end, pointer in cuts:
        if start < at:
            raise LocalProtocolError("two edits overlap", where=f"{before}, {pointer}", hint="make one after the other")
        place = index.find(pointer)
        assert place is not None  # _target found it
        pieces += (text[at:start], _written(edits[pointer], text, place))
        at, before = end, pointer
    return b"".join((*pieces, text[at:]))


def _target(index: JsonIndex, pointer: str) -> Span:
    span = index.span(pointer)
    if span is None:
        raise LocalProtocolError("nothing to replace", where=pointer or "the whole text", hint="check the pointer")
    return span


def _written(value: JsonValue, text: bytes, place: Place) -> bytes:
    """JSON text of a value for its layer, escaped outward through every string."""
    layers = [text, *(inside.text for inside in place.strings)]
    new = writer_like(layers.pop())(value)
    while layers:
        new = writer_like(layers.pop())(decode(new))[1:-1]
    return new


def writer_like(text: bytes) -> Callable[[JsonValue], bytes]:
    r"""How to write new values into a text: as ``\uXXXX`` where it writes everything outside ASCII so."""
    escapes = text.isascii() and b"\\u" in text and _UNICODE_ESCAPE.search(text)
    return dumps_ascii if escapes else dumps


def string_slice_span(text: bytes, span: Span, start_char: int, end_char: int) -> Span:
    """Byte range of characters ``start_char`` to ``end_char`` of the JSON string at ``span`` (quotes included in it).

    Characters are those of the parsed string: an escape or a surrogate pair is one. Ends past the string are clipped.
    """
    start, end = span[0] + 1, span[1] - 1
    first = _byte_of_char(text, start, end, start_char)
    return first, _byte_of_char(text, first, end, end_char - start_char)


def _byte_of_char(text: bytes, at: int, end: int, count: int) -> int:
    """Where the character lies that is ``count`` after the one at byte ``at``."""
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
