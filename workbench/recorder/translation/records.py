"""The tap of a recording with a bridge in it: what was done stands with the exchange that it was done to.

The bridge marks what it sends upstream with a header for that hop alone (``Connection`` names it, so that it ends at
the relay); by it the exchange is known here, and gets its parent, the client's exchange. An exchange with the upstream
is over for the recording when the bridge is done with its answer, too.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from workbench.recorder.breakpoints.intercepted_events import behind
from workbench.recorder.events import RequestHead, Tap
from workbench.recorder.translation.changes import Change, filed
from workbench.wire.exchange import Headers, State

MARK = "x-workbench-turn"
"""Header whose value is the number of a turn."""


@dataclass(slots=True)
class _Turned:
    branch: str
    parent: int
    key: int = 0
    changes: list[Change] = field(default_factory=list)
    is_over: bool = False
    end: tuple[Any, ...] | None = None


class Filing:
    """Hears both relays of a recording, and hands on what they say with what the bridge did.

    Args:
        tap: records.
        client: hop of the client's relay; an exchange that a breakpoint altered goes on from behind it.

    Attributes:
        counts: changes of every turn, by kind.
    """

    def __init__(self, tap: Tap, client: str) -> None:
        self.counts: Counter[str] = Counter()
        self._tap = tap
        self._client = (client, behind(client))
        self._reading: dict[int, Any] = {}  # hashes of the bodies of the client's requests, by key
        self._marks: dict[int, str] = {}
        self._asked: dict[str, deque[int]] = {}
        self._turns: dict[str, _Turned] = {}
        self._numbers: dict[int, str] = {}
        self._notes: dict[int, Sequence[Change]] = {}
        self.answered, self.response_bytes = tap.answered, tap.response_bytes

    # What the bridge says

    def going(self, number: str, target: str, body: bytes, branch: str) -> None:
        """A turn goes upstream next; ``target`` and ``body`` are those of the client's request."""
        self._turns[number] = _Turned(branch, self._parent(target, body))

    def gone(self, number: str, changes: Sequence[Change]) -> None:
        """The turn is over, and this was done."""
        turned = self._turns[number]
        turned.changes, turned.is_over = list(changes), True
        self.counts.update(change.kind for change in changes)
        if turned.end or not turned.key:
            self._close(number)

    def answered_here(self, target: str, body: bytes, changes: Sequence[Change]) -> None:
        """A client's request that went nowhere."""
        self.counts.update(change.kind for change in changes)
        if key := self._parent(target, body):
            self._notes[key] = changes

    def _parent(self, target: str, body: bytes) -> int:
        waiting = self._asked.get(_hash(target, body).hexdigest())
        return waiting.popleft() if waiting else 0

    def _close(self, number: str) -> None:
        turned = self._turns.pop(number)
        if turned.end:
            self._numbers.pop(turned.key, None)
            key, state, why, *more = turned.end
            self._tap.ended(key, state, "; ".join(filter(None, (why, filed(turned.changes)))), *more)

    # What the relays say

    def began(self, key: int, upstream: str, request: RequestHead, at: float) -> None:
        """See ``Tap``."""
        number = request.headers.get(MARK) or ""
        if request.hop in self._client:
            self._reading[key] = _hash(_target(request.url), b"")
        elif turned := self._turns.get(number):
            turned.key, self._numbers[key] = key, number
            headers = Headers(tuple(item for item in request.headers if item[0].lower() not in (MARK, "connection")))
            request = replace(request, headers=headers, parent=turned.parent, branch=turned.branch)
        self._tap.began(key, upstream, request, at)

    def request_bytes(self, key: int, data: bytes, at: float) -> None:
        """See ``Tap``."""
        if key in self._reading:
            self._reading[key].update(data)
        self._tap.request_bytes(key, data, at)

    def request_done(self, key: int, at: float) -> None:
        """See ``Tap``."""
        if reading := self._reading.pop(key, None):
            mark = self._marks[key] = reading.hexdigest()
            self._asked.setdefault(mark, deque()).append(key)
        self._tap.request_done(key, at)

    def ended(self, key: int, state: State, why: str, at: float, *more: Any) -> None:
        """See ``Tap``."""
        self._reading.pop(key, None)
        self._unmark(key)
        turned = self._turns.get(number := self._numbers.get(key, ""))
        if turned is None:
            note = filed(self._notes.pop(key, ()))
            self._tap.ended(key, state, "; ".join(filter(None, (why, note))), at, *more)
            return
        turned.end = (key, state, why, at, *more)
        if turned.is_over:
            self._close(number)

    def _unmark(self, key: int) -> None:
        mark = self._marks.pop(key, "")
        waiting = self._asked.get(mark)
        if waiting is not None:
            if key in waiting:
                waiting.remove(key)
            if not waiting:
                del self._asked[mark]


def _target(url: str) -> str:
    """Path and query of an absolute URL, as they stand in it."""
    return "/" + url.split("/", 3)[3]


def _hash(target: str, body: bytes) -> Any:
    return blake2b(target.encode("latin-1", "replace") + b"\0" + body)
