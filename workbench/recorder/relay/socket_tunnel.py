"""A WebSocket on its way: after the 101 response bytes pass in both directions as they come, and nothing reads them.

What the two sides negotiated (subprotocol, compression), how they cut messages into frames, their pings and their
closing handshake stay theirs: no frame is made, merged, held or answered here. Listeners receive copies of the bytes.
A breakpoint that is armed meanwhile puts another tunnel in its place, see ``breakpoints.held_tunnel``.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from workbench.recorder.events import (
    ExchangeEnded,
    RequestBytes,
    RequestHead,
    ResponseBytes,
    ResponseHead,
    SafeListener,
)
from workbench.recorder.relay.body_digests import BodyDigests
from workbench.recorder.relay.client_side import SocketSide
from workbench.recorder.relay.upstream_connection import UpstreamConnection
from workbench.wire import BodyDigest, State

SENT, RECEIVED = "sent", "received"
"""The directions, as the client sees them."""

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


_T = TypeVar("_T", bound="SocketTunnel")


class Handshake(NamedTuple):
    """An upgrade that the upstream has agreed to.

    Attributes:
        key: of its exchange.
        at: time of its first event.
        upstream: name of the upstream.
        is_declined: the compression that the client offered was not passed on.
    """

    key: int
    at: float
    upstream: str
    request: RequestHead
    response: ResponseHead
    is_declined: bool = False


class SocketTunnel:
    """Joins a client's connection and one to an upstream until both directions have ended.

    Args:
        handshake: of the connection.

    Attributes:
        copies: (direction, bytes) of what passes, while somebody wants to know it; None if nobody does.
    """

    def __init__(
        self,
        client: SocketSide,
        listener: SafeListener,
        handshake: Handshake,
        connection: UpstreamConnection,
        *,
        is_full: bool,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.handshake = handshake
        self.copies: list[tuple[str, bytes]] | None = None
        self._client, self._connection = client, connection
        self._listener, self._key = listener, handshake.key
        self._sent_digests, self._received_digests = BodyDigests(), BodyDigests()
        self._is_upstream_full = is_full
        self._has_client_ended = False
        self._has_upstream_ended = False
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """Both directions have ended."""
        return self._is_over

    def replaced_by(self, make: Callable[..., _T]) -> _T:
        """Another tunnel, which takes the place of this one."""
        tunnel = make(self._client, self._listener, self.handshake, self._connection, is_full=self._is_upstream_full)
        tunnel.continue_from(self)
        return tunnel

    def continue_from(self, other: SocketTunnel) -> None:
        """Take the place of another tunnel of the same connection."""
        self._sent_digests, self._received_digests = other._sent_digests, other._received_digests
        self._has_client_ended, self._has_upstream_ended = other._has_client_ended, other._has_upstream_ended
        self._connection.user = self

    # From the client

    @property
    def is_blocked(self) -> bool:
        """The upstream has to catch up before more is read from the client."""
        return self._is_upstream_full

    @property
    def waiting_bytes(self) -> int:
        """Bytes that are held: none."""
        return 0

    def request_data(self, data: bytes) -> bytes:
        """Pass bytes of the client on."""
        if data and not self._is_over:
            self._connection.transport.write(data)
            if self.copies is not None:
                self.copies.append((SENT, data))
            self._sent_digests.add_received(data)
            self._sent_digests.add_sent(data)
            self._listener.on_event(RequestBytes(self._key, self._loop.time(), data))
        return b""

    def end_of_client(self) -> bool:
        """Pass the end of what the client sends on; True if the other direction stays open."""
        self._has_client_ended = True
        transport = self._connection.transport
        if self._has_upstream_ended or self._is_over or not transport.can_write_eof():  # TLS has no half-closed state
            return False
        transport.write_eof()
        return True

    def set_client_full(self, is_full: bool) -> None:
        """Pause or resume reading from the upstream, as the client's write buffer is full or not."""
        transport = self._connection.transport
        transport.pause_reading() if is_full else transport.resume_reading()

    def stop(self, why: str, *, resets: bool = False) -> None:
        """End both directions: the client's connection is closed, or broken."""
        if self._is_over:
            return
        self._connection.user = None
        if resets:
            raw: socket.socket = self._connection.transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            self._connection.transport.abort()
        else:
            self._connection.transport.close()  # what was passed on leaves first
        self._end(why)

    # From the upstream

    def response_data(self, data: bytes) -> None:
        if data and not self._is_over:
            self._client.write(data)
            if self.copies is not None:
                self.copies.append((RECEIVED, data))
            self._received_digests.add_received(data)
            self._received_digests.add_sent(data)
            self._listener.on_event(ResponseBytes(self._key, self._loop.time(), data))

    def end_of_upstream(self) -> bool:
        """Pass the end of what the upstream sends on; True if the other direction stays open."""
        self._has_upstream_ended = True
        return not self._has_client_ended and self._client.write_eof()

    def set_upstream_full(self, is_full: bool) -> None:
        self._is_upstream_full = is_full
        self._client.update_reading()

    def upstream_closed(self, error: Exception | None) -> None:
        self._end(f"the upstream dropped the connection ({error})" if error else "")
        if error:
            self._client.abort(resets=True)
        else:
            self._client.finish(keeps=False)

    def _end(self, why: str) -> None:
        if not self._is_over:
            self._is_over = True
            state = State.ABORTED if why else State.COMPLETE
            self._listener.on_event(
                ExchangeEnded(self._key, self._loop.time(), state, self._note(why), self._digests())
            )

    def _note(self, why: str) -> str:
        """What is said of the connection at its end."""
        return why

    def _digests(self) -> Mapping[str, BodyDigest]:
        return {"request": self._sent_digests.result(), "response": self._received_digests.result()}
