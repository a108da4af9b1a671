"""Two answers side by side, and what is found in the new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.tui.lines import Line, wrap
from workbench.tui.models import findings, send_answer
from workbench.tui.models.send_answer import AFTER, BOTH, Beside
from workbench.tui.panes.lineview import LineView

if TYPE_CHECKING:
    from workbench.rules import Finding


class BesidePane(LineView):
    """What two answers say, row by row."""

    shown: Beside | None = None
    where = ""
    side = AFTER
    why = "waiting for an answer …"

    def show(self, shown: Beside | None, where: str, why: str = "") -> None:
        """Show two answers."""
        self.shown, self.where, self.why = shown, where, why
        self.rows = shown.rows if shown else ()
        self.reload()

    def reload(self) -> None:
        self.opened_items = set(range(1, self.count()))
        super().reload()

    @property
    def seen(self) -> str:
        """Both answers where there is room for them, else the one in front."""
        return BOTH if self.text_width >= 2 * send_answer.LEAST_COLUMN else self.side

    def count(self) -> int:
        return 1 + len(self.rows) if self.shown else 0

    def head(self, item: int, width: int) -> Line:
        assert self.shown
        if item == 0:
            return send_answer.columns(self.shown, width, self.seen, self.where)
        return send_answer.head(self.rows[item - 1], is_over=self.shown.trial is not None)

    def further(self, item: int, width: int) -> list[Line]:
        return send_answer.body(self.rows[item - 1], width, self.seen) if item else []

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted", indent=2)


class FoundPane(LineView):
    """What the rules find in the new exchange."""

    is_accordion = True
    found: Sequence[Finding] = ()
    why = ""

    def show(self, found: Sequence[Finding], why: str) -> None:
        """Show findings."""
        self.found, self.why, self.cursor = found, why, 0
        self.reload()

    def count(self) -> int:
        return len(self.found)

    def head(self, item: int, width: int) -> Line:
        return findings.finding_line(self.found[item], is_open=item == self.cursor)

    def further(self, item: int, width: int) -> list[Line]:
        return findings.finding_body(self.found[item], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted", indent=2)
