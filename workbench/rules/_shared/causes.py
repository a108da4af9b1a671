"""Findings by their causes: a fault that a client repeats in every request is one finding, with the range it lasts.

Requests repeat their history, so a fault in it is found again in each of them. Its ``cause`` identifies it: the rule
and its subject, within one conversation. A fault that is refused with the provider's own words, or has a higher
severity than before, is no repetition.

Some clients make the same fault again in every turn. These findings are joined to one with several places, and so are
all places at which one fact of a contract is contradicted.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import repeat

from workbench.contracts import Basis, Contradiction, Finding
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST
from workbench.rules._shared.carried_findings import (
    CarriedFindings,
    FindingLog,
    FindingsOfRows,
    in_wire,
    likeness,
    own_findings,
)


class Causes:
    """The causes of findings, added in order of their exchanges; those of the last exchanges can be removed again.

    Attributes:
        members: the findings of each cause, in order of exchanges; causes are in the order of their first findings.
    """

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        self.members: list[list[Finding]] = []
        self._of_logged: dict[int, int] = {}
        self._logs: dict[int, _LogInRows] = {}
        self._rows: list[CarriedFindings] = []
        self._carried: dict[int, CarriedFindings] = {}
        self._numbers: dict[Hashable, int] = {}
        self._seen: Counter[Hashable] = Counter()
        self._log: list[tuple[int, Hashable, int]] = []
        self._in: dict[int, list[tuple[int, Finding]]] = {}
        self._causes: list[tuple[int, int, Finding]] = []
        for row in findings.rows if isinstance(findings, FindingsOfRows) else ():
            self.add_row(row)
        for finding in () if isinstance(findings, FindingsOfRows) else findings:
            self.add(finding)

    def add_row(self, findings: Sequence[Finding]) -> None:
        """Add the findings of the next exchange. Findings that it carries from the one before are added together."""
        if not isinstance(findings, CarriedFindings):
            for finding in findings:
                self.add(finding)
            return
        self._rows.append(findings)
        self._carried[findings.exchange] = findings
        self._hold(findings)
        for finding in findings.own:
            self.add(finding, findings.log.count_with_same_cause(finding, findings.size))

    def _hold(self, findings: CarriedFindings) -> None:
        log_rows = self._logs.setdefault(id(findings.log), _LogInRows(findings.log))
        for n in range(len(log_rows.numbers), findings.size):
            logged = findings.log.findings[n]
            if id(logged) not in self._of_logged:  # the exchange that made it is not among these
                moved = findings.here(replace(logged, exchange=findings.exchange))
                self._of_logged[id(logged)] = self.add(moved, findings.log.count_with_same_cause(logged, n))
            log_rows.numbers.append(self._of_logged[id(logged)])
        log_rows.carry(findings)

    def add(self, finding: Finding, others: int = 0) -> int:
        """Add a finding. Two parts with the same content are two faults, in this request and in the next.

        Args:
            others: number of findings of the same cause that the exchange carries.

        Returns:
            The number of its cause.
        """
        like = likeness(finding)
        cause: Hashable = len(self._log) if finding.cause is None else like
        here = (finding.exchange, cause)
        self._seen[here] += 1
        key = (self._seen[here] + others, cause, finding.side)
        number = self._numbers.setdefault(key, len(self.members))
        if number == len(self.members):
            self.members.append([])
        self.members[number].append(finding)
        self._log.append((finding.exchange, key, number))
        self._in.setdefault(finding.exchange, []).append((number, finding))
        if finding.order is not None and finding.order.message is not None:
            self._of_logged[id(finding)] = number
        return number

    def cut(self, exchange: int) -> None:
        """Remove the findings of an exchange and of all later ones."""
        while self._log and self._log[-1][0] >= exchange:
            index, key, number = self._log.pop()
            self.members[number].pop()
            if not self.members[number]:
                self.members.pop()  # causes come in order: one that has nothing left is the newest
                del self._numbers[key]
            self._seen.pop((index, key[1]), None)  # type: ignore[index]
            self._in.pop(index, None)
        del self._causes[len(self.members) :]
        self._cut_rows(exchange)

    def _cut_rows(self, exchange: int) -> None:
        later_rows = {number for number in self._carried if number >= exchange}
        if not later_rows and all(number < len(self.members) for number in self._of_logged.values()):
            return
        for number in later_rows:
            del self._carried[number]
        self._of_logged = {key: number for key, number in self._of_logged.items() if number < len(self.members)}
        self._rows = [row for row in self._rows if row.exchange < exchange]
        self._logs = {}
        for row in self._rows:
            self._hold(row)

    def of(self, exchange: int) -> list[tuple[int, Finding]]:
        """(number of the cause, finding) of the findings that hold in an exchange, in wire order."""
        own, row = self._in.get(exchange, []), self._carried.get(exchange)
        if row is None:
            return own
        numbers = self._logs[id(row.log)].numbers
        from_log = [*zip(numbers, row.of_log(), strict=False)]
        known = {id(finding) for finding in row.own}
        return sorted((*from_log, *(each for each in own if id(each[1]) in known)), key=lambda each: in_wire(each[1]))

    def findings(self) -> list[Finding]:
        """One finding for each cause."""
        lasts = self._lasts()
        for number, group in enumerate(self.members):
            last = max(group[-1].exchange, lasts.get(number, -1))
            if number == len(self._causes):
                self._causes.append((len(group), last, _lasting(group, last)))
            elif self._causes[number][:2] != (len(group), last):
                self._causes[number] = (len(group), last, _lasting(group, last))
        return [finding for _, _, finding in self._causes]

    def _lasts(self) -> dict[int, int]:
        """Number of a cause → the last exchange that carries a finding of it."""
        lasts: dict[int, int] = {}
        for log_rows in self._logs.values():
            for number, last in zip(log_rows.numbers, log_rows.lasts(), strict=False):
                lasts[number] = max(last, lasts.get(number, -1))
        return lasts


class _LogInRows:
    """A log of findings, and the exchanges that carry its first ones.

    Attributes:
        numbers: of each finding, the number of its cause.
    """

    def __init__(self, log: FindingLog) -> None:
        self.log = log
        self.numbers: list[int] = []
        self._rows: list[tuple[int, int]] = []  # fewer findings and later exchanges from one to the next

    def carry(self, findings: CarriedFindings) -> None:
        """A further exchange."""
        while self._rows and self._rows[-1][0] <= findings.size:
            self._rows.pop()
        self._rows.append((findings.size, findings.exchange))

    def lasts(self) -> Iterator[int]:
        """For each finding, the last exchange that carries it."""
        done_rows = 0
        for count, exchange in reversed(self._rows):
            yield from repeat(exchange, count - done_rows)
            done_rows = count


def by_cause(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each cause; ``last`` is the last exchange in which it holds.

    Args:
        findings: findings of a session, in order of their exchanges.
    """
    return tuple(_join_places(Causes(findings).findings()))


