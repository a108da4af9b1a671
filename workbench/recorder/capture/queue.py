"""The listener that records: it puts events into a queue in the relay's loop, and a thread of its own hands them on.

Memory is bounded: bytes that pass while too much waits to be written are not recorded, and the recording says so.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import count
from typing import Protocol

from workbench.lazy_dataclass import dataclass
from workbench.limits import MAX_RECORDED_BODY, MAX_RECORDING_HELD
from workbench.recorder.capture.keeper import RecordingTally
from workbench.recorder.capture.queued_events import (
    PIECE,
    BytesLost,
    ListenerStarted,
    QueuedEvent,
    RequestsSkipped,
    SocketAsked,
    WriteAwaited,
    memory_of,
)
from workbench.recorder.capture.socket_state import SocketState
from workbench.recorder.events import (
    Event,
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestStarted,
    ResponseBytes,
    ResponseStarted,
)

REQUEST, RESPONSE = "request", "response"
_SIDES: Mapping[type, str] = {RequestBytes: REQUEST, ResponseBytes: RESPONSE}

BATCH = 0.06
"""Seconds between two writes: readers of the file see events that soon, and one transaction holds many."""

SOON, FEW = 0.005, 4
"""While never more exchanges than these were under way since the last write, what is asked and what is over is handed
on after so many seconds: it outlives the recorder whatever happens next. Of more, that would cost twice the work."""

WATCHED = 20
"""Exchanges at once that somebody may watch: of more, each grows less often, and a thousand cost no more than these."""

AGAIN = 1.0
"""Seconds between two tries while the file cannot be written, and the longest between two writes."""


@dataclass(slots=True)
class _ByteCount:
    """Bytes of one body so far, kept and lost."""

    recorded: int = 0
    lost: int = 0


class EventSink(Protocol):
    """Writes events: a ``Keeper``, in this process or in one of its own.

    Attributes:
        on_socket: called in a thread of its own with the number of each ``SocketAsked``, and what is known.
    """

    on_socket: Callable[[int, SocketState | None], None]

    @property
    def released_bytes(self) -> int:
        """Memory of all events that need not be held any more, in bytes."""
        ...

    @property
    def is_failing(self) -> bool:
        """The last write to the file failed; an empty batch tries again."""
        ...

    def take(self, events: list[QueuedEvent]) -> None: ...

    def close(self) -> RecordingTally: ...


class Capture:
    """Records what a relay does: an ``EventListener``.

    Args:
        keeper: writes it, in a thread of ours.
        max_memory: bytes to hold at most.
        largest: bytes of one body to record at most.

    Attributes:
        on_end: called with the key of each exchange that is over and will be in the file.
    """

    def __init__(
        self, keeper: EventSink, *, max_memory: int = MAX_RECORDING_HELD, largest: int = MAX_RECORDED_BODY
    ) -> None:
        self._keeper = keeper
        self._max_memory = max_memory
        self._max_body = largest
        self._queued_memory = 0
        self._counts: dict[int, dict[str, _ByteCount]] = {}  # of the exchanges that are recorded and not over
        self._skipped = 0
        self._are_many = False  # since a batch was taken
        self._queue = deque[QueuedEvent]()
        self.on_end: Callable[[int], None] = lambda key: None
        self._socket_questions: dict[int, Future[SocketState | None]] = {}
        self._numbers = count(1)
        keeper.on_socket = self._take_state
        self._wake = threading.Event()
        self._is_woken = False  # as ``_wake``, without a call for each event
        self._hurry = threading.Event()
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recording", daemon=True)
        self._thread.start()

    def record_urls(self, urls: str) -> None:
        """Record that the relay can be reached at these URLs."""
        self._queue.append(ListenerStarted(urls))
        self._wake_writer()

    def write_now(self) -> None:
        """Write all events so far: a reader waits for them in the file."""
        self._queue.append(WriteAwaited())
        self._hurry.set()
        self._wake_writer()

    def read_socket(self, key: int) -> Future[SocketState | None]:
        """What is known of an open WebSocket after all events so far; None if it is not recorded completely."""
        answer: Future[SocketState | None] = Future()
        counts = self._counts.get(key, {}).values()
        if not counts or any(each.lost for each in counts):
            answer.set_result(None)
            return answer
        number = next(self._numbers)
        self._socket_questions[number] = answer
        self._queue.append(SocketAsked(key, number))
        self._hurry.set()
        self._wake_writer()
        return answer

    def _take_state(self, number: int, state: SocketState | None) -> None:
        with suppress(InvalidStateError):  # nobody waits for it any more
            self._socket_questions.pop(number).set_result(state)

    def on_event(self, event: Event) -> None:
        """Queue one event, if its exchange is recorded."""
        if isinstance(event, (ResponseBytes, RequestBytes)):  # first: most are
            if counts := self._counts.get(event.key):
                self._put_bytes(event, counts[_SIDES[type(event)]])
        elif isinstance(event, RequestStarted):
            self._start(event)
        elif isinstance(event, ExchangeEnded):
            self._end(event)
        elif event.key in self._counts:
            self._queue_up(event, memory_of(event) if isinstance(event, ResponseStarted) else 0)
            if isinstance(event, RequestEnded):
                self._hurry_writer()

    def _start(self, event: RequestStarted) -> None:
        if self._held_memory() > self._max_memory * 5 // 4:  # even heads alone would fill the memory in time
            self._skipped += 1
            return
        self._counts[event.key] = {REQUEST: _ByteCount(), RESPONSE: _ByteCount()}
        self._are_many = self._are_many or len(self._counts) > FEW
        self._queue_up(event, memory_of(event))
        if self._skipped:
            self._queue_up(RequestsSkipped(event.key, event.at, self._skipped), 0)
            self._skipped = 0

    def _end(self, event: ExchangeEnded) -> None:
        counts = self._counts.pop(event.key, None)
        if counts is None:
            return
        for side, byte_count in counts.items():
            if byte_count.lost:
                self._queue_up(BytesLost(event.key, event.at, side, byte_count.lost), 0)
        self._queue_up(event._replace(digests=dict(event.digests)), 0)  # what it is by default cannot be pickled
        self.on_end(event.key)
        self._hurry_writer()

    def close(self) -> RecordingTally:
        """Write what waits, close the file and return the tally of exchanges."""
        self._is_closing.set()
        self._hurry.set()
        self._wake.set()
        self._thread.join()
        tally = self._keeper.close()
        tally.lost += self._skipped
        return tally

    def _hurry_writer(self) -> None:
        if not self._are_many and len(self._counts) <= FEW and not self._hurry.is_set():
            self._hurry.set()

    def _held_memory(self) -> int:
        return self._queued_memory - self._keeper.released_bytes

    def _put_bytes(self, event: RequestBytes | ResponseBytes, byte_count: _ByteCount) -> None:
        """Queue a piece. Once a piece was left out, all that follow are: what is kept has no hole."""
        size = len(event.data)
        recorded_bytes, waiting_bytes = (
            byte_count.recorded + size,
            self._queued_memory - self._keeper.released_bytes + size,
        )
        if byte_count.lost or recorded_bytes > self._max_body or waiting_bytes > self._max_memory:
            byte_count.lost += size
            return
        byte_count.recorded = recorded_bytes
        self._queued_memory += size + PIECE  # as ``_queue_up``, without a call for each piece that passes
        self._queue.append(event)
        if not self._is_woken:
            self._wake_writer()

    def _queue_up(self, event: QueuedEvent, memory: int) -> None:
        self._queued_memory += memory
        self._queue.append(event)
        if not self._is_woken:
            self._wake_writer()

    def _wake_writer(self) -> None:
        self._is_woken = True
        self._wake.set()

    def _run(self) -> None:
        keeper = self._keeper
        while not self._is_closing.is_set():
            self._wake.wait(AGAIN if self._counts else None)  # what is not written for its youth becomes old
            if keeper.is_failing:
                self._is_closing.wait(AGAIN)
            elif not self._is_closing.wait(SOON):
                self._hurry.wait(self._interval())
            self._wake.clear()
            self._is_woken = False  # before the queue is drained: what comes behind it wakes again
            self._hurry.clear()
            self._are_many = False
            keeper.take(self._drain())
            if keeper.is_failing:
                self._wake_writer()
        keeper.take(self._drain())

    def _interval(self) -> float:
        return min(AGAIN, BATCH * max(1.0, len(self._counts) / WATCHED))

    def _drain(self) -> list[QueuedEvent]:
        return [self._queue.popleft() for _ in range(len(self._queue))]
