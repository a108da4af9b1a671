"""Results of one exchange shared by several contracts: chains by their terms, findings by the facts that rules read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from workbench.chain import Closure, Hops, Ledger, closure, ledger
from workbench.contracts import Finding, Read, reads_same
from workbench.terms import ClosureTerms, ReasoningTerms

if TYPE_CHECKING:
    from workbench.rules._shared.context import NotedCase, RuleContext


def of_chain(case: RuleContext, name: str) -> object:
    """Closure or ledger of a case, as a reading of a rule family."""
    return getattr(case, name)


class _ContractReading:
    """One reading of a rule family, and what comes next under the contracts of which the same is read.

    What a family reads next depends on what it has read. So its readings form a tree, whose leaves are findings.
    """

    def __init__(self, read: Read) -> None:
        self.read = read
        self.branches: list[tuple[RuleContext, _ContractReading | tuple[Finding, ...]]] = []

    def follow(self, case: RuleContext) -> _ContractReading | tuple[Finding, ...] | None:
        """The next reading of a case, or its findings; None if its contract has something new here."""
        contract, read = case.contract, self.read
        if read[0] is of_chain:
            mine = of_chain(case, read[1])
            return next((following for other, following in self.branches if of_chain(other, read[1]) is mine), None)
        for other, following in self.branches:  # and no generator: a matrix asks thousands of times
            if reads_same(contract, other.contract, read):
                return following
        return None


class _FamilyFindings:
    """Findings of a rule family on one exchange, by what it has read of the contracts."""

    def __init__(self) -> None:
        self._first: _ContractReading | tuple[Finding, ...] | None = None

    def find(self, case: RuleContext) -> tuple[Finding, ...] | None:
        """The findings of a case; None if they are not known."""
        found = self._first
        while isinstance(found, _ContractReading):
            found = found.follow(case)
        return found

    def add(self, case: RuleContext, reads: Iterable[Read], findings: tuple[Finding, ...]) -> None:
        """Add the findings of a case.

        Args:
            reads: what led to them, in order.
        """
        place: _ContractReading | None = None
        following = self._first
        for read in reads:
            if not isinstance(following, _ContractReading) or following.read != read:
                following = _ContractReading(read)
                self._put(place, case, following)
            place, following = following, following.follow(case)
        self._put(place, case, findings)

    def _put(
        self, place: _ContractReading | None, case: RuleContext, following: _ContractReading | tuple[Finding, ...]
    ) -> None:
        if place is None:
            self._first = following
        else:
            place.branches.append((case, following))


class SharedResults:
    """Results of one exchange in one place of its conversation, for the contracts it is judged under.

    Closure and ledger are derived once for each set of terms. A rule family is run once for all contracts that have
    the same for what it reads.
    """

    def __init__(self) -> None:
        self._closures: dict[ClosureTerms, Closure] = {}
        self._ledgers: dict[ReasoningTerms, Ledger] = {}
        self._findings: defaultdict[str, _FamilyFindings] = defaultdict(_FamilyFindings)
        self._hops: Hops | None = None

    def hops(self, case: RuleContext) -> Hops:
        """The same turn at the other places where it was recorded."""
        if self._hops is None:
            self._hops = Hops(case.decoded, case.summaries, case.peek)
        return self._hops

    def closure(self, case: RuleContext) -> Closure:
        """The closure of a case of this exchange."""
        terms, request = case.contract.closure.pairing, case.request
        if terms not in self._closures:
            remembered = case.earlier.answer(request.previous_id) if request else ()
            self._closures[terms] = closure.derive(
                request, case.response, terms, remembered, is_continued=case.is_recorded and not case.is_last
            )
        return self._closures[terms]

    def ledger(self, case: RuleContext) -> Ledger:
        """The reasoning ledger of a case of this exchange."""
        terms = case.contract.reasoning.duties(case.request.thinking if case.request else None)
        if terms not in self._ledgers:
            self._ledgers[terms] = ledger.derive(case.request, case.response, case.earlier.received, terms)
        return self._ledgers[terms]

    def findings(
        self, name: str, case: RuleContext, run: Callable[[NotedCase], Iterable[Finding]]
    ) -> tuple[Finding, ...]:
        """Findings of a rule family.

        Args:
            name: of the family.
            case: this exchange under a contract that was asked for by name.
            run: the family.
        """
        known = self._findings[name]
        found = known.find(case)
        if found is None:
            noting_case = case.note_reads()
            found = tuple(run(noting_case))
            known.add(case, noting_case.contract.reads, found)
        return found
