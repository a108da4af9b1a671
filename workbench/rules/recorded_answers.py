"""The recorded answer has the last word: it names the rule that a request broke, or shows the contract to be wrong.

Where contract and answer say different things, that is a finding on the contract, never on the client. What was
accepted is no fault of the request: a finding that says it is refused becomes a note that keeps the disagreement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from workbench import regex
from workbench.contracts import (
    Basis,
    Breaks,
    Contradiction,
    EnforcedCheck,
    Finding,
    Severity,
    Template,
    Verdict,
    find_matches,
    judge,
    plain_text,
)
from workbench.contracts import loading as contracts
from workbench.fronts import late
from workbench.globs import matches_glob
from workbench.ir import NOTHING, ApiError
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, RESPONSE
from workbench.rules._shared.acceptance import (
    AcceptedExchange,
    accepted_by,
    is_answered,
    may_be_accepted,
    says_refused,
    who,
)
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote, weaker
from workbench.wire import Origin, urls

if TYPE_CHECKING:
    from workbench.rules._shared.refusal_explanation import ExplainedRefusal

(is_about_the_request,) = late("workbench.rules._shared.failure_place", "is_about_the_request")
(explain_refusal,) = late("workbench.rules._shared.refusal_explanation", "explain_refusal")

_WORD = regex.compile(
    rb"""["'\s<\[({*_.-]*(?:redacted|scrubbed|masked|sanitized|sanitised|anonymized|filtered|placeholder|removed|hidden"""
    rb"""|x{3,}|\*{3,})(?:[ _-](?:by[ _-])?\w{1,20})?["'\s>\])}*_.-]*""",
    re.IGNORECASE,
)
"""A whole value that says it is none: ``"REDACTED"``, ``<scrubbed>``, ``"***"``."""

LONGEST = 64
"""Bytes of a stand-in."""


def is_on_stand_in(case: RuleContext, finding: Finding) -> bool:
    """The bytes that a finding is on are nothing but a stand-in."""
    if finding.span is None:
        return False
    start, end = finding.span
    text = case.decoded.request_text if finding.side == REQUEST else case.decoded.response_text
    return end - start <= LONGEST and _WORD.fullmatch(text[start:end]) is not None


DISAGREES = Rule(
    "contract.disagrees", Severity.WARNING, "A recorded response and the contract disagree.", is_advice=True
)

RULES = (DISAGREES,)

_NO_WITNESS = (Origin.RECONSTRUCTED, Origin.PASTED, Origin.PROBE)
"""Origins of exchanges whose answer is not what a provider said to this request."""


