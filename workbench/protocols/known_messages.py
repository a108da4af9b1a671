"""Messages that come again: agents repeat their history in each request, so most messages were decoded before.

``KnownMessages`` finds them by their bytes; ``fact`` keeps what was derived from such a message with it. Both change
how long something takes and never what comes out: what is kept depends on nothing but the message, and knows no place
in the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from workbench.ir import Anomaly, JsonValue, Message
from workbench.limits import MAX_KNOWN_MESSAGES
from workbench.wire import loads

T = TypeVar("T")

Reader: TypeAlias = Callable[[JsonValue], tuple[Message, Sequence[Anomaly]]]
"""Makes a message of a parsed one, both without a place: pointers are those of a body that is the message."""

LEVELS = 2
"""Containers around a message of a request: the body and its list."""


class _KnownMessage(NamedTuple):
    message: Message
    anomalies: tuple[Anomaly, ...]


class KnownMessages:
    """Decoded messages by the bytes they were read from, for the requests of one session.

    Two generations: when the newer one is full, what it did not ask for is forgotten.

    Args:
        most: bytes of messages in a generation.
    """

    def __init__(self, most: int = MAX_KNOWN_MESSAGES) -> None:
        self._most = most
        self._size = 0
        self._new: dict[tuple[Reader, bytes], _KnownMessage] = {}
        self._old: dict[tuple[Reader, bytes], _KnownMessage] = {}

    def read(
        self, texts: Iterable[bytes], anomalies: list[Anomaly], reader: Reader, key: str = "messages"
    ) -> Iterator[Message]:
        """The messages of a request, in order.

        Args:
            texts: their bytes.
            anomalies: takes what was noticed.
            reader: a function of a module: what it makes of the same bytes is the same.
            key: of the list that holds them in the body.

        Raises:
            WireError: a message is not JSON.
        """
        for n, text in enumerate(texts):
            found, pointer = (reader, text), f"/{key}/{n}"
            known = self._new.get(found) or self._learn(found)
            anomalies += (replace(a, pointer=pointer + a.pointer) for a in known.anomalies)
            message = known.message
            if message.pointer != pointer:
                message = _place(message, pointer)
                self._new[found] = known._replace(message=message)
            yield message

    def _learn(self, key: tuple[Reader, bytes]) -> _KnownMessage:
        """Keep a message, so that it outlives the next generation."""
        reader, text = key
        known = self._old.get(key)
        if known is None:
            message, anomalies = reader(loads(text, levels=LEVELS))
            object.__setattr__(message, "facts", {})
            known = _KnownMessage(message, tuple(anomalies))
        if self._size and self._size + len(text) > self._most:
            self._old, self._new, self._size = self._new, {}, 0
        self._size += len(text)
        self._new[key] = known
        return known


def _place(message: Message, pointer: str) -> Message:
    """The same message at another place."""
    other = Message(message.role, message.parts, message.extra, pointer)
    object.__setattr__(other, "facts", message.facts)
    return other


class HasFacts(Protocol):
    """A node that facts are cached with; None if it does not come again."""

    @property
    def facts(self) -> dict[Any, Any] | None: ...


def fact(known: HasFacts, find: Callable[..., T], *terms: Any) -> T:
    """``find(known, *terms)``, found once for a message that comes again, or for an exchange that many ask about.

    Args:
        find: a function of a module, whose result depends on what is known and on ``terms``; of a message, on all of
            it but its place.
        terms: hashable.
    """
    facts = known.facts
    if facts is None:
        return find(known, *terms)
    key = (find, terms) if terms else find
    if key not in facts:
        facts[key] = find(known, *terms)
    return facts[key]  # type: ignore[no-any-return]


def where(messages: Sequence[Message], test: Callable[..., object], *terms: Any) -> Iterator[tuple[int, Message]]:
    """(index, message) of each message of which ``fact(message, test, *terms)`` is true."""
    key = (test, terms) if terms else test
    maybe = [n for n, m in enumerate(messages) if m.facts is None or m.facts.get(key, True)]
    return ((n, messages[n]) for n in maybe if fact(messages[n], test, *terms))
