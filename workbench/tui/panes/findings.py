"""The findings of the whole session; the one under the cursor is explained."""

from __future__ import annotations

from workbench.tui.lines import Line, wrap
from workbench.tui.models import findings
from workbench.tui.panes.pane import Pane
from workbench.tui.selection import Lights, Opened, Selection
from workbench.tui.state import SessionState


class FindingsPane(Pane):
    """What is wrong, in order of the session."""

    DIGIT, NAME = "6", "Findings"
    ACCORDION = True

    def __init__(self, state: SessionState, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self.state = state

    def on_mount(self) -> None:
        self.grew()

    def open(self, opened: Opened | None) -> None:
        """The list stays: it is that of the session, whatever exchange is open."""
        self.opened = opened

    def light(self, selection: Selection, lights: Lights, *, is_source: bool) -> None:
        assert self.opened
        outline, found = self.opened.outline, self.state.findings
        lit = frozenset(
            n
            for n in self.state.numbers_of(selection.exchange)
            if lights.node is not None and outline.by_pointer(found[n].side, found[n].pointer) == lights.node
        )
        self.light_items(lit, frozenset(), is_source=is_source)

    def grew(self) -> None:
        """More is known."""
        self.entitle(self.state.tally())
        self.reload()

    def count(self) -> int:
        return len(self.state.findings)

    def head(self, item: int, width: int) -> Line:
        return findings.finding_line(self.state.findings[item], is_open=item == self.cursor)

    def further(self, item: int, width: int) -> list[Line]:
        return findings.finding_body(self.state.findings[item], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.state.verdict(), width, "muted")
