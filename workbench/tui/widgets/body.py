"""A body next to another: its bytes laid out, with marked ranges, and a cursor for reading.

The rows of a pane that shows bytes: the first ones immediately, the rest of a big body in a thread.
A table may have more rows than the pane shows: rows made by the thread are shown when its message has arrived. So
measuring, painting and scrolling always use the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.worker import get_current_worker

from workbench.tui import keys
from workbench.tui.models.rows import LaidOut
from workbench.tui.models.rowtable import Marks, Range, RowTable, StyledSpans, is_json
from workbench.tui.models.wire import BodySearch
from workbench.tui.widgets.item_search import ItemSearch
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, wrap

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


class BodyFinder(ItemSearch):
    """Search in all bytes, laid out or not; also for the text as JSON writes it."""

    def __init__(self, pane: BodyPane) -> None:
        super().__init__(pane)
        self.pane = pane
        self._body_search: BodySearch | None = None

    def begin(self, wanted: str) -> Iterator[tuple[int | None, float]]:
        self._body_search = BodySearch(wanted)
        return self._body_search.run(self.pane.body, None)

    def show(self) -> None:
        self.pane.set_marks("match", tuple(self._body_search.spans) if self._body_search else ())

    def end(self) -> None:
        self._body_search = None
        self.show()


class BodyPane(LineView):
    """Pane of bytes that are not part of the open exchange."""

    BINDINGS = keys.bindings(keys.OPAQUE)

    why = ""
    """Text shown while there are no bytes."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.bytes = ByteRows(self)
        self.body = b""
        self._is_whole = False
        self._byte = 0
        self.finder = BodyFinder(self)
        self._marks: Marks = ()
        self._awaited: int | None = None
        self._begin: int | None = None

    def show(self, body: bytes, marks: Marks = (), why: str = "") -> None:
        """Lay out a body.

        Args:
            body: content-decoded bytes.
            marks: styled ranges of it.
            why: text shown if it is empty.
        """
        self.body, self._marks, self.why = body, marks, why
        self.cursor, self._begin = 0, None
        self._lay_out()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def mark_range(self, spans: tuple[Range, ...]) -> None:
        """Highlight ranges and scroll to the first."""
        self.set_marks("lit", tuple(sorted(spans)))
        self._awaited = spans[0][0] if spans else None
        self._reveal()

    def reveal(self, offset: int) -> None:
        """Scroll to a byte as soon as it is laid out, and again in another width."""
        self._awaited = self._begin = offset
        self._reveal()

    def _lay_out(self) -> None:
        self.bytes.clear()
        if self.body:
            rows = LaidOut(self.body, self.text_width, is_json=is_json(self.body), is_whole=self._is_whole)
            self.bytes.make(rows, len(self.body))
        self.reload()
        self._reveal()

    def action_opaque(self) -> None:
        """Show signatures, encrypted content and base64 in full, or fold them again."""
        self._is_whole = not self._is_whole
        self._awaited = self.rows.bounds(self.cursor)[0] if self.rows and self.bytes.known else None
        self._lay_out()

    def _reveal(self) -> None:
        rows, wanted = self.rows, self._awaited
        if rows is not None and wanted is not None and self.bytes.has(wanted):
            self._awaited = None
            self.move_to(rows.row_at(wanted), center=True)

    def on_byte_rows_grew(self, message: ByteRows.Grew) -> None:
        if self.bytes.take(message):
            self._reveal()

    @property
    def rows(self) -> RowTable | None:
        """The rows of the body."""
        return self.bytes.table

    def count(self) -> int:
        return self.bytes.known

    def head(self, item: int, width: int) -> Line:
        assert self.rows
        return self.rows.line(item, self._marks)

    # A search: places are bytes, so that what is wrapped or folded is searched too.

    @property
    def position(self) -> int:
        if self.rows is None or not self.bytes.known:
            return 0
        start, end = self.rows.bounds(self.cursor)
        return self._byte if start <= self._byte < end else start

    def go_to(self, position: int) -> None:
        self._byte = self._awaited = position
        self._reveal()

    def set_marks(self, style: str, spans: tuple[Range, ...]) -> None:
        """Replace the ranges of one style."""
        self._marks = (*(m for m in self._marks if m.style != style), StyledSpans(style, spans))
        self.refresh()

    def signs(self, item: int, inside: int) -> Line:
        _, cursor = super().signs(item, inside)
        sign = next((glyph for style, glyph in (("lit", "▌"), ("doubtful", "!")) if self._is_in(item, style)), " ")
        return (Span(sign, "accent" if sign == "▌" else "warning"), cursor)

    def _is_in(self, item: int, style: str) -> bool:
        assert self.rows
        bounds = self.rows.bounds(item)
        return any(any(True for _ in mark.within(*bounds)) for mark in self._marks if mark.style == style)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")

    def render_line(self, y: int) -> Strip:
        if not self._fits:
            self.call_later(self._fit)
        return super().render_line(y)

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        super().on_resize(event)

    @property
    def _fits(self) -> bool:
        """True if the rows have the width of the pane, which a border can change without a resize event."""
        return self.rows is None or self.rows.width == max(self.text_width, 16)

    def _fit(self) -> None:
        if not self._fits:
            marked = next((mark.spans for mark in self._marks if mark.style == "lit"), ())
            self._awaited = marked[0][0] if marked else self._begin
            self._lay_out()
