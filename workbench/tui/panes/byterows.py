"""The rows of a pane that shows bytes: the first ones immediately, the rest of a big body in a thread.

A table may have more rows than the pane shows: rows made by the thread are shown when its message has arrived. So
measuring, painting and scrolling always use the same rows.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

if TYPE_CHECKING:
    from workbench.tui.models.rowtable import RowTable
    from workbench.tui.panes.lineview import LineView

AT_ONCE = 64 * 1024
"""Bytes that are laid out on the screen's thread: under 10 ms; more is left to a worker."""

SLICE = 2000
"""Rows a worker makes before it posts them."""


class ByteRows:
    """Rows of one body, as far as they are laid out.

    Attributes:
        table: the rows; None if there is no body.
        known: number of rows that are shown.
        is_done: True if all rows are shown.
    """

    class Grew(Message):
        """More or all rows of a big body are laid out; the view that gets this calls ``take``."""

        def __init__(self, rows: RowTable, count: int, *, is_done: bool) -> None:
            super().__init__()
            self.rows = rows
            self.count = count
            self.is_done = is_done

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ByteRows.Grew) and message.rows is self.rows

    def __init__(self, view: LineView) -> None:
        self.view = view
        self.clear()

    def clear(self) -> None:
        """Show no body."""
        self.table: RowTable | None = None
        self.known, self.is_done = 0, True

    @property
    def progress(self) -> str:
        """Percentage of a big body that is laid out; empty when all of it is."""
        if self.table is None or self.is_done:
            return ""
        return f"laying out {self.known_bytes * 100 // max(1, len(self.table.body))} %"

    @property
    def known_bytes(self) -> int:
        """Number of bytes whose row is shown."""
        if self.table is None or self.is_done:
            return len(self.table.body) if self.table else 0
        return self.table.starts[self.known]

    def has(self, offset: int) -> bool:
        """True if the row of a byte is shown."""
        return self.is_done or self.known_bytes > offset

    def make(self, rows: RowTable, size: int) -> None:
        """Show a table with ``size`` bytes to lay out: at once, or the visible rows now and the rest in a thread."""
        if size <= AT_ONCE:
            while not rows.extend(SLICE):
                pass
            self.is_done = True
        else:
            self.is_done = rows.extend(self.view.size.height or 40)
        self.table, self.known = rows, finished_rows(rows, is_done=self.is_done)
        if not self.is_done:
            work = partial(self._make_rest, rows)
            self.view.run_worker(work, thread=True, exclusive=True, group="layout", exit_on_error=False)

    def _make_rest(self, rows: RowTable) -> None:
        worker = get_current_worker()
        is_done = False
        while not is_done and not worker.is_cancelled:
            is_done = rows.extend(SLICE)
            self.view.post_message(self.Grew(rows, finished_rows(rows, is_done=is_done), is_done=is_done))

    def take(self, message: Grew) -> bool:
        """Show the rows of a message. Returns False if they are of a table that is no longer shown."""
        message.stop()
        if self.table is not message.rows:
            return False
        self.known, self.is_done = message.count, message.is_done
        self.view.reload()
        return True


def finished_rows(rows: RowTable, *, is_done: bool) -> int:
    """Number of rows with a known end: the last one made ends where the next will begin."""
    return len(rows) if is_done else max(0, len(rows) - 1)
