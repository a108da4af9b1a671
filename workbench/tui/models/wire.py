"""Lines of the wire pane: the raw bytes of one side, coloured and lit, and what stands above them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.tui.lines import Line, Span, line
from workbench.tui.models.rows import CONTINUES, IN_STRING, Rows
from workbench.tui.models.words import REQUEST, count, size
from workbench.tui.safetext import cells, from_bytes

if TYPE_CHECKING:
    from workbench.decode import Decoded
    from workbench.wire.exchange import Body, Frame, HttpRequest, HttpResponse

_REST_OF_STRING: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"?')
_JSON: Final = re.compile(
    rb'(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"?)(?P<colon>\s*+:)?|(?P<number>-?[0-9][0-9.eE+-]*+)|(?P<word>true|false|null)'
)
_FIELD: Final = re.compile(rb"(?:event|data|id|retry)?:")
_IS_JSON: Final = re.compile(rb"[\xef\xbb\xbf \t\r\n]*+[{\[]")


class Marked(NamedTuple):
    """Byte ranges in one style, sorted by their start."""

    style: str
    spans: tuple[tuple[int, int], ...] = ()

    def within(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The ranges that touch a range. Ranges of one mark hardly overlap: two before the first are looked at."""
        at = max(0, bisect_left(self.spans, (start, start)) - 2)
        while at < len(self.spans) and self.spans[at][0] < end:
            if self.spans[at][1] > start:
                yield self.spans[at]
            at += 1


def body_of(decoded: Decoded, side: str) -> bytes:
    """The content-decoded bytes of a side; the raw ones where they do not decode; WebSocket frames one to a line."""
    if decoded.exchange.frames:
        return b"\n".join(frame.data for frame in _frames(decoded, side))
    text = decoded.request_text if side == REQUEST else decoded.response_text
    http = decoded.exchange.request if side == REQUEST else decoded.exchange.response
    return text or (http.body.raw if http else b"")


def is_json(body: bytes) -> bool:
    """Whether the body is laid out as JSON."""
    return bool(_IS_JSON.match(body))


def tokens(data: bytes, flags: int, *, json: bool) -> Iterator[tuple[int, int, str]]:
    """(start, end, style) of what is coloured in one row."""
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


def row_line(rows: Rows, row: int, marks: tuple[Marked, ...], *, json: bool) -> Line:
    """One row, cut where colour or light changes."""
    start, end = rows.bounds(row)
    data = rows.body[start:end]
    text = data.rstrip(b"\r\n \t") if not _ends_in_string(rows, row) else data
    styles = [(start + a, start + b, name) for a, b, name in tokens(text, rows.flags[row], json=json)]
    for mark in marks:
        styles += [(a, b, mark.style) for a, b in mark.within(start, end)]
    stop = start + len(text)
    edges = sorted({start, stop, *(min(max(e, start), stop) for a, b, _ in styles for e in (a, b))})
    spans = [Span(" " * rows.indents[row])] if rows.indents[row] else []
    for a, b in pairwise(edges):
        names = " ".join(dict.fromkeys(name for first, last, name in styles if first <= a and b <= last))
        spans.append(Span(from_bytes(rows.body[a:b]), names, is_bytes=True))
    return tuple(spans)


def byte_at(rows: Rows, row: int, column: int) -> int:
    """The byte that is shown in a column of a row; the last one of the row beyond its end."""
    start, end = rows.bounds(row)
    column -= rows.indents[row]
    at = start
    for character in from_bytes(rows.body[start : min(end, start + 4 * max(column, 0) + 4)]):
        column -= cells(character)
        size = len(character.encode("utf-8", "surrogateescape"))
        if column < 0 or at + size >= end:
            break
        at += size
    return at


def _ends_in_string(rows: Rows, row: int) -> bool:
    return row + 1 < len(rows) and bool(rows.flags[row + 1] & IN_STRING)


def head_lines(decoded: Decoded, side: str, *, with_headers: bool) -> list[Line]:
    """What stands above the body: request or status line, headers or their number, and what was done to the body."""
    if decoded.exchange.frames:
        sent = "sent" if side == REQUEST else "received"
        return [line(Span(f"{count(len(_frames(decoded, side)), 'WebSocket frame')} {sent}, one to a line", "muted"))]
    http = decoded.exchange.request if side == REQUEST else decoded.exchange.response
    if http is None:
        return []
    made = [_first_line(http)]
    if with_headers:
        made += [line(Span(f"{name}: ", "key"), value) for name, value in http.headers]
    elif len(http.headers):
        made.append(line(Span(f"{count(len(http.headers), 'header')} (H shows them)", "muted")))
    note = _body_note(http.body)
    return [*made, *([line(Span(note, "muted"))] if note else [])]


def _frames(decoded: Decoded, side: str) -> list[Frame]:
    direction = "sent" if side == REQUEST else "received"
    return [frame for frame in decoded.exchange.frames if frame.direction == direction]


def _first_line(http: HttpRequest | HttpResponse) -> Line:
    from workbench.wire.exchange import HttpRequest

    if isinstance(http, HttpRequest):
        return line(Span(f"{http.method} ", "strong"), http.url, Span(f" {http.http_version}".rstrip(), "muted"))
    style = "error" if http.status >= 400 else "ok"
    return line(Span(f"{http.http_version or 'HTTP'} ", "muted"), Span(f"{http.status} {http.reason}".rstrip(), style))


def _body_note(body: Body) -> str:
    facts = [f"{body.encoding}, shown decoded; {size(len(body.raw))} on the wire" if body.encoding else ""]
    facts += ["the original bytes were not kept" + (f": {body.note}" if body.note else "") if not body.is_raw else ""]
    return " · ".join(f for f in facts if f)


def nothing(decoded: Decoded, side: str) -> str:
    """Why there are no bytes."""
    http = decoded.exchange.request if side == REQUEST else decoded.exchange.response
    if http is not None:
        return f"the {side} has no body"
    return f"no {side} was recorded: the exchange is {decoded.exchange.state}"
