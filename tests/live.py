"""Records a real agent on loopback, follows the file meanwhile, and checks what was recorded.

    python -m tests.live pi
    python -m tests.live claude [--keep FILE]
    python -m tests.live claude --as openai-chat --provider deepseek
    python -m tests.live codex --as anthropic-messages --provider anthropic --long
    python -m tests.live codex --no-websocket
    python -m tests.live codex-own
    python -m tests.live qwen --as anthropic-messages --provider anthropic --refuse 529

The agent is the one on the PATH; without it nothing is done. It runs in an empty home with a dummy key. The upstream is
a simulator in this process, strict as the provider is: it has the agent's own tool read a file, then answers. With
``--as`` the upstream speaks another protocol than the agent, and the recorder stands between them. With ``--long`` it
has the note read twice at once and then once more, with ``--refuse`` it begins with a refusal.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.errors import SessionFormatError
from workbench.simulator import Dials, HttpFault, ScriptedModel, Simulator, read_script, serve
from workbench.wire.exchange import Exchange, State
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import fsck, open_session

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "What does notes.txt say?"
NOTE = "the harbour opens at noon"
PAUSE = 0.05
"""Seconds between two pieces of an answer: a person could watch it."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the package registries.

    Attributes:
        words: what starts it, without anybody at the keyboard.
        tool, arguments: what of its own reads the note; ``{note}`` is where that lies.
        provider: the simulator it talks to by itself.
        files: of its home, with their text; ``{port}`` is the recorder's.
    """

    words: Sequence[str]
    tool: str
    arguments: Mapping[str, str] | str
    provider: str
    files: Mapping[str, str] = field(default_factory=dict)

    def script(self, note: Path, provider: str, is_long: bool) -> str:
        """The upstream's turns: the call, and after it what the model says by itself."""
        held = json.loads(json.dumps(self.arguments).replace("{note}", str(note)))
        if isinstance(held, str) and provider != "openai":
            held = {"input": held}  # others know no tools with free text
        call = {"name": self.tool, "arguments": held}
        calls = [call, call] if is_long else [call]
        words = (
            {} if provider == "gemini" else {"text": "I read it."}
        )  # its proof would stand on the text, not the call
        turns = [{"match": {"tool": self.tool, "results": False}, "answer": {**words, "calls": calls}}]
        if is_long:
            again = {**words, "calls": [call]}
            turns.append({"match": {"tool": self.tool, "results": True}, "times": 1, "answer": again})
        return json.dumps({"version": 1, "turns": turns})


PI = ("pi", "-p", QUESTION, "--no-session", "--tools", "read,ls")
CODEX = Agent(
    ("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json", QUESTION),
    "exec",
    "const r = await tools.exec_command({cmd: 'cat notes.txt'}); text(r.output)",
    "openai",
)
OWN_PROVIDER = """model_provider = "own"
[model_providers.own]
name = "own"
base_url = "http://127.0.0.1:{port}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = """
AGENTS = {
    "claude": Agent(
        (
            *("claude", "-p", QUESTION, "--output-format", "text", "--tools", "Glob,Read"),
            *("--allowedTools", "Glob,Read", "--system-prompt", "Be brief."),
        ),
        "Read",
        {"file_path": "{note}"},
        "anthropic",
    ),
    "pi": Agent(
        (*PI, "--provider", "anthropic", "--model", "claude-sonnet-4-5"), "read", {"path": "notes.txt"}, "anthropic"
    ),
    "pi-openai": Agent((*PI, "--provider", "openai", "--model", "gpt-5"), "read", {"path": "notes.txt"}, "openai"),
    "qwen": Agent(
        ("qwen", "-p", QUESTION, "--auth-type", "openai"),
        "read_file",
        {"file_path": "{note}"},
        "qwen",
        {".qwen/settings.json": '{"usageStatisticsEnabled": false, "telemetry": {"enabled": false}}'},
    ),
    "codex": CODEX,
    "codex-own": replace(CODEX, files={".codex/config.toml": OWN_PROVIDER + "false\n"}),
    "codex-own-websocket": replace(CODEX, files={".codex/config.toml": OWN_PROVIDER + "true\n"}),
}
MODELS = {
    "anthropic": "claude-opus-5-5",
    "deepseek": "deepseek-v4-flash",
    "gemini": "gemini-3-pro-preview",
    "glm": "glm-5",
    "kimi": "kimi-k2.5",
    "minimax": "MiniMax-M2.5",
    "ollama": "qwen3:8b",
    "openai": "gpt-5.2",
    "qwen": "qwen3.5-plus",
}
"""What an upstream of another protocol is asked for: a client names models of its own provider."""

