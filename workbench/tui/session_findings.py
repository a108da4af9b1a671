"""Findings of an open session, for its list and for each of its exchanges. They grow while the inspection runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.rules import Causes, InspectedExchange


class SessionFindings:
    """Findings by severity, errors first, then in order of the session; one for each cause, at its first exchange.

    Attributes:
        all: the findings of the rows collected last; those of branches replace those of their requests.
    """

    def __init__(self) -> None:
        self.all: list[Finding] = []
        self._number_of_cause: list[int] = []
        self._causes: Causes | None = None
        self._collected: list[InspectedExchange] = []
        self._branches: dict[int, InspectedExchange] = {}

    def collect(self, recorded: Sequence[InspectedExchange]) -> None:
        """Update the findings; only new and changed rows are read."""
        from workbench.rules import Causes  # loaded by who inspects, and not before the first paint

        causes = self._causes = self._causes or Causes()
        rows = [self._branches.get(row.index, row) for row in recorded]
        pairs = enumerate(zip(rows, self._collected, strict=False))
        equal = next((n for n, (now, before) in pairs if now is not before), min(len(rows), len(self._collected)))
        if equal < len(self._collected):
            causes.cut(min(row.index for row in self._collected[equal:]))
        for row in rows[equal:]:
            causes.add_row(row.findings)
        self._collected = list(rows)
        findings = causes.findings()
        order = sorted(range(len(findings)), key=lambda cause: findings[cause].severity.rank)
        self.all = [findings[cause] for cause in order]
        self._number_of_cause = sorted(range(len(findings)), key=order.__getitem__)

    def set_branch(self, index: int, row: InspectedExchange | None) -> bool:
        """Set the row of a branch that counts in place of a request, from the next ``collect`` on; None removes it.

        Returns True if that changes anything.
        """
        is_other = self._branches.get(index) is not row
        if is_other:
            self._branches.pop(index, None)
            self._branches |= {index: row} if row else {}
        return is_other

    def branch_words(self) -> str:
        """Numbers of the requests that are replaced by a branch, in words; "" if there are none."""
        numbers = ", ".join(f"{index + 1:,}" for index in sorted(self._branches))
        return f"with the branch of request {numbers}" if self._branches else ""

    def of(self, exchange: int) -> Sequence[tuple[int, Finding]]:
        """(number, finding as seen in that exchange) of the findings of an exchange, the worst severity first.

        Within a severity, findings that begin in this exchange precede carried ones.
        """
        findings = self._causes.of(exchange) if self._causes else ()
        found = [(self._number_of_cause[cause], finding) for cause, finding in findings]
        return sorted(found, key=lambda each: (each[1].severity.rank, self.all[each[0]].exchange != exchange))

    def numbers_of(self, exchange: int) -> Sequence[int]:
        """Numbers of the findings of an exchange."""
        return [number for number, _ in self.of(exchange)]

    def carried_count(self, exchange: int) -> int:
        """Number of breaks of an exchange that are carried from an earlier one."""
        return sum(
            finding.severity != "info" and self.all[number].exchange != exchange
            for number, finding in self.of(exchange)
        )
