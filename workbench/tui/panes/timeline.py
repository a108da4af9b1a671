"""The timeline: every exchange of the session, a lane for each conversation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from workbench.tui.models.timeline import row_line
from workbench.tui.models.timeline_folds import CARRIED, HEALTHY, Folds, Run, find_runs, run_line
from workbench.tui.panes.lineview import WHOLE
from workbench.tui.panes.pane import Pane
from workbench.tui.state import SessionState
from workbench.views import Line, count, plain, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView


class TimelinePane(Pane):
    """Rows of exchanges, added as they are inspected; the cursor opens an exchange.

    In a long session, runs of exchanges that need no attention are folded once everything is inspected.
    """

    def __init__(self, state: SessionState, *, id: str) -> None:
        super().__init__(id=id)
        self.state = state
        self._opened_index: int | None = None
        self._under_cursor = 0
        self._folds = Folds(0)
        self._unfolded: set[int] = set()
        self._is_foldable = False
        self.note_line: Callable[[str], Line] = lambda exchange: ()

    def on_mount(self) -> None:
        self.grew()

    def open(self, opened: ExchangeView | None, why_not: str = "") -> None:
        """Put the cursor on the exchange, and unfold the run that contains it."""
        self._opened_index = opened.index if opened else None
        self._reveal(self._opened_index)
        item = self.item_of(self._opened_index)
        if item is not None:
            self.move_to(item, center=True)
        self.mark(frozenset() if item is None else frozenset((item,)))

    def _position_of(self, exchange: int | None) -> int | None:
        shown = self.state.visible
        position = bisect_left(shown, exchange) if exchange is not None else len(shown)
        return position if position < len(shown) and shown[position] == exchange else None

    def item_of(self, exchange: int | None) -> int | None:
        """The item of an exchange; None if it is not shown."""
        position = self._position_of(exchange)
        return None if position is None else self._folds.item_of(position)

    def exchange_at(self, item: int) -> int | None:
        """The exchange of an item; None for a run."""
        return None if self._folds.run_at(item) else self.state.visible[self._folds.position_at(item)]

    def fold_here(self) -> bool:
        """Fold or unfold the run under the cursor. Returns False if there is none."""
        run = self._folds.run_at(self.cursor)
        if run is None:
            return False
        self._unfolded ^= {self.state.visible[run.first]}
        self._fold()
        self.grew()
        self.move_to(next(n for n in range(self.count()) if self._folds.run_at(n) == run))
        return True

    def _reveal(self, exchange: int | None) -> None:
        """Unfold the run that contains an exchange."""
        position = self._position_of(exchange)
        run = self._folds.run_of(position) if position is not None else None
        if run and self.state.visible[run.first] not in self._unfolded:
            self._unfolded.add(self.state.visible[run.first])
            self._fold()
            self.reload()

    def _fold(self) -> None:
        """Find the runs of the shown exchanges."""
        state = self.state
        if state.is_done and not self._is_foldable:
            self._is_foldable = True
            self._fold()
            self._reveal(self._opened_index)
        is_whole = self._is_foldable and not state.is_filtered
        runs = find_runs([self._kind(index) for index in state.visible]) if is_whole else []
        self._folds = Folds(len(state.visible), runs, [r for r in runs if state.visible[r.first] in self._unfolded])

    def _kind(self, index: int) -> str:
        """Kind of run that an exchange may be part of; empty if it needs attention or has a mark."""
        row, summary = self.state.row(index), self.state.summary(index)
        is_whole = row and row.conversation is not None and not row.problems and summary.state == "complete"
        if row is None or not is_whole or (summary.status or 0) >= 400 or self.note_line(summary.id):
            return ""
        if all(finding.severity == "info" for finding in row.findings):
            return HEALTHY
        breaks = sum(finding.severity != "info" for finding in row.findings)
        return CARRIED if self.state.found.carried_count(index) == breaks else ""

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
        self._fold()
        item = self.item_of(self._opened_index)
        self.mark(frozenset() if item is None else frozenset((item,)))
        position = max(0, min(bisect_left(state.visible, self._under_cursor), len(state.visible) - 1))
        self.cursor = self._folds.item_of(position)
        self.reload()

    def move_to(self, item: int, *, center: bool = False) -> None:
        super().move_to(item, center=center)
        if self.state.visible:
            self._under_cursor = self.state.visible[self._folds.position_at(self.cursor)]

    # A search: places are positions, so that folded exchanges are searched too.

    @property
    def position(self) -> int:
        return self._folds.position_at(self.cursor)

    def search(self, wanted: str) -> Iterator[tuple[int | None, float]]:
        """Search all exchanges, folded or not."""
        needle = self.finder.set_needle(wanted)
        total = len(self.state.visible)
        for position in range(total):
            is_found = needle.search(plain(self._row_line(position, WHOLE)))
            yield position if is_found else None, position / total

    def go_to(self, position: int) -> None:
        """Put the cursor on a match; a run that contains it is unfolded."""
        shown = self.state.visible
        if 0 <= position < len(shown):
            self._reveal(shown[position])
            super().go_to(self._folds.item_of(position))

    def count(self) -> int:
        return self._folds.count

    def head(self, item: int, width: int) -> Line:
        run = self._folds.run_at(item)
        return self._run_line(run) if run else self._row_line(self._folds.position_at(item), width)

    def _run_line(self, run: Run) -> Line:
        shown = self.state.visible
        is_open = shown[run.first] in self._unfolded
        return run_line(run, (shown[run.first], shown[run.last]), len(str(self.state.total)), is_open=is_open)

    def _row_line(self, position: int, width: int) -> Line:
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
