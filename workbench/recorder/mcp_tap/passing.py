"""Passes bytes between a client and its MCP server, unchanged and unread, and hands copies to a tape."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, NamedTuple

from workbench.recorder.mcp_tap.tape import RECEIVED, SENT, STDERR, Tape

_READ = 1 << 16
_ERRORS = 2
_STDERR_SECONDS = 0.5
"""Seconds to wait for standard error after the server has ended: processes that it left behind may hold it for ever."""

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def pass_through(command: Sequence[str], tape: Tape) -> int:
    """Run a server to its end and return its exit status, negative for the signal that ended it.

    Raises:
        OSError: it cannot be executed.
    """
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
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
        while data := os.read(source.handle, _READ):
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
