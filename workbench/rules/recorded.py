"""The recorded answer has the last word: it names the rule that a request broke, or shows the contract to be wrong.

Where contract and answer say different things, that is a finding on the contract, never on the client.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from workbench.decode import REQUEST, RESPONSE
from workbench.rules import _contracts as contracts
from workbench.rules._case import Case, Rule
from workbench.rules._contract import Enforced
from workbench.rules._errortext import explain
from workbench.rules._explained import NOT_THE_BODY, Explained, explained
from workbench.rules._finding import Finding, Severity
from workbench.rules._template import Template, plain
from workbench.rules._verdict import Verdict, judge
from workbench.rules._words import quote
from workbench.wire.exchange import Origin

DISAGREES = Rule(
    "contract.disagrees", Severity.WARNING, "A recorded answer and the contract say different things.", is_advice=True
)

RULES = (DISAGREES,)

_NO_WITNESS = (Origin.RECONSTRUCTED, Origin.PROBE)
"""Origins of exchanges whose answer is not what a provider said to this request."""


def review(case: Case, findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings of an exchange, explained by its answer, and what the contract got wrong about it."""
    told = explained(case, findings)
    yield from told.findings
    if not _is_witness(case):
        return
    judged = judge(findings, case.contract)
    refused = judged.finding if judged.verdict is Verdict.REFUSES else None
    if case.response and case.response.messages and case.response.error is None and 200 <= case.status < 300:
        if refused and refused.check:
            yield _wrong_refusal(case, refused, refused.check)
    elif 400 <= case.status < 500 and case.status not in NOT_THE_BODY:
        yield from _wrong_text(case, told, refused)


def _is_witness(case: Case) -> bool:
    """The answer is that of the contract's provider: by its host, or where no host is known."""
    exchange = case.decoded.exchange
    host = (urlsplit(exchange.request.url).hostname or "") if exchange.request else ""
    if case.request is None or exchange.origin in _NO_WITNESS or case.contract.name == contracts.GENERIC:
        return False
    return not host or any(fnmatchcase(host, glob) for glob in contracts.read(case.contract.name).hosts)


def _wrong_refusal(case: Case, refused: Finding, check: Enforced) -> Finding:
    message = (
        f"the contract {case.contract.label} refuses this request ({refused.rule}, status {check.status}), "
        f"and the recorded answer is {case.status}"
    )
    return case.finding(DISAGREES, REQUEST, refused.pointer, message, evidence=refused.message, source=_source(check))


def _wrong_text(case: Case, told: Explained, refused: Finding | None) -> Iterator[Finding]:
    """A refusal that the contract does not predict, or predicts in other words."""
    error, label, chosen = case.response.error if case.response else None, case.contract.label, told.chosen
    named = chosen if chosen and chosen.check else refused
    check = named.check if named else None
    if chosen and chosen.check is None and (known := case.contract.enforced(chosen.rule)):
        check = known
        words = f"the contract {label} enforces {check.rule}, but not in this case, and it was refused"
    elif check is None:
        return
    elif told.is_new:
        words = f"the contract {label} enforces {check.rule}, the answer says that it is broken, and no rule sees it"
    elif check.status != case.status:
        words = f"the contract {label} has status {check.status} for {check.rule}, and the answer is {case.status}"
    elif error and check.template and not _is_said(check, error.message) and not explain(error.message):
        words = f"the contract {label} has another text for {check.rule}: {quote(check.template)}"
    else:
        return
    if error is None:
        return
    seen = f"status {case.status}: {quote(error.message.strip())}"
    yield case.finding(DISAGREES, RESPONSE, error.pointer, words, evidence=seen, source=_source(check))


def _is_said(check: Enforced, text: str) -> bool:
    """All of the template, its beginning, or a piece of it."""
    said = plain(text)
    behind_path = said.plain.partition(": ")[2] or said.plain
    if behind_path.strip() in plain(check.template).plain:
        return True
    found = Template(check.template).find(said)
    return found is not None and (found.weight == found.whole or found.leads)


def _source(check: Enforced) -> str:
    return f"{check.source} ({check.date})"
