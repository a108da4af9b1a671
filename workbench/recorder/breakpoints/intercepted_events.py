"""Events of an intercepted exchange: those of the client's exchange, and of a child exchange if something was changed.

The client's exchange is what the client sent and what it received. If the upstream exchange differs, it is a separate
exchange: a child, at a separate hop, so that the two can be compared like any two hops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.lazy_dataclass import replace
from workbench.limits import MAX_HELD_REQUEST
from workbench.recorder.events import (
    Event,
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestHead,
    RequestStarted,
    ResponseBytes,
    ResponseHead,
    ResponseStarted,
    SafeListener,
)
from workbench.recorder.relay.socket_tunnel import Handshake
from workbench.wire import Headers, State

EDITED, UNEDITED = "edited at a breakpoint", "before the edit at a breakpoint"
INSTEAD = "not forwarded: answered at a breakpoint"
"""Branches of child exchanges."""

BEHIND = "after the breakpoint"
"""Hop at which a child exchange was recorded, after the name of the client's hop."""


def hop_behind(hop: str) -> str:
    """Name of the hop after the breakpoints of this one."""
    return f"{hop}, {BEHIND}" if hop else BEHIND


class ClientExchange:
    """Emits the events of the client's exchange and keeps its request body.

    Attributes:
        key: of the exchange.
        head: of its request.
        started_at: time of its first event.
        pieces: the request body so far; empty if it is too long to be held.
        request_size: bytes of the request body so far.
    """

    def __init__(self, listener: SafeListener, upstream: str, head: RequestHead, at: float) -> None:
        self.key = listener.new_key()
        self.head = head
        self.started_at = at
        self.pieces: list[RequestBytes] = []
        self.request_size = 0
        self.upstream = upstream
        self.listener = listener
        listener.on_event(RequestStarted(self.key, at, upstream, head))

    def on_event(self, event: Event) -> None:
        """Emit an event as one of this exchange."""
        if isinstance(event, RequestBytes):
            self.request_size += len(event.data)
            self.pieces.append(event)
            if self.request_size > MAX_HELD_REQUEST:
                self.pieces.clear()
        self.listener.on_event(event._replace(key=self.key))


class ChildExchange:
    """Emits the events of what went upstream, or came from there, in place of the client's.

    Args:
        origin: the client's exchange.
        branch: what was changed.
    """

    def __init__(self, origin: ClientExchange, branch: str) -> None:
        self._key = origin.listener.new_key()
        self._origin, self._branch = origin, branch

    def on_event(self, event: Event) -> None:
        """Emit an event as one of this exchange."""
        if isinstance(event, RequestStarted):
            origin = self._origin
            head = replace(event.head, hop=hop_behind(origin.head.hop), parent=origin.key, branch=self._branch)
            event = RequestStarted(event.key, event.at, origin.upstream, head)
        self._origin.listener.on_event(event._replace(key=self._key))

    def replay(self, head: ResponseHead, pieces: Iterable[ResponseBytes], end: ExchangeEnded) -> None:
        """Emit a whole exchange at once: the client's request, which went up unchanged, and this response."""
        origin, response = self._origin, tuple(pieces)
        self.on_event(RequestStarted(self._key, origin.started_at, origin.upstream, origin.head))
        for piece in origin.pieces:
            self.on_event(piece)
        self.on_event(RequestEnded(self._key, origin.pieces[-1].at if origin.pieces else origin.started_at))
        self.on_event(ResponseStarted(self._key, response[0].at if response else end.at, head))
        for each in response:
            self.on_event(each)
        self.on_event(end)


class SocketChild:
    """A WebSocket as the upstream saw it, recorded from its beginning once it differs from what the client saw.

    Args:
        handshake: of the client's connection.
        branch: what was changed.
    """

    def __init__(self, listener: SafeListener, handshake: Handshake, branch: str) -> None:
        self._listener, self._handshake, self._branch = listener, handshake, branch
        self._key = 0
        self._before: list[RequestBytes | ResponseBytes] = []
        self._size = 0

    @property
    def is_shown(self) -> bool:
        """It is recorded."""
        return bool(self._key)

    def add(self, event: RequestBytes | ResponseBytes) -> None:
        """Record bytes that passed at the upstream's side, or remember them."""
        if self._key:
            self._listener.on_event(event._replace(key=self._key))
        elif self._size <= MAX_HELD_REQUEST:
            self._size += len(event.data)
            self._before.append(event)

    def show(self) -> None:
        """Record it from now on, beginning with what passed before; nothing of that if it was too much to remember."""
        if self._key:
            return
        self._key = self._listener.new_key()
        _, at, upstream, head, answer, is_declined = self._handshake
        fields = [(n, v) for n, v in head.headers if not (is_declined and n.lower() == "sec-websocket-extensions")]
        head = replace(
            head,
            headers=Headers(tuple(fields)),
            hop=hop_behind(head.hop),
            parent=self._handshake.key,
            branch=self._branch,
        )
        self._listener.on_event(RequestStarted(self._key, at, upstream, head))
        self._listener.on_event(RequestEnded(self._key, at))
        self._listener.on_event(ResponseStarted(self._key, at, answer))
        for event in self._before if self._size <= MAX_HELD_REQUEST else ():
            self.add(event)
        self._before.clear()

    def end(self, at: float, why: str) -> None:
        """Record its end."""
        if self._key:
            state = State.ABORTED if why else State.COMPLETE
            self._listener.on_event(ExchangeEnded(self._key, at, state, why))


class InterceptedEvents:
    """Listens to the ``Forward`` of an intercepted exchange and turns its events into those that are recorded.

    Args:
        origin: the client's exchange.
        on_response: receives the head of the response first.
        child: receives the exchange with the upstream; None if the client's request goes up unchanged.

    Attributes:
        response: head of the upstream's response; None until there is one.
        end: how the exchange with the upstream ended; None until it has.
        passes: the response goes to the client as it arrives, and is recorded so.
        skips: bytes of the request that are already recorded in the client's exchange.
        is_request_recorded: the end of the request is already recorded.
    """

    def __init__(
        self, origin: ClientExchange, on_response: Callable[[ResponseHead], None], child: ChildExchange | None = None
    ) -> None:
        self.response: ResponseHead | None = None
        self.end: ExchangeEnded | None = None
        self.passes = True
        self.skips = 0
        self.is_request_recorded = False
        self._origin, self._on_response, self._child = origin, on_response, child

    def on_event(self, event: Event) -> None:
        """Record an event in the exchanges it belongs to."""
        if self._child:
            self._child.on_event(event)
        match event:
            case RequestBytes() if not self._child:
                self._request_bytes(event)
            case RequestEnded() if not (self._child or self.is_request_recorded):
                self._origin.on_event(event)
            case ResponseStarted():
                self.response = event.head
                self._on_response(event.head)
                if self.passes:
                    self._origin.on_event(event)
            case ResponseBytes() if self.passes:
                self._origin.on_event(event)
            case ExchangeEnded():
                self.end = event

    def _request_bytes(self, event: RequestBytes) -> None:
        fresh = event.data[self.skips :]
        self.skips -= len(event.data) - len(fresh)
        if fresh:
            self._origin.on_event(RequestBytes(event.key, event.at, fresh))
