"""The wire pane: the raw bytes of one side of an exchange.

Rows are laid out for the width of the pane (``WireLayout``). The cursor is a byte (``ByteCursor``); the value that
contains it is the selection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual import events

from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.models import wire
from workbench.tui.models.rowtable import RowTable
from workbench.tui.models.wire import BodySearch
from workbench.tui.widgets.body import ByteRows
from workbench.tui.widgets.byte_cursor import ByteCursor
from workbench.tui.widgets.item_search import ItemSearch
from workbench.tui.widgets.pane import Pane
from workbench.tui.widgets.wire_content import WireContent, WireMarks
from workbench.tui.widgets.wire_layout import WireLayout
from workbench.views import RESPONSE, Line, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.selection import ExchangeSelection, Lights, Spans


class WirePane(Pane):
    """The bytes of the request or the response as sent."""

    BINDINGS = keys.bindings(keys.WIRE)

    action_way = ActionOf("rows_layout")
    action_opaque = ActionOf("rows_layout")
    action_headers = ActionOf("rows_layout")
    action_token = ActionOf("byte_cursor")

    def __init__(self, *, id: str, of: str = "") -> None:
        super().__init__(id=id, of=of)
        self.content, self.marks, self.bytes = WireContent(), WireMarks(), ByteRows(self)
        self.turn = ShownSide(self)
        self.rows_layout, self.byte_cursor = WireLayout(self), ByteCursor(self)
        self.finder = WireSearch(self)

    def open(self, exchange_view: ExchangeView | None, why_not: str = "") -> None:
        self.turn.choose()
        self.marks, self.byte_cursor.byte = WireMarks(), 0
        self.rows_layout.show(exchange_view)
        super().open(exchange_view, why_not)
        if exchange_view:
            self.mark_related(())

    @property
    def side(self) -> str:
        """The side that is shown: the request or the response."""
        return self.content.side

    @property
    def rows(self) -> RowTable | None:
        """The rows of the body."""
        return self.bytes.table

    @property
    def position(self) -> int:
        return self.byte_cursor.byte

    def go_to(self, position: int) -> None:
        self.byte_cursor.reveal(position)

    def count(self) -> int:
        return len(self.content.top) + self.bytes.known

    def show_side(self, side: str) -> None:
        """Show the request or the response."""
        if side != self.side:
            self.content.side = side
            self.open(self.opened)
            self.turn.mirror()

    def grow(self, exchange_view: ExchangeView) -> None:
        self.opened = exchange_view
        self.content.grow(exchange_view)
        self.rows_layout.catch_up()
        super().grow(exchange_view)

    def on_byte_rows_grew(self, message: ByteRows.Grew) -> None:
        if self.bytes.take(message):
            self.entitle()
            if self.bytes.is_done:
                self.rows_layout.catch_up()
            self.byte_cursor.catch_up()

    def on_resize(self, event: events.Resize) -> None:
        self.rows_layout.fit()

    def head(self, item: int, width: int) -> Line:
        return self.rows_layout.line(item)

    def nothing(self, width: int) -> list[Line]:
        return wrap(wire.nothing(self.opened.decoded, self.side) if self.opened else self.why_not, width, "muted")

    def entitle(self, *facts: str) -> None:
        super().entitle(*self.rows_layout.facts())

    def selection(self) -> ExchangeSelection | None:
        is_elsewhere = self.rows is None or self.byte_cursor.row < 0 or self.content.is_received
        return None if self.opened is None or is_elsewhere else self.opened.at_byte(self.side, self.byte_cursor.byte)

    def light(self, selection: ExchangeSelection, lights: Lights, *, is_source: bool) -> None:
        self.turn.follow(selection, is_source=is_source)
        self.marks.select(selection if selection.side == self.side else None)
        self.mark_related(lights.spans.get(self.side, ()))
        if (spans := self.turn.spans()) and not is_source and not self.content.is_received:
            self.go_to(spans[0][0])
        self.entitle()

    def mark_related(self, related: Spans) -> None:
        """Paint the marks again; ``related`` are the ranges related to the selection."""
        assert self.opened
        self.marks.paint(self.opened, self.side, related, is_received=self.content.is_received)
        self.refresh()

    def signs(self, item: int, inside: int) -> Line:
        row, own = item - len(self.content.top), super().signs(item, inside)
        return own if row < 0 or self.rows is None else self.marks.signs(*self.rows.bounds(row), own[1])

    def move_to(self, item: int, *, center: bool = False) -> None:
        super().move_to(item, center=center)
        self.byte_cursor.follow_row()
        self.entitle()

    def on_click(self, event: events.Click) -> None:
        self.turn.click(event)


class ShownSide:
    """The side of a wire pane that goes where the selection is."""

    def __init__(self, pane: WirePane) -> None:
        self.pane = pane
        self.mirrored: list[ShownSide] = []

    def choose(self) -> None:
        """Choose the side of an exchange that is opened."""

    def follow(self, selection: ExchangeSelection, *, is_source: bool) -> None:
        """Show the side of a selection that was made elsewhere."""
        if not is_source and selection.spans:
            self.pane.show_side(selection.side)

    def spans(self) -> Spans:
        """Byte ranges to scroll to: those of the selection."""
        return self.pane.marks.lit

    def mirror(self) -> None:
        """Let the panes beside this one show the side that it does not show now."""
        for other in self.mirrored:
            other.mirror()

    def click(self, event: events.Click) -> None:
        """Go to the byte that was clicked."""
        self.pane.byte_cursor.click(event)


class WireSearch(ItemSearch):
    """Search in all bytes, laid out or not; also for the text escaped as JSON or split over stream events."""

    def __init__(self, pane: WirePane) -> None:
        super().__init__(pane)
        self.pane = pane
        self._body_search: BodySearch | None = None

    def begin(self, wanted: str) -> Iterator[tuple[int | None, float]]:
        pane, self._body_search = self.pane, BodySearch(wanted)
        if pane.rows is None or pane.opened is None:
            return iter(())
        is_streamed = pane.side == RESPONSE and not pane.content.is_received
        return self._body_search.run(pane.rows.body, pane.opened.decoded if is_streamed else None)

    def show(self) -> None:
        self._mark(tuple(self._body_search.spans) if self._body_search else ())

    def end(self) -> None:
        self._body_search = None
        if self.pane.opened:
            self._mark(())
        super().end()

    def _mark(self, spans: tuple[tuple[int, int], ...]) -> None:
        self.pane.marks.match = spans
        self.pane.mark_related(self.pane.marks.related)
