"""Search for repairs: proposals of the families are checked under the contract before they are offered.

The last resort: end the conversation before the damage.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice

from workbench import limits
from workbench.contracts import Finding, Repair, Severity, Verdict
from workbench.edits import HEADERS, Change, SetHeader, apply_changes
from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost, changes_between, read_at, repair_edits
from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST
from workbench.rules import CheckedVariant, Inspector, find_rule
from workbench.wire import HttpRequest, Remove, decode_partial, loads

Proposer = Callable[[Fault], Iterable[Proposal]]
Families = Mapping[str, tuple[Proposer, ...]]

PENDING, MISSING = "closure.pending", "closure.missing-result"


@dataclass(frozen=True, slots=True)
class CheckedRepair:
    """A proposal that passed the check under the contract.

    Attributes:
        request: the repaired request.
        trial: its findings and verdict.
        answer_findings: remaining findings that only the recorded response reveals.
        breaks: the other findings that remain, and for which the contract refuses the request or may refuse it.
    """

    proposal: Proposal
    repair: Repair
    request: HttpRequest
    trial: CheckedVariant
    answer_findings: tuple[Finding, ...] = ()
    breaks: tuple[Finding, ...] = ()


NextSearch = Callable[[CheckedRepair, int], "RepairSearch"]
"""Continues the search after a repair: ``(repair, remaining budget) → RepairSearch``."""


@dataclass(frozen=True, slots=True)
class FixResult:
    """A request after repairs.

    Attributes:
        request: the repaired request; the original if nothing could be repaired.
        repairs: applied in order; each refers to the request after the previous one.
        before, after: verdicts of the contract.
        remaining: findings that still break the chain.
    """

    request: HttpRequest
    repairs: tuple[Repair, ...]
    before: Verdict
    after: Verdict
    remaining: tuple[Finding, ...]


def is_repairable(finding: Finding) -> bool:
    """A finding on a request that a verdict can rest on."""
    rule = find_rule(finding.rule)
    is_advice = rule is None or rule.is_advice
    return finding.side == REQUEST and finding.severity is not Severity.INFO and not is_advice


class RepairSearch:
    """Repairs of one request in the place of one exchange.

    Args:
        request: None for the one that was sent.
        budget: most proposals that are checked.
        provider: label of the contract to check under; empty for that of the exchange.
        answer_findings: findings that only the response of the exchange reveals; None to look for them.
    """

    def __init__(
        self,
        families: Families,
        inspector: Inspector,
        index: int,
        request: HttpRequest | None = None,
        budget: int = limits.MAX_REPAIR_TRIALS,
        findings: Iterable[Finding] | None = None,
        provider: str = "",
    ) -> None:
        self.families = families
        self.inspector = inspector
        self.index = index
        detail = inspector.detail(index)
        sent = detail.decoded.exchange.request or HttpRequest()
        self.refused = detail.row.summary.status in (400, 422)
        self.requested_provider, self.provider = provider, provider or detail.contract.label
        self.protocol = detail.decoded.protocol
        self.request = request or sent
        self.text = decode_partial(self.request.body)[0]
        self.budget = min(budget, max(limits.LEAST_REPAIR_TRIALS, limits.MAX_REPAIR_BYTES // max(1, len(self.text))))
        self.trial = self._judge(self.request)
        self.broken = _breaks(self.trial.findings, self.refused)
        self.answer_findings = list(self._findings_of_answer(detail.row.findings) if findings is None else findings)
        self._near_misses: dict[tuple[str, str], list[Proposal]] = {}

    def _judge(self, request: HttpRequest, *, is_answered: bool = False) -> CheckedVariant:
        return self.inspector.trial(
            self.index,
            request,
            provider=self.provider,
            protocol=self.protocol,
            is_answered=is_answered,
            is_own=not self.requested_provider,
        )

    def _findings_of_answer(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Findings of the exchange that only its recorded response reveals."""
        known = {(f.rule, f.pointer) for f in self.broken}
        return (f for f in findings if is_repairable(f) and (f.rule, f.pointer) not in known)

    @property
    def verdict(self) -> Verdict:
        """Verdict of the contract on the unchanged request."""
        verdict = self.trial.judgement.verdict
        return Verdict.REFUSES if verdict in (Verdict.ACCEPTS, Verdict.UNKNOWN) and self.all_broken else verdict

    @property
    def all_broken(self) -> list[Finding]:
        """Findings that break the chain, by the contract or by the recorded response."""
        return [*self.broken, *self.answer_findings]

    def findings(self) -> list[Finding]:
        """Findings that break the chain, the one the provider reports first."""
        first = self.trial.judgement.finding
        rest = [f for f in self.all_broken if f != first]
        return [first, *rest] if first else rest

    def offers(self, finding: Finding, most: RepairCost = RepairCost.CUT) -> Iterator[CheckedRepair]:
        """Proposals for a finding that pass the check and cost no more than ``most``, in order of proposal.

        If none passes alone, except by ending the conversation earlier, pairs are checked; then an earlier end.
        """
        found = list[RepairCost]()
        for of in (self.single, self.pairs, self.earlier_end):
            if min(found, default=RepairCost.CUT) < RepairCost.CUT or (found and of == self.earlier_end):
                return
            for candidate in of(finding, most):
                found.append(candidate.proposal.cost)
                yield candidate

    def single(self, finding: Finding, most: RepairCost = RepairCost.CUT) -> Iterator[CheckedRepair]:
        """Proposals of the families that pass alone."""
        return self._check_all(finding, self.proposals(finding) if self.budget > 0 else (), most)

    def pairs(self, finding: Finding, most: RepairCost = RepairCost.CUT) -> Iterator[CheckedRepair]:
        """Pairs of proposals that pass together; call ``single`` first, which collects the first halves."""
        near = self._near_misses.get((finding.rule, finding.pointer), ()) if self.budget > 0 else ()
        pairs = (pair for first in near for pair in _pairs(self, first, finding))
        return self._check_all(finding, islice(pairs, limits.MAX_REPAIR_PAIRS), min(most, RepairCost.MODE))

    def earlier_end(self, finding: Finding, most: RepairCost = RepairCost.CUT) -> Iterator[CheckedRepair]:
        """The longest conversation that ends before the damage."""
        ends = _earlier_ends(self._fault(finding)) if self.budget > 0 else ()
        return islice(self._check_all(finding, ends, most), 1)

    def proposals(self, finding: Finding) -> Iterator[Proposal]:
        """Proposals of the families for a finding, not checked yet."""
        return _proposals(self.families, self._fault(finding))

    def continue_with(self, proposal: Proposal) -> RepairSearch | None:
        """The search on the request after a proposal; None if it does not fit or the budget is spent."""
        if self.budget <= 0:
            return None
        self.budget -= 1
        try:
            request = apply_changes(self.request, self.text, proposal.changes)
        except WorkbenchError:
            return None
        return RepairSearch(
            self.families, self.inspector, self.index, request, self.budget, (), self.requested_provider
        )

    def _fault(self, finding: Finding) -> Fault:
        return Fault(finding, self.trial.case, self.refused)

    def _check_all(self, finding: Finding, proposals: Iterable[Proposal], most: RepairCost) -> Iterator[CheckedRepair]:
        """Proposals that pass the check and cost no more than ``most``."""
        seen = set[HttpRequest]()
        for proposal in proposals:
            if proposal.cost > most:
                continue
            if self.budget <= 0:
                return
            try:
                request = apply_changes(self.request, self.text, proposal.changes)
            except WorkbenchError as error:
                logging.getLogger(__name__).debug("%s: %s", proposal.title, error)
                continue
            if request in seen or request == self.request:
                continue
            seen.add(request)
            self.budget -= 1
            candidate = self._check(finding, proposal, request)
            if candidate:
                yield candidate

    def _check(self, finding: Finding, proposal: Proposal, request: HttpRequest) -> CheckedRepair | None:
        """The proposal, if the finding disappears with it and nothing new breaks; else None."""
        trial = self._judge(request)
        if trial.decoded.request is None:
            return None
        breaks = _breaks(trial.findings, self.refused)
        before, after = Counter(f.rule for f in self.broken), Counter(f.rule for f in breaks)
        answer_findings = self._remaining_answer_findings(request)
        is_gone = (
            finding not in answer_findings
            if finding in self.answer_findings
            else after[finding.rule] < before[finding.rule]
        )
        if is_gone and any(after[rule] > before[rule] for rule in after):
            self._near_misses.setdefault((finding.rule, finding.pointer), []).append(proposal)
            return None
        if not is_gone:
            return None
        verified = not breaks and not answer_findings and trial.judgement.verdict is not Verdict.REFUSES
        edits = repair_edits(self.request, self.text, proposal.changes)
        return CheckedRepair(
            proposal, Repair(proposal.title, verified, edits), request, trial, answer_findings, tuple(breaks)
        )

    def _remaining_answer_findings(self, request: HttpRequest) -> tuple[Finding, ...]:
        """Findings of the recorded response that would still apply to this request."""
        if not self.answer_findings:
            return ()
        trial = self._judge(request, is_answered=True)
        found = {(f.rule, f.message) for f in trial.findings if is_repairable(f)}
        old, new = self.trial.decoded.request_index, trial.decoded.request_index
        return tuple(
            f
            for f in self.answer_findings
            if (f.rule, f.message) in found
            and (f.pointer.startswith(HEADERS) or read_at(old, f.pointer) == read_at(new, f.pointer))
        )


