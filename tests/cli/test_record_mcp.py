"""``workbench record --mcp``: a client like Claude Code, its server, and one file with both hops."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.protocols.mcp import as_tool_request
from workbench.wire.exchange import ExchangeKind
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import open_session

KEY = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT" * 2
SERVER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = {"content": [{"type": "text", "text": os.environ["SERVER_KEY"]}], "arguments": sys.argv[1:]}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
CLIENT = """
import json, os, stat, subprocess, sys
path = sys.argv[sys.argv.index("--mcp-config") + 1]
assert "--strict-mcp-config" in sys.argv and sys.argv[-1] == "hello"
assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
text = open(path).read()
assert "KEY" not in text, text
entry = json.loads(text)["mcpServers"]["my server"]
asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look", "arguments": {}}}
words, line = [entry["command"], *entry["args"]], json.dumps(asked) + "\\n"
done = subprocess.run(words, input=line, capture_output=True, text=True)
print(path)
print(done.stdout, end="")
sys.exit(done.returncode + 3)
""".replace("KEY", KEY)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a client on its PATH and a server in that client's configuration."""
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    client = tmp_path / "bin" / "claude"
    client.parent.mkdir()
    client.write_text(f"#!{sys.executable} -S\n{CLIENT}", encoding="utf-8")
    client.chmod(0o755)
    arguments = ["-S", str(tmp_path / "server.py"), "${WHO:-nobody}", KEY]
    server = {"command": sys.executable, "args": arguments, "env": {"SERVER_KEY": "${MY_KEY}"}}
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": {"my server": server}}), encoding="utf-8")
    return tmp_path


def record(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(home), "MY_KEY": KEY, "XDG_RUNTIME_DIR": str(home)}
    command = [
        sys.executable,
        "-m",
        "workbench",
        "record",
        *words,
        "--out",
        str(home / "s.wb"),
        "--",
        "claude",
        "hello",
    ]
    return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("words", [("--mcp", "--upstream", "http://127.0.0.1:9"), ("--mcp-only",)], ids=" ".join)
def test_the_servers_of_a_client_are_recorded(home: Path, words: tuple[str, ...]) -> None:
    before = (home / ".claude.json").read_bytes()
    done = record(home, *words)
    assert done.returncode == 3, done.stderr
    copy, answer = done.stdout.splitlines()
    result = json.loads(answer)["result"]
    assert result["content"][0]["text"] == KEY and result["arguments"] == ["nobody", KEY]
    assert "MCP server my server is recorded" in done.stderr and KEY not in done.stderr
    assert not Path(copy).exists() and (home / ".claude.json").read_bytes() == before
    exchanges = list(exchanges_of(open_session(home / "s.wb")))
    assert [e.kind for e in exchanges] == [ExchangeKind.MCP, ExchangeKind.MCP]
    assert exchanges[1].request and exchanges[1].request.url == "mcp://my%20server/look"
    assert KEY.encode() not in (home / "s.wb").read_bytes()
    if "--mcp" in words:
        assert "0 exchanges with the model: check that the client uses the variables above" in done.stderr
        assert "2 exchanges with MCP servers" in done.stderr and f"2 exchanges in {home / 's.wb'}" in done.stderr


def test_servers_that_the_client_did_not_start_are_told_at_the_end(home: Path) -> None:
    (home / "bin" / "claude").write_text(f"#!{sys.executable} -S\nprint('hi')", encoding="utf-8")
    done = record(home, "--mcp", "--upstream", "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (0, "hi\n")
    assert "0 exchanges with MCP servers: the client did not start any of my server" in done.stderr


def test_without_a_server_the_client_still_starts(home: Path) -> None:
    (home / ".claude.json").unlink()
    (home / "bin" / "claude").write_text(f"#!{sys.executable} -S\nprint('hi')", encoding="utf-8")
    done = record(home, "--mcp-only")
    assert (done.returncode, done.stdout) == (0, "hi\n")
    assert "no MCP server is recorded" in done.stderr and "nothing was recorded" in done.stderr


REFUSED = {
    "no client": (["--mcp"], "--mcp needs a client to start"),
    "not known": (["--mcp", "--", "python3"], "--mcp supports Claude Code, Codex"),
    "no model": (
        ["--mcp-only", "--upstream", "http://127.0.0.1:9", "--", "claude"],
        "--mcp-only does not record model traffic",
    ),
    "both": (["--mcp", "--mcp-only", "--", "claude"], "not allowed with argument"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(run: Run, words: list[str], message: str) -> None:
    status, _, complaint = run("record", *words)
    assert status == 2 and message in complaint


HTTP_SERVER = """
import http.server, json, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        result = {"content": [{"type": "text", "text": "mild"}], "structuredContent": {"temperature": 21}}
        data = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
        body = b"event: message\\ndata: " + data + b"\\n\\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.send_header("mcp-session-id", "s1")
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
HTTP_CLIENT = """
import json, sys, urllib.request
entry = json.loads(open(sys.argv[sys.argv.index("--mcp-config") + 1]).read())["mcpServers"]["sky"]
asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look", "arguments": {}}}
request = urllib.request.Request(entry["url"], json.dumps(asked).encode(), {"content-type": "application/json"})
print(urllib.request.urlopen(request).read().decode())
"""


def test_a_server_at_a_url_is_recorded_under_its_name(home: Path) -> None:
    words = [sys.executable, "-S", "-c", HTTP_SERVER]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/mcp"
        (home / ".claude.json").write_text(json.dumps({"mcpServers": {"sky": {"type": "http", "url": url}}}))
        (home / "bin" / "claude").write_text(f"#!{sys.executable} -S\n{HTTP_CLIENT}", encoding="utf-8")
        done = record(home, "--mcp-only")
        server.kill()
    assert done.returncode == 0 and '"temperature": 21' in done.stdout, done.stderr
    (exchange,) = exchanges_of(open_session(home / "s.wb"))
    assert exchange.request and exchange.request.url == url
    tool = as_tool_request(exchange).request
    assert tool and (tool.method, tool.url) == ("tools/call", "mcp://sky/look")
