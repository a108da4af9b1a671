"""Findings by their causes: a fault that a client repeats in every request is one finding, with the range it lasts.

Requests repeat their history, and so a fault in it is found again in each of them. What makes it the same is its
``cause``: the rule and what it is about, within one conversation. One that is refused with the provider's own words, or
weighs more than before, is no repetition.

Some clients make the same fault again in every turn: no new one, but one at several places. It is joined to one finding
too, and so are all places at which one fact of a contract is contradicted.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from workbench.contracts import Basis, Contradiction, Finding
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST


class Causes:
    """The causes of findings that come in order of their exchanges. Those of the last exchanges can be taken back.

    Attributes:
        members: the findings of each cause, in order of exchanges; causes in order of their first ones.
    """

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        self.members: list[list[Finding]] = []
        self._numbers: dict[Hashable, int] = {}
        self._seen: Counter[Hashable] = Counter()
        self._log: list[tuple[int, Hashable, int]] = []
        self._in: dict[int, list[tuple[int, Finding]]] = {}
        self._made: list[tuple[int, Finding]] = []
        for finding in findings:
            self.add(finding)

    def add(self, finding: Finding) -> None:
        """A further finding. Two parts that say the same are two faults, in this request and in the next."""
        counts_as = finding.counts_as or finding.severity
        cause: Hashable = len(self._log) if finding.cause is None else (finding.cause, finding.rule, counts_as)
        here = (finding.exchange, cause)
        self._seen[here] += 1
        key = (self._seen[here], cause, finding.side)
        number = self._numbers.setdefault(key, len(self.members))
        if number == len(self.members):
            self.members.append([])
        self.members[number].append(finding)
        self._log.append((finding.exchange, key, number))
        self._in.setdefault(finding.exchange, []).append((number, finding))

    def cut(self, exchange: int) -> None:
        """Take back what was found in an exchange and behind it."""
        while self._log and self._log[-1][0] >= exchange:
            index, key, number = self._log.pop()
            self.members[number].pop()
            if not self.members[number]:
                self.members.pop()  # causes come in order: one that has nothing left is the newest
                del self._numbers[key]
            self._seen.pop((index, key[1]), None)  # type: ignore[index]
            self._in.pop(index, None)
        del self._made[len(self.members) :]

    def of(self, exchange: int) -> list[tuple[int, Finding]]:
        """(number of the cause, finding) of what holds in an exchange, in the order in which it was added."""
        return self._in.get(exchange, [])

    def findings(self) -> list[Finding]:
        """One finding for each cause."""
        for number, group in enumerate(self.members):
            if number == len(self._made):
                self._made.append((len(group), _lasting(group)))
            elif self._made[number][0] != len(group):
                self._made[number] = (len(group), _lasting(group))
        return [finding for _, finding in self._made]


def by_cause(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each cause; ``last`` is the last exchange in which it holds.

    Args:
        findings: of a session, in order of their exchanges.
    """
    return tuple(_join_places(Causes(findings).findings()))


def _join_places(findings: Iterable[Finding]) -> Iterable[Finding]:
    """The findings, those of one fault at several places joined.

    Places of one request are faults of their own; a later place belongs to an earlier one that holds until then.
    """
    joined: list[list[Finding]] = []
    open_faults = defaultdict[Hashable, deque[list[Finding]]](deque)
    contradicted: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        if finding.contradicts:
            fault = contradicted.setdefault(replace(finding.contradicts, exchange=0), [])
        else:
            fault = _earlier_places(open_faults[_likeness(finding)], finding) if _may_spread(finding) else []
        if not fault:
            joined.append(fault)
        fault.append(finding)
    return (_with_places(fault) for fault in joined)


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


def _lasting(group: Sequence[Finding]) -> Finding:
    """The first finding of a cause, with the range in which it holds, and what a provider said of it later.

    Of two hops that weigh it differently, the worse severity counts.
    """
    first, last = group[0], group[-1]
    if first is last:
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
    return replace(first, evidence=evidence, last=last.exchange)


@dataclass(frozen=True, slots=True)
class ContradictedFact:
    """A fact that requests of a session contradict.

    Attributes:
        by: who accepted them.
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
    for finding in findings:
        if (against := finding.contradicts) is not None:
            facts.setdefault(replace(against, exchange=0), {})[against.exchange] = None
    made = [
        ContradictedFact(fact.contract, fact.rule, fact.fact, fact.source, fact.date, fact.by, tuple(exchanges))
        for fact, exchanges in facts.items()
    ]
    return sorted(made, key=lambda each: -len(each.exchanges))
