"""Display rows of a body: its bytes broken into lines, none of them altered.

A line that fits is not broken. JSON that does not fit is broken after each comma of every container that is too wide
for a row, and after its opening bracket unless that begins the row; the rest is wrapped, if possible at escaped line
ends, spaces, and the commas of compact JSON. Rows are made front to back, a slice at a time, in time linear in the
body.

Bytes laid out for reading: the rows of ``models.rows``, painted.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from workbench import regex
from workbench.characters import odd_ones
from workbench.safetext import cells, from_bytes
from workbench.tui.models.rowtable import CONTINUES, IN_STRING, Marks, Range, RowTable, is_json, segments, tokens
from workbench.views import JSON_GAPS, Line, Span

HANG: Final = 2
"""Columns by which the rest of a line that is too long is set in."""
MOST_INLINE: Final = 120
"""Columns of a container that is on one row, however wide the row may be: longer ones are hard to read."""
MAX_DEPTH: Final = 48
"""Containers below this depth are not laid out, only wrapped: nobody reads them by their indent."""

_TOKEN: Final = regex.compile(rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|[{}\[\],\n]')
STRING: Final = regex.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?')
_SPACE: Final = regex.compile(rb"[ \t\r\n]*+")
_CUT_ESCAPE: Final = regex.compile(rb"(?<!\\)(?:\\\\)*+\\(?:u[0-9a-fA-F]{0,3})?\Z")
_OPAQUE: Final = regex.compile(rb'"((?:data:[a-zA-Z0-9/+.;=-]{1,100}+,)?(?:[A-Za-z0-9+/_=-]|\\[/n]){200,}+)(?=\\?")')
"""A string that nobody reads: a signature, encrypted content, base64; 200 bytes of it are more than two rows."""
_LEAST_OPAQUE: Final = 200
FEWEST_LETTERS: Final = 12
"""Different bytes in the first 200 of encoded data, at least; a repeated character is readable as it is."""
SHOWN: Final = 24
"""Bytes that are shown of folded data: its beginning, and each marked part."""
_MAX_OPEN: Final = 4096
_PAUSE: Final = 1024
_PLAIN: Final = regex.compile(rb"[ -~]*+")
_GAPS: Final = tuple(pair.encode() for pair in JSON_GAPS)
_LONE: Final = b"]},"
_MOST_CLOSING: Final = 8
_CLOSING: Final = b'"]}, \r\n\t'
_QUOTE, _NEWLINE = b'"\n'
_OPENERS, _CLOSERS = b"{[", b"}]"


class _Token(NamedTuple):
    start: int
    end: int
    kind: int


class _Ahead:
    """Tokens of a JSON text, with a look-ahead that finds where containers close; every token is read once."""

    def __init__(self, body: bytes) -> None:
        self._tokens = _TOKEN.finditer(body)
        self._body = body
        self._queue: deque[_Token] = deque()
        self._open: list[int] = []
        self._too_deep = 0
        self._closes: dict[int, int] = {}
        self._newline = -1
        self._seen = 0
        self._passed = 0

    def __iter__(self) -> Iterator[_Token]:
        while self._queue or self._read():
            token = self._queue.popleft()
            self._passed = token.start
            yield token
            self._closes.pop(token.start, None)

    def close_of(self, start: int, limit: int) -> int:
        """End of the container at ``start`` if it is on the same line and not after ``limit``; else 0."""
        while self._seen <= limit and self._read():
            pass
        end = self._closes.get(start, 0)
        return end if end <= limit else 0

    def _read(self) -> bool:
        found = next(self._tokens, None)
        if found is None:
            return False
        start, self._seen = found.span()
        kind = self._body[start]
        self._queue.append(_Token(start, self._seen, kind))
        if kind == _NEWLINE:
            self._newline = start
        elif kind in _OPENERS:
            self._opens(start)
        elif kind in _CLOSERS:
            self._note_close(self._seen)
        return True

    def _opens(self, start: int) -> None:
        if len(self._open) < _MAX_OPEN:
            self._open.append(start)
        else:
            self._too_deep += 1

    def _note_close(self, end: int) -> None:
        if self._too_deep:
            self._too_deep -= 1
        elif self._open:
            opened = self._open.pop()
            if opened >= self._passed and self._newline < opened:
                self._closes[opened] = end


class Rows(RowTable):
    """Rows of one body for one width.

    Args:
        body: the bytes.
        width: columns a row may take.
        is_json: True to lay it out as JSON; False to wrap its lines only.
        is_whole: True to show opaque strings in full; else each is in one row, by its beginning and its length.
        is_source: True for a program, in which an escaped line end does not end a row.

    Attributes:
        folds: byte ranges of the hidden parts of opaque strings, sorted.
    """

    def __init__(
        self, body: bytes, width: int, *, is_json: bool, is_whole: bool = False, is_source: bool = False
    ) -> None:
        super().__init__(body, width)
        self.is_json = is_json
        self.is_whole = is_whole
        self.is_source = is_source
        self.folds: list[Range] = []

    @property
    def can_grow(self) -> bool:
        return not self.is_json

    def _rows(self, start: int = 0) -> Iterator[None]:
        yield from self._json_lines() if self.is_json else self._lines(start)

    def _drop(self) -> None:
        start = self.starts[-1]
        super()._drop()
        while self.folds and self.folds[-1][0] >= start:
            self.folds.pop()

    def _lines(self, start: int) -> Iterator[None]:
        while start < len(self.body):
            stop = self.body.find(b"\n", start) + 1 or len(self.body)
            yield from self._wrap(start, stop, 0)
            start = stop

    def _json_lines(self) -> Iterator[None]:
        """Lines of JSON. ``indents`` has an entry for each container that is open and broken."""
        ahead = _Ahead(self.body)
        indents = [0]
        start = indent = inline = 0
        for number, token in enumerate(ahead):
            if not number % _PAUSE:
                yield
            if token.kind == _QUOTE or token.end <= max(start, inline):
                continue
            cut = 0
            if token.kind in _OPENERS:
                inline = ahead.close_of(token.start, start + min(self.width, MOST_INLINE) - indent - 1)
                if inline:
                    continue
                leads = token.start == start and self.body[token.end : token.end + 2].lstrip(b" \r")[:1] != b"\n"
                indents.append(min(indents[-1] + (1 if leads else 2), self.width // 3))
                cut = 0 if leads else self._after_space(token.end)
            elif token.kind in _CLOSERS:
                if len(indents) > 1:
                    indents.pop()
                if token.start == start:
                    indent = indents[-1]
                room = self.width - indent - 1  # a comma may follow
                cut = token.start if token.start - start <= room < token.end - start else 0
            else:
                cut = self._after_space(token.end)
            if cut > start and (len(indents) <= MAX_DEPTH or token.kind == _NEWLINE):
                yield from self._wrap(start, cut, indent)
                start, indent = cut, indents[-1]
        if start < len(self.body):
            yield from self._wrap(start, len(self.body), indent)

    def _after_space(self, at: int) -> int:
        space = _SPACE.match(self.body, at)
        return space.end() if space else at

    def _wrap(self, start: int, stop: int, indent: int) -> Iterator[None]:
        """The bytes of one line as rows."""
        self._add(start, indent, 0)
        yield
        room = self.width - indent
        tail = self.body[max(start, stop - 64) : stop]
        end = stop - len(tail) + len(tail.rstrip())
        if self._fits(start, end, room):
            return
        if not self.is_whole:
            self.folds += _parts_to_hide(self.body, start, end)
        strings = _Strings(self.body, start, end)
        at = self._cut_folded(start, end, room)
        while at < end:
            self._add(at, indent + HANG, CONTINUES | (IN_STRING if strings.holds(at) else 0))
            yield
            at = self._cut_folded(at, end, room - HANG)

    def _cut_folded(self, start: int, end: int, room: int) -> int:
        """End of the row that begins at ``start``; a folded part takes the columns of its note."""
        at = bisect_left(self.folds, (start, start))
        fold = self.folds[at] if at < len(self.folds) else None
        first = fold[0] - SHOWN - 1 if fold else end
        first -= self.body[first - 1 : first] == b"\\"  # the quote of a string within a string
        if fold is None or first >= min(end, start + room):
            return self._cut(start, end, room)
        columns = room - len(f"…{_length_words(fold)}") - (fold[0] - start)
        if columns <= 0 and first > start:
            return self._cut(start, first, room)
        few = end - fold[1] <= _MOST_CLOSING and not self.body[fold[1] : end].strip(_CLOSING)
        if few or fold[1] + max(len(_LONE), columns) >= end:
            return end
        return self._cut_folded(fold[1], end, max(columns, len(_LONE)))

    def _fits(self, start: int, end: int, room: int) -> bool:
        return end - start <= room and self._reach(start, end, room) == end

    def _reach(self, start: int, end: int, room: int) -> int:
        """Byte up to which the text from ``start`` fits into ``room`` columns."""
        limit = min(end, start + room)
        plain = _PLAIN.match(self.body, start, limit)
        return limit if plain and plain.end() == limit else _measure(self.body, start, end, room)

    def _cut(self, start: int, end: int, room: int) -> int:
        """End of the row that begins at ``start``: an escaped line end, else a gap, else the full width."""
        limit = self._reach(start, end, room)
        line_end = -1 if self.is_source else self.body.find(b"\\n", start, limit)
        if line_end >= 0 and (limit < end or self.body[line_end + 2 : end].strip(_CLOSING)):
            return line_end + 2
        if limit >= end:
            return end
        if end - limit <= len(_LONE) and not self.body[limit:end].strip(_LONE):
            limit = self._reach(start, end, room - room // 4)  # a comma alone on a row says nothing
        half = start + room // 2
        gap = max(self.body.rfind(b" ", half, limit), *(self.body.rfind(pair, half, limit + 1) for pair in _GAPS))
        if gap >= 0:
            return gap + 1
        escape = _CUT_ESCAPE.search(self.body, max(start + 1, limit - 5), limit)
        return escape.start() if escape else limit


class _Strings:
    """Finds if a position of a line is inside a JSON string; positions must be passed front to back."""

    def __init__(self, body: bytes, start: int, end: int) -> None:
        self._found = STRING.finditer(body, start, end)
        self._now = next(self._found, None)

    def holds(self, at: int) -> bool:
        while self._now and self._now.end() <= at:
            self._now = next(self._found, None)
        return bool(self._now and self._now.start() < at)


def _measure(body: bytes, start: int, end: int, room: int) -> int:
    """End of the part of a text that fits, at a character boundary; at least one character."""
    text = from_bytes(body[start : min(end, start + 4 * room + 4)])[: 2 * room + 4]
    used = count = 0
    for character in text:
        used += cells(character)
        if used > room and count:
            break
        count += 1
    while count > 1 and cells(text[:count]) > room:
        count -= 1
    return start + len(text[:count].encode("utf-8", "surrogateescape"))


def fold_text(body: bytes, most: int) -> str:
    """The beginning of a body on one line, its opaque strings folded to their beginning and length."""
    text, at, room = "", 0, most
    for start, end in _parts_to_hide(body, 0, len(body)):
        piece = from_bytes(body[at:start])[:room]
        text += f"{piece}… {end - start + SHOWN:,} characters" if len(piece) < room else piece
        at, room = end, room - len(piece)
        if room <= 0:
            return text
    return text + from_bytes(body[at : at + 4 * room])[:room]


def _parts_to_hide(body: bytes, start: int, end: int) -> Iterator[Range]:
    """The parts of opaque strings that are hidden: all but the beginning."""
    if end - start > _LEAST_OPAQUE:
        for found in _OPAQUE.finditer(body, start, end):
            if len(set(found[1][:_LEAST_OPAQUE])) >= FEWEST_LETTERS:
                yield found.start(1) + SHOWN, found.end(1)


def _paint_bytes(body: bytes, styles: Iterable[tuple[int, int, str]], folds: Sequence[Range]) -> Iterator[Span]:
    """Styled bytes of a row, with a note in place of each hidden part."""
    before = ""
    for start, b, names in styles:
        a = start
        for fold in folds:
            first, last = max(a, fold[0]), min(b, fold[1])
            if first < last:
                if a < first:
                    yield Span(from_bytes(body[a:first]), names, is_bytes=True)
                yield from _show_part(body, fold, (first, last), names, is_first=first == fold[0] or "match" in before)
                a = last
        before = names
        if a < b:
            yield Span(from_bytes(body[a:b]), names, is_bytes=True)


def _show_part(body: bytes, fold: Range, part: Range, names: str, *, is_first: bool) -> Iterator[Span]:
    """A part of a fold in one style: a match by its place and beginning, anything else as left out.

    Args:
        is_first: nothing was left out just before.
    """
    a, b = part
    if "match" in names:
        if a > fold[0]:
            yield Span(f"from character {a - fold[0] + SHOWN + 1:,}: ", "muted")
        yield Span(from_bytes(body[a : min(b, a + SHOWN)]), names, is_bytes=True)
    if is_first if "match" not in names else b == fold[1] > a + SHOWN:
        yield Span("…", names.replace("string", "muted"))
    if b == fold[1]:
        yield Span(_length_words(fold), names.replace("string", "muted"))


def _length_words(fold: Range) -> str:
    return f" {fold[1] - fold[0] + SHOWN:,} characters"


class LaidOut(Rows):
    """Rows of a body, broken and indented for reading."""

    def line(self, row: int, marks: Marks) -> Line:
        start, end = self.bounds(row)
        data = self.body[start:end]
        text = data if self._ends_in_string(row) else data.rstrip(b"\r\n \t")
        spans = [Span(" " * self.indents[row])] if self.indents[row] else []
        styles = segments(start, start + len(text), self._tokens(row), marks)
        spans += _paint_bytes(self.body, styles, self._folds_in(start, end))
        return tuple(spans)

    def _folds_in(self, start: int, end: int) -> list[Range]:
        """The hidden parts in a range."""
        at = bisect_left(self.folds, (start, start))
        return self.folds[at : bisect_left(self.folds, (end, end))]

    def byte_at(self, row: int, column: int) -> int:
        start, end = self.bounds(row)
        column -= self.indents[row]
        for fold in self._folds_in(start, end):
            before = cells(from_bytes(self.body[start : fold[0]]))
            after = before + cells(f"…{_length_words(fold)}")
            if column < before:
                break
            if column < after:
                return fold[0]
            start, column = fold[1], column - after
        return self._byte_from(start, end, column)

    def _byte_from(self, start: int, end: int, column: int) -> int:
        """The byte in a column of a text that begins at ``start``."""
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


def layout_rows(body: bytes, width: int, most: int, *, is_source: bool = False) -> list[Line]:
    """The first rows of a body, wrapped; JSON is laid out. ``is_source``: if it is not JSON, it is a program."""
    rows = LaidOut(body, max(16, width), is_json=is_json(body), is_source=is_source)
    is_whole = rows.extend(most + 1)
    lines = [rows.line(row, ()) for row in range(min(most, len(rows)))]
    return lines if is_whole and len(rows) <= most else [*lines, (Span("… more lines", "muted"),)]
