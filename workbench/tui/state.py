"""State of an open session: its list, the inspected rows and their findings. It grows while the inspection runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbench.library import clean_verdict
from workbench.tui.models import findings, timeline
from workbench.tui.session_findings import SessionFindings
from workbench.views import progress_bar

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.rules import InspectedExchange
    from workbench.wire import Summary

MANY = 20
"""Exchanges from which on the inspection has a bar."""


class SessionState:
    """Rows and findings in order of the session.

    Attributes:
        name: name of the session.
        summaries: list of all exchanges, without bodies; for a moment only of the first ones.
        total: number of exchanges.
        rows: inspected exchanges so far, from the first one on.
        found: findings of these rows and of provisional ones.
        damage: unreadable parts of the file, one line each.
        trouble: reason why the inspection stopped early; "" if it did not.
        is_listed: the session is open, and its list is read.
        is_live: a process is writing it; ``was_live``: one was.
        about: what its maker says of it.
        is_paused: no more is inspected than is asked for.
        hop_columns: see ``timeline.hop_columns``.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.summaries: Sequence[Summary] = ()
        self.total = 0
        self.rows: Sequence[InspectedExchange] = ()
        self.found = SessionFindings()
        self.damage: tuple[str, ...] = ()
        self.trouble = ""
        self.is_listed = False
        self.is_live = self.was_live = self.is_paused = False
        self.about: Mapping[str, str] = {}
        self.hop_columns = 0
        self._conversations: list[int | None] = []
        self._passing: Sequence[int] | None = None
        self._reading = ""
        self._lanes: list[str] = []
        self._provisional: Mapping[int, InspectedExchange] = {}

    def list(
        self,
        name: str,
        summaries: Sequence[Summary],
        damage: tuple[str, ...] = (),
        about: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """The session is open."""
        self.name, self.damage, self.about = name, damage, about
        self._take(summaries)
        self.is_listed = True

    @property
    def idle_actions(self) -> Collection[str]:
        """Actions of the session screen that would do nothing now: of a recording, and of a stopped inspection."""
        live = () if self.is_live else ("follow", "breaks")
        return (*live, *(() if self.is_paused else ("inspect",)))

    def follow(self, summaries: Sequence[Summary], *, is_live: bool, about: Mapping[str, str], total: int = 0) -> None:
        """Update the list: the session has grown, or ended.

        Args:
            total: number of its exchanges, if only the first ones are listed yet.
        """
        self._take(summaries)
        self.total = max(total, self.total)
        self.is_live, self.about = is_live, about
        self.was_live |= is_live

    def _take(self, summaries: Sequence[Summary]) -> None:
        self.total = len(summaries)
        self.summaries, self.hop_columns = summaries, timeline.hop_columns(s.hop for s in summaries)

    def waiting(self) -> str:
        """Reason why no exchange is shown."""
        if not self.is_listed:
            return self.trouble or "opening …"
        if not self.is_live:
            return "the session has no exchanges"
        urls = self.about.get("urls", "")
        return f"waiting for the first request{f': point the client at {urls}' if urls else ''}"

    @property
    def is_done(self) -> bool:
        """True if every exchange is inspected, or the inspection has failed."""
        return bool(self.trouble) or (self.is_listed and len(self.rows) >= self.total)

    def progress(self) -> str:
        """Progress of the inspection in words; "" when it is complete."""
        if not self.summaries:
            return self.waiting()
        if self.is_done:
            return ""
        bar = f"{progress_bar(len(self.rows), self.total)} " if self.total >= MANY else ""
        done = f"{bar}inspected {len(self.rows):,} of {self.total:,}"
        return f"{done}, stopped: I continues" if self.is_paused else done

    def update(self, rows: Sequence[InspectedExchange]) -> None:
        """Set the rows inspected so far."""
        self.rows = rows
        self._collect()
        conversations = [r.conversation for r in rows]
        if conversations != self._conversations:
            self._conversations, self._lanes = (
                conversations,
                timeline.lanes(conversations, [r.summary.hop for r in rows]),
            )

    def provision(self, rows: Sequence[InspectedExchange]) -> None:
        """Set the exchanges that were inspected by themselves; each counts until the inspected rows contain it."""
        self._provisional = {row.index: row for row in rows}
        self._collect()

    def is_provisional(self, index: int) -> bool:
        """True if an exchange was inspected by itself so far."""
        return index >= len(self.rows) and index in self._provisional

    def _collect(self) -> None:
        """Update the findings from new and changed rows."""
        reached = len(self.rows)
        later = [row for n, row in sorted(self._provisional.items()) if n >= reached]
        known = [*self.rows, *later] if self._passing is None else [self.rows[n] for n in self._passing if n < reached]
        self.found.collect(known)

    @property
    def findings(self) -> Sequence[Finding]:
        """Findings of the rows and of provisional ones that are shown."""
        return self.found.all

    def branch(self, index: int, row: InspectedExchange | None) -> bool:
        """Replace the findings of an exchange by those of its branch; None restores them.

        Returns True if that changes anything.
        """
        is_other = self.found.set_branch(index, row)
        if is_other:
            self._collect()
        return is_other

    # What passes the filter.

    def restrict(self, passing: Sequence[int] | None, reading: str = "") -> None:
        """Show only some exchanges; None for all. ``reading`` is the progress of the filter in words."""
        self._passing, self._reading = passing, reading
        self._collect()

    @property
    def is_filtered(self) -> bool:
        """True if a filter is applied."""
        return self._passing is not None

    @property
    def visible(self) -> Sequence[int]:
        """Indices of the exchanges that are shown, in order."""
        return range(len(self.summaries)) if self._passing is None else self._passing

    def shown_words(self, opened: int | None = None) -> str:
        """Number of exchanges that pass the filter, and a note if the open one does not; "" without a filter."""
        if self._passing is None:
            return ""
        outside = (
            ""
            if opened is None or opened in self._passing
            else f"exchange {opened + 1:,} is not among the exchanges shown"
        )
        many = f"{len(self._passing):,} of {self.total:,} shown"
        return " · ".join(f for f in (many, outside, self._reading) if f)

    def row(self, index: int) -> InspectedExchange | None:
        """The row of an exchange, provisional or not; None if it is not inspected yet."""
        return self.rows[index] if index < len(self.rows) else self._provisional.get(index)

    def summary(self, index: int) -> Summary:
        """Summary of an exchange: that of its inspection if there is one, which may have found it damaged."""
        row = self.row(index)
        return row.summary if row else self.summaries[index]

    def index_of(self, exchange: str) -> int | None:
        """The index of an exchange, by its id; None if the list does not have it yet."""
        return next((summary.index for summary in reversed(self.summaries) if summary.id == exchange), None)

    def number_of(self, exchange: str) -> int | None:
        """Number of an exchange, counted from one; None if the list does not have it yet."""
        index = self.index_of(exchange)
        return None if index is None else index + 1

    def lane(self, index: int) -> str:
        """The lane column of an exchange."""
        return self._lanes[index] if index < len(self._lanes) else " " * len(self._lanes[0] if self._lanes else " ")

    def tally(self) -> str:
        """Number of findings so far, for the title of the findings pane."""
        if self.is_filtered:
            return f"{findings.tally(self.findings) or 'none'} in {self.shown_words()}"
        if branches := self.found.branch_words():
            return f"{findings.tally(self.findings) or 'none'} {branches}"
        if self.findings:
            exchanges = len({f.exchange for f in self.findings})
            where = f" · in {exchanges:,} of {self.total:,} exchanges" if self.total > 1 else ""
            return ", ".join((findings.tally(self.findings) + where, *self._gaps()))
        return ", ".join(("none", *self._gaps())) if self.is_done else "none so far"

    def _gaps(self) -> Sequence[str]:
        return clean_verdict.gaps(self.rows, self.damage) if self.is_done else []

    def verdict(self) -> str:
        """Reason why there are no findings, in a sentence."""
        if self.trouble:
            return self.trouble
        if not self.is_listed:
            return "opening …"
        if not self.summaries:
            return "nothing to check: the session has no exchanges"
        branches = self.found.branch_words()
        if self.is_filtered and not branches:
            return "no findings in the exchanges shown; the filter hides the others · &: change it"
        if branches:
            return f"no findings {branches}"
        if not self.is_done:
            return f"inspecting: {len(self.rows):,} of {self.total:,} exchanges, no breaks so far"
        return clean_verdict.verdict(self.rows, self.damage)
