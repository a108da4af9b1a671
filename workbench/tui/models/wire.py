"""The wire pane: the bytes of one side, the views of them, and the lines above them.

A search through the bytes of one side of an exchange.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.models.rows import LaidOut
from workbench.tui.models.rowtable import RowTable, is_json
from workbench.views import REQUEST, RESPONSE, Line, Span, count, duration, line, size
from workbench.wire import ExchangeKind

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange
    from workbench.wire import Body, Frame, HttpRequest, HttpResponse


def shown_body(decoded: DecodedExchange, side: str) -> bytes:
    """The content-decoded bytes of a side; the raw bytes if they cannot be decoded; WebSocket frames one per line."""
    if decoded.exchange.frames:
        return b"\n".join(frame.data for frame in _frames(decoded, side))
    text = decoded.request_text if side == REQUEST else decoded.response_text
    http = decoded.exchange.request if side == REQUEST else decoded.exchange.response
    return text or (http.body.raw if http else b"")


class WireView(NamedTuple):
    """A view of the bytes of a side.

    Attributes:
        name: name in the pane's title.
        make: lays a body out in rows of a width.
        received: the bytes as received, still in their content coding; None if the view shows the decoded bytes,
            which selections refer to.
        is_numbered: True if the events of a stream are numbered.
    """

    name: str
    make: Callable[[bytes, int], RowTable]
    received: bytes | None = None
    is_numbered: bool = True


def ways(decoded: DecodedExchange, side: str, *, is_whole: bool = False) -> tuple[WireView, ...]:
    """Views of a side, in the order in which the key switches them; ``is_whole``: opaque strings are not folded."""
    from workbench.tui.models.escaped_lines import EscapedLines, Hex

    body = shown_body(decoded, side)
    json = is_json(body)
    forms = (
        WireView("laid out", partial(LaidOut, is_json=json, is_whole=is_whole)),
        WireView("escaped", partial(EscapedLines, is_json=json)),
        WireView("hex", Hex, is_numbered=False),
    )
    http = decoded.exchange.request if side == REQUEST else decoded.exchange.response
    if decoded.exchange.frames or http is None or http.body.raw == body:
        return forms
    return (
        *forms,
        WireView(f"hex as received, {http.body.encoding or 'coded'}", Hex, http.body.raw, is_numbered=False),
    )


def arrival(decoded: DecodedExchange, side: str, offset: int, *, is_decoded: bool) -> str:
    """Number and time of the chunk that contained a byte; empty if unknown."""
    body = decoded.exchange.response.body if side == RESPONSE and decoded.exchange.response else None
    if body is None or not body.is_raw or (is_decoded and body.encoding):
        return ""
    chunks = body.chunks
    number = bisect_right(chunks, offset, key=lambda chunk: chunk.end)
    if number >= len(chunks):
        return ""
    return f"chunk {number + 1:,} of {len(chunks):,}, {duration(chunks[number].at)}"


def head_lines(decoded: DecodedExchange, side: str, *, with_headers: bool) -> list[Line]:
    """Lines above the body: request or status line, headers or their number, a note on the body."""
    if decoded.exchange.frames:
        sent = "sent" if side == REQUEST else "received"
        unit = "line" if decoded.exchange.kind is ExchangeKind.MCP else "WebSocket frame"
        return [line(Span(f"{count(len(_frames(decoded, side)), unit)} {sent}, one per line", "muted"))]
    http = decoded.exchange.request if side == REQUEST else decoded.exchange.response
    if http is None:
        return []
    lines = [_first_line(http)]
    if with_headers:
        lines += [line(Span(f"{name}: ", "key"), value) for name, value in http.headers]
    elif len(http.headers):
        lines.append(line(Span(f"{count(len(http.headers), 'header')} (H: show)", "muted")))
    note = _body_note(http.body)
    return [*lines, *([line(Span(note, "muted"))] if note else [])]


def _frames(decoded: DecodedExchange, side: str) -> list[Frame]:
    direction = "sent" if side == REQUEST else "received"
    return [frame for frame in decoded.exchange.frames if frame.direction == direction]


def _first_line(http: HttpRequest | HttpResponse) -> Line:
    from workbench.wire import HttpRequest

    if isinstance(http, HttpRequest):
        return line(Span(f"{http.method} ", "strong"), http.url, Span(f" {http.http_version}".rstrip(), "muted"))
    style = "error" if http.status >= 400 else "ok"
    return line(Span(f"{http.http_version or 'HTTP'} ", "muted"), Span(f"{http.status} {http.reason}".rstrip(), style))


def _body_note(body: Body) -> str:
    facts = [f"{body.encoding}, shown decoded; {size(len(body.raw))} on the wire" if body.encoding else ""]
    facts += ["not the original bytes" + (f": {body.note}" if body.note else "") if not body.is_raw else ""]
    return " · ".join(f for f in facts if f)


def nothing(decoded: DecodedExchange, side: str) -> str:
    """Reason why there are no bytes."""
    http = decoded.exchange.request if side == REQUEST else decoded.exchange.response
    if http is not None:
        return f"the {side} has no body"
    return f"no {side} recorded: the exchange is {decoded.exchange.state}"


MOST = 100_000
"""Matches kept, at most; nobody looks through more."""


class BodySearch:
    """Finds a text in any JSON spelling; a capital letter in it makes the search case-sensitive.

    Attributes:
        spans: byte ranges of the matches so far, sorted.
    """

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.spans: list[tuple[int, int]] = []

    def run(self, body: bytes, streamed: DecodedExchange | None) -> Iterator[tuple[int | None, float]]:
        """Yield steps of the search: (first byte of a match or None, share of the body searched).

        Args:
            body: the bytes.
            streamed: exchange of a streamed ``body``, to find matches that are split over events too; else None.
        """
        from workbench.filters import text

        exact = text.is_exact(self.wanted)
        reached = 0
        for span in text.spans_in(body, text.byte_pattern(self.wanted, exact=exact), text.longest_match(self.wanted)):
            reached = span[1] if span else reached + text.WINDOW
            yield self._note(span), min(1.0, reached / len(body))
        if streamed and streamed.events:
            for span in text.streamed_spans(streamed, text.str_pattern(self.wanted, exact=exact)):
                yield self._note(span), 1.0

    def _note(self, span: tuple[int, int] | None) -> int | None:
        if span is None or len(self.spans) >= MOST:
            return None
        insort(self.spans, span)
        return span[0]
