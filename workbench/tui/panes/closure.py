"""The closure pane: every call of the exchange with what became of it."""

from __future__ import annotations

from workbench.tui.lines import Line, wrap
from workbench.tui.models import closure
from workbench.tui.panes.pane import Pane
from workbench.tui.selection import Lights, Opened, Selection, at_call


class ClosurePane(Pane):
    """Calls and their results."""

    DIGIT, NAME = "5", "Closure"
    ACCORDION = True

    def open(self, opened: Opened | None) -> None:
        super().open(opened)
        if opened and self.count():
            self.entitle(closure.summary(opened.detail.closure))

    def count(self) -> int:
        return len(self.opened.detail.closure.lines) if self.opened else 0

    def head(self, item: int, width: int) -> Line:
        assert self.opened
        return closure.call_line(self.opened.detail.closure.lines[item])

    def further(self, item: int, width: int) -> list[Line]:
        assert self.opened
        return closure.call_body(self.opened.detail.closure.lines[item], width)

    def nothing(self, width: int) -> list[Line]:
        return closure.nothing(width) if self.opened else wrap("no exchange is open", width, "muted")

    def selection(self) -> Selection | None:
        if not self.opened or not self.count():
            return None
        return at_call(self.opened, self.opened.detail.closure.lines[self.cursor])

    def light(self, selection: Selection, lights: Lights, *, is_source: bool) -> None:
        self.light_items(lights.calls, frozenset(), is_source=is_source)
