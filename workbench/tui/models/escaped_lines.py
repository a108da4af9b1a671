r"""Bytes as sent: lines are wrapped and otherwise unchanged; everything outside ASCII is an escape.

A byte that is not UTF-8 and a control character are ``\x9f``, line ends and tabs ``\n``, ``\r`` and ``\t``, any other
character ``\u{200b}``: the braces distinguish it from escapes of JSON, which are shown unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench import regex
from workbench.characters import bounds, odd_ones
from workbench.safetext import from_bytes
from workbench.tui.models.rowtable import CONTINUES, Marks, Range, RowTable, segments
from workbench.tui.models.tokens import tokens
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
