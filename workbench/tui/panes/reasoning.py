"""The reasoning pane: the ledger of the exchange."""

from __future__ import annotations

from workbench.tui.lines import Line, wrap
from workbench.tui.models import reasoning
from workbench.tui.panes.pane import Pane
from workbench.tui.selection import Lights, Opened, Selection, at_entry


class ReasoningPane(Pane):
    """What came in, who owes it, and what was sent."""

    DIGIT, NAME = "4", "Reasoning"
    ACCORDION = True

    def open(self, opened: Opened | None) -> None:
        super().open(opened)
        if opened:
            self.entitle(reasoning.summary(opened.detail.ledger), reasoning.came_in(opened.detail.ledger))

    def count(self) -> int:
        return len(self.opened.detail.ledger.entries) if self.opened else 0

    def head(self, item: int, width: int) -> Line:
        assert self.opened
        return reasoning.entry_line(self.opened.detail.ledger.entries[item])

    def further(self, item: int, width: int) -> list[Line]:
        assert self.opened
        return reasoning.entry_body(self.opened.detail.ledger.entries[item], width)

    def nothing(self, width: int) -> list[Line]:
        if self.opened is None:
            return wrap("no exchange is open", width, "muted")
        return reasoning.nothing(self.opened.detail.ledger, self.opened.detail.contract.label, width)

    def selection(self) -> Selection | None:
        if not self.opened or not self.count():
            return None
        return at_entry(self.opened, self.opened.detail.ledger.entries[self.cursor])

    def light(self, selection: Selection, lights: Lights, *, is_source: bool) -> None:
        self.light_items(lights.entries, lights.related_entries, is_source=is_source)
