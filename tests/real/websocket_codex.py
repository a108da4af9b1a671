"""Codex through the recorder, in each of its transport settings, against what the same server gets without it.

Codex runs one task with a tool call in an empty home, first against a server, then with the recorder before that. The
server is a strict simulator behind a gate, which refuses the upgrade, resets a connection in place of a response,
or lets everything pass. Compared are what Codex prints, its exit status, and each handshake, head and message that
reaches the gate: ids, digests and times differ between any two runs and are read as such. Plain requests may share a
connection.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.rules.inspection import Inspector
from workbench.simulator import Simulator, serve
from workbench.wire import MessageReader, deflate_of
from workbench.wire.exchange import ExchangeKind
from workbench.wire.session.store import fsck, open_session

_CONFIG = """
model = "gpt-5.4"
model_provider = "sim"
[model_providers.sim]
name = "sim"
base_url = "http://127.0.0.1:{port}{path}"
env_key = "SIM_KEY"
wire_api = "responses"
supports_websockets = {sockets}
stream_idle_timeout_ms = 20000
"""
_TASK = ("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json", "list")
_RESET = struct.pack("ii", 1, 0)
_DIFFERENT = re.compile(
    r"\b(?:call|ctc|fc|msg|resp|rs)_[\w-]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{6,}|\d+"
)
"""Parts of texts that differ between two runs: ids, digests, times and ports."""


@dataclass(frozen=True)
class Setting:
    """How Codex is configured, and what the gate does.

    Attributes:
        status: with which upgrades are answered; 0 to let them pass.
        resets: the first WebSocket is reset in place of the answer to the first turn.
        sockets: WebSockets with turns that the recording has.
    """

    name: str
    has_sockets: bool = True
    status: int = 0
    resets: bool = False
    sockets: int = 1


SETTINGS = (
    Setting("websockets"),
    Setting("http", has_sockets=False, sockets=0),
    Setting("upgrade-refused-426", status=426, sockets=0),
    Setting("upgrade-refused-404", status=404, sockets=0),
    Setting("reset-in-turn", resets=True, sockets=2),
)


@dataclass
class _Passage:
    """One connection through the gate.

    Attributes:
        sent: bytes from the client.
        answer: the first bytes of the server.
        rounds: how often the client sent something after the server did.
    """

    sent: bytes = b""
    answer: bytes = b""
    rounds: int = 0
    is_answered: bool = False


class _Gate:
    """A listener before a server."""

    def __init__(self, target: int, setting: Setting) -> None:
        self.passages: list[_Passage] = []
        self._target = target
        self._setting = setting
        self._has_reset = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        passage, head = _Passage(), b""
        while b"\r\n\r\n" not in head:
            if not (more := client.recv(65536)):
                client.close()
                return
            head += more
        self.passages.append(passage)
        passage.sent += head
        is_upgrade = re.search(rb"(?i)\r\nupgrade: *websocket", head)
        if is_upgrade and self._setting.status:
            client.sendall(b"HTTP/1.1 %d No\r\ncontent-length: 0\r\n\r\n" % self._setting.status)
            client.close()
            return
        server = socket.create_connection(("127.0.0.1", self._target))
        server.sendall(self._addressed(head))
        pump = threading.Thread(
            target=self._send, args=(client, server, passage), kwargs={"is_socket": bool(is_upgrade)}
        )
        pump.daemon = True
        pump.start()
        self._receive(client, server, passage, is_socket=bool(is_upgrade))

    def _addressed(self, data: bytes) -> bytes:
        """Requests with the server's own address."""
        return re.sub(rb"(?im)^host:[^\r]*", b"Host: 127.0.0.1:%d" % self._target, data)

    def _send(self, client: socket.socket, server: socket.socket, passage: _Passage, *, is_socket: bool) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                passage.sent += data
                passage.rounds += passage.is_answered
                passage.is_answered = False
                server.sendall(data if is_socket else self._addressed(data))
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def _receive(self, client: socket.socket, server: socket.socket, passage: _Passage, *, is_socket: bool) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if is_socket and self._setting.resets and not self._has_reset and passage.rounds >= _TURN:
                    self._has_reset = True
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                    break
                passage.answer += data if len(passage.answer) < 4096 else b""
                passage.is_answered = True
                client.sendall(data)
        client.close()
        server.close()


_TURN = 2
"""Round in which a connection is reset: the first is the warm-up, and nothing of the answer to the second passes."""


