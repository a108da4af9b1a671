"""Messages that come again: agents repeat their history in each request, so most messages were decoded before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from workbench.ir import Anomaly, JsonValue, Message
from workbench.limits import MAX_KNOWN_MESSAGES
from workbench.protocols.history import GrowingHistory, HistoryPrefix, RepeatedMessage
from workbench.wire import loads

Reader: TypeAlias = Callable[[JsonValue], tuple[Message, Sequence[Anomaly]]]
"""Makes a message of a parsed one, both without a place: pointers are those of a body that is the message."""

LEVELS = 2
"""Containers around a message of a request: the body and its list."""

MOST_HISTORIES = 16
"""Histories that requests may continue: main agent, sub-agents, side questions, and forks of each."""


class _KnownMessage(NamedTuple):
    message: Message
    anomalies: tuple[Anomaly, ...]
    facts: dict[Any, Any]


class _KnownHistory(NamedTuple):
    history: GrowingHistory
    reader: Reader
    key: str


class KnownMessages:
    """Decoded messages by the bytes they were read from, for the requests of one session, and the histories they form.

    Two generations of messages: when the newer one is full, what it did not ask for is forgotten. Of the histories the
    last few are kept.

    Args:
        most: bytes of messages in a generation.
    """

    def __init__(self, most: int = MAX_KNOWN_MESSAGES) -> None:
        self._most = most
        self._size = 0
        self._new: dict[tuple[Reader, bytes], _KnownMessage] = {}
        self._old: dict[tuple[Reader, bytes], _KnownMessage] = {}
        self._histories: list[_KnownHistory] = []

    def read(
        self, texts: Iterable[bytes], anomalies: list[Anomaly], reader: Reader, key: str = "messages"
    ) -> HistoryPrefix:
        """The messages of a request, in order.

        Args:
            texts: their bytes.
            anomalies: takes what was noticed.
            reader: a function of a module: what it makes of the same bytes is the same.
            key: of the list that holds them in the body.

        Raises:
            WireError: a message is not JSON.
        """
        wanted = list(texts)
        history, shared = self._find(wanted, reader, key)
        added = [self._learn((reader, text)) for text in wanted[shared:]]
        if added and shared < len(history.texts):
            history = history.fork(shared)
        for n, (text, known) in enumerate(zip(wanted[shared:], added, strict=True), shared):
            pointer, message = f"/{key}/{n}", known.message
            placed = RepeatedMessage(message.role, message.parts, message.extra, pointer, known.facts)
            history.append(text, placed, (replace(a, pointer=pointer + a.pointer) for a in known.anomalies))
        self._keep(_KnownHistory(history, reader, key))
        anomalies += (anomaly for n, anomaly in history.anomalies if n < len(wanted))
        return history.prefix(len(wanted))

    def _find(self, texts: Sequence[bytes], reader: Reader, key: str) -> tuple[GrowingHistory, int]:
        """The history with the most first messages in common, the latest of several, and how many these are."""
        best, most = GrowingHistory(), 0
        for known in reversed(self._histories):
            shared = known.history.count_shared(texts) if (known.reader, known.key) == (reader, key) else 0
            if shared > most:
                best, most = known.history, shared
        return best, most

    def _keep(self, known: _KnownHistory) -> None:
        others = [other for other in self._histories if other.history is not known.history]
        self._histories = [*others[-MOST_HISTORIES + 1 :], known]
        size = sum(other.history.size for other in self._histories)
        while size > self._most and len(self._histories) > 1:
            size -= self._histories.pop(0).history.size

    def _learn(self, key: tuple[Reader, bytes]) -> _KnownMessage:
        """Keep a message, so that it outlives the next generation."""
        known = self._new.get(key) or self._old.get(key)
        if known is None:
            reader, text = key
            message, anomalies = reader(loads(text, levels=LEVELS))
            known = _KnownMessage(message, tuple(anomalies), {})
        if key not in self._new:
            size = len(key[1])
            if self._size and self._size + size > self._most:
                self._old, self._new, self._size = self._new, {}, 0
            self._size += size
            self._new[key] = known
        return known
