"""Playing a relay: exchanges told to a tap, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.recorder.events import RequestHead, ResponseHead, Tap
from workbench.wire.exchange import Headers, State

URL = "https://api.example.com/v1/messages"


def asked(*headers: tuple[str, str]) -> RequestHead:
    return RequestHead("POST", "/v1/messages", URL, Headers((("Host", "127.0.0.1:1"), *headers)), "HTTP/1.1")


def answered(*headers: tuple[str, str], status: int = 200) -> ResponseHead:
    return ResponseHead(status, "OK", Headers((("Content-Type", "text/event-stream"), *headers)), "HTTP/1.1")


def play(
    tap: Tap,
    key: int,
    request: Sequence[bytes] = (b"{}",),
    response: Iterable[bytes] = (b"data: 1\n\n",),
    *,
    head: RequestHead | None = None,
    answer: ResponseHead | None = None,
    state: State = State.COMPLETE,
    at: float = 100.0,
) -> None:
    """One exchange from its beginning to its end, a tenth of a second between two calls."""
    times = (at + n / 10 for n in range(1_000_000))
    tap.began(key, "default", head or asked(), next(times))
    for piece in request:
        tap.request_bytes(key, piece, next(times))
    tap.request_done(key, next(times))
    tap.answered(key, answer or answered(), next(times))
    for piece in response:
        tap.response_bytes(key, piece, next(times))
    tap.ended(key, state, "" if state is State.COMPLETE else "the client hung up", next(times))
