"""A family of rules that is not asked about an exchange would have found nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.asked_families import ask_all_families
from tests.conftest import SHARED
from workbench import plugins, rules
from workbench.config import resources
from workbench.formats import importers
from workbench.rules._shared import families
from workbench.wire.session import MemorySession

FILES = [
    *sorted(resources.folder("sessions").glob("*.jsonl")),
    *sorted(path for path in (SHARED / "recordings").rglob("*.jsonl") if path.stat().st_size < 200_000)[:24],
]


def test_the_table_knows_which_family_has_which_function() -> None:
    for name in plugins.built_in("workbench.rules"):
        module = families.family(name)
        has = {function for function in ("check", "review") if hasattr(module, function)}
        assert has == {function for function in ("check", "review") if name in families.families_with(function)}, name
    assert set(families._NEEDS) < set(plugins.built_in("workbench.rules"))


def test_no_family_finds_anything_where_it_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    left_out = ask_all_families(monkeypatch)
    for path in FILES:
        session = importers.open_found(str(path))
        if session is not None:
            rules.Inspector(session).run()
            alone = [replace(session.exchange(n), response=None) for n in range(min(len(session), 2))]
            rules.Inspector(MemorySession("requests alone", tuple(alone))).run()
            session.close()
    assert left_out == set(families._NEEDS)
