"""Finds the ends of JSON values by regular expressions, at the speed of C and without recursion.

A regular expression cannot count brackets, but it can match a fixed number of nested levels: ``VALUE`` skips a value
with up to ``SHALLOW`` levels in one match. Deeper values are walked bracket by bracket, once: the ends found are
cached. All quantifiers are possessive, so that nothing is scanned twice by backtracking.
"""

from __future__ import annotations

import re
from array import array
from typing import Final

from workbench import regex
from workbench.limits import MAX_JSON_DEPTH
from workbench.wire.json_strings import StringText, decode

SHALLOW: Final = 10
"""Nested levels that one match skips. Requests have about six above their schemas."""

_SPACE: Final = rb"[ \t\r\n]*+"
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR: Final = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null|NaN|-?Infinity"
_BACK: Final = rb"|(?!)"
"""Never matches. Takes a possessive group back to the start of its failed last round, which Python < 3.11.5 forgets."""


def _nested_pattern(levels: int) -> bytes:
    inside = rb'(?:[^\[\]{}"]++|' + _STRING + _BACK + rb")*+"
    for _ in range(levels - 1):
        inside = rb'(?:[^\[\]{}"]++|' + _STRING + rb"|[\[{]" + inside + rb"[\]}]" + _BACK + rb")*+"
    return inside


_CONTAINER: Final = rb"[\[{]" + _nested_pattern(SHALLOW) + rb"[\]}]"
SPACE: Final = regex.compile(_SPACE)
VALUE: Final = regex.compile(rb"(?:" + _STRING + rb"|" + _CONTAINER + rb"|" + _SCALAR + rb")", re.DOTALL)
KEY: Final = regex.compile(_SPACE + rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE, re.DOTALL)
_MEMBER: Final = regex.compile(
    KEY.pattern + rb"(?P<value>" + VALUE.pattern + rb")" + _SPACE + rb"(?P<after>[,}])", re.DOTALL
)
_ELEMENT: Final = regex.compile(
    _SPACE + rb"(?P<value>" + VALUE.pattern + rb")" + _SPACE + rb"(?P<after>[,\]])", re.DOTALL
)
_AFTER: Final = regex.compile(_SPACE + rb"([,\]}])")
_DELIMITER: Final = regex.compile(rb"[ \t\r\n,\]}]")
_FLAT: Final = regex.compile(rb'(?:[^\[\]{}"]++|' + _STRING + rb"|" + _CONTAINER + _BACK + rb")*+", re.DOTALL)
_OPEN_OBJECT: Final = ord("{")
CUT: Final = -1
"""End of a value that is incomplete or broken."""


class ChildTable:
    """Children of one array or object.

    Attributes:
        values: start and end of each child in turn; the end of an incomplete last child is ``CUT``.
        keys: start and end of each member's key, quotes included; empty for arrays.
        names: key → number of its last member; None for arrays.
        repeated: offset and name of each repeated key.
    """

    __slots__ = ("keys", "names", "repeated", "values")

    def __init__(self, *, is_object: bool) -> None:
        self.values = array("q")
        self.keys = array("q")
        self.names: dict[str, int] | None = {} if is_object else None
        self.repeated: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self.values) // 2

    def add_key(self, text: bytes, start: int, end: int) -> None:
        """Start a member; its value is added next."""
        raw = text[start + 1 : end - 1]
        self.add(decode(StringText(raw, 0, len(raw)).text if b"\\" in raw else raw), start, end)

    def add(self, name: str, start: int, end: int) -> None:
        """Start a member of this name."""
        assert self.names is not None
        if name in self.names:
            self.repeated.append((start, name))
        self.names[name] = len(self.keys) // 2
        self.keys.extend((start, end))


class Scanner:
    """Finds the ends of values in one text, and caches the expensive ones."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._ends: dict[int, int] = {}

    def value_end(self, start: int) -> int:
        """End of the value that starts at an offset, or ``CUT``."""
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

    def table(self, start: int) -> ChildTable:
        """Children of the array or object at an offset, as far as it is well-formed."""
        text, is_object = self.text, self.text[start] == _OPEN_OBJECT
        table = ChildTable(is_object=is_object)
        pattern, closer = (_MEMBER, b"}") if is_object else (_ELEMENT, b"]")
        at: int | None = start + 1
        values = table.values
        if text.startswith(closer, self.skip_space(start + 1)):
            return table
        while at is not None:
            found = pattern.match(text, at)
            if found is None:
                at = self._odd_child(table, at)
                continue
            if is_object:
                table.add_key(text, *found.span(1))
            values.extend(found.span("value"))
            at = found.end() if found["after"] == b"," else None
        return table

    def _odd_child(self, table: ChildTable, at: int) -> int | None:
        """Add a child too deep, cut or broken for a single match; return the start of the next one, if any."""
        text = self.text
        key = KEY.match(text, at) if table.names is not None else None
        start = key.end() if key else self.skip_space(at)
        if start >= len(text) or (key is None and table.names is not None):
            return None
        if key:
            table.add_key(text, *key.span(1))
        end = self.value_end(start)
        after = _AFTER.match(text, end) if end != CUT else None
        if end != CUT and text[end - 1] not in b'"]}' and not _DELIMITER.match(text, end):
            end = CUT  # the text goes on as no number does, or ends where more digits may have followed
        table.values.extend((start, end))
        return after.end() if after and after[1] == b"," else None

    def root(self) -> int | None:
        """Offset of the value of the text, after a byte order mark; None for a blank text."""
        start = self.skip_space(3 if self.text.startswith(b"\xef\xbb\xbf") else 0)
        return start if start < len(self.text) else None

    def skip_space(self, at: int) -> int:
        found = SPACE.match(self.text, at)
        return found.end() if found else at
