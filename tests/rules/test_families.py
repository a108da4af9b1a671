"""A family of rules that is not asked about an exchange would have found nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.conftest import SHARED
from workbench import plugins, rules
from workbench.config import resources
from workbench.formats import importers
from workbench.rules import RuleContext, _families
from workbench.wire.session import MemorySession

FILES = [
    *sorted(resources.folder("sessions").glob("*.jsonl")),
    *sorted(path for path in (SHARED / "recordings").rglob("*.jsonl") if path.stat().st_size < 200_000)[:24],
]


def test_the_table_knows_which_family_has_which_function() -> None:
    for name in plugins.built_in("workbench.rules"):
        module = _families.family(name)
        has = {function for function in ("check", "review") if hasattr(module, function)}
        assert has == {function for function in ("check", "review") if name in _families.families_with(function)}, name
    assert set(_families._NEEDS) < set(plugins.built_in("workbench.rules"))


def test_no_family_finds_anything_where_it_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    choose, silent = _families.families_for, set[str]()

    def ask_all(case: RuleContext, function: str) -> Iterator[str]:
        names = set(choose(case, function))
        for name in _families.families_with(function):
            if name not in names:
                silent.add(name)
                family = _families.family(name)
                found = list(family.check(case)) if function == "check" else list(family.review(case, []))
                assert not found, (name, found)
            else:
                yield name

    monkeypatch.setattr(rules, "families_for", ask_all)
    for path in FILES:
        session = importers.open_found(str(path))
        if session is not None:
            rules.Inspector(session).run()
            alone = [replace(session.exchange(n), response=None) for n in range(min(len(session), 2))]
            rules.Inspector(MemorySession("requests alone", tuple(alone))).run()
            session.close()
    assert silent == set(_families._NEEDS)
