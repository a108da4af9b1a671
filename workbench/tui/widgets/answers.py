"""Two responses side by side, and the findings of the new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.tui.models import findings, send_answer
from workbench.tui.models.send_answer import AFTER, BOTH, ResponseComparison
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, wrap

if TYPE_CHECKING:
    from workbench.contracts import Finding


class ResponsesPane(LineView):
    """Two responses compared, row by row."""

    shown: ResponseComparison | None = None
    where = ""
    side = AFTER
    why = "waiting for a response …"

    def show(self, comparison: ResponseComparison | None, where: str, why: str = "") -> None:
        """Show two responses."""
        self.shown, self.where, self.why = comparison, where, why
        self.rows = comparison.rows if comparison else ()
        self.reload()

    def reload(self) -> None:
        self.opened_items = set(range(1, self.count()))
        super().reload()

    @property
    def visible_side(self) -> str:
        """Responses to show: both if there is room, else the chosen one."""
        return BOTH if self.text_width >= 2 * send_answer.LEAST_COLUMN else self.side

    def count(self) -> int:
        return 1 + len(self.rows) if self.shown else 0

    def head(self, item: int, width: int) -> Line:
        assert self.shown
        if item == 0:
            return send_answer.columns(self.shown, width, self.visible_side, self.where)
        return send_answer.head(self.rows[item - 1], is_over=self.shown.trial is not None)

    def further(self, item: int, width: int) -> list[Line]:
        return send_answer.body(self.rows[item - 1], width, self.visible_side) if item else []

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted", indent=2)


class NewFindingsPane(LineView):
    """Findings of the new exchange."""

    is_accordion = True
    found: Sequence[Finding] = ()
    why = ""

    def show(self, findings: Sequence[Finding], why: str) -> None:
        """Show findings."""
        self.found, self.why, self.cursor = findings, why, 0
        self.reload()

    def count(self) -> int:
        return len(self.found)

    def head(self, item: int, width: int) -> Line:
        return findings.finding_line(self.found[item], is_open=item == self.cursor)

    def further(self, item: int, width: int) -> list[Line]:
        return findings.finding_body(self.found[item], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted", indent=2)


class RawPane(LineView):
    """The raw response: its events, the one under the cursor in full; a body without events is laid out."""

    is_accordion = fills = True
    shown: ResponseComparison | None = None
    retries: Sequence[Line] = ()
    _lines: Sequence[Line] = ()

    @property
    def is_stream(self) -> bool:
        """True if the response is a stream of events."""
        return self.shown is not None and bool(self.shown.after.events)

    def show(self, comparison: ResponseComparison | None, retries: Sequence[Line]) -> None:
        """Show a response; follow the end of a stream unless the user has moved the cursor away from it."""
        self.shown, self.retries = comparison, retries
        was_last = self.cursor >= self.count() - 1
        self.reload()
        if was_last and self.is_stream:
            self.move_to(self.count() - 1)

    def reload(self) -> None:
        if self.shown is None:
            self._lines = ()
        elif self.is_stream:
            self._lines = send_answer.event_lines(self.shown)
        else:
            self._lines = send_answer.body_lines(self.shown, self.text_width)
        super().reload()

    def count(self) -> int:
        return len(self.retries) + len(self._lines)

    def head(self, item: int, width: int) -> Line:
        first = len(self.retries)
        return self._lines[item - first] if item >= first else self.retries[item]

    def further(self, item: int, width: int) -> list[Line]:
        number = item - len(self.retries)
        return (
            send_answer.event_body(self.shown, number, width) if self.shown and self.is_stream and number >= 0 else []
        )

    def nothing(self, width: int) -> list[Line]:
        return wrap("no response data yet", width, "muted")