def _pairs(search: RepairSearch, first: Proposal, finding: Finding) -> Iterator[Proposal]:
    """A proposal that removes a finding but uncovers others, joined with one that removes those.

    Args:
        search: on the request before both.
        first: removes the finding.
        finding: its rule is not searched again.
    """
    middle = search.continue_with(first)
    known = {(f.rule, f.pointer) for f in search.broken}
    for uncovered in middle.broken if middle else ():
        if middle is None or (uncovered.rule, uncovered.pointer) in known or uncovered.rule == finding.rule:
            continue
        for second in middle.proposals(uncovered):
            changes = _combine(search, middle, first, second)
            if changes:
                title = f"{first.title}, and {second.title}"
                yield Proposal(title, changes, max(first.cost, second.cost))


def _combine(search: RepairSearch, middle: RepairSearch, first: Proposal, second: Proposal) -> tuple[Change, ...]:
    """Both proposals as changes to the original request; empty if the second does not fit."""
    try:
        after = apply_changes(middle.request, middle.text, second.changes)
        inside = changes_between(loads(search.text), loads(after.body.raw))
    except WorkbenchError:
        return ()
    headers = {c.name.lower(): c for c in (*first.changes, *second.changes) if isinstance(c, SetHeader)}
    return (*headers.values(), *inside)


