"""Results of tool servers side by side with the tool results that the model received, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.tool_hops import STRUCTURED, lost_structured
from workbench.wire.session import store


def test_both_bodies_are_side_by_side_and_lost_lines_are_marked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.wb"
    store.save(lost_structured().exchanges(), path)
    lines = run("show", str(path), "--as", "mcp").out.splitlines()
    assert any(line.startswith("! sky · weather  t1  57 B did not reach the model") for line in lines)
    assert any("the server returned" in line and "│ the model received" in line for line in lines)
    marked = [line for line in lines if line.startswith("  ! ") and "│" in line]
    assert '"structuredContent": {' in marked[0] and '"temperature": 21' in marked[1]
    assert any('"content": "mild"' in line.partition("│")[2] for line in lines)


def test_as_json_every_end_and_part_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.wb"
    store.save(lost_structured().exchanges(), path)
    one, other = json.loads(run("show", str(path), "--as", "mcp", "--format", "json").out)["results"]
    assert (one["server"], one["tool"], one["exchange"], one["stated"]) == ("sky", "weather", 5, True)
    assert one["received"]["result"]["structuredContent"] == STRUCTURED
    assert one["told"]["result"]["content"] == "mild"
    assert one["lost"] == [
        {"kind": "structured", "pointer": "/result/structuredContent", "bytes": 57, "characters": None}
    ]
    assert other["lost"] == []
    told = run("show", str(path), "--as", "mcp", "--exchange", "6", "--format", "json").out
    assert [result["tool"] for result in json.loads(told)["results"]] == ["weather"]


def test_a_session_without_servers_says_so(run: Run) -> None:
    out = run("show", "sessions/anthropic-tool-loop.jsonl", "--as", "mcp").out
    assert out.strip().endswith("no tool result in this exchange could be matched to a recorded tool server")
