"""Finds secrets in table columns: a row of names with rows of values (CSV, TSV, Markdown, psql)."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from workbench import regex
from workbench.named_tuple import NamedTuple
from workbench.wire.secrets.names import Family, Style, family, is_secret, is_uuid
from workbench.wire.secrets.shapes import REACH, ShapedSecret

HEAD: Final = regex.compile(rb"[\w\\\"'`*]{0,20}[ \t]{0,40}(?:[,;|\t]|[\r\n]|\Z)")
"""Text after the last word of a column name."""
_NAME: Final = regex.compile(rb"\w[\w .:/-]{0,60}")
_LIST_LINE: Final = regex.compile(rb"[\\\"'` \t]*[-+*][ \t]")
"""Beginning of a line of a list, whose first cell has no words before its name."""
_ROW: Final = regex.compile(rb"[^\r\n]++")
_RULE: Final = regex.compile(rb"[-:=+| \t]*")
_SIGNS: Final = (b"|", b"\t\t", b"\t", b";", b",")
"""Separators between cells; escaped tabs are two characters."""
_AROUND: Final = b" \t\\\"'`*"
_LONGEST_ROW: Final = 4096


class _Column(NamedTuple):
    at: int
    family: Family


class Tables:
    """Tables of a text. Each is parsed once, however many of its columns have secret names.

    Args:
        text: with decoded escapes (``escapes``).
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._read: list[tuple[int, int]] = []
        self._read_to = self._end = 0

    def under(self, after: int) -> Iterator[ShapedSecret]:
        """Secrets below the row of names in which a name ends at an offset, if ``HEAD`` matches."""
        text = self._text
        if self._is_read(after) or (bounds := self._begin(after)) is None:
            return
        start, end = bounds
        head = _ROW.match(text, start, min(start + _LONGEST_ROW, end))
        if head is None or after > head.end():
            return
        sign = next((sign for sign in _SIGNS if sign in head[0]), b"")
        cells = self._cells(head, end, sign) if sign else []
        columns = list(_columns(cells, sign)) if cells else []
        self._read_to = head.end()
        if columns:
            yield from self._values(head.end(), end, len(cells) - 1, sign, columns)
            yield ShapedSecret(start, self._end, REACH)
        insort(self._read, (start, self._read_to))

    def _cells(self, head: re.Match[bytes], end: int, sign: bytes) -> list[bytes]:
        """Cells of a row of names, without those of words before it: as many as the next row has, if it is there.

        Otherwise the last ones that may be names, so that a table whose first row is still to come is waited for.
        """
        cells = head[0].split(sign)
        rows = (row[0] for row in _ROW.finditer(self._text, head.end(), end) if not _RULE.fullmatch(row[0]))
        first = next(rows, None)
        if first is None and not cells[-1].strip():  # of Markdown
            return cells
        if first is not None:
            return cells[-1 - min(first.count(sign), len(cells) - 1) :] if sign in first else cells
        names = takewhile(lambda cell: _NAME.fullmatch(cell.strip(_AROUND)), reversed(cells))
        return cells[-1 - sum(1 for _ in names) :]

    def _is_read(self, offset: int) -> bool:
        """True in a row that was read, as a row of names or of values."""
        after = bisect_right(self._read, (offset, len(self._text)))
        return after > 0 and offset <= self._read[after - 1][1]

    def _begin(self, after: int) -> tuple[int, int] | None:
        """Start of the row at an offset, and end of its table's text; None if too far away."""
        text, least = self._text, max(0, after - _LONGEST_ROW)
        line = max(text.rfind(b"\n", least, after), text.rfind(b"\r", least, after))
        at = text.rfind(b'"', max(least, line + 1), after)
        while at >= 0:
            escapes = at - len(text[least:at].rstrip(b"\\")) - least
            if text[at - escapes - 2 : at - escapes].rstrip(b" ")[-1:] in (b":", b"[", b"("):
                closed = re.compile(rb"(?<!\\)" + text[at - escapes : at + 1].replace(b"\\", rb"\\")).search(
                    text, after
                )
                return at + 1, closed.start() if closed else len(text)
            at = text.rfind(b'"', max(least, line + 1), at)
        return (line + 1, len(text)) if line >= 0 or least == 0 else None

    def _values(self, at: int, end: int, width: int, sign: bytes, columns: list[_Column]) -> Iterator[ShapedSecret]:
        while row := _ROW.search(self._text, at, end):
            self._end = min(row.end(), row.start() + _LONGEST_ROW + 1)
            if len(row[0]) > _LONGEST_ROW:
                return
            at = row.end()
            if _RULE.fullmatch(row[0]):
                continue
            if row[0].count(sign) != width:
                return
            self._read_to = at
            cells = row[0].split(sign)
            for index, kind in columns:
                value = cells[index].strip(_AROUND)
                if _is_value(value, kind):
                    start = row.start() + sum(map(len, cells[:index])) + index * len(sign)
                    start += cells[index].index(value)
                    yield ShapedSecret(start, start + len(value), "api-key")
        self._end = end


def _columns(cells: list[bytes], sign: bytes) -> Iterator[_Column]:
    """Columns with secret names, if every cell is a name and there are two; words may precede the first name."""
    names = [cell.strip(_AROUND) for cell in cells]
    if sign == b"|" and not names[-1]:
        inner = names[1:-1]
    elif _LIST_LINE.match(cells[0]):
        return
    else:
        names[0] = names[0] if _NAME.fullmatch(names[0]) else b"".join(names[0].split()[-1:])
        inner = names[sign == b"|" and not names[0] :]
    if len(inner) > 1 and all(map(_NAME.fullmatch, inner)):
        for index, name in enumerate(names):
            kind = family(name.replace(b" ", b"_"), is_line=True)
            if kind is not None and kind is not Family.COOKIE:
                yield _Column(index, kind)


def _is_value(value: bytes, kind: Family) -> bool:
    is_password = kind is Family.PASSWORD and any(char in b"0123456789" for char in value)
    if is_password or (kind is Family.KEY and is_uuid(value)):
        return is_secret(value, kind)
    return is_secret(value, kind, Style.LISTED)