def _earlier_ends(fault: Fault) -> Iterator[Proposal]:
    """The conversation shortened turn by turn from the damage on, the longest first; only for errors."""
    if fault.number is None or fault.finding.severity is not Severity.ERROR:
        return
    seen = set[str]()
    for start in range(fault.number, 0, -1):
        for end in cut_back(fault, start):
            if end.title not in seen:
                seen.add(end.title)
                yield end
        if len(seen) >= limits.MAX_REPAIR_ENDS:
            return


def _proposals(families: Families, fault: Fault) -> Iterator[Proposal]:
    """Proposals of every family. A family that raises is skipped; the others continue."""
    rule = fault.finding.rule
    for propose in (*families.get(rule, ()), *families.get("", ())):
        try:
            yield from propose(fault)
        except Exception:
            logging.getLogger(__name__).debug("the repairs of %s failed", rule, exc_info=True)


def _breaks(findings: Iterable[Finding], refused: bool) -> list[Finding]:
    """Findings that break the chain. Pending calls of a refused request count as missing results."""
    breaks = []
    for finding in findings:
        if refused and finding.rule == PENDING and finding.side == REQUEST:
            finding = replace(finding, rule=MISSING, severity=Severity.ERROR)
        if is_repairable(finding):
            breaks.append(finding)
    return breaks


def best(candidates: Iterable[CheckedRepair]) -> list[CheckedRepair]:
    """The best first: least cost, then fewest changed bytes.

    Repairs that leave something broken are returned only if no other passes, except by an earlier end of the
    conversation, which removes later damage too.
    """
    found = sorted(candidates, key=lambda t: (t.proposal.cost, _size(t)))
    whole = [t for t in found if t.repair.verified]
    return whole if whole and whole[0].proposal.cost < RepairCost.CUT else found


def _size(candidate: CheckedRepair) -> int:
    """Bytes removed and characters added."""
    byte_count = sum(e.span[1] - e.span[0] if e.span else 0 for e in candidate.repair.edits)
    return byte_count + sum(len(repr(e.new)) for e in candidate.repair.edits if e.op != "remove")


def _allowed_cost(finding: Finding) -> RepairCost:
    """Cost that needs no confirmation."""
    return RepairCost.CUT if finding.severity is Severity.ERROR else RepairCost.NONE


def fix(search: RepairSearch, again: NextSearch, steps: int = limits.MAX_REPAIR_STEPS) -> FixResult:
    """Repair until the contract accepts: the best repair of the first finding that has one, and so on.

    The conversation is shortened only if nothing else passes for any finding. Warnings are repaired only at no cost.
    """
    first, repairs = search, list[Repair]()
    while search.all_broken and len(repairs) < steps:
        repair = _next_repair(search)
        if repair is None:
            break
        repairs.append(repair.repair)
        search = again(repair, search.budget)
    return FixResult(search.request, tuple(repairs), first.verdict, search.verdict, tuple(search.findings()))


def _next_repair(search: RepairSearch) -> CheckedRepair | None:
    """The repair to apply next; None if there is none."""
    findings, ends = search.findings(), list[CheckedRepair]()
    for of in (search.single, search.pairs):
        for finding in findings:
            found = best(of(finding, _allowed_cost(finding)))
            if found and found[0].proposal.cost < RepairCost.CUT:
                return found[0]
            ends += found
    return next(chain(ends, (t for f in findings for t in search.earlier_end(f, _allowed_cost(f)))), None)


def cut_back(fault: Fault, start: int) -> Iterator[Proposal]:
    """Remove everything from a turn of the model on; the history ends with the message that it answered."""
    while start > 0 and fault.messages[start - 1].role == fault.contract.closure.call_role:
        start -= 1
    if start <= 0 or start >= len(fault.messages):
        return
    tail = fault.messages[start:]
    if any(m.role != "system" for m in fault.messages[:start]):
        title = f"truncate the history after message {start}, before the damaged turn"
        yield Proposal(title, tuple(Remove(m.pointer) for m in tail), RepairCost.CUT)
