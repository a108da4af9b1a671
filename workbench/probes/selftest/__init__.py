"""Self-test: plants known faults in healthy sessions, and counts how many are found at the right place.

In: healthy sessions. Out: ``SelftestReport``. A fault counts as found if a finding of one of its rules is at the place
where it was planted, or inside or around it. The healthy sessions, also reformatted, are the negative control: any
finding there is a false alarm. Nothing leaves the process.
It may import what ``probes`` may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from workbench.contracts import Finding, Severity
from workbench.edits.planted_faults import FAULTS, MOST_WAYS, HealthyRequest, rewrite
from workbench.fronts import lazy
from workbench.lazy_dataclass import dataclass, field
from workbench.probes.selftest.answers import ANSWER_FAULTS, HealthyAnswer
from workbench.probes.selftest.healthy import HealthySession
from workbench.rules import Inspector
from workbench.wire import Exchange
from workbench.wire.session import MemorySession

if TYPE_CHECKING:
    from workbench.probes.selftest.healthy import sessions
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "FaultTally",
    "Miss",
    "SelftestReport",
    "run",
    "sessions",
]


@dataclass(frozen=True, slots=True)
class Miss:
    """A fault that was not found at its place.

    Attributes:
        fault: its name.
        session: where it was planted; ``exchange``: index from zero.
        found: other findings: (slug, pointer).
    """

    fault: str
    session: str
    exchange: int
    places: tuple[str, ...]
    found: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class FaultTally:
    """Counts of one fault: planted, found at its place, found elsewhere."""

    planted: int = 0
    named: int = 0
    elsewhere: int = 0


@dataclass(slots=True)
class SelftestReport:
    """Result of a self-test.

    Attributes:
        tallies: name of a fault → its counts.
        misses: faults that were not found at their place.
        healthy: number of exchanges of the negative control.
        alarms: (session, exchange, finding) of false alarms.
    """

    tallies: dict[str, FaultTally] = field(default_factory=dict)
    misses: list[Miss] = field(default_factory=list)
    healthy: int = 0
    alarms: list[tuple[str, int, Finding]] = field(default_factory=list)

    @property
    def planted_count(self) -> int:
        return sum(t.planted for t in self.tallies.values())

    @property
    def named_count(self) -> int:
        return sum(t.named for t in self.tallies.values())

    @property
    def is_clean(self) -> bool:
        """Every fault was found at its place, without false alarms."""
        return not self.misses and not self.alarms


def run(sessions: Iterable[HealthySession], progress: Callable[[str], None] = lambda name: None) -> SelftestReport:
    """Plant every fault in every session that it applies to."""
    report = SelftestReport(
        tallies={name: FaultTally() for name in (*(f.name for f in FAULTS), *(f.name for f in ANSWER_FAULTS))}
    )
    for healthy in sessions:
        progress(healthy.name)
        inspector = Inspector(healthy.session, provider=healthy.provider)
        inspector.run()
        _control(report, healthy, inspector)
        for row in inspector.rows:
            _spoil_request(report, healthy, inspector, row.index)
            _spoil_answer(report, healthy, inspector, row.index)
    return report


def _control(report: SelftestReport, healthy: HealthySession, inspector: Inspector) -> None:
    """Negative control: the session as it is, and each request reformatted."""
    for row in inspector.rows:
        report.healthy += 1
        alarms = list(row.findings)
        request = inspector.detail(row.index).decoded.exchange.request
        for other in rewrite(request) if request else ():
            report.healthy += 1
            alarms += inspector.trial(row.index, other).findings
        report.alarms += [(healthy.name, row.index, f) for f in alarms if f.severity is not Severity.INFO]


def _spoil_request(report: SelftestReport, healthy: HealthySession, inspector: Inspector, index: int) -> None:
    detail = inspector.detail(index)
    if detail.decoded.request is None:
        return
    owed = frozenset(e.message for e in detail.ledger.entries if e.owed and e.message is not None)
    healthy_request = HealthyRequest(detail.decoded, owed)
    for fault in FAULTS:
        if not fault.needs(detail.contract):
            continue
        for planted in islice(fault.plant(healthy_request), MOST_WAYS):
            changed = healthy_request.read(planted.body)
            request = changed.decoded.exchange.request
            assert request is not None
            found = [f for f in inspector.trial(index, request).findings if f.side == "request"]
            _count(report, healthy, index, fault.name, fault.rules, planted.where(changed), found)


def _spoil_answer(report: SelftestReport, healthy: HealthySession, inspector: Inspector, index: int) -> None:
    decoded = inspector.detail(index).decoded
    if decoded.response is None:
        return
    healthy_answer = HealthyAnswer(decoded)
    for fault in ANSWER_FAULTS:
        for spoiled in islice(fault.spoil(healthy_answer), MOST_WAYS):
            found = list(_answer_findings(healthy, index, healthy_answer.with_body(spoiled.body)))
            _count(report, healthy, index, fault.name, fault.rules, spoiled.pointers, found)


def _answer_findings(healthy: HealthySession, index: int, spoiled: Exchange) -> Iterator[Finding]:
    """Findings on an answer, after everything before it."""
    before = (healthy.session.exchange(n) for n in range(index))
    session = MemorySession(healthy.name, (*before, spoiled))
    rows = Inspector(session, provider=healthy.provider).run().rows
    return (f for f in rows[index].findings if f.side == "response")


def _count(
    report: SelftestReport,
    healthy: HealthySession,
    index: int,
    name: str,
    rules: tuple[str, ...],
    places: Iterable[str],
    findings: list[Finding],
) -> None:
    tally, places = report.tallies[name], tuple(places)
    tally.planted += 1
    right = [f for f in findings if f.rule in rules]
    if any(not places or any(_near(f.pointer, place) for place in places) for f in right):
        tally.named += 1
        return
    tally.elsewhere += bool(right)
    unexpected = tuple((f.rule, f.pointer) for f in findings)
    report.misses.append(Miss(name, healthy.name, index, places, unexpected))


def _near(pointer: str, place: str) -> bool:
    """The same node, or one inside the other."""
    return pointer == place or pointer.startswith(f"{place}/") or place.startswith(f"{pointer}/")
