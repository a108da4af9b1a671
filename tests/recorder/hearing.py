"""Plays a relay: emits the events of exchanges, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.recorder.events import (
    EventListener,
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestHead,
    RequestStarted,
    ResponseBytes,
    ResponseHead,
    ResponseStarted,
)
from workbench.wire.exchange import Headers, State

URL = "https://api.example.com/v1/messages"


def asked(*headers: tuple[str, str]) -> RequestHead:
    return RequestHead("POST", "/v1/messages", URL, Headers((("Host", "127.0.0.1:1"), *headers)), "HTTP/1.1")


def answered(*headers: tuple[str, str], status: int = 200) -> ResponseHead:
    return ResponseHead(status, "OK", Headers((("Content-Type", "text/event-stream"), *headers)), "HTTP/1.1")


def play(
    listener: EventListener,
    key: int,
    request: Sequence[bytes] = (b"{}",),
    response: Iterable[bytes] = (b"data: 1\n\n",),
    *,
    head: RequestHead | None = None,
    answer: ResponseHead | None = None,
    state: State = State.COMPLETE,
    at: float = 100.0,
) -> None:
    """One exchange from its beginning to its end, a tenth of a second between two events."""
    times = (at + n / 10 for n in range(1_000_000))
    listener.on_event(RequestStarted(key, next(times), "default", head or asked()))
    for piece in request:
        listener.on_event(RequestBytes(key, next(times), piece))
    listener.on_event(RequestEnded(key, next(times)))
    listener.on_event(ResponseStarted(key, next(times), answer or answered()))
    for piece in response:
        listener.on_event(ResponseBytes(key, next(times), piece))
    reason = "" if state is State.COMPLETE else "the client disconnected"
    listener.on_event(ExchangeEnded(key, next(times), state, reason))