def _join_places(findings: Iterable[Finding]) -> Iterable[Finding]:
    """The findings, those of one fault at several places joined.

    Places of one request are faults of their own; a later place belongs to an earlier one that holds until then.
    """
    faults: list[list[Finding]] = []
    open_faults = defaultdict[Hashable, deque[list[Finding]]](deque)
    contradicted: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        if finding.contradicts:
            fault = contradicted.setdefault(replace(finding.contradicts, exchange=0), [])
        else:
            fault = _earlier_places(open_faults[_likeness(finding)], finding) if _may_spread(finding) else []
        if not fault:
            faults.append(fault)
        fault.append(finding)
    return (_with_places(fault) for fault in faults)


def _may_spread(finding: Finding) -> bool:
    """True if the finding concerns the history and not the response to one request."""
    return finding.cause is not None and finding.side == REQUEST and finding.basis is not Basis.RECORDING


def _likeness(finding: Finding) -> Hashable:
    """Equal for two places of one fault."""
    weight = (finding.severity, finding.counts_as, finding.basis, finding.fact)
    return finding.cause and finding.cause.conversation, finding.rule, finding.message, *weight


def _earlier_places(faults: deque[list[Finding]], finding: Finding) -> list[Finding]:
    """The fault with the oldest last place, if that still holds; an empty one if there is none. It gets the finding."""
    while faults and _last(faults[0][-1]) < finding.exchange:
        faults.popleft()
    fault = faults.popleft() if faults and faults[0][-1].exchange < finding.exchange else []
    faults.append(fault)
    return fault


