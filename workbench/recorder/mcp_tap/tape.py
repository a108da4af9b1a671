"""Passes bytes between a client and its MCP server, unchanged and unread, and copies to the process that records them.

Traffic never waits for the recording.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from types import FrameType
from typing import IO, TYPE_CHECKING, NamedTuple

from workbench.errors import WorkbenchError
from workbench.ir import NOTHING, JsonValue

if TYPE_CHECKING:
    from workbench.recorder.child import ChildProcess


SENT, RECEIVED, STDERR, LOST_SENT, LOST_RECEIVED, LOST_STDERR, ENDED = range(7)
"""Kinds of events: bytes of a stream; a number of bytes of it that were not kept; the exit status of the server."""

LOST = LOST_SENT - SENT
"""Difference between the kind of bytes that were not kept and that of bytes that were."""

MOST = 256 * 1024 * 1024
"""Bytes that may wait for the recorder; beyond them bytes pass unrecorded."""

PATIENCE = 1.5
"""Seconds that the end of a tap waits for its recorder: clients send SIGTERM after two (TypeScript SDK)."""

_HEAD = struct.Struct("!BdQ")
"""Kind, seconds since the connection began, and bytes that follow."""

_READ = 1 << 20


class TapeEvent(NamedTuple):
    """One event: its kind, the seconds since the connection began, and bytes (for ``LOST`` and ``ENDED`` a number)."""

    kind: int
    at: float
    data: bytes

    @property
    def number(self) -> int:
        """The data as a number."""
        return int(self.data)


class Tape:
    """Hands events to a recorder in another process; if that is missing or dies, everything is dropped.

    Args:
        task: for the recorder.
        trouble: called with what goes wrong, one line each.
    """

    def __init__(self, task: Mapping[str, JsonValue], trouble: Callable[[str], None]) -> None:
        self._task = task
        self._trouble = trouble
        self._began = time.monotonic()
        self._events = SimpleQueue[TapeEvent | None]()
        self._lock = threading.Lock()
        self._waiting = 0
        self._is_gone = False
        self._thread = threading.Thread(target=self._hand_over, name="tape", daemon=True)

    def start(self) -> None:
        """Start the recorder, beside the traffic."""
        self._thread.start()

    def note(self, kind: int, data: bytes) -> None:
        """Take bytes that passed. Never waits for the recorder, never raises."""
        if self._is_gone:
            return
        with self._lock:
            is_kept = self._waiting + len(data) <= MOST
            self._waiting += len(data) if is_kept else 0
        at = time.monotonic() - self._began
        self._events.put(TapeEvent(kind, at, data) if is_kept else TapeEvent(kind + LOST, at, b"%d" % len(data)))

    def end(self, status: int) -> None:
        """Note the exit status of the server, and wait a moment until all is written."""
        self.note(ENDED, b"%d" % status)
        self._events.put(None)
        self._thread.join(PATIENCE)

    def _hand_over(self) -> None:
        from workbench.recorder.child import ChildProcess

        try:
            child = ChildProcess("workbench.recorder.mcp_tap.writing", self._task, patience=PATIENCE)
        except (OSError, WorkbenchError) as error:
            self._stop(f"recording failed, nothing is recorded: {error}")
            return
        try:
            self._write_all(child)
        except OSError:
            self._stop("the recording ended early: the process that writes it has died; traffic continues")
        with suppress(OSError):
            child.input.close()
        child.process.wait()  # the tap waits for this thread only a moment

    def _write_all(self, child: ChildProcess) -> None:
        while event := self._events.get():
            child.input.write(_HEAD.pack(event.kind, event.at, len(event.data)) + event.data)
            if self._events.empty():
                child.input.flush()
            with self._lock:
                self._waiting -= len(event.data)

    def _stop(self, line: str) -> None:
        self._is_gone = True
        self._events = SimpleQueue()
        self._trouble(line)


class TapeReader:
    """Reads events back from the bytes of a pipe, however these are cut."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._held = bytearray()

    def batches(self) -> Iterator[list[TapeEvent]]:
        """Events as they come, several at a time, until the pipe ends; one that is cut is dropped."""
        while piece := self._read(_READ):
            self._held += piece
            if events := list(self._whole()):
                yield events

    def _whole(self) -> Iterator[TapeEvent]:
        at = 0
        while len(self._held) - at >= _HEAD.size:
            kind, seconds, size = _HEAD.unpack_from(self._held, at)
            if len(self._held) - at - _HEAD.size < size:
                break
            at += _HEAD.size + size
            yield TapeEvent(kind, seconds, bytes(self._held[at - size : at]))
        del self._held[:at]


_PASSED_AT_ONCE = 1 << 16
_ERRORS = 2
_STDERR_SECONDS = 0.5
"""Seconds to wait for standard error after the server has ended: processes that it left behind may hold it for ever."""

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def pass_through(command: Sequence[str], tape: Tape, variables: Mapping[str, str] = NOTHING) -> int:
    """Run a server to its end and return its exit status, negative for the signal that ended it.

    Args:
        variables: of its environment, beside those of this process.

    Raises:
        OSError: it cannot be executed.
    """
    environment = {**os.environ, **variables}
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=environment)
    assert server.stdin and server.stdout and server.stderr
    with _forwarding(server):
        _start(_pump, _TappedStream(0), _TappedStream(server.stdin.fileno(), server.stdin), SENT, tape)
        answers = _start(_pump, _TappedStream(server.stdout.fileno(), server.stdout), _TappedStream(1), RECEIVED, tape)
        complaints = _start(_pump, _TappedStream(server.stderr.fileno(), server.stderr), _TappedStream(2), STDERR, tape)
        tape.start()
        status = server.wait()
        answers.join()
        complaints.join(_STDERR_SECONDS)
    return status


class _TappedStream(NamedTuple):
    """A stream by its handle, and the file that owns it; a standard stream has none."""

    handle: int
    file: IO[bytes] | None = None

    def close(self) -> None:
        """Close it. A standard stream is replaced, so that no file opened later takes its number; errors stay open."""
        with suppress(OSError):
            if self.file:
                self.file.close()
            elif self.handle != _ERRORS:
                nothing = os.open(os.devnull, os.O_RDWR)
                os.dup2(nothing, self.handle)
                os.close(nothing)


def _start(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _pump(source: _TappedStream, target: _TappedStream, kind: int, tape: Tape) -> None:
    """Copy until either side closes, then close the other: each notices what it would have noticed without a tap."""
    with suppress(OSError):
        while data := os.read(source.handle, _PASSED_AT_ONCE):
            tape.note(kind, data)
            _write(target.handle, data)
    source.close()
    target.close()


def _write(target: int, data: bytes) -> None:
    written = os.write(target, data)
    while written < len(data):
        data = data[written:]
        written = os.write(target, data)


@contextmanager
def _forwarding(server: subprocess.Popen[bytes]) -> Iterator[None]:
    """Pass signals on to the server while it runs; what it makes of them decides how this process ends."""

    def forward(number: int, frame: FrameType | None) -> None:
        if server.poll() is None:
            server.send_signal(number)
        else:  # something that it left behind still holds its output
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    before = {number: signal.signal(number, forward) for number in _FORWARDED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_as(status: int) -> int:
    """An exit status for this process; if a signal ended the server, the same signal ends this process here."""
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        with suppress(OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the server's own dump is the one to look at
        os.kill(os.getpid(), -status)
    return status
