"""A tap between a client and a real server process: the bytes, the exit status, and what the file holds."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.errors import WorkbenchError
from workbench.recorder import child
from workbench.recorder.mcp_tap.events import ENDED, LOST_RECEIVED, RECEIVED, SENT, TapeEvent, TapeReader
from workbench.recorder.mcp_tap.tape import Tape
from workbench.recorder.mcp_tap.writing import TapWriter, read_ahead
from workbench.wire import Redactor
from workbench.wire.exchange import Exchange, ExchangeKind, HttpRequest, State
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import open_session
from workbench.wire.session.writer import SessionWriter

KEY = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT" * 2
SERVER = """
import json, sys
print("ready", file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "tools/call":
        print("a log line", flush=True)
    if asked.get("method") == "tools/list":
        sys.exit(7)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"key": "KEY"}}), flush=True)
""".replace("KEY", KEY)
ASKED = (
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "a/b", "arguments": {"key": KEY}}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
)


def tap(out: Path, *command: str) -> list[str]:
    return [sys.executable, "-m", "workbench", "mcp-tap", "my server", "-o", str(out), "--", *command]


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-S", "-c", code


def written(out: Path) -> list[Exchange]:
    """The exchanges of a session, once every tap has ended and has written what it passed."""
    pause = threading.Event()
    while True:
        try:
            session = open_session(out)
        except (OSError, WorkbenchError):
            found = []
        else:
            with closing(session):
                found = list(exchanges_of(session))
        tools = [exchange for exchange in found if exchange.kind is ExchangeKind.MCP]
        if tools and all(exchange.state is not State.OPEN for exchange in tools):
            return found
        pause.wait(0.02)


def run(out: Path, given: bytes, *command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(tap(out, *command), input=given, capture_output=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def told() -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in ASKED)


@pytest.fixture(scope="module")
def passed(told: bytes, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[bytes]]:
    """A tap that writes into a file to which another recorder writes at the same time."""
    out = tmp_path_factory.mktemp("tap") / "session.wb"
    with SessionWriter(out) as other:
        other.append(Exchange("model", HttpRequest(url="https://api.example/v1/messages")))
        return out, run(out, told, *python(SERVER), "--token", KEY)


@pytest.fixture(scope="module")
def recorded(passed: tuple[Path, object]) -> list[Exchange]:
    model, *tools = written(passed[0])
    assert model.id == "model"
    return tools


def test_bytes_and_exit_status_are_those_without_a_tap(
    told: bytes, passed: tuple[Path, subprocess.CompletedProcess[bytes]]
) -> None:
    alone = subprocess.run([*python(SERVER)], input=told, capture_output=True, timeout=60, check=False)
    _, through = passed
    assert (through.stdout, through.stderr, through.returncode) == (alone.stdout, alone.stderr, 7)
    assert KEY.encode() in through.stdout


def test_each_request_is_an_exchange_and_the_connection_has_all_lines(recorded: list[Exchange]) -> None:
    connection, *calls = recorded
    assert all(exchange.kind is ExchangeKind.MCP for exchange in recorded)
    assert [(call.request.method, call.request.url, call.state) for call in calls if call.request] == [
        ("initialize", "mcp://my%20server/", State.COMPLETE),
        ("tools/call", "mcp://my%20server/a%2Fb", State.COMPLETE),
        ("tools/list", "mcp://my%20server/", State.ABORTED),
    ]
    lines = [(frame.opcode, frame.data) for frame in connection.frames if frame.direction == "received"]
    assert [data for opcode, data in lines if opcode == "stderr"] == [b"ready"]
    assert len(lines) == 4
    assert ("text", b"a log line") in lines
    assert "exit status 7" in connection.note


def files_kept(folder: Path) -> list[bytes]:
    """What each file of a folder holds; those that the last writer of the session was removing are read again."""
    pause = threading.Event()
    while True:
        try:
            return [file.read_bytes() for file in folder.iterdir()]
        except FileNotFoundError:  # the recorder of a tap ends after its last exchange is in the file
            pause.wait(0.02)


def test_no_secret_is_in_the_file(passed: tuple[Path, object], recorded: list[Exchange]) -> None:
    assert KEY not in str(recorded)
    assert not any(KEY.encode() in held for held in files_kept(passed[0].parent))
    assert str(recorded).count("sk-ant-api03-") > 4  # its stand-in: in the command, both directions, and frames


def test_bytes_that_are_no_messages_pass_too(tmp_path: Path) -> None:
    blob = random.Random(20).randbytes(1_000_000)
    through = run(tmp_path / "s.wb", blob, "cat")
    assert through.stdout == blob
    assert (through.stderr, through.returncode) == (b"", 0)


def test_a_file_that_cannot_be_written_stops_nothing(tmp_path: Path, told: bytes) -> None:
    (tmp_path / "s.wb").write_text("something else")
    through = run(tmp_path / "s.wb", told, "cat")
    assert (through.stdout, through.returncode) == (told, 0)
    assert through.stderr.startswith(b"workbench: mcp-tap: recording failed; nothing is recorded: ")
    assert (tmp_path / "s.wb").read_text() == "something else"


def test_a_signal_reaches_the_server_and_ends_the_tap_as_it_ended_the_server(tmp_path: Path) -> None:
    with subprocess.Popen(tap(tmp_path / "s.wb", "cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"{}\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"{}\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == -signal.SIGTERM


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    through = run(tmp_path / "s.wb", b"", "no-such-server")
    assert (through.returncode, through.stdout) == (127, b"")
    assert through.stderr == b"workbench: no-such-server: command not found\n"
    assert not (tmp_path / "s.wb").exists()


def test_a_recorder_that_dies_is_told_once_and_nothing_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given, target = os.pipe()
    os.close(given)
    dead = SimpleNamespace(input=os.fdopen(target, "wb"), output=())
    monkeypatch.setattr(child, "ChildProcess", lambda *_, **__: dead)
    said: list[str] = []
    tape = Tape({"out": "no-such-file.wb"}, said.append)
    tape.note(SENT, b"a")
    tape.start()
    tape.note(RECEIVED, b"b")
    tape.end(0)
    tape.note(SENT, b"c")
    assert said == ["the recording ended early: the process that writes it has died; traffic continues"]


def test_what_does_not_fit_is_counted_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.recorder.mcp_tap.tape.MOST_WAITING_BYTES", 5)
    given, target = os.pipe()
    held = SimpleNamespace(input=os.fdopen(target, "wb"), output=())
    monkeypatch.setattr(child, "ChildProcess", lambda *_, **__: held)
    tape = Tape({"out": "no-such-file.wb"}, pytest.fail)
    for data in (b"abcd", b"efg", b"h"):
        tape.note(RECEIVED, data)
    tape.start()
    tape.end(-9)
    held.input.close()  # as the end of the tap does: on a busy machine a copy of the process writes the rest
    with os.fdopen(given, "rb") as pipe:
        events = [event for batch in TapeReader(lambda size: pipe.read(3)).batches() for event in batch]
    assert [(event.kind, event.data) for event in events] == [
        (RECEIVED, b"abcd"),
        (LOST_RECEIVED, b"3"),
        (RECEIVED, b"h"),
        (ENDED, b"-9"),
    ]
    assert isinstance(events[0], TapeEvent)


def test_a_tap_ends_although_its_recorder_has_not_read_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a pipe holds is left to a copy of the process; the recorder gets all of it."""
    given, target = os.pipe()
    held = SimpleNamespace(input=os.fdopen(target, "wb"), output=())
    monkeypatch.setattr(child, "ChildProcess", lambda *_, **__: held)
    tape = Tape({"out": "no-such-file.wb"}, pytest.fail)
    tape.start()
    data = random.Random(7).randbytes(10_000)
    for _ in range(200):
        tape.note(RECEIVED, data)
    tape.end(-9)
    held.input.close()
    with os.fdopen(given, "rb") as pipe:
        events = [event for batch in TapeReader(pipe.read).batches() for event in batch]
    assert [event.data for event in events] == [*[data] * 200, b"-9"]
    assert events[-1].kind == ENDED


