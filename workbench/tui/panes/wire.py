"""The wire pane: the raw bytes of one side of an exchange.

Rows are laid out for the width of the pane (``panes.byterows``). The cursor is a byte; the value that contains it is
the selection.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual import events

from workbench.characters import bounds, odd_at
from workbench.tui import keys
from workbench.tui.models import wire
from workbench.tui.models.rowtable import CONTINUES, RowTable, StyledSpans
from workbench.tui.models.wire import BodySearch
from workbench.tui.panes.body import ByteRows
from workbench.tui.panes.lineview import GUTTER
from workbench.tui.panes.pane import Pane
from workbench.tui.panes.wiremarks import WireMarks
from workbench.views import REQUEST, RESPONSE, Line, Span, byte_range, event_range, size, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.selection import ExchangeSelection, Lights, Spans

OPEN_DIGITS = 4
"""Columns for the numbers of events that may still come: the rows stay as they are meanwhile."""


class WirePane(Pane):
    """The bytes of the request or the response as sent."""

    BINDINGS = keys.bindings(keys.WIRE)

    side = REQUEST
    byte = 0
    """Offset of the byte under the cursor."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._ways: tuple[wire.WireView, ...] = ()
        self._way = 0
        self._with_headers = False
        self._digits = 1
        self.bytes = ByteRows(self)
        self.marks = WireMarks()
        self._top: list[Line] = []
        self._search: BodySearch | None = None
        self._awaited: int | None = None

    # The body and its rows.

    def open(self, opened: ExchangeView | None, why_not: str = "") -> None:
        self.marks = WireMarks()
        self.byte = 0
        self._lay_out(opened)
        super().open(opened, why_not)
        if opened:
            self._mark(())

    @property
    def rows(self) -> RowTable | None:
        """The rows of the body."""
        return self.bytes.table

    def count(self) -> int:
        return len(self._top) + self.bytes.known

    def show_side(self, side: str) -> None:
        """Show the request or the response."""
        if side != self.side:
            self.side = side
            self.open(self.opened)

    def grow(self, opened: ExchangeView) -> None:
        self.opened = opened
        self._top = wire.head_lines(opened.decoded, self.side, with_headers=self._with_headers)
        self._catch_up()
        super().grow(opened)

    def _catch_up(self) -> None:
        """Lay out new bytes, after the earlier ones are laid out."""
        rows, opened = self.rows, self.opened
        if opened is None or not self.bytes.is_done:
            return
        body = wire.body_of(opened.decoded, self.side)
        if rows and rows.body == body:
            return
        cursor, is_at_end = self.cursor, self.cursor == self.count() - 1
        if rows is None or not rows.can_grow or not body.startswith(rows.body):
            self._lay_out(opened)
        else:
            known = len(rows.body)
            rows.grow(body)
            self.bytes.make(rows, len(body) - known)
        self.reload()
        if is_at_end and self.bytes.is_done:
            self.move_to(self.count() - 1)
        elif is_at_end or cursor >= self.count():
            self._reveal(len(body) - 1 if is_at_end else self.byte)

    def _lay_out(self, opened: ExchangeView | None) -> None:
        self._top, self._awaited = [], None
        self.bytes.clear()
        if opened is None:
            return
        events = len(opened.decoded.events)
        self._digits = max(len(str(events)), OPEN_DIGITS if opened.row.summary.state == "open" else 0)
        decoded = opened.decoded
        self._ways = wire.ways(decoded, self.side)
        way = self.way
        body = wire.body_of(decoded, self.side) if way.received is None else way.received
        self._top = wire.head_lines(decoded, self.side, with_headers=self._with_headers)
        self.bytes.make(way.make(body, self.text_width - self._margin(opened)), len(body))

    def on_byte_rows_grew(self, message: ByteRows.Grew) -> None:
        if not self.bytes.take(message):
            return
        self.entitle()
        if self.bytes.is_done:
            self._catch_up()
        if self._awaited is not None and self.bytes.has(self._awaited):
            self._reveal(self._awaited)

    @property
    def way(self) -> wire.WireView:
        """Current view of the bytes."""
        return self._ways[min(self._way, len(self._ways) - 1)]

    @property
    def _is_received(self) -> bool:
        """True if the bytes as received are shown, which selections do not refer to."""
        return bool(self._ways) and self.way.received is not None

    def action_way(self) -> None:
        """Switch to the next view of the same bytes."""
        if self.opened is None:
            return
        was_received = self._is_received
        self._way = (self._ways.index(self.way) + 1) % len(self._ways)
        byte, self.marks.match = self.byte, ()
        self._lay_out(self.opened)
        self._mark(self.marks.related)
        self.cursor = 0
        self.reload()
        if self._is_received or was_received:
            byte = self.marks.lit[0][0] if self.marks.lit and was_received else 0
        self._reveal(byte)
        self.entitle()

    def on_resize(self, event: events.Resize) -> None:
        if self.rows and self.rows.width != max(16, self.text_width - self._margin(self.opened)):
            self._lay_out(self.opened)
            self.reload()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)  # so that it looks as if it had opened so
        self._reveal(self.byte)

    def _margin(self, opened: ExchangeView | None) -> int:
        """Columns for the numbers of stream events."""
        is_stream = opened is not None and self.side == RESPONSE and opened.decoded.events
        return self._digits + 2 if is_stream and self.way.is_numbered else 0

    # Lines.

    def head(self, item: int, width: int) -> Line:
        if item < len(self._top):
            return self._top[item]
        assert self.rows
        row = item - len(self._top)
        marks = self.marks.shown
        if self.has_focus and item == self.cursor:
            marks = (*marks, StyledSpans("here", (self._token(),)))
        return (*self._event_number(row), *self.rows.line(row, marks))

    def _event_number(self, row: int) -> Line:
        margin = self._margin(self.opened)
        if not margin or not self.rows or not self.opened:
            return ()
        start = self.rows.starts[row]
        events = self.opened.decoded.events
        at = bisect_left(events, start, key=lambda e: e.start)
        is_first = at < len(events) and events[at].start == start and not self.rows.flags[row] & CONTINUES
        return (Span(str(at) if is_first else "", "muted", 1 - margin), Span(" "))

    def nothing(self, width: int) -> list[Line]:
        why = wire.nothing(self.opened.decoded, self.side) if self.opened else self.why_not
        return wrap(why, width, "muted")

    def entitle(self, *facts: str) -> None:
        if self.opened is None:
            super().entitle()
            return
        rows = self.rows
        length = len(rows.body) if rows else 0
        progress = self.bytes.progress
        selected = event_range(self.marks.events) if self.marks.events else byte_range(self.marks.lit)
        way, here = self.way, self._here()
        side = f"{self.side} {self.opened.index + 1}"
        if way is self._ways[0]:
            super().entitle(side, here, selected, progress, size(length), way.name)
        else:
            super().entitle(side, way.name, here, "" if self._is_received else selected, progress, size(length))

    def _here(self) -> str:
        """Note on the byte under the cursor: an invisible character, or offset and arrival; "" if not needed."""
        rows = self.rows
        if rows is None or self.opened is None or self.cursor < len(self._top) or not self.bytes.known:
            return ""
        odd = odd_at(rows.body, self.byte)
        if odd:
            return f"{odd.words} at byte {odd.start:,}"
        if self._way == 0:
            return ""
        came = wire.arrival(self.opened.decoded, self.side, self.byte, is_decoded=not self._is_received)
        return f"byte {self.byte:,}" + (f", {came}" if came else "")

    # The selection.

    def selection(self) -> ExchangeSelection | None:
        if self.opened is None or self.rows is None or self.cursor < len(self._top) or self._is_received:
            return None
        return self.opened.at_byte(self.side, self.byte)

    def light(self, selection: ExchangeSelection, lights: Lights, *, is_source: bool) -> None:
        if not is_source and selection.spans:
            self.show_side(selection.side)
        is_here = selection.side == self.side
        self.marks.lit = selection.spans if is_here else ()
        self.marks.events = selection.events if is_here else ()
        self._mark(lights.spans.get(self.side, ()))
        if self.marks.lit and not is_source and not self._is_received:
            self._reveal(self.marks.lit[0][0])
        self.entitle()
        self.refresh()

    def _mark(self, related: Spans) -> None:
        """Paint the marks again; ``related`` are the ranges related to the selection."""
        assert self.opened
        self.marks.paint(self.opened, self.side, related, is_received=self._is_received)

    def signs(self, item: int, inside: int) -> Line:
        row = item - len(self._top)
        own = super().signs(item, inside)
        if row < 0 or self.rows is None:
            return own
        start, end = self.rows.bounds(row)
        return self.marks.signs(start, end, own[1])

    def _reveal(self, offset: int) -> None:
        """Put the cursor on a byte, immediately or when its row is laid out."""
        rows = self.rows
        if rows is None or not self.bytes.known:
            return
        self.byte = offset
        if not self.bytes.has(offset):
            self._awaited = offset
            return
        self._awaited = None
        first = len(self._top) + rows.row_at(offset)
        self.move_to(first, center=True)
        end = next((end - 1 for start, end in self.marks.lit if start == offset), offset)
        last = len(self._top) + rows.row_at(end)
        self.show_lines(first, min(last, first + self.content_region.height - 2), center=True)

    # The cursor.

    def move_to(self, item: int, *, center: bool = False) -> None:
        super().move_to(item, center=center)
        row = self.cursor - len(self._top)
        if self.rows and row >= 0:
            start, end = self.rows.bounds(row)
            if not start <= self.byte < end:
                self.byte = self.rows.landing(row, self.byte)
        self.entitle()

    def _stops(self) -> list[tuple[int, int]]:
        """Ranges that the cursor stops at in its row."""
        row = self.cursor - len(self._top)
        return [] if self.rows is None or not 0 <= row < self.bytes.known else self.rows.stops(row)

    def _token(self) -> tuple[int, int]:
        """Byte range of the smallest value, or of the character, at the cursor."""
        assert self.rows
        around = [(a, b) for a, b in self._stops() if a <= self.byte < b]
        return min(around, key=lambda r: r[1] - r[0]) if around else bounds(self.rows.body, self.byte)

    def action_token(self, step: int) -> None:
        starts = [a for a, _ in self._stops()]
        beyond = [a for a in starts if (a > self.byte if step > 0 else a < self.byte)]
        if beyond:
            self.byte = beyond[0] if step > 0 else beyond[-1]
            self.entitle()
            self.refresh()
            self.post_message(self.CursorMove(self))
        elif self._ways and not self.way.is_numbered:
            self._step_over(self.byte + step)

    def _step_over(self, byte: int) -> None:
        """Move the cursor to a byte of the next or previous row."""
        if self.rows and 0 <= byte < len(self.rows.body):
            self.byte = byte
            self.move_to(len(self._top) + self.rows.row_at(byte))
            self.post_message(self.CursorMove(self))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the byte under the pointer."""
        place = event.get_content_offset(self)
        item = place.y + self.scroll_offset.y if place else self.count()
        row = item - len(self._top)
        if place and self.rows and 0 <= row < self.bytes.known:
            event.prevent_default()
            self.byte = self.rows.byte_at(row, place.x - GUTTER - self._margin(self.opened))
            self.move_to(item)
            self.post_message(self.CursorMove(self))

    def action_headers(self) -> None:
        self._with_headers = not self._with_headers
        if self.opened:
            before = len(self._top)
            self._top = wire.head_lines(self.opened.decoded, self.side, with_headers=self._with_headers)
            self.cursor = max(0, self.cursor + len(self._top) - before)
            self.reload()
            if self._with_headers:
                self.scroll_to(y=0, animate=False, force=True, immediate=True)

    # A search: places are bytes.

    @property
    def position(self) -> int:
        return self.byte

    def search(self, wanted: str) -> Iterator[tuple[int | None, float]]:
        """Search all bytes, laid out or not; also for the text escaped as JSON or split over stream events."""
        matches = BodySearch(wanted)
        self._search = matches
        rows, opened = self.rows, self.opened
        if rows is None or opened is None:
            return iter(())
        is_streamed = self.side == RESPONSE and not self._is_received
        return matches.run(rows.body, opened.decoded if is_streamed else None)

    def show_matches(self) -> None:
        self.marks.match = tuple(self._search.spans) if self._search else ()
        self._mark(self.marks.related)
        self.refresh()

    def go_to(self, position: int) -> None:
        self._reveal(position)

    def end_search(self) -> None:
        self._search, self.marks.match = None, ()
        if self.opened:
            self._mark(self.marks.related)
        super().end_search()