def review(case: RuleContext, findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings of an exchange, explained by its answer, and what the contract got wrong about it."""
    explanation = explain_refusal(case, findings)
    witness = accepted_by(case.decoded) if case.is_recorded else ""
    for finding in _weigh(case, explanation.findings, witness):
        yield _on_stand_in(case, finding)
    if explanation.is_absent and explanation.chosen and case.response and case.response.error:
        yield _absent_fault(case, explanation.chosen, case.response.error)
        return
    if witness and case.accepted is not None:
        return  # a contradiction is beside the finding already
    is_about_it = is_about_the_request(explanation.refusal, case.status)
    if not (witness or is_about_it) or not _is_witness(case):
        return
    judgement = judge(findings, case.contract)
    refused = judgement.finding if judgement.verdict is Verdict.REFUSES else None
    if witness:
        if refused and refused.check:
            yield _wrong_refusal(case, refused, refused.check)
    elif case.request is not None:
        yield from _wrong_text(case, explanation, refused)


def _is_witness(case: RuleContext) -> bool:
    """The response is that of the contract's provider: by host, or where no host is known."""
    exchange = case.decoded.exchange
    host = (urls.split_url(exchange.request.url).hostname or "") if exchange.request else ""
    if case.request is None or exchange.origin in _NO_WITNESS or case.contract.name == contracts.GENERIC:
        return False
    return not host or any(matches_glob(host, glob) for glob in contracts.read(case.contract.name).hosts)


def _weigh(case: RuleContext, findings: Iterable[Finding], witness: str) -> Iterator[Finding]:
    """The findings, each in the light of what the recording shows the provider accepting.

    Args:
        witness: the host that accepted this very request; an empty string if none is known to.
    """
    is_unanswered = not witness and case.accepted is not None and may_be_accepted(case)
    is_rebuilt = case.decoded.exchange.origin is Origin.RECONSTRUCTED and is_answered(case.response)
    for finding in findings:
        if witness and case.accepted is not None and _is_documented_refusal(case, finding):
            yield from _contradict(case, finding, AcceptedExchange(case.decoded.index, who(case, witness)))
        elif finding.side != REQUEST or finding.severity is not Severity.ERROR:
            yield finding
        elif is_rebuilt and case.is_recorded and case.accepted is not None:
            yield _rebuilt(finding)
        elif not says_refused(finding):
            yield finding
        elif case.accepted is None:
            yield _with_evidence(finding, f"accepted by {witness}, status {case.status}") if witness else finding
        elif witness:
            yield from _contradict(case, finding, AcceptedExchange(case.decoded.index, who(case, witness)))
        elif is_unanswered and (earlier := case.accepted.find(case, finding)):
            yield from _contradict(case, finding, earlier)
        else:
            yield finding


def _is_documented_refusal(case: RuleContext, finding: Finding) -> bool:
    """A relation of which documents or types are all the evidence: that the provider accepts the value refutes it."""
    name = finding.fact.partition(":")[2]
    is_of_relation = bool(name) and any(relation.name == name for relation in case.contract.relations)
    return finding.severity is Severity.WARNING and finding.breaks is Breaks.REQUEST and is_of_relation


def _contradict(case: RuleContext, finding: Finding, accepted: AcceptedExchange) -> Iterator[Finding]:
    """A note on the fact that an accepted request contradicts.

    A broken conversation is reported beside it, as it is without the fact.
    """
    against = _contradiction(case, finding, accepted)
    is_here = accepted.exchange == case.decoded.index
    seen = f"status {case.status}" if is_here else f"the same bytes, in exchange {accepted.exchange + 1}"
    claim = f"{against.contract} should refuse this" if against.source else "most providers refuse this"
    bare = replace(finding, check=None, refusal="", values=NOTHING)
    if finding.breaks is not Breaks.REQUEST:
        yield replace(bare, severity=finding.unenforced or finding.severity, basis=Basis.FORM)
    message = f"{accepted.by} accepted this ({seen}), but {claim} ({finding.rule}): {finding.message}"
    yield replace(
        bare,
        rule=DISAGREES.slug,
        severity=Severity.INFO,
        message=message,
        basis=Basis.RECORDING,
        contradicts=against,
        repairs=(),
    )


def _contradiction(case: RuleContext, finding: Finding, accepted: AcceptedExchange) -> Contradiction:
    check, term = finding.check, case.contract.terms.get(finding.fact)
    known = check or term
    source, date = (known.source, known.date) if known else (finding.source, "")
    fact = finding.fact or finding.rule
    return Contradiction(case.contract.label, finding.rule, fact, source, date, accepted.exchange, accepted.by)


def _on_stand_in(case: RuleContext, finding: Finding) -> Finding:
    """An error on a value that somebody put in place of the real one is doubtful."""
    is_doubtful = finding.severity is Severity.ERROR and finding.basis is not Basis.RECORDING
    if not is_doubtful or not case.is_recorded or case.accepted is None or not is_on_stand_in(case, finding):
        return finding
    reason = "a stand-in: this recording does not contain the value that was sent"
    return _with_evidence(replace(finding, severity=Severity.WARNING, check=None, refusal=""), reason)


def _rebuilt(finding: Finding) -> Finding:
    """A fault of a request that was rebuilt from a transcript, and whose turn was answered."""
    reason = "reconstructed from a transcript: the original bytes are unknown, and the provider answered the request"
    return _with_evidence(replace(finding, severity=Severity.WARNING, check=None, refusal=""), reason)


def _with_evidence(finding: Finding, text: str) -> Finding:
    return replace(finding, evidence="; ".join(filter(None, (finding.evidence, text))))


def _wrong_refusal(case: RuleContext, refused: Finding, check: EnforcedCheck) -> Finding:
    message = (
        f"the contract {case.contract.label} refuses this request ({refused.rule}, status {check.status}), "
        f"but the recorded response is {case.status}"
    )
    note = weaker(DISAGREES, Severity.INFO)
    return case.finding(note, REQUEST, refused.pointer, message, evidence=refused.message, source=_source(check))


def _absent_fault(case: RuleContext, main_finding: Finding, error: ApiError) -> Finding:
    """A refusal for something that is not in the recorded request: this exchange does not show what was refused."""
    message = (
        f"the response says {main_finding.rule}, but this request does not have that fault: the provider must have "
        "refused a different request"
    )
    note = weaker(DISAGREES, Severity.INFO)
    seen = f"status {case.status}: {quote(error.message.strip())}"
    return case.finding(note, RESPONSE, error.pointer, message, evidence=seen, basis=Basis.RECORDING)


def _wrong_text(case: RuleContext, refusal: ExplainedRefusal, refused: Finding | None) -> Iterator[Finding]:
    """A refusal that the contract does not predict, or predicts in other words."""
    error, label, finding = case.response.error if case.response else None, case.contract.label, refusal.chosen
    if refusal.is_by_place:
        return  # the text does not say what is wrong
    nearest = finding if finding and finding.check else refused
    check = nearest.check if nearest else None
    if finding and finding.check is None and (known := case.contract.check_for(finding.rule)):
        check = known
        words = f"the contract {label} enforces {check.rule}, but not in this case; the provider refused the request"
    elif check is None:
        return
    elif refusal.is_new:
        words = f"the contract {label} enforces {check.rule}; the response reports a violation, but no rule finds one"
    elif check.status != case.status:
        words = f"the contract {label} has status {check.status} for {check.rule}, but the response has {case.status}"
    elif error and check.template and not _is_said(check, error.message) and not find_matches(error.message):
        words = f"the contract {label} has a different text for {check.rule}: {quote(check.template)}"
    else:
        return
    if error is None:
        return
    seen = f"status {case.status}: {quote(error.message.strip())}"
    is_found = finding is not None and finding.severity is Severity.ERROR  # then only the contract is to be mended
    rule = weaker(DISAGREES, Severity.INFO) if is_found else DISAGREES
    yield case.finding(rule, RESPONSE, error.pointer, words, evidence=seen, source=_source(check))


def _is_said(check: EnforcedCheck, text: str) -> bool:
    """All of the template, its beginning, or a piece of it."""
    whole = plain_text(text)
    behind_path = whole.plain.partition(": ")[2] or whole.plain
    if behind_path.strip() in plain_text(check.template).plain:
        return True
    found = Template(check.template).find(whole)
    return found is not None and (found.weight == found.whole or found.leads)


def _source(check: EnforcedCheck) -> str:
    return f"{check.source} ({check.date})"
