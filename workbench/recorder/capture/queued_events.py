"""Events on their way from the relay's loop to the keeper, with what only the recording itself has to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


class RequestPieces(NamedTuple):
    """Several ``RequestBytes`` of one exchange in a row: joined, with the size and the time of each."""

    key: int
    data: bytes
    sizes: Sequence[int]
    times: Sequence[float]


class ResponsePieces(NamedTuple):
    """Several ``ResponseBytes`` of one exchange in a row, as ``RequestPieces``."""

    key: int
    data: bytes
    sizes: Sequence[int]
    times: Sequence[float]


QueuedEvent = (
    Event
    | (BytesLost | RequestsSkipped | ListenerStarted | WriteAwaited | SocketAsked)
    | (RequestPieces | ResponsePieces)
)

_KINDS: tuple[type[QueuedEvent], ...] = (
    RequestStarted, RequestPieces, RequestEnded, ResponseStarted, ResponsePieces, ExchangeEnded,
    BytesLost, RequestsSkipped, ListenerStarted, WriteAwaited, SocketAsked,
)  # fmt: skip
_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}
_OF_PIECES: Mapping[type, int] = {RequestBytes: _NUMBERS[RequestPieces], ResponseBytes: _NUMBERS[ResponsePieces]}

_PIECES = frozenset(_OF_PIECES.values())
_Run = tuple[int, int, list[bytes], list[float]]

_LARGE = 4096
"""Bytes of a piece that begins a new row: to join it takes longer than to hand it over."""

PIECE = 200
"""Bytes of memory that a piece of a body takes in addition to its own."""

_HEAD = 4096


def pack(events: Iterable[QueuedEvent]) -> list[tuple[Any, ...]]:
    """Plain tuples that begin with a number for the kind of event, one for all pieces of a body that came in a row.

    To pickle a named tuple Python calls a function for each: 127 µs for 64 events in place of 15 µs, in which the
    relay, a thread of the same process, would wait. Only events of one exchange keep their order.
    """
    packed, runs = list[tuple[Any, ...]](), dict[int, _Run]()
    for event in events:
        if isinstance(event, (ResponseBytes, RequestBytes)):
            number, run = _OF_PIECES[type(event)], runs.get(event.key)
            if run is None or run[0] != number or len(event.data) > _LARGE:
                run = runs[event.key] = (number, event.key, [], [])
                packed.append(run)
            run[2].append(event.data)
            run[3].append(event.at)
        else:
            packed.append((_NUMBERS[type(event)], *event))
            runs.pop(getattr(event, "key", 0), None)
    return [_join(each) if each[0] in _PIECES else each for each in packed]


def _join(run: tuple[Any, ...]) -> tuple[Any, ...]:
    number, key, pieces, times = run
    return number, key, b"".join(pieces), [*map(len, pieces)], times


def unpack(packed: Iterable[tuple[Any, ...]]) -> list[QueuedEvent]:
    """Events again, from what ``pack`` made of them."""
    return [_KINDS[number](*fields) for number, *fields in packed]


def memory_of(event: QueuedEvent) -> int:
    """Bytes of memory that an event takes while it is held, roughly."""
    if isinstance(event, (RequestBytes, ResponseBytes)):
        return len(event.data) + PIECE
    if isinstance(event, (RequestPieces, ResponsePieces)):
        return len(event.data) + PIECE * len(event.sizes)
    return _HEAD if isinstance(event, (RequestStarted, ResponseStarted)) else 0
