"""Where JSON values begin and end in a text, found by regular expressions at the speed of C and without recursion.

A regular expression cannot count brackets, but it can hold a fixed number of nested levels: ``VALUE`` skips a value
with up to ``SHALLOW`` of them in one match. What is deeper is walked bracket by bracket, once: ends found on the way
are remembered. All quantifiers are possessive, so that nothing is scanned twice by backtracking.
"""

from __future__ import annotations

import re
from array import array
from typing import Final

from workbench.limits import MAX_JSON_DEPTH

SHALLOW: Final = 10
"""Nested levels one match skips. Requests have about six above their schemas."""

_SPACE: Final = rb"[ \t\r\n]*+"
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR: Final = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+|true|false|null|NaN|-?Infinity"


def _nested(levels: int) -> bytes:
    inside = rb'(?:[^\[\]{}"]++|' + _STRING + rb")*+"
    for _ in range(levels - 1):
        inside = rb'(?:[^\[\]{}"]++|' + _STRING + rb"|[\[{]" + inside + rb"[\]}])*+"
    return inside


_CONTAINER: Final = rb"[\[{]" + _nested(SHALLOW) + rb"[\]}]"
SPACE: Final = re.compile(_SPACE)
VALUE: Final = re.compile(rb"(?:" + _STRING + rb"|" + _CONTAINER + rb"|" + _SCALAR + rb")", re.DOTALL)
KEY: Final = re.compile(_SPACE + rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE, re.DOTALL)
_AFTER: Final = re.compile(_SPACE + rb"([,\]}])")
_FLAT: Final = re.compile(rb'(?:[^\[\]{}"]++|' + _STRING + rb"|" + _CONTAINER + rb")*+", re.DOTALL)
_OPEN_ARRAY, _OPEN_OBJECT = b"[{"
_CLOSERS: Final = {_OPEN_ARRAY: ord("]"), _OPEN_OBJECT: ord("}")}
CUT: Final = -1
"""The end of a value that the text ends inside of, or that breaks before its end."""


class Table:
    """The children of one array or object.

    Attributes:
        values: start and end of each child in turn; the end is ``CUT`` for a last child that is not whole.
        keys: start and end of each member's key, quotes included; empty for arrays.
        is_object: it has members and not elements.
        is_whole: the container is well-formed up to its closing bracket.
    """

    __slots__ = ("is_object", "is_whole", "keys", "values")

    def __init__(self, *, is_object: bool) -> None:
        self.values = array("q")
        self.keys = array("q")
        self.is_object = is_object
        self.is_whole = False

    def __len__(self) -> int:
        return len(self.values) // 2


class Scanner:
    """Finds the ends of values of one text, and remembers those that were costly."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._ends: dict[int, int] = {}

    def value_end(self, start: int) -> int:
        """Where the value that starts at a byte ends, or ``CUT``."""
        if start in self._ends:
            return self._ends[start]
        found = VALUE.match(self.text, start)
        if found:
            return found.end()
        return self._deep_end(start) if self.text[start : start + 1] in (b"[", b"{") else CUT

    def _deep_end(self, start: int) -> int:
        text, open_, at = self.text, [start], start + 1
        while open_ and len(open_) <= MAX_JSON_DEPTH:
            found = _FLAT.match(text, at)
            at = found.end() if found else at
            bracket = text[at : at + 1]
            at += 1
            if bracket in (b"[", b"{"):
                open_.append(at - 1)
            elif bracket in (b"]", b"}"):
                self._ends[open_.pop()] = at
            else:
                break
        self._ends.update(dict.fromkeys(open_, CUT))
        return self._ends[start]

    def table(self, start: int) -> Table:
        """The children of the array or object that starts at a byte."""
        text, opener = self.text, self.text[start]
        table = Table(is_object=opener == _OPEN_OBJECT)
        closer, at = _CLOSERS[opener], self._skip_space(start + 1)
        table.is_whole = text[at : at + 1] == bytes((closer,))
        while not table.is_whole:
            if table.is_object:
                key = KEY.match(text, at)
                if not key:
                    break
                table.keys.extend(key.span(1))
                at = key.end()
            else:
                at = self._skip_space(at)
            end = self.value_end(at)
            after = _AFTER.match(text, end) if end != CUT else None
            if after is None and (end == len(text) and text[end - 1] not in b'"]}'):
                end = CUT  # a number at the very end may have lost digits
            table.values.extend((at, end))
            if after is None or (after[1] != b"," and ord(after[1]) != closer):
                break
            at = after.end()
            table.is_whole = after[1] != b","
        return table

    def root(self) -> int | None:
        """Where the value of the text starts, past a byte order mark; None for a blank text."""
        start = self._skip_space(3 if self.text.startswith(b"\xef\xbb\xbf") else 0)
        return start if start < len(self.text) else None

    def _skip_space(self, at: int) -> int:
        found = SPACE.match(self.text, at)
        return found.end() if found else at
