r"""Bytes as sent: lines are wrapped and otherwise unchanged; everything outside ASCII is an escape.

A byte that is not UTF-8 and a control character are ``\x9f``, line ends and tabs ``\n``, ``\r`` and ``\t``, any other
character ``\u{200b}``: the braces distinguish it from escapes of JSON, which are shown unchanged.

Bytes in hexadecimal: an offset, sixteen bytes (fewer if the pane is narrow), and the same bytes as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench import regex
from workbench.characters import bounds, odd_ones
from workbench.safetext import from_bytes
from workbench.tui.models.rowtable import CONTINUES, Marks, Range, RowTable, segments, tokens
from workbench.views import Line, Span

_PLAIN: Final = regex.compile(rb"[ -~]+")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class EscapedLines(RowTable):
    """Rows of the lines of a body."""

    def __init__(self, body: bytes, width: int, *, is_json: bool) -> None:
        super().__init__(body, width)
        self.is_json = is_json

    def _rows(self, start: int = 0) -> Iterator[None]:
        at = start
        while at < len(self.body):
            stop = self.body.find(b"\n", at) + 1 or len(self.body)
            flags = 0
            while at < stop:
                self._add(at, 0, flags)
                yield
                at, flags = self._cut(at, stop), CONTINUES

    def _cut(self, start: int, stop: int) -> int:
        """Byte at which the row that begins at ``start`` is full."""
        limit = min(stop, start + self.width)
        plain = _PLAIN.match(self.body, start, limit)
        if plain and plain.end() == limit:
            return limit
        at = plain.end() if plain else start
        used = at - start
        for character in from_bytes(self.body[at : at + 4 * self.width]):
            used += len(form(character))
            if used > self.width and at > start:
                break
            at += len(character.encode("utf-8", "surrogateescape"))
            if at >= stop:
                break
        return min(at, stop)

    def stops(self, row: int) -> list[Range]:
        start, end = self.bounds(row)
        values = [(a, b) for a, b, _ in self._tokens(start, end, row)]
        return sorted({*values, *((odd.start, odd.end) for odd in odd_ones(self.body, start, end))})

    def _tokens(self, start: int, end: int, row: int) -> Iterator[tuple[int, int, str]]:
        found = tokens(self.body[start:end], self.flags[row], json=self.is_json)
        return ((start + a, start + b, name) for a, b, name in found)

    def line(self, row: int, marks: Marks) -> Line:
        start, end = self.bounds(row)
        spans = list[Span]()
        for a, b, names in segments(start, end, self._tokens(start, end, row), marks):
            at = a
            for plain in _PLAIN.finditer(self.body, a, b):
                spans += self._forms(at, plain.start(), names)
                spans.append(Span(from_bytes(plain[0]), names))
                at = plain.end()
            spans += self._forms(at, b, names)
        return tuple(spans)

    def _forms(self, start: int, end: int, names: str) -> Iterator[Span]:
        if start < end:
            text = "".join(map(form, from_bytes(self.body[start:end])))
            yield Span(text, f"{names} form".strip())

    def byte_at(self, row: int, column: int) -> int:
        start, end = self.bounds(row)
        at = start
        for character in from_bytes(self.body[start : min(end, start + 4 * max(column, 0) + 4)]):
            column -= len(form(character))
            size = len(character.encode("utf-8", "surrogateescape"))
            if column < 0 or at + size >= end:
                break
            at += size
        return bounds(self.body, at)[0]


def form(character: str) -> str:
    """Escape of a character, or of a byte that is not UTF-8."""
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x20 or code == 0x7F else f"\\u{{{code:x}}}")


_PER_ROW = (16, 8, 4, 2, 1)
_GROUP = 8
_BLANKS = b" \t\r\n"


class Hex(RowTable):
    """Rows of a fixed number of bytes; no layout needed."""

    def __init__(self, body: bytes, width: int) -> None:
        super().__init__(body, width)
        self.is_done = True
        self._digits = max(4, len(f"{max(0, len(body) - 1):x}"))
        self.per_row = next((n for n in _PER_ROW if self._text_column(n) + n <= self.width), 1)

    def _rows(self, start: int = 0) -> Iterator[None]:
        return iter(())

    def extend(self, more: int) -> bool:
        return True

    def grow(self, body: bytes) -> None:
        self.body = body

    def _column(self, byte: int) -> int:
        """Column of the digits of a byte in its row."""
        return self._digits + 2 + 3 * byte + byte // _GROUP

    def _text_column(self, per_row: int) -> int:
        return self._column(per_row - 1) + 4

    def __len__(self) -> int:
        return -(-len(self.body) // self.per_row)

    def bounds(self, row: int) -> Range:
        start = row * self.per_row
        return start, min(len(self.body), start + self.per_row)

    def row_at(self, offset: int) -> int:
        return max(0, min(offset, len(self.body) - 1)) // self.per_row

    def landing(self, row: int, before: int) -> int:
        """The byte in the same column of another row."""
        start, end = self.bounds(row)
        return min(start + before % self.per_row, end - 1)

    def stops(self, row: int) -> list[Range]:
        start, end = self.bounds(row)
        return [(n, n + 1) for n in range(start, end)]

    def byte_at(self, row: int, column: int) -> int:
        start, end = self.bounds(row)
        text = self._text_column(self.per_row)
        if column >= text:
            found = column - text
        else:
            found = next((n for n in range(self.per_row) if column < self._column(n) + 3), self.per_row - 1)
        return min(start + found, end - 1)

    def line(self, row: int, marks: Marks) -> Line:
        start, end = self.bounds(row)
        digits, text = [Span(f"{start:0{self._digits}x}  ", "muted")], list[Span]()
        for a, b, names in segments(start, end, (), marks):
            for n in range(a, b):
                byte, blank = self.body[n], "  " if (n - start) % _GROUP == _GROUP - 1 else " "
                style = f"{_kind(byte)} {names}".strip()
                digits += [Span(f"{byte:02x}", style), Span(blank, names if n + 1 < b else "")]
                text.append(Span(chr(byte) if 0x20 <= byte < 0x7F else ".", style))
        gap = self._text_column(self.per_row) - self._column(end - start - 1) - len(digits[-1].text) - 2
        return (*digits, Span(" " * gap), *text)


def _kind(byte: int) -> str:
    """Style of a byte: none for ASCII text; others by kind."""
    if byte >= 0x80:
        return "number"
    if byte in _BLANKS or byte == 0:
        return "muted"
    return "" if 0x20 < byte < 0x7F else "warning"
