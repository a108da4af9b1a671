"""The timeline: every exchange of the session, a lane for each conversation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.tui.models.timeline import row_line
from workbench.tui.panes.pane import Pane
from workbench.tui.state import SessionState
from workbench.views import Line, count, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView


class TimelinePane(Pane):
    """Rows of exchanges, added as they are inspected; the cursor opens an exchange."""

    def __init__(self, state: SessionState, *, id: str) -> None:
        super().__init__(id=id)
        self.state = state
        self._opened_index: int | None = None
        self._under_cursor = 0
        self.note_line: Callable[[str], Line] = lambda exchange: ()

    def on_mount(self) -> None:
        self.grew()

    def open(self, opened: ExchangeView | None, why_not: str = "") -> None:
        """Put the cursor on the exchange."""
        self._opened_index = opened.index if opened else None
        item = self.item_of(self._opened_index)
        if item is not None:
            self.move_to(item, center=True)
        self.mark(frozenset() if item is None else frozenset((item,)))

    def item_of(self, exchange: int | None) -> int | None:
        """The item of an exchange; None if it is not shown."""
        shown = self.state.visible
        item = bisect_left(shown, exchange) if exchange is not None else len(shown)
        return item if item < len(shown) and shown[item] == exchange else None

    def neighbour(self, exchange: int, step: int) -> int | None:
        """The next or previous listed exchange from a given one, which itself may be hidden by the filter."""
        shown = self.state.visible
        item = bisect_right(shown, exchange) if step > 0 else bisect_left(shown, exchange) - 1
        return shown[item] if 0 <= item < len(shown) else None

    def grew(self) -> None:
        """Show new rows."""
        state = self.state
        total = f"{state.total:,}"
        damage = count(len(state.damage), "damaged part") if state.damage else ""
        progress = total if state.is_done else f"inspecting {len(state.rows):,} of {total}"
        self.entitle(state.shown_words() or progress if state.is_listed else "", damage)
        item = self.item_of(self._opened_index)
        self.mark(frozenset() if item is None else frozenset((item,)))
        self.cursor = max(0, min(bisect_left(state.visible, self._under_cursor), self.count() - 1))
        self.reload()

    def move_to(self, item: int, *, center: bool = False) -> None:
        super().move_to(item, center=center)
        if self.state.visible:
            self._under_cursor = self.state.visible[self.cursor]

    def count(self) -> int:
        return len(self.state.visible)

    def head(self, item: int, width: int) -> Line:
        state = self.state
        index = state.visible[item]
        digits = len(str(state.total))
        summary, noted = state.summary(index), self.note_line(state.summary(index).id)
        row, lane, hop = state.row(index), state.lane(index), state.hop_columns
        carried, is_provisional = state.found.carried_count(index), state.is_provisional(index)
        return row_line(summary, row, lane, width, digits, noted, hop, carried, is_provisional=is_provisional)

    def nothing(self, width: int) -> list[Line]:
        why = "no exchange matches the filter · &: change it" if self.state.is_filtered else self.state.waiting()
        return wrap(why, width, "muted")
