"""``workbench simulate mcp``: a recorded tool server over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Run
from tests.simulator.test_tool_server import HELLO, OSLO
from tests.tool_hops import STRUCTURED, lost_structured
from workbench.wire.session import store


def test_a_client_talks_to_it_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "s.wb"
    store.save(lost_structured().exchanges(), path)
    asked = (("initialize", HELLO), ("tools/call", OSLO))
    lines = [
        {"jsonrpc": "2.0", "id": n, "method": method, "params": params} for n, (method, params) in enumerate(asked)
    ]
    words = [sys.executable, "-m", "workbench", "simulate", "mcp", str(path), "--server", "sky"]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=60, check=True)
    hello, called = map(json.loads, done.stdout.splitlines())
    assert hello["result"]["protocolVersion"] == "2025-06-18"
    assert called["result"]["structuredContent"] == STRUCTURED
    assert "MCP server sky: 1 tool, nothing is run" in done.stderr


def test_what_is_missing_is_said(run: Run) -> None:
    assert run("simulate", "mcp")[0] == 2
    status, _, complaint = run("simulate", "mcp", "sessions/anthropic-tool-loop.jsonl")
    assert status == 2 and "no tool server traffic" in complaint
    assert run("simulate", "openai", "--fault", "cut")[0] == 2


def test_a_session_is_lost_over_http_only(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "s.wb"
    store.save(lost_structured().exchanges(), path)
    status, _, complaint = run("simulate", "mcp", str(path), "--server", "sky", "--fault", "session-lost")
    assert status == 2 and "only a server over HTTP can lose a session" in complaint
