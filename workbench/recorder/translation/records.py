"""The listener of a recording with a translation: it notes each change in the exchange that it was made to.

The translation server marks what it sends upstream with a header for that hop alone (``Connection`` names it, so that
it ends at the relay); by it the exchange is known here, and gets its parent, the client's exchange. An exchange with
the upstream ends for the recording once its response is translated, too.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from workbench.lazy_dataclass import dataclass, field, replace
from workbench.recorder.breakpoints.intercepted_events import hop_behind
from workbench.recorder.events import (
    Event,
    EventListener,
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestStarted,
)
from workbench.recorder.translation.changes import TranslationChange, changes_note
from workbench.wire import Headers

MARK = "x-workbench-turn"
"""Header with the number of a turn."""


@dataclass(slots=True)
class _RecordedTurn:
    branch: str
    parent: int
    key: int = 0
    changes: list[TranslationChange] = field(default_factory=list)
    is_over: bool = False
    end: ExchangeEnded | None = None


class TurnRecords:
    """Receives the events of both relays, and passes them on with the changes of the translation.

    Args:
        listener: records.
        client: hop of the client's relay. An exchange that was edited at a breakpoint continues at the next hop.

    Attributes:
        counts: changes of every turn, by kind.
    """

    def __init__(self, listener: EventListener, client: str) -> None:
        self.counts: Counter[str] = Counter()
        self._listener = listener
        self._client = (client, hop_behind(client))
        self._reading: dict[int, Any] = {}  # hashes of the bodies of the client's requests, by key
        self._marks: dict[int, str] = {}
        self._waiting: dict[str, deque[int]] = {}
        self._turns: dict[str, _RecordedTurn] = {}
        self._numbers: dict[int, str] = {}
        self._notes: dict[int, Sequence[TranslationChange]] = {}

    # Calls of the translation server

    def start_turn(self, number: str, target: str, body: bytes, branch: str, parent: int = 0) -> None:
        """Announce a request to the upstream.

        Args:
            target, body: those of the client's request.
            parent: key of the client's connection, if the request was made over a WebSocket; else 0.
        """
        self._turns[number] = _RecordedTurn(branch, parent or self.key_of(target, body))

    def end_turn(self, number: str, changes: Sequence[TranslationChange]) -> None:
        """End a turn with its changes."""
        turn = self._turns[number]
        turn.changes, turn.is_over = list(changes), True
        self.counts.update(change.kind for change in changes)
        if turn.end or not turn.key:
            self._close(number)

    def record_own_reply(self, target: str, body: bytes, changes: Sequence[TranslationChange]) -> None:
        """Note the changes of a client's request that was sent nowhere."""
        self.counts.update(change.kind for change in changes)
        if key := self.key_of(target, body):
            self._notes[key] = changes

    def key_of(self, target: str, body: bytes) -> int:
        """Key of the client's exchange with this request, the first that waits; 0 if none does."""
        waiting = self._waiting.get(_hash(target, body).hexdigest())
        return waiting.popleft() if waiting else 0

    def _close(self, number: str) -> None:
        turn = self._turns.pop(number)
        if turn.end:
            self._numbers.pop(turn.key, None)
            self._emit_end(turn.end, turn.changes)

    # Events of the relays

    def on_event(self, event: Event) -> None:
        """Pass an event on; the end of an exchange with the upstream waits until its turn has ended."""
        match event:
            case RequestStarted():
                event = self._link(event)
            case RequestBytes():
                if event.key in self._reading:
                    self._reading[event.key].update(event.data)
            case RequestEnded():
                if reading := self._reading.pop(event.key, None):
                    mark = self._marks[event.key] = reading.hexdigest()
                    self._waiting.setdefault(mark, deque()).append(event.key)
            case ExchangeEnded():
                self._end(event)
                return
        self._listener.on_event(event)

    def _link(self, event: RequestStarted) -> RequestStarted:
        """The start of an exchange with the upstream, with its parent and without the mark."""
        key, request = event.key, event.head
        number = request.headers.get(MARK) or ""
        if request.hop in self._client:
            self._reading[key] = _hash(_target(request.url), b"")
        elif turn := self._turns.get(number):
            turn.key, self._numbers[key] = key, number
            dropped = (MARK,) if request.headers.get("upgrade") else (MARK, "connection")
            headers = Headers(tuple(item for item in request.headers if item[0].lower() not in dropped))
            request = replace(request, headers=headers, parent=turn.parent, branch=turn.branch)
        return event._replace(head=request)

    def _end(self, event: ExchangeEnded) -> None:
        self._reading.pop(event.key, None)
        self._unmark(event.key)
        turn = self._turns.get(number := self._numbers.get(event.key, ""))
        if turn is None:
            self._emit_end(event, self._notes.pop(event.key, ()))
            return
        turn.end = event
        if turn.is_over:
            self._close(number)

    def _emit_end(self, event: ExchangeEnded, changes: Sequence[TranslationChange]) -> None:
        reason = "; ".join(filter(None, (event.reason, changes_note(changes))))
        self._listener.on_event(event._replace(reason=reason))

    def _unmark(self, key: int) -> None:
        mark = self._marks.pop(key, "")
        waiting = self._waiting.get(mark)
        if waiting is not None:
            if key in waiting:
                waiting.remove(key)
            if not waiting:
                del self._waiting[mark]


def _target(url: str) -> str:
    """Path and query of an absolute URL, as they are in it."""
    return "/" + url.split("/", 3)[3]


def _hash(target: str, body: bytes) -> Any:
    return blake2b(target.encode("latin-1", "replace") + b"\0" + body)
