"""The wire pane: the raw bytes of one side of an exchange.

Rows are laid out for the width of the pane (``panes.byterows``). The cursor is a byte; the value that contains it is
the selection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual import events

from workbench.characters import odd_at
from workbench.tui import keys
from workbench.tui.models import wire
from workbench.tui.models.rowtable import RowTable, StyledSpans
from workbench.tui.models.wire import BodySearch
from workbench.tui.panes.body import ByteRows
from workbench.tui.panes.lineview import GUTTER
from workbench.tui.panes.pane import Pane
from workbench.tui.panes.wire_content import WireContent, WireMarks
from workbench.views import RESPONSE, Line, byte_range, event_range, size, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.selection import ExchangeSelection, Lights, Spans


class WirePane(Pane):
    """The bytes of the request or the response as sent."""

    BINDINGS = keys.bindings(keys.WIRE)

    byte = 0
    """Offset of the byte under the cursor."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.content = WireContent()
        self.bytes = ByteRows(self)
        self.marks = WireMarks()
        self._search: BodySearch | None = None
        self._awaited: int | None = None

    # The body and its rows.

    def open(self, exchange_view: ExchangeView | None, why_not: str = "") -> None:
        self.marks = WireMarks()
        self.byte = 0
        self._lay_out(exchange_view)
        super().open(exchange_view, why_not)
        if exchange_view:
            self._mark(())

    @property
    def side(self) -> str:
        """The side that is shown: the request or the response."""
        return self.content.side

    @property
    def rows(self) -> RowTable | None:
        """The rows of the body."""
        return self.bytes.table

    def count(self) -> int:
        return len(self.content.top) + self.bytes.known

    def show_side(self, side: str) -> None:
        """Show the request or the response."""
        if side != self.side:
            self.content.side = side
            self.open(self.opened)

    def grow(self, exchange_view: ExchangeView) -> None:
        self.opened = exchange_view
        self.content.grow(exchange_view)
        self._catch_up()
        super().grow(exchange_view)

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

    def _lay_out(self, exchange_view: ExchangeView | None) -> None:
        self._awaited = None
        self.bytes.clear()
        self.content.show(exchange_view)
        if exchange_view is None:
            return
        body = self.content.body
        self.bytes.make(self.content.view.make(body, self.text_width - self.content.margin), len(body))

    def on_byte_rows_grew(self, message: ByteRows.Grew) -> None:
        if not self.bytes.take(message):
            return
        self.entitle()
        if self.bytes.is_done:
            self._catch_up()
        if self._awaited is not None and self.bytes.has(self._awaited):
            self._reveal(self._awaited)

    def action_way(self) -> None:
        """Switch to the next view of the same bytes."""
        if self.opened is None:
            return
        was_received = self.content.is_received
        self.content.next_view()
        self._show_view(was_received=was_received)

    def action_opaque(self) -> None:
        """Show signatures, encrypted content and base64 in full, or fold them again."""
        self.content.toggle_opaque()
        if self.opened:
            self._show_view(was_received=self.content.is_received)

    def _show_view(self, *, was_received: bool) -> None:
        """Lay the bytes out again, and keep the cursor on its byte."""
        assert self.opened
        byte, self.marks.match = self.byte, ()
        self._lay_out(self.opened)
        self._mark(self.marks.related)
        self.cursor = 0
        self.reload()
        if self.content.is_received or was_received:
            byte = self.marks.lit[0][0] if self.marks.lit and was_received else 0
        self._reveal(byte)
        self.entitle()

    def on_resize(self, event: events.Resize) -> None:
        if self.rows and self.rows.width != max(16, self.text_width - self.content.margin):
            self._lay_out(self.opened)
            self.reload()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)  # so that it looks as if it had opened so
        self._reveal(self.byte)

    # Lines.

    def head(self, item: int, width: int) -> Line:
        if item < len(self.content.top):
            return self.content.top[item]
        assert self.rows
        row = item - len(self.content.top)
        marks = self.marks.shown
        if self.has_focus and item == self.cursor:
            marks = (*marks, StyledSpans("here", (self.rows.token_at(row, self.byte),)))
        return (*self.content.event_number(self.rows, row), *self.rows.line(row, marks))

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
        name, here = self.content.view.name, self._here()
        side = f"{self.side} {self.opened.index + 1}"
        if self.content.is_first_view:
            super().entitle(side, here, selected, progress, size(length), name)
        else:
            selected = "" if self.content.is_received else selected
            super().entitle(side, name, here, selected, progress, size(length))

    def _here(self) -> str:
        """Note on the byte under the cursor: an invisible character, or offset and arrival; "" if not needed."""
        rows = self.rows
        if rows is None or self.opened is None or self.cursor < len(self.content.top) or not self.bytes.known:
            return ""
        odd = odd_at(rows.body, self.byte)
        if odd:
            return f"{odd.words} at byte {odd.start:,}"
        return self.content.arrival(self.byte)

    # The selection.

    def selection(self) -> ExchangeSelection | None:
        if self.opened is None or self.rows is None or self.cursor < len(self.content.top) or self.content.is_received:
            return None
        return self.opened.at_byte(self.side, self.byte)

    def light(self, selection: ExchangeSelection, lights: Lights, *, is_source: bool) -> None:
        if not is_source and selection.spans:
            self.show_side(selection.side)
        is_here = selection.side == self.side
        self.marks.lit = selection.spans if is_here else ()
        self.marks.events = selection.events if is_here else ()
        self._mark(lights.spans.get(self.side, ()))
        if self.marks.lit and not is_source and not self.content.is_received:
            self._reveal(self.marks.lit[0][0])
        self.entitle()
        self.refresh()

    def _mark(self, related: Spans) -> None:
        """Paint the marks again; ``related`` are the ranges related to the selection."""
        assert self.opened
        self.marks.paint(self.opened, self.side, related, is_received=self.content.is_received)

    def signs(self, item: int, inside: int) -> Line:
        row = item - len(self.content.top)
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
        first = len(self.content.top) + rows.row_at(offset)
        self.move_to(first, center=True)
        end = next((end - 1 for start, end in self.marks.lit if start == offset), offset)
        last = len(self.content.top) + rows.row_at(end)
        self.show_lines(first, min(last, first + self.content_region.height - 2), center=True)

    # The cursor.

    def move_to(self, item: int, *, center: bool = False) -> None:
        super().move_to(item, center=center)
        row = self.cursor - len(self.content.top)
        if self.rows and row >= 0:
            start, end = self.rows.bounds(row)
            if not start <= self.byte < end:
                self.byte = self.rows.landing(row, self.byte)
        self.entitle()

    def action_token(self, step: int) -> None:
        row = self.cursor - len(self.content.top)
        on_row = self.rows is not None and 0 <= row < self.bytes.known
        stop = self.rows.next_stop(row, self.byte, step) if self.rows and on_row else None
        if stop is not None:
            self.byte = stop
            self.entitle()
            self.refresh()
            self.post_message(self.CursorMove(self))
        elif not self.content.is_numbered:
            self._step_over(self.byte + step)

    def _step_over(self, byte: int) -> None:
        """Move the cursor to a byte of the next or previous row."""
        if self.rows and 0 <= byte < len(self.rows.body):
            self.byte = byte
            self.move_to(len(self.content.top) + self.rows.row_at(byte))
            self.post_message(self.CursorMove(self))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the byte under the pointer."""
        place = event.get_content_offset(self)
        item = place.y + self.scroll_offset.y if place else self.count()
        row = item - len(self.content.top)
        if place and self.rows and 0 <= row < self.bytes.known:
            event.prevent_default()
            self.byte = self.rows.byte_at(row, place.x - GUTTER - self.content.margin)
            self.move_to(item)
            self.post_message(self.CursorMove(self))

    def action_headers(self) -> None:
        before = len(self.content.top)
        with_headers = self.content.toggle_headers()
        if self.opened:
            self.cursor = max(0, self.cursor + len(self.content.top) - before)
            self.reload()
            if with_headers:
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
        is_streamed = self.side == RESPONSE and not self.content.is_received
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
