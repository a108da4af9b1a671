"""Base of all views of bytes: rows over a body, and styled ranges of its bytes.

Row n shows the bytes from ``bounds(n)[0]`` to ``bounds(n)[1]``; every byte is in exactly one row. Selection, matches
and cursor are byte ranges, the same in all views; each view maps them to its rows and columns.

Coloured tokens in a row of bytes: those of JSON, the field names of an event stream.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Final, NamedTuple

from workbench import characters, regex
from workbench.views import Line

CONTINUES: Final = 1
"""Flag of a row that begins inside a token, or a line, of the row before."""
IN_STRING: Final = 2
"""Flag of a row that begins inside a JSON string."""

Range = tuple[int, int]


class StyledSpans(NamedTuple):
    """Byte ranges in one style, sorted by their start."""

    style: str
    spans: tuple[Range, ...] = ()

    def within(self, start: int, end: int) -> Iterator[Range]:
        """The ranges that overlap a range. Ranges of one mark hardly overlap: only two before the first are checked."""
        at = max(0, bisect_left(self.spans, (start, start)) - 2)
        while at < len(self.spans) and self.spans[at][0] < end:
            if self.spans[at][1] > start:
                yield self.spans[at]
            at += 1


Marks = tuple[StyledSpans, ...]


class RowTable:
    """Rows of one body for one width, made front to back, a slice at a time.

    Attributes:
        starts: first byte of each row.
        indents: columns in front of each row.
        flags: ``CONTINUES``, ``IN_STRING``.
        width: columns a row may take.
    """

    def __init__(self, body: bytes, width: int) -> None:
        self.body = body
        self.width = max(width, 16)
        self.starts = array("q")
        self.indents = array("H")
        self.flags = array("B")
        self.is_done = False
        self._making = self._rows()

    @abstractmethod
    def _rows(self, start: int = 0) -> Iterator[None]:
        """Add rows from the beginning of a line on; yield after every few rows."""

    @abstractmethod
    def line(self, row: int, marks: Marks) -> Line:
        """Spans of one row, split where a style changes."""

    @abstractmethod
    def byte_at(self, row: int, column: int) -> int:
        """The byte in a column of a row; past the end, the last byte of the row."""

    @abstractmethod
    def stops(self, row: int) -> list[Range]:
        """Ranges that the cursor stops at in a row: values, unusual characters."""

    def landing(self, row: int, before: int) -> int:
        """The byte where the cursor lands when it moves to a row from byte ``before``."""
        return self.bounds(row)[0]

    def token_at(self, row: int, byte: int) -> Range:
        """The smallest of the row's stops around a byte; the character there if there is none."""
        around = [(a, b) for a, b in self.stops(row) if a <= byte < b]
        return min(around, key=lambda r: r[1] - r[0]) if around else characters.bounds(self.body, byte)

    def next_stop(self, row: int, byte: int, step: int) -> int | None:
        """First byte of the next stop of the row in a direction; None if there is none."""
        beyond = [a for a, _ in self.stops(row) if (a > byte if step > 0 else a < byte)]
        return (beyond[0] if step > 0 else beyond[-1]) if beyond else None

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def known_bytes(self) -> int:
        """Number of bytes that are laid out."""
        return len(self.body) if self.is_done else (self.starts[-1] if self.starts else 0)

    @property
    def can_grow(self) -> bool:
        """True if bytes appended to the body change only its last line."""
        return True

    def extend(self, more: int) -> bool:
        """Make up to this many rows more, fewer if rows are slow to make. Returns True when all are made."""
        if sum(1 for _ in islice(self._making, more)) < more:
            self.is_done = True
        return self.is_done

    def grow(self, body: bytes) -> None:
        """Extend a body that is not JSON and was laid out completely; its last line is made again."""
        while self.flags and self.flags[-1] & CONTINUES:
            self._drop()
        start = self.starts[-1] if self.starts else 0
        if self.starts:
            self._drop()
        self.body, self.is_done, self._making = body, False, self._rows(start)

    def _drop(self) -> None:
        for column in (self.starts, self.indents, self.flags):
            column.pop()

    def bounds(self, row: int) -> Range:
        """Byte range of a row."""
        is_last = row + 1 >= len(self.starts)
        return self.starts[row], len(self.body) if is_last else self.starts[row + 1]

    def row_at(self, offset: int) -> int:
        """The row that contains a byte."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def _add(self, start: int, indent: int, flags: int) -> None:
        self.indents.append(indent)
        self.flags.append(flags)
        self.starts.append(start)  # last: another thread counts rows by it


def segments(
    start: int, end: int, styles: Iterable[tuple[int, int, str]], marks: Marks
) -> Iterator[tuple[int, int, str]]:
    """Split a range where a style begins or ends; each piece has the names of all its styles."""
    found = [*styles, *((a, b, mark.style) for mark in marks for a, b in mark.within(start, end))]
    edges = sorted({start, end, *(min(max(e, start), end) for a, b, _ in found for e in (a, b))})
    for a, b in pairwise(edges):
        yield a, b, " ".join(dict.fromkeys(name for first, last, name in found if first <= a and b <= last))


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
