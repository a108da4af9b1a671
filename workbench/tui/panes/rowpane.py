"""The rows of a pane that shows bytes: the first ones at once, those of a big body in a thread.

A table may be longer than the pane says: what a thread has made is shown when its message has come. So what is
measured, painted and scrolled to is always the same.
"""

from __future__ import annotations

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from workbench.tui.models.rowtable import RowTable
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.pane import Pane
from workbench.views.lines import Line

AT_ONCE = 64 * 1024
"""Bytes that are laid out on the screen's thread: under 10 ms; more is left to a worker."""

SLICE = 2000
"""Rows a worker makes before it says so."""


class RowView(LineView):
    """Lines above a body, and its rows."""

    class Grew(Message):
        """More rows of a big body are laid out, or all of them."""

        def __init__(self, rows: RowTable, count: int, *, is_done: bool) -> None:
            super().__init__()
            self.rows = rows
            self.count = count
            self.is_done = is_done

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RowView.Grew) and message.rows is self.rows

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._top: list[Line] = []
        self._rows: RowTable | None = None
        self._known = 0
        self._is_laid_out = True

    def laid_out(self) -> None:
        """More rows are there."""
        raise NotImplementedError

    def count(self) -> int:
        return len(self._top) + self._known

    @property
    def progress(self) -> str:
        """How much of a big body is laid out; "" when all is."""
        if self._rows is None or self._is_laid_out:
            return ""
        return f"laying out {self._reached * 100 // max(1, len(self._rows.body))} %"

    @property
    def _reached(self) -> int:
        """Bytes whose row is shown."""
        if self._rows is None or self._is_laid_out:
            return len(self._rows.body) if self._rows else 0
        return self._rows.starts[self._known]

    def _make(self, rows: RowTable, size: int) -> None:
        """Show a table of which so many bytes are to be laid out: now, or what is seen now and the rest in a thread."""
        if size <= AT_ONCE:
            while not rows.extend(SLICE):
                pass
            self._is_laid_out = True
        else:
            self._is_laid_out = rows.extend(self.size.height or 40)
        self._rows, self._known = rows, finished(rows, is_done=self._is_laid_out)
        if not self._is_laid_out:
            self._make_rest(rows)

    @work(thread=True, exclusive=True, group="layout", exit_on_error=False)
    def _make_rest(self, rows: RowTable) -> None:
        worker = get_current_worker()
        is_done = False
        while not is_done and not worker.is_cancelled:
            is_done = rows.extend(SLICE)
            self.post_message(self.Grew(rows, finished(rows, is_done=is_done), is_done=is_done))

    def on_row_view_grew(self, message: Grew) -> None:
        message.stop()
        if self._rows is message.rows:
            self._known, self._is_laid_out = message.count, message.is_done
            self.reload()
            self.laid_out()


class RowPane(Pane, RowView):
    """The same for a side of the open exchange."""


def finished(rows: RowTable, *, is_done: bool) -> int:
    """Rows whose end is known: the last one made ends where the next will begin."""
    return len(rows) if is_done else max(0, len(rows) - 1)
