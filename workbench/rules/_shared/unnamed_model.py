"""Findings on a request that names no model, where what is refused depends on the model.

A body of Gemini or Bedrock alone has no model: the URL has it. The contract then says what holds where no model is
known, and what it knows of single models may say otherwise. An error is one that every model has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.contracts import Finding, Severity
from workbench.contracts import loading as contracts
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.shared_results import SharedResults

FindingsOf = Callable[[RuleContext], Iterable[Finding]]


def without_doubtful_errors(case: RuleContext, findings: list[Finding], findings_of: FindingsOf) -> list[Finding]:
    """The findings; an error of a contract that holds for some models alone is a warning.

    Args:
        findings_of: the findings of a case, under another contract too.
    """
    if case.request is None or case.request.model or case.is_refused or (case.response and case.response.model):
        return findings
    doubtful = [finding for finding in findings if _rests_on_contract(finding)]
    for contract in contracts.of_single_models(case.contract) if doubtful else ():
        again = replace(case, contract=contract, shared=SharedResults(), carried=None, accepted=None)
        errors_there = {(f.rule, f.pointer) for f in findings_of(again) if f.severity is Severity.ERROR}
        doubtful = [finding for finding in doubtful if (finding.rule, finding.pointer) in errors_there]
        if not doubtful:
            break
    return [_with_doubt(f) if _rests_on_contract(f) and f not in doubtful else f for f in findings]


def _rests_on_contract(finding: Finding) -> bool:
    return finding.side == REQUEST and finding.severity is Severity.ERROR and bool(finding.fact or finding.check)


def _with_doubt(finding: Finding) -> Finding:
    message = f"{finding.message}; some models accept it, and no model is named"
    return replace(finding, severity=Severity.WARNING, message=message)
