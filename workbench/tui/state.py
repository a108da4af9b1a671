"""What is known of a session so far: its list, the inspected rows and their findings. Grows while it is inspected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.tui.models import findings, timeline, verdict

if TYPE_CHECKING:
    from workbench.inspection import Inspected
    from workbench.rules import Finding
    from workbench.wire.exchange import Summary


class SessionState:
    """Rows and findings in order of the session.

    Attributes:
        name: shown to people.
        summaries: the list, without bodies.
        rows: inspected so far, from the first exchange on.
        findings: of these rows, in order.
        damage: what could not be read, one line each.
        trouble: why inspection stopped early, "" where it did not.
        is_listed: the session is open, and its list is read.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.summaries: Sequence[Summary] = ()
        self.rows: Sequence[Inspected] = ()
        self.findings: list[Finding] = []
        self.damage: tuple[str, ...] = ()
        self.trouble = ""
        self.is_listed = False
        self._lanes: list[str] = []
        self._numbers: dict[int, range] = {}

    def list(self, name: str, summaries: Sequence[Summary], damage: tuple[str, ...] = ()) -> None:
        """The session is open."""
        self.name, self.summaries, self.damage = name, summaries, damage
        self.is_listed = True

    @property
    def is_done(self) -> bool:
        """Every exchange is inspected, or it is known that some cannot be."""
        return bool(self.trouble) or (self.is_listed and len(self.rows) >= len(self.summaries))

    def progress(self) -> str:
        """How far it is known, in words; "" when all is."""
        if not self.is_listed:
            return "opening …"
        if not self.summaries:
            return "the session holds no exchange"
        return "" if self.is_done else f"inspected {len(self.rows):,} of {len(self.summaries):,}"

    def update(self, rows: Sequence[Inspected]) -> None:
        """Take the rows so far."""
        self.rows = rows
        self.findings = []
        self._numbers = {}
        for row in rows:
            if row.findings:
                first = len(self.findings)
                self.findings.extend(row.findings)
                self._numbers[row.index] = range(first, len(self.findings))
        self._lanes = timeline.lanes([r.conversation for r in rows])

    def row(self, index: int) -> Inspected | None:
        """The inspected row of an exchange, None while it is not inspected."""
        return self.rows[index] if index < len(self.rows) else None

    def summary(self, index: int) -> Summary:
        """What is known of an exchange: an inspected one may have turned out to be torn."""
        row = self.row(index)
        return row.summary if row else self.summaries[index]

    def lane(self, index: int) -> str:
        """The lane column of an exchange."""
        return self._lanes[index] if index < len(self._lanes) else " " * len(self._lanes[0] if self._lanes else " ")

    def numbers_of(self, exchange: int) -> range:
        """Numbers of the findings of an exchange."""
        return self._numbers.get(exchange, range(0))

    def tally(self) -> str:
        """What was found so far, for the title of the findings."""
        if self.findings:
            exchanges = len({f.exchange for f in self.findings})
            where = f" in {exchanges:,} of {len(self.summaries):,} exchanges" if len(self.summaries) > 1 else ""
            return ", ".join((findings.tally(self.findings) + where, *self._gaps()))
        return ", ".join(("none", *self._gaps())) if self.is_done else "none so far"

    def _gaps(self) -> Sequence[str]:
        return verdict.gaps(self.rows, self.damage) if self.is_done else []

    def verdict(self) -> str:
        """Why there are no findings, in a sentence."""
        if self.trouble:
            return self.trouble
        if not self.is_listed:
            return "opening …"
        if not self.summaries:
            return "nothing to check: the session holds no exchange"
        if not self.is_done:
            return f"inspecting: {len(self.rows):,} of {len(self.summaries):,} exchanges, no breaks so far"
        return verdict.verdict(self.rows, self.damage)
