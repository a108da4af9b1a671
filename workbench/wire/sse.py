"""Splits event streams into blocks by the WHATWG grammar (HTML standard, section 9.2.6), with byte positions.

A *block* is a run of lines between blank lines. Unlike a browser, this reader keeps blocks that the grammar would
discard (only comments, a last block without its blank line) and marks them. Lines end with LF, CRLF or CR.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from workbench import regex
from workbench.limits import MAX_SSE_LINE
from workbench.named_tuple import NamedTuple
from workbench.wire.json_index import JsonIndex, Span


class SseEvent(NamedTuple):
    """One block.

    Attributes:
        number: position in the stream from zero; blocks of only comments count, runs of blank lines do not.
        name: value of the last ``event`` field; None if there is none.
        data: values of the ``data`` fields joined by LF; None if there are none.
        start, end: byte range in the body from the first byte of the first line to the last byte of the last line,
            without its line end and the blank line.
        data_spans: byte range of the value of each ``data`` field.
        id: value of the last ``id`` field (fields with NUL are void).
        retry: value of the last numeric ``retry`` field, milliseconds.
        comments: comment lines without colon and first space.
        others: (name, value) of unknown fields, in order; browsers and SDKs ignore them.
        terminated: a blank line followed. False for a cut last block, which a browser would discard.
    """

    number: int
    name: str | None
    data: bytes | None
    start: int
    end: int
    data_spans: tuple[Span, ...]
    id: str | None = None
    retry: int | None = None
    comments: tuple[bytes, ...] = ()
    terminated: bool = True
    others: tuple[tuple[str, bytes], ...] = ()

    def span(self, pointer: str) -> Span | None:
        """Byte range in the body of a pointer into the JSON of ``data``; it may cover several lines."""
        found = JsonIndex(self.data).span(pointer) if self.data is not None else None
        if found is None:
            return None
        return self._place(found[0]), self._place(found[1] - 1) + 1

    def _place(self, offset: int) -> int:
        for start, end in self.data_spans:
            if offset <= end - start:
                return start + offset
            offset -= end - start + 1
        return self.end


class SseBlock:
    """Lines of one block while they arrive."""

    __slots__ = ("comments", "data", "end", "id", "name", "others", "retry", "spans", "start")

    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.name: str | None = None
        self.id: str | None = None
        self.retry: int | None = None
        self.data: list[bytes] = []
        self.spans: list[Span] = []
        self.comments: list[bytes] = []
        self.others: list[tuple[str, bytes]] = []

    def add(self, line: bytes, start: int, end: int) -> None:
        """Add a non-blank line; ``end`` is past the bytes read if it exceeded the limit."""
        field, colon, value = line.partition(b":")
        at = start + len(field) + len(colon)
        if value.startswith(b" "):
            value, at = value[1:], at + 1
        self.end = end
        if field == b"data":
            self.data.append(value)
            self.spans.append((at, at + len(value)))
        elif field == b"event":
            self.name = value.decode("utf-8", "replace")
        elif not field:
            self.comments.append(value)
        elif field == b"id" and b"\0" not in value:
            self.id = value.decode("utf-8", "replace")
        elif field == b"retry" and value.isdigit() and len(value) < 19:
            self.retry = int(value)
        elif colon and field not in (b"id", b"retry"):
            self.others.append((field.decode("utf-8", "replace"), value))

    def event(self, number: int, *, terminated: bool) -> SseEvent:
        return SseEvent(
            number,
            self.name,
            b"\n".join(self.data) if self.spans else None,
            self.start,
            self.end,
            tuple(self.spans),
            self.id,
            self.retry,
            tuple(self.comments),
            terminated,
            tuple(self.others),
        )


BOM: Final = b"\xef\xbb\xbf"


class _Names(dict[bytes | None, str | None]):
    """Cache of event names by their bytes: a stream repeats a handful."""

    def __missing__(self, raw: bytes) -> str:
        name = self[raw] = raw.decode("utf-8", "replace")
        return name


@cache
def _blocks(end: bytes) -> re.Pattern[bytes]:
    """Pattern of a block and its blank lines: usual blocks as groups 1 (event) and 2 (data), others as group 3."""
    byte = rb"[^\r]" if end == b"\r\n" else rb"[^\n]"  # one excluded byte is three times as fast as two
    usual = rb"(?:event: ?+(" + byte + rb"*+)" + end + rb")?data: ?+(" + byte + rb"*+)" + end
    other = rb"((?:" + byte + rb"++" + end + rb")++)"
    return re.compile(rb"(?:" + usual + rb"|" + other + rb")(?:" + end + rb")++")


def plain_events(body: bytes, *, number: int = 0, base: int = 0) -> tuple[list[SseEvent], int]:
    """Blocks from the start of a body part that begins between blocks.

    Args:
        body: the body, or the part after ``base`` bytes of it.
        number: of the first block.
        base: offset of the part in the body.

    Returns:
        The blocks, and the number of bytes consumed; the careful reader continues there (0: at the start).
    """
    line_end = _line_end(body)
    last = body.rfind(line_end * 2) if line_end and len(body) <= MAX_SSE_LINE else -1
    at = len(BOM) if base == 0 and body.startswith(BOM) else 0
    while line_end and body.startswith(line_end, at):
        at += len(line_end)
    if last < at:
        return [], 0
    events: list[SseEvent] = []
    add, new, names = events.append, tuple.__new__, _Names({None: None})
    for n, found in enumerate(_blocks(line_end).finditer(body, at, last + 2 * len(line_end)), number):
        name, data, other = found.groups()
        if other is None:
            start, end = found.span(2)
            span = (base + start, base + end)
            add(new(SseEvent, (n, names[name], data, base + found.start(), span[1], (span,), None, None, (), True, ())))
        else:
            add(_careful(body, found.span(3), line_end, base).event(n, terminated=True))
    return events, last + 2 * len(line_end)


def _line_end(body: bytes) -> bytes:
    """Line end used by all lines; empty if they differ."""
    returns = body.count(b"\r")
    if not returns:
        return b"\n"
    return b"\r\n" if returns == body.count(b"\n") == body.count(b"\r\n") else b""


def _careful(body: bytes, span: tuple[int, int], line_end: bytes, base: int) -> SseBlock:
    at, stop = span
    block = SseBlock(base + at)
    while at < stop:
        end = body.index(line_end, at)
        block.add(body[at:end], base + at, base + end)
        at = end + len(line_end)
    return block


_LINE_END: Final = regex.compile(rb"\r\n|\r|\n")
_FIELD: Final = regex.compile(rb"(?:(?:id|retry):[^\r\n]*+[\r\n]++)*(?:data|event)?:")
_JSON: Final = regex.compile(rb"[ \t\r\n]*+[{\[]")


class SseReader:
    """Reads a stream piece by piece; the events do not depend on where the bytes are cut.

    Of a line longer than ``limits.MAX_SSE_LINE`` only that many bytes are read; the rest is skipped.
    """

    def __init__(self, *, number: int = 0, offset: int = 0) -> None:
        self._number = number
        self._offset = offset  # in the body, of the next byte to come
        self._line: list[bytes] = []  # the unfinished line so far
        self._line_start = offset
        self._line_length = 0  # bytes in it
        self._block: SseBlock | None = None
        self._after_cr = False
        self._at_start = offset == 0
        self._bom_start = b""  # bytes that may be the beginning of a BOM
        self._events: list[SseEvent] = []

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Blocks that are complete now."""
        if self._at_start:
            chunk = self._without_bom(chunk)
        at = 1 if self._after_cr and chunk.startswith(b"\n") else 0
        self._after_cr = self._after_cr and not chunk
        base = self._offset
        self._offset += len(chunk)
        is_plain_read = False
        if at:
            self._line_start += 1
        elif not self._line and self._block is None:  # between blocks, where most pieces of a stream begin
            at, is_plain_read = self._plain(chunk, base), True
            self._line_start = base + at
        while found := _LINE_END.search(chunk, at):
            stop, after = found.span()
            self._keep(chunk[at:stop])
            self._end_line(base + stop)
            at = after
            if self._block is None and not is_plain_read:
                at += self._plain(chunk[at:], base + at)
                is_plain_read = True
            self._line_start = base + at
        self._after_cr = self._after_cr or chunk.endswith(b"\r")
        self._keep(chunk[at:])
        return self._take()

    def close(self) -> list[SseEvent]:
        """The last block, if the stream ended before its blank line."""
        if self._at_start:
            self._at_start = False
            self._events = self.feed(self._bom_start)
        if self._line:
            self._end_line(self._offset)
        if self._block is not None:
            self._emit(terminated=False)
        return self._take()

    def _without_bom(self, chunk: bytes) -> bytes:
        """The chunk after bytes held back; empty while too short to detect a BOM."""
        self._bom_start += chunk
        if len(self._bom_start) < len(BOM) and BOM.startswith(self._bom_start):
            return b""
        self._at_start = False
        if self._bom_start.startswith(BOM):
            self._offset = self._line_start = len(BOM)
            return self._bom_start[len(BOM) :]
        return self._bom_start

    def _plain(self, piece: bytes, base: int) -> int:
        """Read complete blocks on the fast path; return the number of bytes consumed."""
        events, read = plain_events(piece, number=self._number, base=base)
        self._events += events
        self._number += len(events)
        return read

    def _keep(self, piece: bytes) -> None:
        room = MAX_SSE_LINE - self._line_length
        if piece and room > 0:
            self._line.append(piece[:room])
            self._line_length += min(len(piece), room)

    def _end_line(self, end: int) -> None:
        if self._line:
            line = self._line[0] if len(self._line) == 1 else b"".join(self._line)
            self._line, self._line_length = [], 0
            self._block = self._block or SseBlock(self._line_start)
            self._block.add(line, self._line_start, end)
        elif self._block is not None:
            self._emit(terminated=True)

    def _emit(self, *, terminated: bool) -> None:
        assert self._block is not None
        self._events.append(self._block.event(self._number, terminated=terminated))
        self._number += 1
        self._block = None

    def _take(self) -> list[SseEvent]:
        events, self._events = self._events, []
        return events


def read_events(body: bytes) -> tuple[SseEvent, ...]:
    """All blocks of a whole body: same result as ``SseReader``, several times as fast."""
    events, read = plain_events(body)
    rest = SseReader(number=len(events), offset=read)
    return (*events, *rest.feed(body[read:]), *rest.close())


def without_repeated_prefix(data: bytes) -> bytes:
    """The data of a block without a repeated prefix (``data: data: {}``)."""
    return data.lstrip().removeprefix(b"data:").strip()


def looks_like_stream(body: bytes, content_type: str) -> bool:
    """True if the content type is event-stream and the body is not JSON, or if its first line looks like one."""
    body_start = 3 if body.startswith(BOM) else 0
    if content_type.partition(";")[0].strip().lower() == "text/event-stream":
        return not _JSON.match(body, body_start)
    return bool(_FIELD.match(body[body_start : body_start + 4096].lstrip(b"\r\n")))
