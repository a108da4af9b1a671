"""Records a real agent on loopback, follows the file meanwhile, and checks what was recorded.

    python -m tests.live pi
    python -m tests.live claude [--keep FILE]

The agent is the one on the PATH; without it nothing is done. It runs in an empty home with a dummy key. The upstream
is scripted here after the published shapes of the Messages API: a call of the agent's tool that reads a file, then the
answer, each event sent by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.record_anthropic import MODEL, THINKING, Json, stream, typed
from workbench.errors import SessionFormatError
from workbench.wire.exchange import Exchange, State
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import fsck, open_session

KEY = "sk-ant-api03-" + "dummy0KEY" * 6
ANSWER = "The note says: the harbour opens at noon."
PAUSE = 0.05
"""Seconds between two events: a person could watch it."""

AGENTS = {
    "pi": (
        *("pi", "-p", "What does notes.txt say?", "--provider", "anthropic", "--model", "claude-sonnet-4-5"),
        *("--no-session", "--tools", "read,ls"),
    ),
    "claude": (
        *("claude", "-p", "What does notes.txt say?", "--output-format", "text"),
        *("--allowedTools", "Glob,Read", "--system-prompt", "Be brief."),
    ),
}
QUIET = {
    "PI_OFFLINE": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


class Scripted(ThreadingHTTPServer):
    """The upstream; keeps the bodies of both directions."""

    daemon_threads = True

    def __init__(self, note: Path) -> None:
        self.note = note
        self.asked: list[bytes] = []
        self.answered: list[bytes] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Scripted

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        asked: Json = json.loads(body)
        answer = self._script(asked).replace(MODEL.encode(), asked["model"].encode())  # agents drop another's thinking
        events = [part + b"\n\n" for part in answer.split(b"\n\n") if part]
        self.server.asked.append(body)
        self.server.answered.append(b"".join(events))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()
            time.sleep(PAUSE)
        self.wfile.write(b"0\r\n\r\n")

    def _script(self, asked: Json) -> bytes:
        """A call of the tool that reads; the answer once there is a result. Thinking comes first where it is on."""
        thought = [THINKING] if asked.get("thinking", {}).get("type") in ("enabled", "adaptive") else []
        if "tool_result" in json.dumps(asked["messages"][-3:]):
            return stream([*thought, said(*ANSWER.replace(" ", " |").split("|"))], "end_turn")
        tool = next(t for t in asked["tools"] if t["name"].lower() == "read")
        path = next(name for name in tool["input_schema"]["properties"] if "path" in name)
        text = json.dumps({path: str(self.server.note)})
        pieces = typed("input_json_delta", "partial_json", "", *(text[n : n + 9] for n in range(0, len(text), 9)))
        call: Json = {"type": "tool_use", "id": "toolu_01Live", "name": tool["name"], "input": {}}
        return stream([*thought, said("I ", "read it."), (call, pieces)], "tool_use")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def said(*pieces: str) -> tuple[Json, list[Json]]:
    return {"type": "text", "text": ""}, typed("text_delta", "text", *pieces)


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


def record(agent: str, home: Path, out: Path) -> int:
    """Run it, compare, and say what was seen; the number of things that are not as they should be."""
    note = home / "notes.txt"
    note.write_text("the harbour opens at noon\n", encoding="utf-8")
    upstream, follower = Scripted(note), Follower(out)
    threading.Thread(target=upstream.serve_forever, args=(0.05,), daemon=True).start()
    follower.start()
    words = [sys.executable, "-m", "workbench", "record", "--upstream", f"anthropic={upstream.url}", "--out", str(out)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "ANTHROPIC_API_KEY": KEY, **QUIET}
    done = subprocess.run(
        [*words, "--", *AGENTS[agent]],
        env=environment,
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
    turns = [e for e in look(out) if e.request and e.request.method == "POST"]
    facts: dict[str, Any] = {
        "the agent ended well": done.returncode == 0,
        "it showed the answer": ANSWER in done.stdout,
        "requests are as the upstream got them": [e.request and e.request.body.raw for e in turns] == upstream.asked,
        "answers are as the upstream gave them": [e.response and e.response.body.raw for e in turns]
        == upstream.answered,
        "all are complete": {e.state for e in turns} == {State.COMPLETE},
        "the file is whole": not fsck(out).problems,
        "the dummy key is not in it": KEY.encode() not in out.read_bytes() and all(KEY not in str(e) for e in turns),
        "workbench check finds nothing": checked.returncode == 0,
        "answers were seen as they grew": len(follower.seen) > 5,
    }
    for fact, holds in facts.items():
        print(f"{'ok ' if holds else 'NOT'} {fact}")
    print(f"{turns[0].client if turns else agent}: {len(turns)} turns, {len(follower.seen)} states seen before the end")
    return sum(not holds for holds in facts.values())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live", description=__doc__)
    parser.add_argument("agent", choices=AGENTS)
    parser.add_argument("--keep", metavar="FILE", type=Path, help="keep the recording there")
    args = parser.parse_args()
    if not shutil.which(args.agent):
        print(f"skipped: {args.agent} is not installed")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        return record(args.agent, home, args.keep.absolute() if args.keep else Path(folder) / "live.wb")


if __name__ == "__main__":
    raise SystemExit(main())
