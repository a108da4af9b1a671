"""``python -m tests.real NAME``: parts that need programs of others, which are not in the suite.

    python -m tests.real mcp [claude|codex|opencode|qwen|gemini|pi …]
    python -m tests.real mcp bytes [--messages N] [--kills N]
    python -m tests.real survey [s3|dask|ray|kills|engines …] [--objects N]
    python -m tests.real websocket [--connections N] [--frames N]
    python -m tests.real websocket clients [openai-realtime-sync|google-genai-live|node-ws …]
    python -m tests.real websocket codex [websockets|http|upgrade-refused-426 …]
    python -m tests.real browser [--chromium PROGRAM]

``mcp`` records agents that are on the PATH with one MCP server beside a scripted model (``workbench record --mcp``),
and checks that both hops are in one file: the tool's own result, and what the model received of it. An agent that is
not installed is skipped, which is said. Agents run in an empty home, with dummy keys, against a simulator in this
process. ``mcp bytes`` sends 10^5 messages, one of 100 MB, and accidents through a tap (``tests/real/mcp_bytes.py``).
``survey`` runs surveys on an S3 server, Dask and Ray that others wrote (``tests/real/survey.py``).
``websocket`` sends random frames through the recorder, many connections at once, and prints what of them changed (it
has to be nothing) and the time that a frame takes longer. ``websocket clients`` drives official SDKs through the
recorder against strict simulators (``tests/real/websocket_clients.py``), ``websocket codex`` Codex in each of its
transport settings, and compares all that it asks with a run without the recorder. ``browser`` drives the app and the
HTML report in Chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.simulator import Dials, Simulator, read_script, serve
from workbench.wire.exchange import Exchange, ExchangeKind
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import fsck, open_session

ROOT = Path(__file__).resolve().parent.parent.parent
QUESTION = "What is the weather in Oslo?"
KEY = "wk-aB3dE6gH9jK2mN5pQ8sT"
DUMMY = "sk-ant-api03-" + "dummy0KEY" * 6
SERVER = """
import json, os, sys
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tool = {"name": "weather", "description": "Weather of a city", "inputSchema": schema}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, answer = asked["method"], {"jsonrpc": "2.0", "id": asked["id"]}
    if method == "initialize":
        version = asked["params"]["protocolVersion"]
        about = {"name": "w", "version": "1"}
        answer["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    elif method == "tools/list":
        answer["result"] = {"tools": [tool]}
    elif method == "tools/call":
        structured = {"temperature": 21, "has_key": os.environ.get("WEATHER_KEY") == sys.argv[1]}
        answer["result"] = {"content": [{"type": "text", "text": "mild"}], "structuredContent": structured}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the package registries.

    Attributes:
        words: what starts it, without anybody at the keyboard.
        provider: the simulator that it talks to.
        tool, arguments: the call that the model makes.
        file, text: its configuration; ``SERVER`` is the command as a JSON list, ``COMMAND`` and ``ARGS`` its parts.
    """

    words: Sequence[str]
    provider: str
    tool: str
    arguments: Mapping[str, Any] | str
    file: str
    text: str


AGENTS = {
    "claude": Agent(
        ("claude", "-p", QUESTION, "--allowedTools", "mcp__w__*", "--system-prompt", "Be brief."),
        "anthropic",
        "mcp__w__weather",
        {"city": "Oslo"},
        ".claude.json",
        '{"mcpServers": {"w": {"command": COMMAND, "args": ARGS, "env": {"WEATHER_KEY": "${MY_KEY}"}}}}',
    ),
    "codex": Agent(
        ("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json", QUESTION),
        "openai",
        "exec",
        "const r = await tools.mcp__w__weather({city: 'Oslo'}); text(JSON.stringify(r))",
        ".codex/config.toml",
        f'[mcp_servers.w]\ncommand = COMMAND\nargs = ARGS\n[mcp_servers.w.env]\nWEATHER_KEY = "{KEY}"\n',
    ),
    "opencode": Agent(
        ("opencode", "run", "-m", "anthropic/claude-sonnet-4-5", QUESTION),
        "anthropic",
        "w_weather",
        {"city": "Oslo"},
        ".config/opencode/opencode.json",
        '{"mcp": {"w": {"type": "local", "command": SERVER, "environment": {"WEATHER_KEY": "{env:MY_KEY}"}}}}',
    ),
    "qwen": Agent(
        ("qwen", "-p", QUESTION, "--auth-type", "openai"),
        "qwen",
        "mcp__w__weather",
        {"city": "Oslo"},
        ".qwen/settings.json",
        '{"mcpServers": {"w": {"command": COMMAND, "args": ARGS, "trust": true, "env": {"WEATHER_KEY": "$MY_KEY"}}}}',
    ),
    "gemini": Agent(
        ("gemini", "-p", QUESTION, "--approval-mode", "yolo", "--skip-trust"),
        "gemini",
        "mcp_w_weather",
        {"city": "Oslo"},
        ".gemini/settings.json",
        '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "mcpServers": {"w":'
        ' {"command": COMMAND, "args": ARGS, "trust": true, "env": {"WEATHER_KEY": "$MY_KEY"}}}}',
    ),
    "pi": Agent(
        ("pi", "-e", os.environ.get("PI_MCP_ADAPTER", ""), "-p", QUESTION, "--model", "anthropic/claude-sonnet-4-5"),
        "anthropic",
        "mcp",
        {"tool": "w_weather", "args": {"city": "Oslo"}},
        ".config/mcp/mcp.json",
        '{"mcpServers": {"w": {"command": COMMAND, "args": ARGS, "lifecycle": "eager",'
        ' "env": {"WEATHER_KEY": "${MY_KEY}"}}}}',
    ),
}
CALLED = ("claude", "codex", "opencode", "gemini", "pi")
"""Agents whose scripted model gets the tool called; Qwen Code keeps it behind a search."""


def _prepare(agent: Agent, home: Path) -> None:
    server = home / "server.py"
    server.write_text(SERVER, encoding="utf-8")
    words = [sys.executable, str(server), KEY]
    text = agent.text.replace("COMMAND", json.dumps(words[0])).replace("ARGS", json.dumps(words[1:]))
    file = home / agent.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.replace("SERVER", json.dumps(words)), encoding="utf-8")


def _script(agent: Agent) -> str:
    answer = {"text": "I look.", "calls": [{"name": agent.tool, "arguments": agent.arguments}]}
    return json.dumps({"version": 1, "turns": [{"match": {"tool": agent.tool, "results": False}, "answer": answer}]})


def record_with_server(name: str, home: Path) -> int:
    """Run one agent; the number of things that are not as they should be."""
    agent, out = AGENTS[name], home / "s.wb"
    _prepare(agent, home)
    folder = home / "project"  # some clients read their settings twice in the home
    folder.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "MY_KEY": KEY,
        "ANTHROPIC_API_KEY": DUMMY,
        "OPENAI_API_KEY": DUMMY,
        "OPENAI_MODEL": "sim-model",
        "GEMINI_API_KEY": DUMMY,
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    with serve(Simulator(agent.provider, model=read_script(_script(agent), "script", Dials()))) as upstream:
        line = [sys.executable, "-m", "workbench", "record", "--mcp", "--upstream", upstream.url, "--out", str(out)]
        done = subprocess.run(
            [*line, "--", *agent.words],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    print(done.stderr)
    checked = subprocess.run([sys.executable, "-m", "workbench", "check", str(out)], capture_output=True, text=True)
    print(checked.stdout)
    exchanges = list(exchanges_of(open_session(out)))
    configured = (home / agent.file).read_text(encoding="utf-8")
    facts = {
        "the agent ended well": done.returncode == 0,
        "its server is told to be recorded": "MCP server w is recorded" in done.stderr,
        "its model is recorded": any(e.kind is ExchangeKind.HTTP for e in exchanges),
        "its server is recorded": "tools/list" in _methods(exchanges),
        "its configuration has the server as before": "server.py" in configured and "mcp-tap" not in configured,
        "no copy is left": not list(home.rglob("mcp-[0-9]*")),
        "the key is not in the file": KEY.encode() not in out.read_bytes(),
        "the file is whole": not fsck(out).problems,
        "workbench check finds no error": checked.returncode == 0,
    }
    if name in CALLED:
        facts["the call is recorded, with the server's own environment"] = any(map(_has_key, exchanges))
    for fact, holds in facts.items():
        print(f"{'ok ' if holds else 'NOT'} {name}: {fact}")
    return sum(not holds for holds in facts.values())


def _methods(exchanges: Sequence[Exchange]) -> list[str]:
    return [e.request.method for e in exchanges if e.kind is ExchangeKind.MCP and e.request]


def _has_key(exchange: Exchange) -> bool:
    request, response = exchange.request, exchange.response
    return bool(request and request.method == "tools/call" and response and b'"has_key": true' in response.body.raw)


def main() -> int:
    if sys.argv[1:2] == ["survey"]:
        from tests.real import survey

        return survey.main(sys.argv[2:])
    if sys.argv[1:2] == ["websocket"]:
        from tests.real import websocket

        return websocket.main(sys.argv[2:])
    if sys.argv[1:3] == ["mcp", "bytes"]:
        from tests.real import mcp_bytes

        return mcp_bytes.main(sys.argv[3:])
    if sys.argv[1:2] == ["browser"]:
        from tests.real import browser

        return browser.main(sys.argv[2:])
    parser = argparse.ArgumentParser(
        prog="python -m tests.real", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("mcp",))
    parser.add_argument("agents", nargs="*", choices=[*AGENTS, []], metavar="AGENT", help=", ".join(AGENTS))
    args = parser.parse_args()
    wrong = 0
    for name in args.agents or AGENTS:
        if not shutil.which(AGENTS[name].words[0]):
            print(f"skipped: {AGENTS[name].words[0]} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            home.mkdir()
            wrong += record_with_server(name, home)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
