"""The parent's side of a judging process: units go in ahead, a unit that ends or stops the process is named.

A process is kept for the next batch. It is replaced when a unit crashes it, takes too long, or reaches its memory.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict

from workbench import children
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.survey.child import MEMORY_STATUS
from workbench.survey.judging import JudgeOptions, poison_row
from workbench.survey.object_listing import StoredObject
from workbench.survey.rows import Row
from workbench.wire import dumps, loads

Unit = Sequence[StoredObject]
"""Objects that are judged together: one, or those that conversations are spread over."""

_AHEAD_BYTES = 32 * 1024
"""Bytes of units that a child gets before it has answered: less than a pipe holds, so that neither side waits."""

JUDGE, INDEX = "judge", "index"
_PIECE = 1024 * 1024
_START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Limits of a judging process: seconds for each object, and megabytes of memory."""

    seconds: float = 60.0
    megabytes: int = 2048


class ChildFailed(Exception):
    """The process is gone; the argument tells why: ``timeout``, ``memory``, ``crash:139``."""


class JudgingChild:
    """One process that judges."""

    def __init__(self, options: JudgeOptions, limits: WorkerLimits) -> None:
        self._limits = limits
        self._buffer = b""
        self._process = subprocess.Popen(
            children.running_module("workbench.survey.child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=children.environment(),
        )
        self.send(_options_line(options, limits))
        self.receive(_START_SECONDS)

    def send(self, line: bytes) -> None:
        """Send a line. Raises ChildFailed."""
        assert self._process.stdin
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError as error:
            raise self._failure() from error

    def receive(self, seconds: float) -> JsonValue:
        """The next answer. Raises ChildFailed if the process ends or takes too long."""
        assert self._process.stdout
        handle = self._process.stdout.fileno()
        waiting = select.poll()
        waiting.register(handle, select.POLLIN | select.POLLHUP)
        end = time.monotonic() + seconds
        pieces = [self._buffer]
        while b"\n" not in pieces[-1]:
            if not waiting.poll(max(end - time.monotonic(), 0.0) * 1000):
                self.stop()
                raise ChildFailed("timeout")
            piece = os.read(handle, _PIECE)
            if not piece:
                raise self._failure()
            pieces.append(piece)
        line, _, self._buffer = b"".join(pieces).partition(b"\n")
        return loads(line)

    def _failure(self) -> ChildFailed:
        self.stop()
        status = self._process.returncode
        if status == MEMORY_STATUS:
            return ChildFailed("memory")
        return ChildFailed(f"crash:{128 - status if status < 0 else status}")

    def stop(self) -> None:
        """End the process and wait for it."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.05)
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert stream
                stream.close()

    def end(self) -> None:
        """Let it end by itself, and end it if it does not."""
        with suppress(OSError):
            assert self._process.stdin
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        self.stop()


def _options_line(options: JudgeOptions, limits: WorkerLimits) -> bytes:
    about: dict[str, JsonValue] = {**asdict(options), "key": options.key.hex(), "megabytes": limits.megabytes}
    return dumps(about) + b"\n"


class Worker:
    """Judges units in a process that it replaces when it has to. One thread uses it at a time."""

    def __init__(self, options: JudgeOptions, limits: WorkerLimits) -> None:
        self._options = options
        self._limits = limits
        self._child: JudgingChild | None = None
        self._do = JUDGE
        self._is_closed = False

    def work(self, units: Sequence[Unit], do: str = JUDGE) -> Iterator[list[Row]]:
        """The rows of each unit, in order. A unit that fails is tried once more, alone and object by object."""
        self._do = do
        results: dict[int, list[Row]] = {}
        failed: list[tuple[int, str]] = []
        waiting = deque(enumerate(units))
        while waiting:
            self._judge_until_failure(waiting, results, failed)
        for number, cause in failed:
            results[number] = self._judge_again(units[number], cause)
        yield from (results[number] for number in range(len(units)))

    def _judge_until_failure(
        self, waiting: deque[tuple[int, Unit]], results: dict[int, list[Row]], failed: list[tuple[int, str]]
    ) -> None:
        sent: deque[tuple[int, Unit, int]] = deque()
        try:
            child = self._running()
            while waiting or sent:
                while waiting and (not sent or sum(size for *_, size in sent) < _AHEAD_BYTES):
                    number, unit = waiting[0]
                    line = dumps({"do": self._do, "objects": [list(one) for one in unit]}) + b"\n"
                    sent.append((number, unit, len(line)))
                    waiting.popleft()
                    child.send(line)
                number, unit, _ = sent[0]
                results[number] = child.receive(self._limits.seconds * len(unit))
                sent.popleft()
        except ChildFailed as error:
            self._child = None
            if not sent or self._is_closed:
                raise  # it does not even start: not the fault of a unit
            number, *_ = sent.popleft()
            failed.append((number, str(error)))
            waiting.extendleft((number, unit) for number, unit, _ in reversed(sent))

    def _judge_again(self, unit: Unit, cause: str) -> list[Row]:
        if len(unit) == 1 and cause == "timeout":
            return [poison_row(unit[0], cause, self._options)]
        rows: list[Row] = []
        for found in unit:
            again: dict[int, list[Row]] = {}
            causes: list[tuple[int, str]] = []
            self._judge_until_failure(deque([(0, (found,))]), again, causes)
            rows += again.get(0) or [poison_row(found, causes[0][1] if causes else cause, self._options)]
        return rows

    def _running(self) -> JudgingChild:
        if self._is_closed:
            raise ChildFailed("cancelled")
        if self._child is None:
            self._child = JudgingChild(self._options, self._limits)
        return self._child

    def close(self) -> None:
        """End the process, from any thread. The worker judges nothing more."""
        self._is_closed = True
        if self._child:
            self._child.end()


_workers: dict[tuple[int, JudgeOptions, WorkerLimits], Worker] = {}
_lock = threading.Lock()


def warm_worker(options: JudgeOptions, limits: WorkerLimits) -> Worker:
    """The worker of this thread, with a process that has judged before, if there is one."""
    key = (threading.get_ident(), options, limits)
    with _lock:
        if key not in _workers:
            _workers[key] = Worker(options, limits)
        return _workers[key]


def close_all() -> None:
    """End the processes of all threads, and let their workers start no other one."""
    with _lock:
        for worker in _workers.values():
            worker.close()
        _workers.clear()
