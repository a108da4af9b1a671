"""The cursor of the wire pane: a byte, in the row that the list's cursor is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

from workbench.characters import odd_at
from workbench.tui.widgets.lineview import GUTTER, LineView

if TYPE_CHECKING:
    from workbench.tui.widgets.wire import WirePane


class ByteCursor:
    """Moves over the bytes of a pane, and goes to one as soon as its row is laid out.

    Attributes:
        byte: offset of the byte under the cursor.
    """

    def __init__(self, pane: WirePane) -> None:
        self.pane = pane
        self.byte = 0
        self._awaited: int | None = None

    @property
    def row(self) -> int:
        """Row of bytes that the list's cursor is on; negative on the lines above the bytes."""
        return self.pane.cursor - len(self.pane.content.top)

    def forget(self) -> None:
        """Wait for no row: another body is laid out."""
        self._awaited = None

    def catch_up(self) -> None:
        """Go to the byte that was waited for, if its row is laid out now."""
        if self._awaited is not None and self.pane.bytes.has(self._awaited):
            self.reveal(self._awaited)

    def reveal(self, offset: int) -> None:
        """Put the cursor on a byte, immediately or when its row is laid out."""
        pane, rows = self.pane, self.pane.rows
        if rows is None or not pane.bytes.known:
            return
        self.byte = offset
        if not pane.bytes.has(offset):
            self._awaited = offset
            return
        self._awaited = None
        first = len(pane.content.top) + rows.row_at(offset)
        pane.move_to(first, center=True)
        end = next((end - 1 for start, end in pane.marks.lit if start == offset), offset)
        last = len(pane.content.top) + rows.row_at(end)
        pane.show_lines(first, min(last, first + pane.content_region.height - 2), center=True)

    def follow_row(self) -> None:
        """Take a byte of the row that the list's cursor has moved to."""
        rows = self.pane.rows
        if rows and self.row >= 0:
            start, end = rows.bounds(self.row)
            if not start <= self.byte < end:
                self.byte = rows.landing(self.row, self.byte)

    def token(self, step: int) -> None:
        """Go to the next or previous value of the row, or to the byte behind its end."""
        pane, rows = self.pane, self.pane.rows
        on_row = 0 <= self.row < pane.bytes.known
        stop = rows.next_stop(self.row, self.byte, step) if rows and on_row else None
        if stop is not None:
            self.byte = stop
            pane.entitle()
            pane.refresh()
            pane.post_message(LineView.CursorMove(pane))
        elif not pane.content.is_numbered:
            self._step_over(self.byte + step)

    def _step_over(self, byte: int) -> None:
        """Move to a byte of the next or previous row."""
        rows = self.pane.rows
        if rows and 0 <= byte < len(rows.body):
            self.byte = byte
            self._land(len(self.pane.content.top) + rows.row_at(byte))

    def _land(self, item: int) -> None:
        self.pane.move_to(item)
        self.pane.post_message(LineView.CursorMove(self.pane))

    def click(self, event: events.Click) -> None:
        """Put the cursor on the byte under the pointer."""
        pane, rows, place = self.pane, self.pane.rows, event.get_content_offset(self.pane)
        item = place.y + pane.scroll_offset.y if place else pane.count()
        row = item - len(pane.content.top)
        if place and rows and 0 <= row < pane.bytes.known:
            event.prevent_default()
            self.byte = rows.byte_at(row, place.x - GUTTER - pane.content.margin)
            self._land(item)

    def words(self) -> str:
        """Note on the byte: an invisible character, or offset and arrival; empty if not needed."""
        pane = self.pane
        if pane.rows is None or self.row < 0 or not pane.bytes.known:
            return ""
        odd = odd_at(pane.rows.body, self.byte)
        return f"{odd.words} at byte {odd.start:,}" if odd else pane.content.arrival(self.byte)