def _plain(value: Any) -> Any:
    """A value without what differs between two runs."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return _DIFFERENT.sub("#", value) if isinstance(value, str) else value


def _asked(passage: _Passage) -> Iterator[Any]:
    """What a client asked on one connection: the heads, and each message or body."""
    head, _, rest = bytes(passage.sent).partition(b"\r\n\r\n")
    names = sorted(line.partition(b":")[0].lower().decode() for line in head.split(b"\r\n")[1:])
    yield head.split(b"\r\n")[0].decode(), names
    if length := re.search(rb"(?im)^content-length: *(\d+)", head):
        end = int(length[1])
        yield _plain(json.loads(rest[:end])) if rest[:end] else ""
        if rest[end:]:
            yield from _asked(_Passage(rest[end:]))
        return
    extensions = re.search(rb"(?im)^sec-websocket-extensions: *([^\r]*)", passage.answer)
    if not passage.answer.startswith(b"HTTP/1.1 101"):
        return
    reader = MessageReader(deflate_of(extensions[1].decode() if extensions else "", "client"))
    for message in reader.feed(rest):
        yield message.opcode, _plain(json.loads(message.data)) if message.opcode == "text" else len(message.data)


def _said(output: str) -> list[Any]:
    """The events that Codex printed."""
    lines = (line.replace("/v1/responses", "/responses") for line in output.splitlines())
    return [_plain(json.loads(line)) for line in lines if line.startswith("{")]


def _run(setting: Setting, home: Path, *, is_recorded: bool) -> tuple[int, list[Any], list[str]]:
    """One task: the exit status, what Codex printed, and what reached the gate, on whatever connection."""
    with serve(Simulator("openai")) as server:
        gate = _Gate(server.port, setting)
        port = _free_port() if is_recorded else gate.port
        shutil.rmtree(home, ignore_errors=True)
        (home / ".codex").mkdir(parents=True)
        (home / "project").mkdir()
        path = "" if is_recorded else "/v1"  # the recorder adds the path of its upstream
        config = _CONFIG.format(port=port, path=path, sockets=str(setting.has_sockets).lower())
        (home / ".codex" / "config.toml").write_text(config, encoding="utf-8")
        words = [
            "codex",
            "exec",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "--json",
            "list",
        ]
        if is_recorded:
            upstream = f"openai=http://127.0.0.1:{gate.port}/v1"
            record = [sys.executable, "-m", "workbench", "record", "--port", str(port), "--upstream", upstream]
            words = [*record, "--out", str(home / "out.wb"), "--", "env", *words]
        environment = {**os.environ, "HOME": str(home), "CODEX_HOME": str(home / ".codex"), "SIM_KEY": "sk-test-000"}
        done = subprocess.run(
            words, cwd=home / "project", env={**environment, "PYTHONPATH": str(_ROOT)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        gate.close()
    return (
        done.returncode,
        _said(done.stdout),
        sorted(str(part) for passage in gate.passages for part in _asked(passage)),
    )


_ROOT = Path(__file__).resolve().parent.parent.parent


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def _judge(setting: Setting, out: Path) -> str:
    """What the recording is like; empty if it is as it should be."""
    if problems := fsck(out).problems:
        return problems[0]
    inspector = Inspector(open_session(out)).run()
    sockets = [row for row in inspector.rows if row.summary.kind is ExchangeKind.WEBSOCKET]
    if len(sockets) != setting.sockets:
        return f"{len(sockets)} WebSockets are recorded"
    errors = [f.rule for f in inspector.findings if f.severity.value == "error"]
    expected = {"socket.refused-handshake"} if setting.status not in (0, 426) else set[str]()
    expected |= {"stream.truncated", "stream.no-terminator"} if setting.resets else set()
    return f"findings {sorted(set(errors) - expected)}" if set(errors) - expected else ""


def check(setting: Setting, folder: Path) -> str:
    """One setting without and with the recorder: what came of it, in a line."""
    home = folder / "home"
    plain, recorded = (_run(setting, home, is_recorded=is_recorded) for is_recorded in (False, True))
    for what, before, after in zip(("exit status", "output", "requests"), plain, recorded, strict=True):
        if before != after:
            return f"FAILS: the {what} differs: {_first_difference(before, after)}"
    if wrong := _judge(setting, home / "out.wb"):
        return f"FAILS: {wrong}"
    return f"passes: exit {recorded[0]}, {len(recorded[2])} handshakes, heads and messages, all the same"


def _first_difference(before: Any, after: Any) -> str:
    """Where two values differ first, and how."""
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        for a, b in zip(before, after, strict=False):
            if a != b:
                return _first_difference(a, b)
        return f"{len(before)} and {len(after)} parts"
    if isinstance(before, dict) and isinstance(after, dict):
        return next(
            _first_difference(before.get(k), after.get(k)) for k in {*before, *after} if before.get(k) != after.get(k)
        )
    first, second = str(before), str(after)
    at = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
    return f"{first[max(at - 60, 0) : at + 60]!r}, {second[max(at - 60, 0) : at + 60]!r}"


def main(names: Sequence[str]) -> int:
    """Print a line for each setting; 1 if one fails."""
    if not shutil.which("codex"):
        print("skipped: codex is not installed")
        return 0
    failed = 0
    for setting in SETTINGS:
        if names and setting.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            line = check(setting, Path(folder))
        print(f"{setting.name}: {line}", flush=True)
        failed += line.startswith("FAILS")
    return int(bool(failed))
