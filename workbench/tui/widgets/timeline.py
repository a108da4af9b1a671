"""The timeline: every exchange of the session, a lane for each conversation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from workbench.tui.models.timeline import row_line
from workbench.tui.session_folds import SessionFolds
from workbench.tui.state import SessionState
from workbench.tui.widgets.item_search import WHOLE, ItemSearch
from workbench.tui.widgets.pane import Pane
from workbench.views import Line, count, plain, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView


class TimelineSearch(ItemSearch):
    """Search in all exchanges, folded or not; places are positions in the list."""

    def __init__(self, pane: TimelinePane) -> None:
        super().__init__(pane)
        self.pane = pane

    def begin(self, wanted: str) -> Iterator[tuple[int | None, float]]:
        needle, total = self.set_needle(wanted), len(self.pane.state.visible)
        for position in range(total):
            is_found = needle.search(plain(self.pane.row_line(position, WHOLE)))
            yield position if is_found else None, position / total


class TimelinePane(Pane):
    """Rows of exchanges and of folded runs, added as they are inspected; the cursor opens an exchange."""

    def __init__(self, state: SessionState, *, id: str) -> None:
        super().__init__(id=id)
        self.state = state
        self._opened_index: int | None = None
        self._under_cursor = 0
        self.note_line: Callable[[str], Line] = lambda exchange: ()
        self.folds = SessionFolds(state, lambda exchange: bool(self.note_line(exchange)))
        self.finder = TimelineSearch(self)

    def on_mount(self) -> None:
        self.grew()

    def open(self, exchange_view: ExchangeView | None, why_not: str = "") -> None:
        """Put the cursor on the exchange, and unfold the run that contains it."""
        self._opened_index = exchange_view.index if exchange_view else None
        if self.folds.reveal(self._opened_index):
            self.reload()
        self._light_opened(is_centered=True)

    def _light_opened(self, *, is_centered: bool) -> None:
        """Highlight the row of the open exchange."""
        item = self.folds.item_of(self._opened_index)
        if item is not None and is_centered:
            self.move_to(item, center=True)
        self.mark(frozenset() if item is None else frozenset((item,)))

    def fold_here(self) -> bool:
        """Fold or unfold the run under the cursor. Returns False if there is none."""
        run = self.folds.rows.run_at(self.cursor)
        if run:
            item = self.folds.toggle(run)
            self.grew()
            self.move_to(item)
        return run is not None

    def grew(self) -> None:
        """Show new rows."""
        state = self.state
        total = f"{state.total:,}"
        damage = f"file damaged in {count(len(state.damage), 'place')}" if state.damage else ""
        progress = total if state.is_done else f"inspecting {len(state.rows):,} of {total}"
        self.entitle(state.shown_words() or progress if state.is_listed else "", damage)
        self.folds.update(self._opened_index)
        self._light_opened(is_centered=False)
        position = max(0, min(bisect_left(state.visible, self._under_cursor), len(state.visible) - 1))
        self.cursor = self.folds.rows.item_of(position)
        self.reload()

    def move_to(self, item: int, *, center: bool = False) -> None:
        super().move_to(item, center=center)
        if self.state.visible:
            self._under_cursor = self.state.visible[self.folds.rows.position_at(self.cursor)]

    # A search: places are positions, so that folded exchanges are searched too.

    @property
    def position(self) -> int:
        return self.folds.rows.position_at(self.cursor)

    def go_to(self, position: int) -> None:
        """Put the cursor on a match; a run that contains it is unfolded."""
        visible = self.state.visible
        if 0 <= position < len(visible):
            if self.folds.reveal(visible[position]):
                self.reload()
            super().go_to(self.folds.rows.item_of(position))

    def count(self) -> int:
        return self.folds.rows.count

    def head(self, item: int, width: int) -> Line:
        run = self.folds.rows.run_at(item)
        return self.folds.line_of(run) if run else self.row_line(self.folds.rows.position_at(item), width)

    def row_line(self, position: int, width: int) -> Line:
        """The line of an exchange."""
        state = self.state
        index = state.visible[position]
        digits = len(str(state.total))
        summary, noted = state.summary(index), self.note_line(state.summary(index).id)
        row, lane, hop = state.row(index), state.lane(index), state.hop_columns
        carried, is_provisional = state.found.carried_count(index), state.is_provisional(index)
        return row_line(summary, row, lane, width, digits, noted, hop, carried, is_provisional=is_provisional)

    def nothing(self, width: int) -> list[Line]:
        why = "no exchange matches the filter · &: change it" if self.state.is_filtered else self.state.waiting()
        return wrap(why, width, "muted")
