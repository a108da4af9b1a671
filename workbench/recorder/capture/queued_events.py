"""Events on their way from the relay's loop to the keeper, with what only the recording itself has to say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from workbench.recorder.events import (
    Event,
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestStarted,
    ResponseBytes,
    ResponseStarted,
)


class BytesLost(NamedTuple):
    """``amount`` bytes of one side ("request" or "response") passed and were not kept."""

    key: int
    at: float
    side: str
    amount: int


class RequestsSkipped(NamedTuple):
    """``amount`` requests before this one were not recorded."""

    key: int
    at: float
    amount: int


class ListenerStarted(NamedTuple):
    """The relay listens at these URLs; an event of no exchange."""

    urls: str


class WriteAwaited(NamedTuple):
    """Somebody waits for what has happened to be in the file; an event of no exchange."""


class SocketAsked(NamedTuple):
    """Somebody wants to know what is known of an open WebSocket here, between two events."""

    key: int
    number: int


QueuedEvent = Event | BytesLost | RequestsSkipped | ListenerStarted | WriteAwaited | SocketAsked

_KINDS: tuple[type[QueuedEvent], ...] = (
    RequestStarted, RequestBytes, RequestEnded, ResponseStarted, ResponseBytes, ExchangeEnded,
    BytesLost, RequestsSkipped, ListenerStarted, WriteAwaited, SocketAsked,
)  # fmt: skip
_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}

PIECE = 200
"""Bytes of memory that a piece of a body takes in addition to its own."""

_HEAD = 4096


def pack(events: Iterable[QueuedEvent]) -> list[tuple[Any, ...]]:
    """Plain tuples that begin with a number for the kind of event.

    To pickle a named tuple Python calls a function for each: 127 µs for 64 events in place of 15 µs, in which the
    relay, a thread of the same process, would wait.
    """
    return [(_NUMBERS[type(event)], *event) for event in events]


def unpack(packed: Iterable[tuple[Any, ...]]) -> list[QueuedEvent]:
    """Events again, from what ``pack`` made of them."""
    return [_KINDS[number](*fields) for number, *fields in packed]


def memory_of(event: QueuedEvent) -> int:
    """Bytes of memory that an event takes while it is held, roughly."""
    if isinstance(event, (RequestBytes, ResponseBytes)):
        return len(event.data) + PIECE
    return _HEAD if isinstance(event, (RequestStarted, ResponseStarted)) else 0
