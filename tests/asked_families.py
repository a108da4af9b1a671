"""Ask every family of rules, and fail where one finds something although it need not be asked, says ``families``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from workbench import rules
from workbench.rules import RuleContext
from workbench.rules._shared import families


def ask_all_families(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Until the test ends; the set fills with the names of the families that were not asked about some exchange."""
    choose, left_out = families.families_for, set[str]()

    def ask(case: RuleContext, function: str) -> Iterator[str]:
        names = set(choose(case, function))
        for name in families.families_with(function):
            if name in names:
                yield name
                continue
            left_out.add(name)
            family = families.family(name)
            found = list(family.check(case)) if function == "check" else list(family.review(case, []))
            assert not found, f"rules/_shared/families.py:_NEEDS must let {name} be asked, which finds {found}"

    monkeypatch.setattr(rules, "families_for", ask)
    return left_out
