"""Bytes laid out for reading: the rows of ``models.rows``, painted."""

from __future__ import annotations

import re

from workbench.characters import odd_ones
from workbench.safetext import cells, from_bytes
from workbench.tui.models.rows import Rows
from workbench.tui.models.rowtable import IN_STRING, Marks, Range, segments
from workbench.tui.models.tokens import is_json, tokens
from workbench.views import Line, Span


class LaidOut(Rows):
    """Rows of a body, broken and indented for reading."""

    def line(self, row: int, marks: Marks) -> Line:
        start, end = self.bounds(row)
        data = self.body[start:end]
        text = data if self._ends_in_string(row) else data.rstrip(b"\r\n \t")
        spans = [Span(" " * self.indents[row])] if self.indents[row] else []
        for a, b, names in segments(start, start + len(text), self._tokens(row), marks):
            spans.append(Span(from_bytes(self.body[a:b]), names, is_bytes=True))
        return tuple(spans)

    def byte_at(self, row: int, column: int) -> int:
        start, end = self.bounds(row)
        column -= self.indents[row]
        at = start
        for character in from_bytes(self.body[start : min(end, start + 4 * max(column, 0) + 4)]):
            column -= cells(character)
            size = len(character.encode("utf-8", "surrogateescape"))
            if column < 0 or at + size >= end:
                break
            at += size
        return at

    def stops(self, row: int) -> list[Range]:
        start, end = self.bounds(row)
        odd = ((one.start, one.end) for one in odd_ones(self.body, start, end))
        return sorted({*((a, b) for a, b, _ in self._tokens(row)), *odd})

    def landing(self, row: int, before: int) -> int:
        """The first visible byte."""
        start, end = self.bounds(row)
        blank = re.match(rb"\s*", self.body[start:end])
        return min(start + (blank.end() if blank else 0), max(start, end - 1))

    def _tokens(self, row: int) -> list[tuple[int, int, str]]:
        start, end = self.bounds(row)
        found = tokens(self.body[start:end], self.flags[row], json=self.is_json)
        return [(start + a, start + b, name) for a, b, name in found]

    def _ends_in_string(self, row: int) -> bool:
        return row + 1 < len(self) and bool(self.flags[row + 1] & IN_STRING)


def laid_out(body: bytes, width: int, most: int) -> list[Line]:
    """The first rows of a body, wrapped; JSON is laid out."""
    rows = LaidOut(body, max(16, width), is_json=is_json(body))
    is_whole = rows.extend(most + 1)
    shown = [rows.line(row, ()) for row in range(min(most, len(rows)))]
    return shown if is_whole and len(rows) <= most else [*shown, (Span("… more lines", "muted"),)]
