"""Published failures of the hop between agent and tool server are named at their place, without false errors."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.breakages.tool_hops import Entry, grade

HERE = Path(__file__).parent
FILES = ("tool-hops-2.yaml", "tool-hops-3.yaml")
ENTRIES = [entry for name in FILES for entry in yaml.safe_load((HERE / name).read_bytes())["entries"]]

MAY_FIND = {
    "N011": ("schema.name",),
    "N013": ("mcp.framing",),
    "N028": ("mcp.wrong-call",),
    "N029": ("mcp.wrong-call",),
    "N031": ("mcp.no-answer",),
    "N037": ("mcp.no-answer",),
    "P010": ("mcp.framing",),
    "P013": ("mcp.wrong-call",),
}
"""Entry → rules of its error findings, all of them right."""


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_each_is_named_at_its_place(entry: Entry) -> None:
    scored = grade(entry)
    assert scored.grade == "hit", scored.line()
    errors = {f.rule for f in scored.found if f.severity == "error"}
    assert errors <= set(MAY_FIND.get(entry["id"], ()))
