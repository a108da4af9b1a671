"""The search for repairs: what families propose is tried under the contract before it is offered."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice

from workbench import limits
from workbench.contracts import Finding, Repair, Severity, Verdict
from workbench.edits import HEADERS, edited
from workbench.edits.fault import Fault
from workbench.edits.proposal import Loss, Proposal, edits, read_at
from workbench.edits.repairs import _resorts
from workbench.errors import WorkbenchError
from workbench.protocols.decode import REQUEST
from workbench.rules import every_rule
from workbench.rules.inspection import Inspector, Trial
from workbench.wire.encoding import decode_partial
from workbench.wire.exchange import HttpRequest

Propose = Callable[[Fault], Iterable[Proposal]]
Families = Mapping[str, tuple[Propose, ...]]

PENDING, MISSING = "closure.pending", "closure.missing-result"


@dataclass(frozen=True, slots=True)
class Tried:
    """A proposal that holds under the contract.

    Attributes:
        request: what it makes of the request.
        trial: what the rules say of that.
        told: findings that the recorded answer tells, and that are left.
    """

    proposal: Proposal
    repair: Repair
    request: HttpRequest
    trial: Trial
    told: tuple[Finding, ...] = ()


Again = Callable[[Tried, int], "Search"]
"""A repair that was made, and what is left of the budget → the search for the next one."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A request after repairs.

    Attributes:
        request: the repaired request; the one that came in where nothing could be repaired.
        repairs: what was done, in order: each refers to the request as the one before it left it.
        before, after: what the contract makes of it.
        remaining: findings that break the chain still.
    """

    request: HttpRequest
    repairs: tuple[Repair, ...]
    before: Verdict
    after: Verdict
    remaining: tuple[Finding, ...]


def is_repairable(finding: Finding) -> bool:
    """A verdict rests on it, and it is in a request."""
    rule = every_rule().get(finding.rule)
    is_advice = rule is None or rule.is_advice
    return finding.side == REQUEST and finding.severity is not Severity.INFO and not is_advice


class Search:
    """Repairs of one request in the place of one exchange.

    Args:
        request: None for the one that was sent.
        budget: how many proposals may be tried.
        provider: label of the contract they are tried under, "" for the one of the exchange.
        told: findings that the answer of the exchange tells, and nothing else; None to look.
    """

    def __init__(
        self,
        families: Families,
        inspector: Inspector,
        index: int,
        request: HttpRequest | None = None,
        budget: int = limits.MAX_REPAIR_TRIALS,
        told: Iterable[Finding] | None = None,
        provider: str = "",
    ) -> None:
        self.families = families
        self.inspector = inspector
        self.index = index
        detail = inspector.detail(index)
        sent = detail.decoded.exchange.request or HttpRequest()
        self.refused = detail.row.summary.status in (400, 422)
        self.asked, self.provider = provider, provider or detail.contract.label
        self.protocol = detail.decoded.protocol
        self.request = request or sent
        self.text = decode_partial(self.request.body)[0]
        self.budget = min(budget, max(limits.LEAST_REPAIR_TRIALS, limits.MAX_REPAIR_BYTES // max(1, len(self.text))))
        self.trial = self._judge(self.request)
        self.broken = _broken(self.trial.findings, self.refused)
        self.told = list(self._told(detail.row.findings) if told is None else told)
        self._near: dict[tuple[str, str], list[Proposal]] = {}

    def _judge(self, request: HttpRequest, *, is_answered: bool = False) -> Trial:
        return self.inspector.trial(
            self.index,
            request,
            provider=self.provider,
            protocol=self.protocol,
            is_answered=is_answered,
            is_own=not self.asked,
        )

    def _told(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Findings of the exchange that only its recorded answer tells."""
        known = {(f.rule, f.pointer) for f in self.broken}
        return (f for f in findings if is_repairable(f) and (f.rule, f.pointer) not in known)

    @property
    def verdict(self) -> Verdict:
        """What the contract makes of the request as it stands."""
        verdict = self.trial.judgement.verdict
        return Verdict.REFUSES if verdict in (Verdict.ACCEPTS, Verdict.UNKNOWN) and self.all_broken else verdict

    @property
    def all_broken(self) -> list[Finding]:
        """What breaks the chain, by the contract or by what the answer said."""
        return [*self.broken, *self.told]

    def findings(self) -> list[Finding]:
        """What breaks the chain, the one the provider reports first."""
        first = self.trial.judgement.finding
        rest = [f for f in self.all_broken if f != first]
        return [first, *rest] if first else rest

    def offers(self, finding: Finding, most: Loss = Loss.CUT) -> Iterator[Tried]:
        """The proposals for a finding that hold and lose no more than that, in the order they were made.

        Where none holds alone, or only the end of the conversation, two of them together; then an earlier end.
        """
        found = list[Loss]()
        for of in (self.alone, self.together, self.cut):
            if min(found, default=Loss.CUT) < Loss.CUT or (found and of == self.cut):
                return
            for tried in of(finding, most):
                found.append(tried.proposal.loss)
                yield tried

    def alone(self, finding: Finding, most: Loss = Loss.CUT) -> Iterator[Tried]:
        """The proposals of the families that hold."""
        return self._holding(finding, self.proposals(finding) if self.budget > 0 else (), most)

    def together(self, finding: Finding, most: Loss = Loss.CUT) -> Iterator[Tried]:
        """Two proposals that hold together: asked after ``alone``, which finds the first ones."""
        near = self._near.get((finding.rule, finding.pointer), ()) if self.budget > 0 else ()
        pairs = (pair for first in near for pair in _resorts.pairs(self, first, finding))
        return self._holding(finding, islice(pairs, limits.MAX_REPAIR_PAIRS), min(most, Loss.MODE))

    def cut(self, finding: Finding, most: Loss = Loss.CUT) -> Iterator[Tried]:
        """The longest conversation that ends before the damage."""
        ends = _resorts.earlier_ends(self._fault(finding)) if self.budget > 0 else ()
        return islice(self._holding(finding, ends, most), 1)

    def proposals(self, finding: Finding) -> Iterator[Proposal]:
        """What the families propose for a finding, not tried yet."""
        return _proposed(self.families, self._fault(finding))

    def after(self, proposal: Proposal) -> Search | None:
        """The search that goes on from a proposal, None where it does not fit or nothing more may be tried."""
        if self.budget <= 0:
            return None
        self.budget -= 1
        try:
            request = edited(self.request, self.text, proposal.changes)
        except WorkbenchError:
            return None
        return Search(self.families, self.inspector, self.index, request, self.budget, (), self.asked)

    def _fault(self, finding: Finding) -> Fault:
        return Fault(finding, self.trial.case, self.refused)

    def _holding(self, finding: Finding, proposals: Iterable[Proposal], most: Loss) -> Iterator[Tried]:
        """Those that hold and lose no more than that."""
        seen = set[HttpRequest]()
        for proposal in proposals:
            if proposal.loss > most:
                continue
            if self.budget <= 0:
                return
            try:
                request = edited(self.request, self.text, proposal.changes)
            except WorkbenchError as error:
                logging.getLogger(__name__).debug("%s: %s", proposal.title, error)
                continue
            if request in seen or request == self.request:
                continue
            seen.add(request)
            self.budget -= 1
            tried = self._tried(finding, proposal, request)
            if tried:
                yield tried

    def _tried(self, finding: Finding, proposal: Proposal, request: HttpRequest) -> Tried | None:
        """The proposal, if the finding is gone with it and nothing new is broken."""
        trial = self._judge(request)
        if trial.decoded.request is None:
            return None
        left = _broken(trial.findings, self.refused)
        before, after = Counter(f.rule for f in self.broken), Counter(f.rule for f in left)
        told = self._still_told(request)
        is_gone = finding not in told if finding in self.told else after[finding.rule] < before[finding.rule]
        if is_gone and any(after[rule] > before[rule] for rule in after):
            self._near.setdefault((finding.rule, finding.pointer), []).append(proposal)
            return None
        if not is_gone:
            return None
        verified = not left and not told and trial.judgement.verdict is not Verdict.REFUSES
        made = edits(self.request, self.text, proposal.changes)
        return Tried(proposal, Repair(proposal.title, verified, made), request, trial, told)

    def _still_told(self, request: HttpRequest) -> tuple[Finding, ...]:
        """What the same answer would tell of this request, of that which it told before, where that still stands."""
        if not self.told:
            return ()
        trial = self._judge(request, is_answered=True)
        found = {(f.rule, f.message) for f in trial.findings if is_repairable(f)}
        old, new = self.trial.decoded.request_index, trial.decoded.request_index
        return tuple(
            f
            for f in self.told
            if (f.rule, f.message) in found
            and (f.pointer.startswith(HEADERS) or read_at(old, f.pointer) == read_at(new, f.pointer))
        )


