"""What passed through a tap, on its way to the process that records it. Traffic never waits for it."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import WorkbenchError
from workbench.ir import JsonValue

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
            self._stop(f"nothing is recorded: {error}")
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