def test_a_server_that_is_killed_ends_the_tap_so(tmp_path: Path) -> None:
    through = run(tmp_path / "s.wb", b"{}\n", *python("import os; input(); os.kill(os.getpid(), 9)"))
    assert (through.returncode, through.stdout, through.stderr) == (-signal.SIGKILL, b"", b"")


def test_events_are_read_ahead_of_the_writer() -> None:
    """All that a tap holds leaves it while nothing is written yet, and comes in order."""
    given = [TapeEvent(RECEIVED, float(n), b"%d" % n) for n in range(100)]
    is_read = threading.Event()

    def batches() -> Iterator[list[TapeEvent]]:
        yield from ([event] for event in given)
        is_read.set()

    events = read_ahead(batches())
    assert is_read.wait(30)
    assert [event for batch in events for event in batch] == given


@pytest.mark.parametrize(("is_ended", "state"), [(True, State.ABORTED), (False, State.INCOMPLETE)])
def test_what_a_stopped_tap_did_not_see_is_not_missing(tmp_path: Path, is_ended: bool, state: State) -> None:
    out = tmp_path / "s.wb"
    tap = TapWriter(SessionWriter(out), Redactor(b"salt"), {"server": "s", "command": "c", "started_at": 0.0})
    asked = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}\n'
    tap.take([TapeEvent(SENT, 0.0, asked), *([TapeEvent(ENDED, 1.0, b"0")] if is_ended else [])])
    tap.close()
    connection, call = exchanges_of(open_session(out))
    assert connection.state is (State.COMPLETE if is_ended else State.INCOMPLETE)
    assert call.state is state
