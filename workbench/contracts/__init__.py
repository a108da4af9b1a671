"""Contracts: what providers accept, enforce and ignore, as data with source and date.

In: the files in ``profiles`` and the pages of the rules. Out: contracts by name or by what an exchange shows, findings,
verdicts, and the rule and place behind an error text. It knows a rule by its page alone.
It may import the core and the rooms up to ``diff``.
"""

from __future__ import annotations

from workbench.contracts.choosing import SIMULATED, Servers, choose, clues_of
from workbench.contracts.chosen import Choice, choose_contract
from workbench.contracts.contract import Contract, Enforced, Fact
from workbench.contracts.facts import Clues
from workbench.contracts.finding import Basis, Breaks, Contradiction, Edit, Finding, Origin, Repair, Severity
from workbench.contracts.loading import (
    GENERIC,
    Part,
    as_json,
    broken,
    demand,
    endpoint,
    endpoints,
    files,
    forget,
    forgotten_with,
    get,
    key_variable,
    lines,
    names,
    of_model,
    protocols,
    read,
    resolved,
    variants,
    warnings,
)
from workbench.contracts.verdict import UNREAD, Judgement, Refusal, Verdict, refusal_of

__all__ = [
    "GENERIC",
    "SIMULATED",
    "UNREAD",
    "Basis",
    "Breaks",
    "Choice",
    "Clues",
    "Contract",
    "Contradiction",
    "Edit",
    "Enforced",
    "Fact",
    "Finding",
    "Judgement",
    "Origin",
    "Part",
    "Refusal",
    "Repair",
    "Servers",
    "Severity",
    "Verdict",
    "as_json",
    "broken",
    "choose",
    "choose_contract",
    "clues_of",
    "demand",
    "endpoint",
    "endpoints",
    "files",
    "forget",
    "forgotten_with",
    "get",
    "key_variable",
    "lines",
    "names",
    "of_model",
    "protocols",
    "read",
    "refusal_of",
    "resolved",
    "variants",
    "warnings",
]
