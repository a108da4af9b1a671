"""A body next to another: its bytes laid out, with marked ranges, and a cursor for reading."""

from __future__ import annotations

from textual import events
from textual.strip import Strip

from workbench.tui.models.laidout import LaidOut
from workbench.tui.models.rowtable import Marks, Range, RowTable, StyledSpans
from workbench.tui.models.tokens import is_json
from workbench.tui.panes.byterows import ByteRows
from workbench.tui.panes.lineview import LineView
from workbench.views import Line, Span, wrap


class BodyPane(LineView):
    """Pane of bytes that are not part of the open exchange."""

    why = ""
    """Text shown while there are no bytes."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.bytes = ByteRows(self)
        self._body = b""
        self._marks: Marks = ()
        self._awaited: int | None = None

    def show(self, body: bytes, marks: Marks = (), why: str = "") -> None:
        """Lay out a body.

        Args:
            body: content-decoded bytes.
            marks: styled ranges of it.
            why: text shown if it is empty.
        """
        self._body, self._marks, self.why = body, marks, why
        self.cursor = 0
        self._lay_out()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def mark_range(self, spans: tuple[Range, ...]) -> None:
        """Highlight ranges and scroll to the first."""
        self._marks = (*(m for m in self._marks if m.style != "lit"), StyledSpans("lit", tuple(sorted(spans))))
        self._awaited = spans[0][0] if spans else None
        self._reveal()
        self.refresh()

    def _lay_out(self) -> None:
        self.bytes.clear()
        if self._body:
            self.bytes.make(LaidOut(self._body, self.text_width, is_json=is_json(self._body)), len(self._body))
        self.reload()
        self._reveal()

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
            lit = next((mark.spans for mark in self._marks if mark.style == "lit"), ())
            self._awaited = lit[0][0] if lit else None
            self._lay_out()
