"""What ``docs/api.md`` says can be imported can be imported."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from tests.texts import ROOT

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^\| `(workbench\.\w+)` \|[^|]*\|([^|]*)\|$", PAGE, re.M)
(PLUGIN,) = re.findall(r"^\| the pytest plug-in .*\|([^|]*)\|$", PAGE, re.M)
(FRONTS,) = re.findall(r"^\| the front of a room \(([^)]*)\)", PAGE, re.M)


def quoted(text: str) -> list[str]:
    return re.findall(r"`([\w.]+)`", text)


NAMES = [
    *((module, name) for module, cell in LISTED for name in quoted(cell)),
    *(("workbench.pytest_plugin", name) for name in quoted(PLUGIN)),
    *((module, "__all__") for module in quoted(FRONTS)),
    *(("workbench.edits.repairs", name) for name in ("Fault", "Proposal")),
    *(("workbench.trials.whatif", name) for name in ("VariedRequest", "RequestVariant")),
]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda value: value)
def test_a_listed_name_exists(module: str, name: str):
    assert hasattr(import_module(module), name)


def test_the_tables_of_the_page_are_read():
    assert {module for module, _ in LISTED} == {"workbench.replay", "workbench.testing"}
    assert {name for module, name in NAMES if module == "workbench.pytest_plugin"} > {"strict_provider"}
    assert all(f"`{name}`" in PAGE for module, name in NAMES if name != "__all__")
