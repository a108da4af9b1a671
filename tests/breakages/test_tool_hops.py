"""Published failures of the hop between agent and tool server are named at their place, without false errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import breakages
from tests.breakages.tool_hops import CATALOGUES, MISSED, Entry, grade, twin

HERE = Path(__file__).parent
ENTRIES = [entry for name in CATALOGUES for entry in breakages.load(HERE / name)["entries"]]

MAY_FIND = {
    "B002": ("schema.name",),
    "B017": ("mcp.no-answer",),
    "C012": ("schema.property-name",),
    "C013": ("schema.name",),
    "D013": ("mcp.no-answer",),
    **dict.fromkeys(("F014", "F032"), ("mcp.no-answer",)),
    "F023": ("args.schema",),
    "J014": ("mcp.no-answer",),
    "K016": ("mcp.output-schema",),
    "L017": ("schema.duplicate-name",),
    "N011": ("schema.name",),
    "N013": ("mcp.framing",),
    "N028": ("mcp.wrong-call",),
    "N029": ("mcp.wrong-call",),
    "N031": ("mcp.no-answer",),
    "N037": ("mcp.no-answer",),
    "P010": ("mcp.framing",),
    "Q014": ("mcp.no-answer",),
    **dict.fromkeys(("R011", "R012", "R013"), ("mcp.no-answer",)),
    "R018": ("schema.items-missing",),
    "S006": ("mcp.no-answer",),
    "T003": ("call.unknown-tool",),
    **dict.fromkeys(("T024", "U012"), ("schema.duplicate-name",)),
    **dict.fromkeys(("U023", "U040", "X005"), ("mcp.no-answer",)),
    "X014": ("schema.name",),
    "Y006": ("args.double-encoded",),
    "Y016": ("schema.unsupported-keyword",),
}
"""Entry → rules of its error findings beside its own, all of them right."""


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_each_is_named_at_its_place(entry: Entry) -> None:
    scored = grade(entry)
    assert (scored.grade == "hit") == (entry["id"] not in MISSED), scored.line()
    errors = {f.rule for f in scored.found if f.severity == "error"}
    assert errors <= {entry["rule"], *MAY_FIND.get(entry["id"], ())}


@pytest.mark.parametrize("entry", [e for e in ENTRIES if "mended" in e], ids=lambda entry: entry["id"])
def test_without_its_fault_it_is_healthy(entry: Entry) -> None:
    found = [f for f in twin(entry) if f.severity != "info"]
    assert not found, [f"{f.rule}@{f.exchange}{f.pointer}: {f.message}" for f in found]
