"""A gate for pipelines: a survey fails by the severity of its findings, by budgets of rules, or against an earlier run.

A budget is a number of sessions, or a share of the judged exchanges: ``closure.*=0``, ``text.*=0.5%``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from workbench.errors import UsageError
from workbench.survey.catalog import Catalog, Commit
from workbench.survey.failure_groups import Overview
from workbench.survey.rows import Row
from workbench.survey.schema import EXCHANGES, FINDINGS
from workbench.survey.tables import rows_of


class Budget(NamedTuple):
    """How much of a rule is allowed. ``is_share``: ``most`` is a share of the judged exchanges, from 0 to 1."""

    rules: str
    most: float
    is_share: bool = False


def budget_of(text: str) -> Budget:
    """The budget that an option names. Raises UsageError."""
    rules, _, most = text.partition("=")
    is_share = most.endswith("%")
    try:
        number = float(most.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not rules or not 0 <= number < 1e12:
        raise UsageError(f"{text} is not a budget", hint="write, for example, closure.pending=20 or 'closure.*=0.5%'")
    return Budget(rules, number / 100 if is_share else number, is_share)


def find_exceeded(found: Overview, budgets: Sequence[Budget]) -> list[str]:
    """One line for each budget that is exceeded."""
    lines: list[str] = []
    for budget in budgets:
        groups = [group for group in found.groups if fnmatchcase(group.rule, budget.rules)]
        if budget.is_share:
            share = sum(group.findings for group in groups) / max(1, found.judged_exchanges)
            if share > budget.most:
                lines.append(f"{budget.rules}: {share:.2%} of exchanges; the budget is {budget.most:.2%}")
        elif (sessions := sum(group.sessions for group in groups)) > budget.most:
            lines.append(f"{budget.rules}: {sessions:,} sessions; the budget is {budget.most:,.0f}")
    return lines


class RuleChange(NamedTuple):
    """How the rate of one rule changed between two runs, in findings for each judged exchange."""

    rule: str
    before: float
    after: float

    @property
    def is_worse(self) -> bool:
        """It rose by more than a twentieth."""
        return self.after > self.before * 1.05


def compare_runs(catalog: Catalog, before: Commit, after: Commit) -> list[RuleChange]:
    """The rules whose rate differs between two runs, the one that rose most first."""
    first, second = _rates(catalog, before), _rates(catalog, after)
    changes = [RuleChange(rule, first.get(rule, 0.0), second.get(rule, 0.0)) for rule in {*first, *second}]
    changes.sort(key=lambda change: (change.before - change.after, change.rule))
    return [change for change in changes if change.before != change.after]


def _rates(catalog: Catalog, commit: Commit) -> Mapping[str, float]:
    judged = sum(row["verdict"] in ("ok", "warned", "broken") for row in rows_of(catalog, [commit], EXCHANGES))
    counts: dict[str, int] = {}
    for row in rows_of(catalog, [commit], FINDINGS):
        if _counts(row):
            counts[str(row["rule"])] = counts.get(str(row["rule"]), 0) + 1
    return {rule: number / max(1, judged) for rule, number in counts.items()}


def _counts(row: Row) -> bool:
    return str(row["severity"]) != "info"
