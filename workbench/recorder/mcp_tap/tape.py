"""Passes bytes between a client and its MCP server, unchanged and unread, and copies to the process that records them.

Traffic never waits for the recording.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import IO, TYPE_CHECKING, NamedTuple, NoReturn

from workbench.errors import WorkbenchError
from workbench.ir import NOTHING, JsonValue
from workbench.recorder.mcp_tap.events import ENDED, HEAD, LOST, RECEIVED, SENT, STDERR, TapeEvent
from workbench.recorder.mcp_tap.held_lines import HeldLines, PassedStream, json_object

if TYPE_CHECKING:
    from workbench.recorder.child import ChildProcess


NOTHING_RECORDED = "recording failed; nothing is recorded"

_SQLITE = b"SQLite format 3\0"
"""Beginning of a session file."""

MOST_WAITING_BYTES = 256 * 1024 * 1024
"""Bytes that may wait for the recorder; beyond them bytes pass unrecorded."""

END_WAIT = 1.5
"""Seconds that the end of a tap waits, at most, for its recorder to be started; clients send SIGTERM after two
(TypeScript SDK). The recorder reads and writes the rest after the tap has ended."""

FLUSH_WAIT = 0.02
"""Seconds in which most recorders have read everything."""

_WRITTEN_AT_ONCE = 1 << 16
_MOST_FILES = 1024
"""More than a tap has open."""


class Tape:
    """Hands events to a recorder in another process; if that is missing or dies, everything is dropped.

    Args:
        task: for the recorder.
        trouble: called with what goes wrong, one line each.

    Attributes:
        on_line: called with each line of the recorder, in a thread.
        on_gone: called when the recorder has ended.
    """

    def __init__(self, task: Mapping[str, JsonValue], trouble: Callable[[str], None]) -> None:
        self._task = task
        self._trouble = trouble
        self._began = time.monotonic()
        self._events = SimpleQueue[TapeEvent | None]()
        self._lock = threading.Lock()
        self._waiting = 0
        self._is_gone = False
        self._unwritten = memoryview(b"")  # bytes of events that are not written yet
        self._is_over = self._is_leaving = False
        self._wake = os.pipe()
        self._handle: int | None = None  # of the pipe to the recorder
        self.on_line: Callable[[bytes], None] | None = None
        self.on_gone: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._hand_over, name="tape", daemon=True)

    @property
    def is_armed(self) -> bool:
        """Breakpoints are armed from the beginning."""
        return bool(self._task.get("breaks"))

    def start(self) -> None:
        """Start the recorder, beside the traffic."""
        self._thread.start()

    def note(self, kind: int, data: bytes) -> None:
        """Take bytes that passed. Never waits for the recorder, never raises."""
        if self._is_gone:
            return
        with self._lock:
            is_kept = self._waiting + len(data) <= MOST_WAITING_BYTES or kind >= ENDED
            self._waiting += len(data) if is_kept else 0
        at = time.monotonic() - self._began
        self._events.put(TapeEvent(kind, at, data) if is_kept else TapeEvent(kind + LOST, at, b"%d" % len(data)))

    def end(self, status: int) -> None:
        """Note the exit status of the server. What the recorder has not yet read is left to a process that it reads."""
        self.note(ENDED, b"%d" % status)
        self._events.put(None)
        self._thread.join(FLUSH_WAIT)
        if self._thread.is_alive():
            self._is_leaving = True
            os.write(self._wake[1], b"!")
            self._thread.join(END_WAIT)
            if self._handle is not None and not self._thread.is_alive():
                self._hand_to_fork(self._handle)

    def _hand_over(self) -> None:
        from workbench.recorder.child import ChildProcess

        refused = refusal_of(Path(self._task["out"]))
        try:
            if refused:
                raise WorkbenchError(refused)
            child = ChildProcess("workbench.recorder.mcp_tap.writing", self._task, is_awaited=False)
        except (OSError, WorkbenchError) as error:
            self._stop_recording(f"{NOTHING_RECORDED}: {error}")
            return
        threading.Thread(target=self._listen, args=(child,), name="from the recorder", daemon=True).start()
        self._handle = child.input.fileno()
        try:
            self._write_all(self._handle)
        except OSError:
            self._handle = None
            self._stop_recording("the recording ended early: the process that writes it has died; traffic continues")
        if not self._is_leaving:
            with suppress(OSError):
                child.input.close()

    def _listen(self, child: ChildProcess) -> None:
        """Read what the recorder says: that it cannot write, or, with breakpoints, what becomes of held lines."""
        for line in child.output:
            if line.startswith(b'{"error"'):
                self._stop_recording(f"{NOTHING_RECORDED}: {json_object(line)['error']}")
            elif self.on_line:
                self.on_line(line)
        if self.on_gone:
            self.on_gone()

    def _write_all(self, handle: int) -> None:
        """Write events up to the last one, or until the end is left to another process. Raises OSError."""
        os.set_blocking(handle, False)
        while self._unwritten or not self._is_over:
            if not self._unwritten:
                self._unwritten = self._next_events()
            if self._is_leaving:
                return
            if self._unwritten and handle in select.select([self._wake[0]], [handle], [])[1]:
                count = os.write(handle, self._unwritten[:_WRITTEN_AT_ONCE])
                self._unwritten = self._unwritten[count:]

    def _next_events(self) -> memoryview:
        """The bytes of the next events, once there is one, or of none after the last."""
        batch = bytearray()
        while not self._is_over and (not batch or not self._events.empty()) and len(batch) < _WRITTEN_AT_ONCE:
            event = self._events.get()
            self._is_over = event is None
            if event:
                batch += HEAD.pack(event.kind, event.at, len(event.data)) + event.data
                with self._lock:
                    self._waiting -= len(event.data)
        return memoryview(bytes(batch))

    def _hand_to_fork(self, handle: int) -> None:
        """Have a copy of this process write what is left, so that this one can end."""
        rest = [self._unwritten]
        while not self._is_over:
            rest.append(self._next_events())
        if not any(map(len, rest)):
            return
        with suppress(OSError):  # no process is to be had: the rest is lost
            if os.fork() == 0:
                _write_alone(handle, rest)

    def _stop_recording(self, line: str) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._events = SimpleQueue()
            self._trouble(line)


def _write_alone(handle: int, rest: Sequence[memoryview]) -> NoReturn:
    """In a copy of the tap: let go of everything but the pipe to the recorder, write to that, and end."""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nothing, standard)
        os.closerange(3, handle)
        os.closerange(handle + 1, _MOST_FILES)
        os.setsid()
        os.set_blocking(handle, True)
        for data in rest:
            while data:
                data = data[os.write(handle, data) :]
    finally:
        os._exit(0)


def refusal_of(out: Path) -> str:
    """Why a file cannot be a session file; empty if it can, as far as its beginning tells."""
    try:
        with out.open("rb") as file:
            begin = file.read(len(_SQLITE))
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{out}: {error.strerror}"
    return "" if begin in (b"", _SQLITE) else f"{out}: not a session file"


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
        to_server, to_client = _TappedStream(server.stdin.fileno(), server.stdin), _TappedStream(1)
        sent = PassedStream(to_server.handle, SENT, tape.note)
        received = PassedStream(to_client.handle, RECEIVED, tape.note)
        held_lines = HeldLines(sent, received, tape.note, is_armed=tape.is_armed)
        tape.on_line, tape.on_gone = held_lines.hear, held_lines.give_up
        errors = PassedStream(_ERRORS, STDERR, tape.note)
        _start(_pump, _TappedStream(0), to_server, sent, held_lines.leave)
        answers = _start(
            _pump, _TappedStream(server.stdout.fileno(), server.stdout), to_client, received, held_lines.wait
        )
        complaints = _start(_pump, _TappedStream(server.stderr.fileno(), server.stderr), _TappedStream(_ERRORS), errors)
        tape.start()
        status = _wait(server)
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


def _pump(
    source: _TappedStream, target: _TappedStream, stream: PassedStream, at_end: Callable[[], None] = lambda: None
) -> None:
    """Copy until either side closes, then close the other: each notices what it would have noticed without a tap."""
    with suppress(OSError):
        while data := os.read(source.handle, _PASSED_AT_ONCE):
            stream.take(data)
        at_end()
    stream.end()
    source.close()
    target.close()


def _wait(server: subprocess.Popen[bytes]) -> int:
    """Exit status of a server once it ends.

    A signal that comes just before a blocking call does not interrupt it. So this thread reads a pipe into which both
    write: the thread that waits, and every signal as it comes.
    """
    waiting, woken = os.pipe()
    os.set_blocking(woken, False)

    def end() -> None:
        server.wait()
        os.write(woken, b"\0")

    before = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    try:
        waiter = _start(end)
        while server.returncode is None:
            os.read(waiting, 64)
    finally:
        signal.set_wakeup_fd(before)
    waiter.join()
    os.close(waiting)
    os.close(woken)
    return server.returncode


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
        with suppress(OSError):  # of SIGKILL it cannot be set
            signal.signal(-status, signal.SIG_DFL)
        with suppress(OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the server's own dump is the one to look at
        os.kill(os.getpid(), -status)
    return status
