"""The timeline: every exchange of the session, a lane for each conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.lines import Line, wrap
from workbench.tui.models.timeline import row_line
from workbench.tui.models.words import count
from workbench.tui.panes.pane import Pane
from workbench.tui.state import SessionState

if TYPE_CHECKING:
    from workbench.tui.opened import Opened


class TimelinePane(Pane):
    """Rows appear as they are inspected; the cursor opens an exchange."""

    def __init__(self, state: SessionState, *, id: str) -> None:
        super().__init__(id=id)
        self.state = state

    def on_mount(self) -> None:
        self.grew()

    def open(self, opened: Opened | None, why_not: str = "") -> None:
        """Put the cursor on the exchange."""
        if opened:
            self.move_to(opened.index, center=True)
            self.mark(frozenset((opened.index,)))

    def grew(self) -> None:
        """More is known."""
        state = self.state
        total = f"{len(state.summaries):,}"
        damage = count(len(state.damage), "damaged place") if state.damage else ""
        progress = total if state.is_done else f"inspecting {len(state.rows):,} of {total}"
        self.entitle(progress if state.is_listed else "", damage)
        self.reload()

    def count(self) -> int:
        return len(self.state.summaries)

    def head(self, item: int, width: int) -> Line:
        state = self.state
        digits = len(str(len(state.summaries)))
        return row_line(state.summary(item), state.row(item), state.lane(item), width, digits)

    def nothing(self, width: int) -> list[Line]:
        return wrap("the session holds no exchange" if self.state.is_listed else "opening …", width, "muted")
