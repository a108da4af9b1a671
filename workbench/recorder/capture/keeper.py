"""Writes events to a session file, and continues after the file could not be written.

Every exchange stays in memory until all of it is in the file: what could not be written is tried again.
"""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from workbench import regex
from workbench.errors import SessionFormatError
from workbench.ir import NOTHING
from workbench.lazy_dataclass import dataclass, replace
from workbench.recorder.capture.frame_guard import FrameGuard
from workbench.recorder.capture.open_exchange import OpenExchange, WrittenPart
from workbench.recorder.capture.open_socket import OpenSocket
from workbench.recorder.capture.queued_events import ListenerStarted, QueuedEvent, SocketAsked, WriteAwaited, memory_of
from workbench.recorder.capture.socket_state import SocketState
from workbench.recorder.events import ExchangeEnded, RequestStarted
from workbench.wire import Exchange, Redactor, State
from workbench.wire.secrets import is_placeholder
from workbench.wire.session import SessionWriter

STORAGE = (OSError, sqlite3.Error, SessionFormatError)
"""Errors of a disk that is full, gone or too slow; they may be temporary."""


SECRET_VARIABLE = regex.compile(r"(?i)(^|_)(key|token|secret|password|passwd|pat|credentials?)$")

TOGETHER, MUCH = 64, 1024 * 1024
"""Exchanges written in one transaction at most, and bytes of them that make it a long one: others that write the same
file wait for it."""

MANY, YOUNG = 20, 2.0
"""While more exchanges than these are under way, one is first written when it is over or so many seconds old, so that a
short one is written once; unless one that began later must be written, because the order in the file is that of the
requests."""

STOPPED = ExchangeEnded(0, 0.0, State.INCOMPLETE, "the recorder was stopped before this exchange ended")


@dataclass(slots=True)
class RecordingTally:
    """Counts of exchanges in one recording.

    Attributes:
        exchanges: written and over.
        aborted, incomplete: of those.
        lost: not written: the file could not take them.
        is_cut: the writer ended before its time, and the other numbers are not known.
    """

    exchanges: int = 0
    aborted: int = 0
    incomplete: int = 0
    lost: int = 0
    is_cut: bool = False

    def count(self, exchange: Exchange) -> None:
        """Count one written exchange."""
        self.exchanges += 1
        self.aborted += exchange.state is State.ABORTED
        self.incomplete += exchange.state is State.INCOMPLETE