def _proposed(families: Families, fault: Fault) -> Iterator[Proposal]:
    """What every family proposes. A family that fails ends, and the others still answer."""
    rule = fault.finding.rule
    for propose in (*families.get(rule, ()), *families.get("", ())):
        try:
            yield from propose(fault)
        except Exception:
            logging.getLogger(__name__).debug("the repairs of %s failed", rule, exc_info=True)


def _broken(findings: Iterable[Finding], refused: bool) -> list[Finding]:
    """The findings that break the chain. Open calls at the end of a request that was refused count as missing."""
    made = []
    for finding in findings:
        if refused and finding.rule == PENDING and finding.side == REQUEST:
            finding = replace(finding, rule=MISSING, severity=Severity.ERROR)
        if is_repairable(finding):
            made.append(finding)
    return made


def best(tried: Iterable[Tried]) -> list[Tried]:
    """The best first: the least is lost, the fewest bytes are touched.

    Those that leave something broken only where nothing else holds, but for an earlier end of the conversation: that
    mends what stands behind it too.
    """
    found = sorted(tried, key=lambda t: (t.proposal.loss, _size(t)))
    whole = [t for t in found if t.repair.verified]
    return whole if whole and whole[0].proposal.loss < Loss.CUT else found


def _size(tried: Tried) -> int:
    """Bytes that go and characters that come."""
    gone = sum(e.span[1] - e.span[0] if e.span else 0 for e in tried.repair.edits)
    return gone + sum(len(repr(e.new)) for e in tried.repair.edits if e.op != "remove")


def _most(finding: Finding) -> Loss:
    """What may be lost without asking."""
    return Loss.CUT if finding.severity is Severity.ERROR else Loss.NONE


def fix(search: Search, again: Again, steps: int = limits.MAX_REPAIR_STEPS) -> Fixed:
    """Repair until the contract accepts: the best repair of the first finding that has one, and so on.

    The conversation ends earlier only where nothing else holds for any finding. What goes through all the same, as a
    warning, is repaired only where that loses nothing.
    """
    first, done = search, list[Repair]()
    while search.all_broken and len(done) < steps:
        chosen = _chosen(search)
        if chosen is None:
            break
        done.append(chosen.repair)
        search = again(chosen, search.budget)
    return Fixed(search.request, tuple(done), first.verdict, search.verdict, tuple(search.findings()))


def _chosen(search: Search) -> Tried | None:
    """The repair that is made next."""
    findings, ends = search.findings(), list[Tried]()
    for of in (search.alone, search.together):
        for finding in findings:
            found = best(of(finding, _most(finding)))
            if found and found[0].proposal.loss < Loss.CUT:
                return found[0]
            ends += found
    return next(chain(ends, (t for f in findings for t in search.cut(f, _most(f)))), None)