KEY = "sk-ant-api03-" + "aB3dE6gH9kq7Zt2"[::-1] * 4  # a made-up word in it would say that it is no secret
ENVIRONMENT = {
    "ANTHROPIC_API_KEY": KEY,
    "OPENAI_API_KEY": KEY,
    "OPENAI_MODEL": "sim-model",
    "PI_OFFLINE": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


class Follower(threading.Thread):
    """Looks at the file while it grows; ``seen`` are the lengths of answers that were not over yet."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.path = path
        self.seen: set[tuple[int, int]] = set()
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.wait(PAUSE / 2):
            try:
                exchanges = look(self.path)
            except (OSError, SessionFormatError):
                continue
            for index, exchange in enumerate(exchanges):
                if exchange.state is State.OPEN and exchange.response:
                    self.seen.add((index, len(exchange.response.body.raw)))


def look(path: Path) -> list[Exchange]:
    session = open_session(path)
    try:
        return list(exchanges_of(session))
    finally:
        session.close()


def record(
    agent: Agent, home: Path, out: Path, provider: str, words: Sequence[str], is_long: bool, refused: HttpFault | None
) -> int:
    """Run it, compare, and say what was seen; the number of things that are not as they should be."""
    note = home / "notes.txt"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    note.write_text(f"{NOTE}\n", encoding="utf-8")
    for name, text in agent.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text.replace("{port}", str(port)), encoding="utf-8")
    served = list[Exchange]()
    model: ScriptedModel = read_script(
        agent.script(note, provider, is_long), "script", Dials(latency=PAUSE, http=refused)
    )
    follower = Follower(out)
    with serve(Simulator(provider, model=model, ended=served.append)) as upstream:
        follower.start()
        line = [sys.executable, "-m", "workbench", "record", "--upstream", upstream.url, "--out", str(out), *words]
        line += ["--port", str(port)]
        done = subprocess.run(
            [*line, "--", *agent.words],
            env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": str(home), **ENVIRONMENT},
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        follower.is_over.set()
        follower.join()
    print(done.stderr)
    print(done.stdout)
    checked = subprocess.run([sys.executable, "-m", "workbench", "check", str(out)], capture_output=True, text=True)
    print(checked.stdout)
    every = [e for e in look(out) if e.request and e.request.method == "POST"]
    hops = dict.fromkeys(e.hop for e in every)
    turns = [e for e in every if e.hop == list(hops)[-1]]  # where the upstream is
    expected = {200, refused.status} if refused else {200}
    has_socket = any(e.response and e.response.status == 101 for e in served)
    facts = {
        "the agent ended well": done.returncode == 0,
        "it showed the answer": NOTE in done.stdout,
        "requests are as the upstream got them": _bodies(turns, "request") == _bodies(served, "request"),
        "answers are as the upstream gave them": _bodies(turns, "response") == _bodies(served, "response"),
        "the upstream accepted all of them": {e.response.status for e in served if e.response} - {101} == expected,
        "all are complete": {e.state for e in every} == {State.COMPLETE},
        "the file is whole": not fsck(out).problems,
        "the dummy key is not in it": KEY.encode() not in out.read_bytes() and all(KEY not in str(e) for e in every),
        "workbench check finds nothing": checked.returncode == 0 or refused is not None,
        "answers were seen as they grew": len(follower.seen) > (0 if has_socket else 1),
    }
    for fact, holds in facts.items():
        print(f"{'ok ' if holds else 'NOT'} {fact}")
    print(f"{every[0].client if every else agent.words[0]}: {len(turns)} turns, {len(follower.seen)} states seen")
    return sum(not holds for holds in facts.values())


def _bodies(exchanges: Sequence[Exchange], side: str) -> list[bytes]:
    return [getattr(e, side).body.raw for e in exchanges if e.request and e.request.method == "POST"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live", description=__doc__)
    parser.add_argument("agent", choices=AGENTS)
    parser.add_argument("--keep", metavar="FILE", type=Path, help="keep the recording there")
    parser.add_argument("--provider", metavar="CONTRACT", help="what the upstream is (default: the agent's own)")
    parser.add_argument("--as", dest="protocol", metavar="PROTOCOL", help="what the upstream speaks")
    parser.add_argument("--long", action="store_true", help="three turns, the first with two calls")
    parser.add_argument("--no-websocket", action="store_true", help="refuse WebSockets: the agent goes on over HTTP")
    parser.add_argument("--refuse", metavar="STATUS", type=int, help="what the upstream answers first")
    args = parser.parse_args()
    agent = AGENTS[args.agent]
    if not shutil.which(agent.words[0]):
        print(f"skipped: {agent.words[0]} is not installed")
        return 0
    provider = args.provider or agent.provider
    is_other = provider != agent.provider
    words = ["--as", args.protocol, *(["--model", MODELS[provider]] if is_other else [])] if args.protocol else []
    words += ["--no-websocket"] if args.no_websocket else []
    refused = HttpFault(args.refuse, times=1, retry_after=1.0) if args.refuse else None
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        out = args.keep.absolute() if args.keep else Path(folder) / "live.wb"
        return record(agent, home, out, provider, words, args.long, refused)


if __name__ == "__main__":
    raise SystemExit(main())
