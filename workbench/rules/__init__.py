"""Rules: findings about a chain under a provider's contract.

In: a session and a contract. Out: findings, each with its rule, place and basis, and the verdict of an exchange. A
family has one or more files. Each has ``RULES`` (its ``Rule`` values) and ``check(case)``, which yields findings, or
``review(case, findings)``, which runs after all checks and may change their findings. The page of each rule is
``contracts/rule_pages/SLUG.yaml``. The folder ``_shared`` has what families share: the context of a check, findings
that are carried on, refusals, histories, wording. Not families: ``inspection``, the entry for a session;
``schema_check``, one schema against every contract; and ``metrics``, what sessions count and cost. It may import the
core and the rooms up to ``diff``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from workbench.contracts import (
    SIMULATED,
    UNREAD,
    Basis,
    Breaks,
    Choice,
    Contract,
    Contradiction,
    Edit,
    EnforcedCheck,
    Fact,
    FaultOrigin,
    Finding,
    Judgement,
    Refusal,
    Repair,
    Servers,
    Severity,
    Verdict,
    choose,
    choose_contract,
    clues_of,
    refusal_of,
)
from workbench.contracts import judge as _judge
from workbench.contracts import loading as contracts
from workbench.fronts import late, lazy
from workbench.lazy_dataclass import replace
from workbench.rules._shared.acceptance import Acceptances, accepted_by
from workbench.rules._shared.carried_findings import FindingsOfRows
from workbench.rules._shared.causes import Causes, ContradictedFact, by_cause, contradicted_facts
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.cut_values import with_replaced_values, without_cut_values
from workbench.rules._shared.families import every_rule, families_for, family, find_rule
from workbench.rules._shared.lasting_findings import in_order, of_messages
from workbench.rules._shared.origin import Origins
from workbench.rules._shared.shared_results import SharedResults
from workbench.rules._shared.unnamed_model import without_doubtful_errors
from workbench.rules.answers import check_error_alone, check_undecoded_failure
from workbench.rules.common_defaults import soft_contract

if TYPE_CHECKING:
    from workbench.contracts import error_texts as errortext
    from workbench.contracts import pages
    from workbench.rules import schema_check
    from workbench.rules._shared.body_values import reads_fields
    from workbench.rules._shared.failure_place import place_of_text
    from workbench.rules._shared.families import families
    from workbench.rules._shared.outcomes import PENDING_WORDS
    from workbench.rules._shared.wording import as_warning, by_term, quote
    from workbench.rules._single_exchange import decode_alone, judge_alone
    from workbench.rules.inspection import (
        PENDING_RULE,
        CheckedVariant,
        Detail,
        InspectedExchange,
        Inspection,
        Inspector,
    )
    from workbench.rules.metrics.prices import Prices, load_prices
    from workbench.rules.metrics.session_costs import Costs, Saving, TurnCost, costs_of, turn_costs
    from workbench.rules.metrics.tool_use_counts import GROUPS, CountKey, Counts, count_exchanges, group_counts
    from workbench.rules.reasoning_bound import UNBOUND, history, texts, tools_edit
    from workbench.rules.reasoning_proof import PROOF, proof_of
    from workbench.rules.relations import applicable_facts, refusals
    from workbench.rules.retry import UNSURE
    from workbench.rules.schema_check import JudgedSchema
    from workbench.rules.schemas import of_contract, schema_as_sent, schema_at
    from workbench.rules.suspects import suspects_of
else:
    __getattr__ = lazy(__name__)

(is_accounted_for,) = late("workbench.rules._shared.refusal_explanation", "is_accounted_for")

__all__ = [
    "FAILED",
    "GROUPS",
    "PENDING_RULE",
    "PENDING_WORDS",
    "PROOF",
    "SIMULATED",
    "UNBOUND",
    "UNREAD",
    "UNSURE",
    "Acceptances",
    "Basis",
    "Breaks",
    "Causes",
    "CheckedVariant",
    "Choice",
    "Contract",
    "ContradictedFact",
    "Contradiction",
    "Costs",
    "CountKey",
    "Counts",
    "Detail",
    "Edit",
    "EnforcedCheck",
    "Fact",
    "FaultOrigin",
    "Finding",
    "FindingsOfRows",
    "InspectedExchange",
    "Inspection",
    "Inspector",
    "JudgedSchema",
    "Judgement",
    "Origins",
    "Prices",
    "Refusal",
    "Repair",
    "Rule",
    "RuleContext",
    "Saving",
    "Servers",
    "Severity",
    "SharedResults",
    "TurnCost",
    "Verdict",
    "accepted_by",
    "applicable_facts",
    "as_warning",
    "by_cause",
    "by_term",
    "check",
    "check_error_alone",
    "check_undecoded_failure",
    "choose",
    "choose_contract",
    "clues_of",
    "contracts",
    "contradicted_facts",
    "costs_of",
    "count_exchanges",
    "decode_alone",
    "errortext",
    "every_rule",
    "families",
    "find_rule",
    "group_counts",
    "history",
    "judge",
    "judge_alone",
    "load_prices",
    "of_contract",
    "of_messages",
    "pages",
    "place_of_text",
    "proof_of",
    "quote",
    "reads_fields",
    "refusal_of",
    "refusals",
    "schema_as_sent",
    "schema_at",
    "schema_check",
    "suspects_of",
    "texts",
    "tools_edit",
    "turn_costs",
]


FAILED = "program.rule-failed"
"""Slug of the finding that a family of rules failed on an exchange: a fault of this program, not of the traffic."""

_UNREAD_FAMILY = "unread"
"""The only family that checks an exchange of which nothing was decoded."""

REFUSED = "answer.error"
"""Slug of the finding that is left out if a break of the request explains the refusal."""


def check(case: RuleContext, *, is_shared: bool = False) -> list[Finding]:
    """Every finding of an exchange: the worst first, of equal ones the one that the response names, then in wire order.

    Args:
        is_shared: findings are shared with other contracts under which the same exchange is checked.
    """
    found = without_doubtful_errors(case, _every_finding(case, is_shared=is_shared), _every_finding)
    return sorted(dict.fromkeys(found), key=lambda f: f.severity.rank)


def _every_finding(case: RuleContext, *, is_shared: bool = False) -> list[Finding]:
    """Findings of every family, reviewed, in wire order."""
    names = families_for(case, "check") if case.request or case.response else (_UNREAD_FAMILY,)
    run = _run_shared if is_shared else _run_each
    softened = replace(case, contract=soft_contract(case.contract)) if case.request else case
    if case.carried:
        case.carried.begin(softened)
        softened.limit(case.carried.start)
    known = without_cut_values(case.decoded.exchange, run(names, softened))
    found = in_order(softened, with_replaced_values(case.decoded, known))
    for name in families_for(case, "review"):
        found = _review(name, case, found)
    if case.is_refused and is_accounted_for(case, found):
        found = [f for f in found if f.rule != REFUSED]
    return found


def judge(findings: Iterable[Finding], contract: Contract) -> Judgement:
    """The verdict on a request from its findings under a contract; advice (costs, risks) does not count."""
    found = tuple(findings)
    rules = filter(None, map(find_rule, {finding.rule for finding in found}))
    slugs = [rule.slug for rule in rules if rule.is_advice]
    return _judge(found, contract, advice=[*slugs, REFUSED])  # what was answered is no fault of what was asked


def _run_shared(names: Iterable[str], case: RuleContext) -> list[Finding]:
    return [finding for name in names for finding in case.shared.findings(name, case, partial(_run_each, (name,)))]


def _run_each(names: Iterable[str], case: RuleContext) -> list[Finding]:
    """Findings of these families. If one raises, that is a finding, too, and the others still run."""
    found = list[Finding]()
    for name in names:  # and no generator: most families find nothing, and there are forty
        try:
            for finding in family(name).check(case):
                if not isinstance(finding, Finding):
                    raise TypeError(f"{name} yields a {type(finding).__name__} instead of a finding")
                found.append(finding)
        except (Exception, SystemExit) as error:
            found.append(_failure(name, case, error))
    return found


def _review(name: str, case: RuleContext, found: list[Finding]) -> list[Finding]:
    """A family's review of all findings; the findings unchanged, and the reason, if the review fails."""
    try:
        return list(family(name).review(case, found))
    except (Exception, SystemExit) as error:
        return [*found, _failure(name, case, error)]


def _failure(name: str, case: RuleContext, error: Exception | SystemExit) -> Finding:
    import logging

    logging.getLogger(__name__).debug("the %s rules failed", name, exc_info=error)
    message = f"the {name} rules failed on this exchange ({type(error).__name__}): a bug in Workbench"
    return Finding(FAILED, Severity.WARNING, case.decoded.index, "request", "", message)