def _with_places(fault: list[Finding]) -> Finding:
    if len(fault) == 1:
        return fault[0]
    return replace(fault[0], last=max(map(_last, fault)), places=tuple(fault))


def _last(finding: Finding) -> int:
    return finding.exchange if finding.last is None else finding.last


def _lasting(group: Sequence[Finding], last: int) -> Finding:
    """The first finding of a cause, with the range in which it holds, and what a provider said of it later.

    Of two hops that weigh it differently, the worse severity counts.
    """
    first = group[0]
    if len(group) == 1 and last == first.exchange:
        return first
    worst = min(group, key=lambda finding: finding.severity.rank)
    if worst.severity != first.severity:
        check = (worst.check, worst.values, worst.refusal, worst.source)
        first = replace(
            first, severity=worst.severity, check=check[0], values=check[1], refusal=check[2], source=check[3]
        )
    evidence = first.evidence
    if first.basis is not Basis.RECORDING:
        later = next((f for f in group if f.basis is Basis.RECORDING), None)
        words = f"exchange {later.exchange + 1}: {later.evidence}" if later else ""
        evidence = "; ".join(filter(None, (evidence, words)))
    return replace(first, evidence=evidence, last=last)


@dataclass(frozen=True, slots=True)
class ContradictedFact:
    """A fact that accepted requests of a session contradict.

    Attributes:
        by: who accepted the requests: a host, or a gateway.
        exchanges: indices of the accepted exchanges, from zero.
    """

    contract: str
    rule: str
    fact: str
    source: str
    date: str
    by: str
    exchanges: tuple[int, ...]


def contradicted_facts(findings: Iterable[Finding]) -> list[ContradictedFact]:
    """The facts that the accepted requests of a session contradict, the one with the most of them first."""
    facts: dict[Contradiction, dict[int, None]] = {}
    for against in _contradictions(findings):
        facts.setdefault(replace(against, exchange=0), {})[against.exchange] = None
    contradictions = [
        ContradictedFact(fact.contract, fact.rule, fact.fact, fact.source, fact.date, fact.by, tuple(exchanges))
        for fact, exchanges in facts.items()
    ]
    return sorted(contradictions, key=lambda each: -len(each.exchanges))


def _contradictions(findings: Iterable[Finding]) -> Iterator[Contradiction]:
    if not isinstance(findings, FindingsOfRows):
        yield from (finding.contradicts for finding in findings if finding.contradicts)
        return
    logs: dict[int, _FactsInLog] = {}
    for row in findings.rows:
        if isinstance(row, CarriedFindings):
            yield from logs.setdefault(id(row.log), _FactsInLog()).of(row)
        yield from (finding.contradicts for finding in own_findings(row) if finding.contradicts)


class _FactsInLog:
    """The facts that the findings of a log contradict, each with the number of the first of them."""

    def __init__(self) -> None:
        self._first: dict[Contradiction, int] = {}
        self._count = 0

    def of(self, row: CarriedFindings) -> Iterator[Contradiction]:
        """Those that an exchange contradicts by being accepted."""
        for n in range(self._count, row.size):
            finding = row.log.findings[n]
            if finding.contradicts and finding.contradicts.exchange == finding.exchange:
                self._first.setdefault(replace(finding.contradicts, exchange=0), n)
        self._count = max(self._count, row.size)
        return (replace(fact, exchange=row.exchange) for fact, n in self._first.items() if n < row.size)
