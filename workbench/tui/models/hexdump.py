"""Bytes in hexadecimal: an offset, sixteen bytes (fewer if the pane is narrow), and the same bytes as text."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tui.models.rowtable import Marks, Range, RowTable, segments
from workbench.views import Line, Span

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
