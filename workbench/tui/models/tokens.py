"""Coloured tokens in a row of bytes: those of JSON, the field names of an event stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench import regex
from workbench.tui.models.rowtable import CONTINUES, IN_STRING

_REST_OF_STRING: Final = regex.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"?')
_JSON: Final = regex.compile(
    rb'(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"?)(?P<colon>\s*+:)?|(?P<number>-?[0-9][0-9.eE+-]*+)|(?P<word>true|false|null)'
)
_FIELD: Final = regex.compile(rb"(?:event|data|id|retry)?:")
_IS_JSON: Final = regex.compile(rb"[\xef\xbb\xbf \t\r\n]*+[{\[]")


def is_json(body: bytes) -> bool:
    """True if the body is laid out as JSON."""
    return bool(_IS_JSON.match(body))


def tokens(data: bytes, flags: int, *, json: bool) -> Iterator[tuple[int, int, str]]:
    """(start, end, style) of the coloured tokens in one row."""
    at = 0
    if flags & IN_STRING:
        found = _REST_OF_STRING.match(data)
        at = found.end() if found else 0
        yield 0, at, "string"
    elif not json and not flags & CONTINUES:
        field = _FIELD.match(data)
        if field is None and not data.startswith((b"{", b"[")):
            return
        if field:
            at = field.end()
            yield 0, at, "role"
    for token in _JSON.finditer(data, at):
        kind = token.lastgroup or ""
        if kind == "colon":
            yield token.start("string"), token.end("string"), "key"
        else:
            yield token.start(), token.end(), kind
