"""The findings of the whole session; the one under the cursor with its details."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.tui.models import findings
from workbench.tui.models.tabs import ROOMY
from workbench.tui.state import SessionState
from workbench.tui.widgets.pane import Pane
from workbench.views import Line, wrap

if TYPE_CHECKING:
    from workbench.contracts import Finding, Repair
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.selection import ExchangeSelection, Lights


class FindingsPane(Pane):
    """Findings of the session, errors first."""

    is_accordion = True

    class Expansion(Message):
        """A finding is expanded whose repairs are not known; posted with every change until they are."""

        def __init__(self, finding: Finding) -> None:
            super().__init__()
            self.finding = finding

    def __init__(self, state: SessionState, *, id: str) -> None:
        super().__init__(id=id)
        self.state = state
        self._current: Finding | None = None
        self._lit_by: tuple[ExchangeSelection, Lights] | None = None
        self.repairs_of: Callable[[Finding], Sequence[Repair] | str] = lambda _: findings.LOOKING

    @property
    def current(self) -> Finding | None:
        """The finding under the cursor."""
        return self.state.findings[self.cursor] if self.cursor < len(self.state.findings) else None

    def on_mount(self) -> None:
        self.grew()

    def open(self, exchange_view: ExchangeView | None, why_not: str = "") -> None:
        """Keep the list: it is that of the session, whatever exchange is open."""
        self.opened = exchange_view

    def light(self, selection: ExchangeSelection, lights: Lights, *, is_source: bool) -> None:
        self._lit_by = selection, lights
        self.light_items(self._lit_items(), frozenset(), is_source=is_source)

    def _lit_items(self) -> frozenset[int]:
        """Findings at the selected node; their numbers change when earlier ones are added."""
        if self._lit_by is None:
            return frozenset()
        selection, lights = self._lit_by
        findings = self.state.found.of(selection.exchange)
        return frozenset(n for n, finding in findings if self._node(finding) == lights.node is not None)

    def grew(self) -> None:
        """Show new findings; earlier ones may have moved in the list, and the cursor stays on its finding."""
        number = findings.number_of(self._current, self.state.findings)
        self.cursor = max(0, min(self.cursor, self.count() - 1)) if number is None else number
        self.mark(self._lit_items())
        self.entitle(self.state.tally())
        self.reload()

    def reload(self) -> None:
        super().reload()
        if self.current is not None and self.repairs_of(self.current) == findings.LOOKING:
            self.post_message(self.Expansion(self.current))

    def move_to(self, item: int, *, center: bool = False) -> None:
        super().move_to(item, center=center)
        self._current = self.state.findings[self.cursor] if self.state.findings else None

    def _node(self, finding: Finding) -> int | None:
        return self.opened.node_of(finding.side, finding.pointer, finding.events) if self.opened else None

    def count(self) -> int:
        return len(self.state.findings)

    def head(self, item: int, width: int) -> Line:
        finding = self.state.findings[item]
        is_provisional = self.state.is_provisional(finding.exchange)
        is_open = item == self.cursor or bool(self.lines_of.further.get(item))
        return findings.finding_line(finding, is_open=is_open, is_provisional=is_provisional, is_narrow=width < ROOMY)

    def further(self, item: int, width: int) -> list[Line]:
        finding = self.state.findings[item]
        is_answered = self.state.summary(finding.exchange).status is not None
        return findings.finding_body(finding, width, self.repairs_of(finding), is_answered=is_answered)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.state.verdict(), width, "muted")