class Keeper:
    """Owns the session writer and the exchanges that are not complete. Used by one thread at a time.

    Args:
        writer: open; closed in the end.
        redactor: one for the session; it may know secrets already.
        epoch: seconds of the calendar at the zero of the relay's clock.
        hop: name of the hop, for every exchange.
        client: name of the client that was started; empty if unknown.
        run: what ids of exchanges begin with (``RUN-KEY``), unique among all recordings; made if empty.
        trouble: called with what goes wrong with the file, one line each.
        clock: that of the events.

    Attributes:
        released: memory of all events that need not be held any more, in bytes.
        tally: counts of exchanges.
        is_failing: the file could not be written the last time.
        on_socket: called with the number of a ``SocketAsked``, and what is known; None if that is not recorded.
    """

    def __init__(
        self,
        writer: SessionWriter,
        redactor: Redactor,
        *,
        epoch: float = 0.0,
        hop: str = "",
        client: str = "",
        run: str = "",
        trouble: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.released_bytes = 0
        self.on_socket: Callable[[int, SocketState | None], None] = lambda number, state: None
        self._clock = clock
        self._is_awaited = False
        self.tally = RecordingTally()
        self._writer = writer
        self._redactor = redactor
        self._epoch = epoch
        self._hop = hop
        self._client = client
        self._trouble = trouble
        self._run = run or new_run()
        self._open: dict[int, OpenExchange] = {}
        self._changed: dict[int, None] = {}
        self._unannounced: Mapping[str, str] = NOTHING
        self.is_failing = False
        self._file = _identity(writer.path)
        self._is_file_gone = False

    def take(self, events: Iterable[QueuedEvent]) -> None:
        """Apply a batch of events and write what can be written."""
        for event in events:
            self._apply(event)
        self.flush()
        self._is_awaited = self._is_awaited and self.is_failing

    def _apply(self, event: QueuedEvent) -> None:
        """Apply one event to the exchange it belongs to."""
        if isinstance(event, ListenerStarted):
            self._unannounced = {"urls": f"{self._hop}: {event.urls}" if self._hop else event.urls}
            return
        if isinstance(event, WriteAwaited):
            self._is_awaited = True
            return
        if isinstance(event, SocketAsked):
            open_exchange = self._open.get(event.key)
            self.on_socket(
                event.number, open_exchange.socket.state() if open_exchange and open_exchange.socket else None
            )
            return
        if isinstance(event, RequestStarted):
            self._open[event.key] = OpenExchange(
                self._run, event, epoch=self._epoch, hop=self._hop, client=self._client
            )
        exchange = self._open.get(event.key)
        if exchange is None:
            self.released_bytes += memory_of(event)  # of one that was given up
            return
        exchange.apply(event)
        self._changed[event.key] = None

    def flush(self) -> None:
        """Write what is not written yet, in the order in which the requests began."""
        try:
            self._announce()
            self._write_changed()
            self._check_file()
        except STORAGE as error:
            self._fail(
                f"the recording cannot be written ({error}); traffic continues, and Workbench keeps trying to write"
            )

    def _check_file(self) -> None:
        """Report a file that was removed or replaced: writing to it still works, so that no error would show it."""
        if not self._is_file_gone and _identity(self._writer.path) != self._file:
            self._is_file_gone = True
            self._trouble(f"{self._writer.path} was removed or replaced: the recording is lost; traffic continues")

    def _announce(self) -> None:
        if self._unannounced:
            self._writer.announce(self._unannounced)
            self._unannounced = NOTHING
            self._recover()

    def _write_changed(self) -> None:
        for keys in self._groups():
            if len(keys) == 1 or not self._write_together(keys):
                for key in keys:
                    self._write_alone(key)

    def _groups(self) -> Iterator[list[int]]:
        """Keys of changed exchanges in the order of their requests, in groups for one transaction each."""
        keys, size = list[int](), 0
        for key in self._due():
            keys.append(key)
            size += self._open[key].memory
            if len(keys) == TOGETHER or size > MUCH:
                yield keys
                keys, size = [], 0
        if keys:
            yield keys

    def _due(self) -> Sequence[int]:
        """Keys of changed exchanges, without the last ones if these may be over soon."""
        keys = sorted(self._changed)
        if not self._is_awaited and len(self._open) > MANY:
            until = self._clock() - YOUNG
            while keys and self._open[keys[-1]].is_young(until):
                keys.pop()
        return keys

    def _write_together(self, keys: Sequence[int]) -> bool:
        """Write several, all or none; False after a fault of this program."""
        try:
            with self._writer.together():
                wrote = [self._write(self._open[key]) for key in keys]
        except STORAGE:
            raise
        except Exception:  # each by itself then, so that one alone is lost
            return False
        for key, what in zip(keys, wrote, strict=True):
            self._after_write(key, what)
        self._recover()
        return True

    def _write_alone(self, key: int) -> None:
        exchange = self._open[key]
        try:
            with self._writer.together():
                wrote = self._write(exchange)
        except STORAGE:
            raise
        except Exception as error:  # a fault of ours: this exchange is lost, the others are not
            self._trouble(f"exchange {exchange.id} cannot be recorded ({type(error).__name__}: {error})")
            self._drop(key)
            self.tally.lost += 1
            return
        self._after_write(key, wrote)
        self._recover()

    def _after_write(self, key: int, what: WrittenPart | Exchange) -> None:
        """Forget an exchange that was written completely; note how much of another one is in the file."""
        if isinstance(what, WrittenPart):
            self.released_bytes += self._open[key].mark_written(what)
            del self._changed[key]
        else:
            self.tally.count(what)
            self.tally.exchanges += socket.turn_count if (socket := self._open[key].socket) else 0
            self._drop(key)

    def _fail(self, line: str) -> None:
        if not self.is_failing:
            self._trouble(line)
        self.is_failing = True

    def _recover(self) -> None:
        if self.is_failing:
            self._trouble("the recording can be written again")
        self.is_failing = False

    def _drop(self, key: int) -> None:
        self.released_bytes += self._open.pop(key).memory
        self._changed.pop(key, None)

    def _write(self, exchange: OpenExchange) -> WrittenPart | Exchange:
        """Write the new part of an exchange; all of it if it has ended."""
        stands = exchange.written_part
        if exchange.end is None:
            stands = self._grow(exchange, self._progress(exchange, stands) if stands else self._begin(exchange))
            return self._write_socket(exchange.socket, stands, at_end=False) if exchange.socket else stands
        if exchange.socket:
            stands = stands or self._begin(exchange)  # before its turns
            self._write_socket(exchange.socket, stands, at_end=True)
        whole = exchange.final_state(self._redactor)
        if stands:
            self._writer.finish(stands.seq, whole, keeps_frames=exchange.socket is not None)
        else:
            self._writer.append(whole)
        return whole

    def _write_socket(self, socket: OpenSocket, stands: WrittenPart, *, at_end: bool) -> WrittenPart:
        """Write what is new of a WebSocket: its messages, and its turns, each a separate exchange."""
        frames = socket.writable_frames(self._redactor, at_end=at_end)
        if frames:
            self._writer.add_frames(stands.seq, stands.frames, frames, socket.meta)
        if at_end and socket.has_learned(self._redactor):
            self._redact_again(stands.seq)
        return self._write_turns(socket, stands._replace(frames=stands.frames + len(frames)), at_end=at_end)

    def _redact_again(self, seq: int) -> None:
        """Replace what has become known as a secret in messages that were written before."""
        guard, frames = FrameGuard(), [*self._writer.read_frames(seq)]
        for frame in frames:
            guard.add(frame)
        safe = [frame for _, frame in guard.take(self._redactor, is_quiet=True)]
        if safe != frames:
            self._writer.replace_frames(seq, safe)

    def _write_turns(self, socket: OpenSocket, stands: WrittenPart, *, at_end: bool) -> WrittenPart:
        """Write what is new of the turns of a WebSocket."""
        positions = dict(stands.positions)
        number = stands.turns
        for number, turn in socket.turns(stands.turns + 1):
            first_state = replace(turn, response=None, state=State.OPEN)
            positions[number] = self._writer.begin(self._redactor.exchange(first_state))
        for over, turn in socket.over(list(positions), at_end=at_end):
            self._writer.finish(positions.pop(over), self._redactor.exchange(turn))
        return stands._replace(turns=number, positions=tuple(positions.items()))

    def _begin(self, exchange: OpenExchange) -> WrittenPart:
        first_state = exchange.first_state(self._redactor)
        return WrittenPart(
            self._writer.begin(first_state), exchange.is_request_complete, first_state.response is not None
        )

    def _progress(self, exchange: OpenExchange, stands: WrittenPart) -> WrittenPart:
        if exchange.is_request_complete and not stands.request:
            self._writer.request(stands.seq, exchange.request(self._redactor))
        if exchange.has_response and not stands.answer:
            self._writer.answer(stands.seq, exchange.response_head(self._redactor))
        return stands._replace(request=exchange.is_request_complete, answer=exchange.has_response)

    def _grow(self, exchange: OpenExchange, stands: WrittenPart) -> WrittenPart:
        if not stands.answer:
            return stands
        more, chunks = exchange.writable_bytes(stands)
        self._writer.grow(stands.seq, more, chunks)
        return stands._replace(body_bytes=stands.body_bytes + len(more), chunk_count=stands.chunk_count + len(chunks))

    def close(self) -> RecordingTally:
        """Write everything, exchanges in progress too, close the file and return the tally."""
        self._changed = dict.fromkeys(self._open)
        for exchange in self._open.values():
            exchange.end = exchange.end or STOPPED
        self.flush()
        self.tally.lost += len(self._open)
        try:
            self._writer.close()
        except STORAGE as error:
            if not self._is_file_gone:
                self._fail(f"the recording cannot be closed ({error})")
        return RecordingTally(lost=self.tally.exchanges + self.tally.lost) if self._is_file_gone else self.tally


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def new_run() -> str:
    """A name for one run of a recorder, with which the ids of its exchanges begin."""
    return uuid.uuid4().hex[:8]


def redactor_for(environment: Mapping[str, str], salt: bytes) -> Redactor:
    """A redactor that also knows the keys in an environment, of any form."""
    redactor = Redactor(salt)
    for name, value in environment.items():
        if SECRET_VARIABLE.search(name) and not is_placeholder(os.fsencode(value)):
            redactor.remember(value)
    return redactor


def open_private(path: Path) -> SessionWriter:
    """A writer. A new file, also through a link, is readable only by its owner; an existing one keeps its mode.

    Raises:
        SessionFormatError: the file exists and is no session.
        OSError, sqlite3.Error: it cannot be made or written.
    """
    with suppress(FileExistsError):
        os.close(os.open(path.resolve(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return SessionWriter(path)
