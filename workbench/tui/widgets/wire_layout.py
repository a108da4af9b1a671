"""Lays out the bytes of the wire pane: in another view, in another width, and again when more have arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.models import wire
from workbench.tui.models.rowtable import StyledSpans
from workbench.views import Line, line_columns, size

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.widgets.wire import WirePane


class WireLayout:
    """Rows of the open exchange in the wire pane.

    Args:
        pane: its ``content`` says what is shown, its ``bytes`` hold the rows.
    """

    def __init__(self, pane: WirePane) -> None:
        self.pane = pane

    def show(self, exchange_view: ExchangeView | None) -> None:
        """Lay out another exchange, or none."""
        pane = self.pane
        pane.byte_cursor.forget()
        pane.bytes.clear()
        pane.content.show(exchange_view)
        if exchange_view is not None:
            body = pane.content.body
            pane.bytes.make(pane.content.view.make(body, pane.text_width - pane.content.margin), len(body))

    def catch_up(self) -> None:
        """Lay out new bytes, after the earlier ones are laid out."""
        pane, rows, exchange_view = self.pane, self.pane.rows, self.pane.opened
        if exchange_view is None or not pane.bytes.is_done:
            return
        body = wire.shown_body(exchange_view.decoded, pane.side)
        if rows and rows.body == body:
            return
        cursor, is_at_end = pane.cursor, pane.cursor == pane.count() - 1
        if rows is None or not rows.can_grow or not body.startswith(rows.body):
            self.show(exchange_view)
        else:
            known = len(rows.body)
            rows.grow(body)
            pane.bytes.make(rows, len(body) - known)
        pane.reload()
        self._keep_place(cursor, len(body) - 1, is_at_end=is_at_end)

    def _keep_place(self, cursor: int, last: int, *, is_at_end: bool) -> None:
        """Leave the cursor where it was, or at the end if it was there; ``last``: the last byte."""
        pane = self.pane
        if is_at_end and pane.bytes.is_done:
            pane.move_to(pane.count() - 1)
        elif is_at_end or cursor >= pane.count():
            pane.byte_cursor.reveal(last if is_at_end else pane.byte_cursor.byte)

    def fit(self) -> None:
        """Lay out for the width of the pane, as if it had been opened so."""
        pane = self.pane
        if pane.rows and pane.rows.width != max(16, pane.text_width - pane.content.margin):
            self.show(pane.opened)
            pane.reload()
        pane.scroll_to(y=0, animate=False, force=True, immediate=True)
        pane.byte_cursor.reveal(pane.byte_cursor.byte)

    def way(self) -> None:
        """Switch to the next view of the same bytes."""
        if self.pane.opened is not None:
            was_received = self.pane.content.is_received
            self.pane.content.next_view()
            self._show_view(was_received=was_received)

    def opaque(self) -> None:
        """Show signatures, encrypted content and base64 in full, or fold them again."""
        self.pane.content.toggle_opaque()
        if self.pane.opened:
            self._show_view(was_received=self.pane.content.is_received)

    def _show_view(self, *, was_received: bool) -> None:
        """Lay the bytes out again, and keep the cursor on its byte."""
        pane = self.pane
        byte, pane.marks.match = pane.byte_cursor.byte, ()
        self.show(pane.opened)
        pane.mark_related(pane.marks.related)
        pane.cursor = 0
        pane.reload()
        if pane.content.is_received or was_received:
            byte = pane.marks.lit[0][0] if pane.marks.lit and was_received else 0
        pane.byte_cursor.reveal(byte)
        pane.entitle()

    def headers(self) -> None:
        """Show the headers above the bytes, or their number alone."""
        pane = self.pane
        before = len(pane.content.top)
        with_headers = pane.content.toggle_headers()
        if pane.opened:
            pane.cursor = max(0, pane.cursor + len(pane.content.top) - before)
            pane.reload()
            if with_headers:
                pane.scroll_to(y=0, animate=False, force=True, immediate=True)

    def line(self, item: int) -> Line:
        """A line above the bytes, or a row of them with its marks."""
        pane, row = self.pane, item - len(self.pane.content.top)
        if row < 0:
            return pane.content.top[item]
        assert pane.rows
        marks = pane.marks.shown
        if pane.has_focus and item == pane.cursor:
            marks = (*marks, StyledSpans("here", (pane.rows.token_at(row, pane.byte_cursor.byte),)))
        bytes_line = (*pane.content.event_number(pane.rows, row), *pane.rows.line(row, marks))
        note = pane.marks.note(*pane.rows.bounds(row))
        has_room = note and line_columns(bytes_line) + line_columns(note) <= pane.text_width
        return (*bytes_line, *note) if has_room else bytes_line

    def facts(self) -> tuple[str, ...]:
        """Facts for the title: the side, the view, the selection, and the number of bytes."""
        pane, content = self.pane, self.pane.content
        if pane.opened is None:
            return ()
        side = f"{pane.side} {pane.opened.index + 1}"
        length = size(len(pane.rows.body) if pane.rows else 0)
        here, progress, name = pane.byte_cursor.words(), pane.bytes.progress, content.view.name
        selection = "" if content.is_received else pane.marks.selection_words
        if content.is_first_view:
            return (side, here, selection, progress, length, name)
        return (side, name, here, selection, progress, length)
