"""Results of one exchange shared by several contracts: chains by their terms, findings by the facts that rules read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from workbench.chain import Closure, Hops, Ledger, closure, ledger
from workbench.contracts import Finding, Read, agrees
from workbench.named_tuple import NamedTuple
from workbench.terms import ClosureTerms, ReasoningTerms

if TYPE_CHECKING:
    from workbench.rules._context import NotedCase, RuleContext


class _Findings(NamedTuple):
    """Findings of a rule family under every contract of which the same is read."""

    reads: Mapping[Read, object]
    chain: Mapping[str, object]
    findings: tuple[Finding, ...]

    def hold_for(self, case: RuleContext) -> bool:
        is_same_chain = all(getattr(case, name) is value for name, value in self.chain.items())
        return is_same_chain and agrees(case.contract, self.reads)


class SharedResults:
    """Results of one exchange in one place of its conversation, for the contracts it is judged under.

    Closure and ledger are derived once for each set of terms. A rule family is run once for all contracts that have
    the same for what it reads.
    """

    def __init__(self) -> None:
        self._closures: dict[ClosureTerms, Closure] = {}
        self._ledgers: dict[ReasoningTerms, Ledger] = {}
        self._findings: defaultdict[str, list[_Findings]] = defaultdict(list)
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
            self._closures[terms] = closure.derive(request, case.response, terms, remembered=remembered)
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
        same = next((each for each in known if each.hold_for(case)), None)
        if same is None:
            noting_case = case.note_reads()
            same = _Findings(noting_case.contract.reads, noting_case.chain, tuple(run(noting_case)))
            known.append(same)
        return same.findings
