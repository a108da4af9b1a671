"""What contracts say about closure and reasoning names what the request tells: no text of theirs shows a gap."""

from __future__ import annotations

import re

import pytest

from workbench import contracts
from workbench.rules import every_rule

FAMILIES = ("closure.", "reasoning.", "state.")

ALWAYS = {
    "message",
    "part",
    "call",
    "tool",
    "function",
    "id",
    "ids",
    "model",
    "path",
    "field",
    "role",
    "line",
    "column",
}
"""What is known of a finding on any part of a message."""

GIVEN = {
    "closure.missing-result": {"next"},
    "closure.missing-result server": {"name"},
    "closure.not-adjacent": {"next", "before"},
    "closure.result-not-first": {"next"},
    "closure.id-mismatch": {"next", "found", "name"},
    "closure.duplicate-result": {"first"},
    "closure.duplicate-id": {"prefix"},
    "closure.orphan-result": {"found", "before", "block"},
    "closure.wrong-role": {"found"},
    "closure.id-format": {"limit", "length", "pattern", "prefix"},
    "reasoning.missing": {"found", "name", "position"},
    "reasoning.order": {"found"},
    "reasoning.foreign": {"found", "name"},
    "reasoning.unpaired": {"kind", "reasoning"},
    "reasoning.by-reference": {"kind"},
    "state.lost": {"found"},
}
"""Rule, or rule and case → what it tells beside that."""


def checks():
    for name in contracts.names():
        for _, check in contracts.read(name).checks:
            if check.rule.startswith(FAMILIES) and check.rule in every_rule():
                yield pytest.param(check, id=f"{name} {check.rule} {check.when}")


@pytest.mark.parametrize("check", checks())
def test_every_variable_of_a_refusal_is_given(check):
    wanted = set(re.findall(r"\{(\w+)\}", f"{check.template} {check.param} {check.type} {check.code}"))
    of_case = GIVEN.get(f"{check.rule} {check.when}", set())
    assert wanted <= ALWAYS | of_case | GIVEN.get(check.rule, set())
