"""The rows of the timeline of an open session: exchanges, and folded runs of those that need no attention."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.tui.models.timeline_folds import CARRIED, HEALTHY, Folds, Run, find_runs, run_line

if TYPE_CHECKING:
    from workbench.tui.state import SessionState
    from workbench.views import Line


class SessionFolds:
    """Rows of the shown exchanges. Runs are folded once everything is inspected, but not while a filter is applied.

    Args:
        state: the session.
        has_note: tells if an exchange, given by its id, has a mark, a note or a branch.

    Attributes:
        rows: maps rows to positions in the shown exchanges.
    """

    def __init__(self, state: SessionState, has_note: Callable[[str], bool]) -> None:
        self.state, self._has_note = state, has_note
        self.rows = Folds(0)
        self._unfolded: set[int] = set()
        self._is_begun = False

    def update(self, opened: int | None) -> None:
        """Find the runs again; the first time, that of the open exchange is unfolded."""
        is_first = self.state.is_done and not self._is_begun
        self._is_begun = self._is_begun or self.state.is_done
        self._find()
        if is_first:
            self.reveal(opened)

    def _find(self) -> None:
        visible = self.state.visible
        is_whole = self._is_begun and not self.state.is_filtered
        runs = find_runs([self._kind(index) for index in visible]) if is_whole else []
        self.rows = Folds(len(visible), runs, [run for run in runs if visible[run.first] in self._unfolded])

    def _kind(self, index: int) -> str:
        """Kind of run that an exchange may be part of; empty if it needs attention or has a mark."""
        row, summary = self.state.row(index), self.state.summary(index)
        is_whole = row and row.conversation is not None and not row.problems and summary.state == "complete"
        if row is None or not is_whole or (summary.status or 0) >= 400 or self._has_note(summary.id):
            return ""
        breaks = sum(finding.severity != "info" for finding in row.findings)
        if not breaks:
            return HEALTHY
        return CARRIED if self.state.found.carried_count(index) == breaks else ""

    def position_of(self, exchange: int | None) -> int | None:
        """Position of an exchange; None if it is not shown."""
        visible = self.state.visible
        position = bisect_left(visible, exchange) if exchange is not None else len(visible)
        return position if position < len(visible) and visible[position] == exchange else None

    def neighbour(self, exchange: int, step: int) -> int | None:
        """The next or previous listed exchange from a given one, which itself may be hidden by the filter."""
        visible = self.state.visible
        item = bisect_right(visible, exchange) if step > 0 else bisect_left(visible, exchange) - 1
        return visible[item] if 0 <= item < len(visible) else None

    def item_of(self, exchange: int | None) -> int | None:
        """The row of an exchange; None if it is not shown."""
        position = self.position_of(exchange)
        return None if position is None else self.rows.item_of(position)

    def exchange_at(self, item: int) -> int | None:
        """The exchange of a row; None for a run."""
        return None if self.rows.run_at(item) else self.state.visible[self.rows.position_at(item)]

    def toggle(self, run: Run) -> int:
        """Fold or unfold a run. Returns the row of it."""
        self._unfolded ^= {self.state.visible[run.first]}
        self._find()
        return next(item for item in range(self.rows.count) if self.rows.run_at(item) == run)

    def reveal(self, exchange: int | None) -> bool:
        """Unfold the run that contains an exchange. Returns True if it was folded."""
        position = self.position_of(exchange)
        run = self.rows.run_of(position) if position is not None else None
        if run is None or self.state.visible[run.first] in self._unfolded:
            return False
        self.toggle(run)
        return True

    def line_of(self, run: Run) -> Line:
        """The line of a run."""
        visible = self.state.visible
        is_open = visible[run.first] in self._unfolded
        return run_line(run, (visible[run.first], visible[run.last]), len(str(self.state.total)), is_open=is_open)
