"""Connections from clients: requests are read one after the other, and responses are written in that order."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.lazy_dataclass import dataclass, field
from workbench.limits import HEAD_SECONDS, LINGER_SECONDS, MAX_HELD_AHEAD
from workbench.recorder.events import RequestHead, SafeListener
from workbench.recorder.relay.client_side import ClientSide, reply
from workbench.recorder.relay.connector import Connector
from workbench.recorder.relay.forward import IGNORED_UPGRADE, Forward
from workbench.recorder.relay.paused_reading import PausedReading
from workbench.recorder.relay.refusal_log import RefusalLog
from workbench.recorder.relay.routes import Routes, Upstream
from workbench.recorder.relay.socket_tunnel import Handshake, SocketTunnel
from workbench.recorder.relay.upstream_connection import ConnectionPool, UpstreamConnection
from workbench.wire import CLIENT_LEFT
from workbench.wire.http1 import (
    Admission,
    BadMessage,
    BodyReader,
    HeadBuffer,
    Request,
    other_upgrade,
    read_request,
    request_body,
)

if TYPE_CHECKING:
    from workbench.recorder.breakpoints.gate import BreakpointGate
    from workbench.recorder.breakpoints.held_stream import HeldStream
    from workbench.recorder.breakpoints.intercepted_exchange import InterceptedExchange


def is_event_stream(request: Request) -> bool:
    """A GET that asks for a stream of events."""
    return request.method == b"GET" and any(b"text/event-stream" in token for token in request.tokens(b"accept"))


_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class RelayContext:
    """Objects that all client connections of one relay share."""

    routes: Routes
    admission: Admission
    connector: Connector
    pool: ConnectionPool
    listener: SafeListener
    refusals: RefusalLog
    hop: str = ""
    gate: BreakpointGate | None = None
    clients: set[ClientConnection] = field(default_factory=set)


class ClientConnection(asyncio.Protocol):
    """One connection from a client."""

    _transport: asyncio.Transport

    def __init__(self, desk: RelayContext) -> None:
        self.is_full = False
        self._context = desk
        self._unread = HeadBuffer()
        self._block = b""  # the last head
        self._forward: Forward | InterceptedExchange | HeldStream | SocketTunnel | None = None
        self._is_over = False
        self._error: Exception | None = None  # noticed before the transport did
        self._deadline: asyncio.TimerHandle | None = None

    # Called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._reading = PausedReading(transport, self._break)
        self._context.clients.add(self)

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            return
        if self._forward:
            data = self._forward.request_data(data)
        if data and not self._is_over:
            self._unread.add(data)
            self._serve()
        elif self._forward:
            self.update_reading()

    def eof_received(self) -> bool:
        if isinstance(self._forward, SocketTunnel):
            is_half_open = self._forward.end_of_client() and self._transport.can_write_eof()
            if not is_half_open:
                self._stop_forward("")
            return is_half_open
        self._stop_forward(CLIENT_LEFT)
        self._transport.abort()
        return False

    def _break(self) -> None:
        """End a connection that the client has reset while nothing was read from it."""
        self._error = ConnectionResetError("the client has reset the connection")
        self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        error = error or self._error
        self._reading.stop()
        if isinstance(self._forward, SocketTunnel):
            self._forward.stop("the client dropped the connection" if error else "", resets=error is not None)
        self._stop_forward(CLIENT_LEFT)
        self._context.clients.discard(self)
        if self._context.gate:
            self._context.gate.open_sockets.discard(self)
        self._clear_deadline()

    def pause_writing(self) -> None:
        self.is_full = True
        if self._forward:
            self._forward.set_client_full(True)

    def resume_writing(self) -> None:
        self.is_full = False
        if self._forward:
            self._forward.set_client_full(False)

    # Called by the exchange under way

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def write_eof(self) -> bool:
        if self._transport.is_closing() or not self._transport.can_write_eof():  # TLS has no half-closed state
            return False
        self._transport.write_eof()
        return True

    def open_tunnel(self, handshake: Handshake, connection: UpstreamConnection, *, is_full: bool) -> SocketTunnel:
        """Join the client with an upstream that has agreed to a WebSocket."""
        listener, gate = self._context.listener, self._context.gate
        if gate and gate.holds_frames(handshake.request.url):
            from workbench.recorder.breakpoints.held_tunnel import HeldTunnel

            tunnel: SocketTunnel = HeldTunnel(self, listener, handshake, connection, is_full=is_full, gate=gate)
        else:
            tunnel = SocketTunnel(self, listener, handshake, connection, is_full=is_full)
            if gate:
                gate.open_sockets.add(self)
        connection.user = self._forward = tunnel
        tunnel.set_client_full(self.is_full)
        tunnel.request_data(self._unread.take_rest())
        return tunnel

    @property
    def socket_url(self) -> str:
        """The URL of the WebSocket that it carries; empty if it carries none."""
        return self._forward.handshake.request.url if isinstance(self._forward, SocketTunnel) else ""

    async def hold_messages(self) -> None:
        """Hold messages of its WebSocket from now on, which was opened when nothing was to be held."""
        tunnel, gate = self._forward, self._context.gate
        if not gate or not isinstance(tunnel, SocketTunnel) or tunnel.copies is not None:
            return
        from workbench.recorder.breakpoints.held_tunnel import hold_open

        held_tunnel = await hold_open(tunnel, gate)
        if held_tunnel:
            gate.open_sockets.discard(self)
            self._forward = held_tunnel
            held_tunnel.set_client_full(self.is_full)

    def update_reading(self) -> None:
        waiting = len(self._unread)
        is_blocked = False
        if self._forward:
            waiting += self._forward.waiting_bytes
            is_blocked = self._forward.is_blocked
        if self._reading.is_paused != (is_blocked or (waiting > MAX_HELD_AHEAD and self._forward is not None)):
            self._reading.resume() if self._reading.is_paused else self._reading.pause()

    def finish(self, *, keeps: bool) -> None:
        self._forward = None
        if not keeps:
            self._linger()
            return
        if self._reading.is_paused:
            self.update_reading()
        if len(self._unread):
            asyncio.get_running_loop().call_soon(self._serve)

    def abort(self, *, resets: bool) -> None:
        self._forward = None
        self._is_over = True
        if resets:
            raw: socket.socket = self._transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._transport.close()

    # Called by the relay

    def stop(self, why: str) -> None:
        """Close it at once."""
        self._stop_forward(why)
        self._transport.abort()

    def _serve(self) -> None:
        """Start the next exchange if its head is complete."""
        while self._forward is None and not self._is_over:
            try:
                forward = self._start_next()
            except BadMessage as bad:
                self._refuse(bad)
                return
            if forward is None:
                if len(self._unread) and not self._deadline:
                    slow = BadMessage(f"the rest of the head did not arrive within {HEAD_SECONDS:.0f} seconds", 408)
                    self._call_in(HEAD_SECONDS, self._refuse, slow)
                return
            self._clear_deadline()
            self._forward = forward
            self._unread.add(forward.start(self._unread.take_rest()))
        self.update_reading()

    def _start_next(self) -> Forward | InterceptedExchange | HeldStream | None:
        self._block = b""
        self._block = self._unread.take() or b""
        return self._start(self._block) if self._block else None

    def _start(self, block: bytes) -> Forward | InterceptedExchange | HeldStream:
        """Start the exchange of a complete head. Raises BadMessage."""
        desk, request = self._context, read_request(block)
        gate, request_target = desk.gate, desk.admission.target(request)
        tool_upstream = (
            gate.tool_calls.upstream_of(request_target.decode("latin-1")) if gate and gate.is_tool_hop else ""
        )
        upstream, target = (
            desk.routes.at(tool_upstream, request_target) if tool_upstream else desk.routes.find(request_target)
        )
        body = request_body(request)
        if gate and not body.is_done and (sides := gate.sides_to_hold(request.method, upstream.url(target))):
            return self._intercept(gate, sides, upstream, request, target, body)
        if gate and gate.is_tool_hop and is_event_stream(request):
            return self._intercept(gate, None, upstream, request, target, body)
        if upgrade := other_upgrade(request):
            desk.refusals.tell_once(IGNORED_UPGRADE.format(upgrade[:80]))
        is_declined = gate is not None and gate.declines_compression and gate.holds_frames(upstream.url(target))
        return Forward(
            self, desk.listener, desk.pool, desk.connector, upstream, request, target, body, desk.hop, self.open_tunnel,
            declines=is_declined,
        )  # fmt: skip

    def _intercept(
        self,
        gate: BreakpointGate,
        sides: frozenset[str] | None,
        upstream: Upstream,
        request: Request,
        target: bytes,
        body: BodyReader,
    ) -> InterceptedExchange | HeldStream:
        """Start an exchange that a breakpoint may hold, in place of a plain ``Forward``.

        Args:
            sides: that may be held; None for a stream of events.
        """
        from workbench.recorder.breakpoints.intercepted_exchange import intercept

        desk = self._context

        def onward(client: ClientSide, listener: SafeListener, request: Request, body: BodyReader) -> Forward:
            return Forward(client, listener, desk.pool, desk.connector, upstream, request, target, body, desk.hop)

        method, request_target, version = (
            text.decode("latin-1") for text in (request.method, request.target, request.version)
        )
        head = RequestHead(method, request_target, upstream.url(target), request.headers, version, desk.hop)
        return intercept(self, gate, sides, desk.listener, onward, upstream.name, head, request, body)

    def _refuse(self, bad: BadMessage) -> None:
        """Respond to bytes that are no request that can be forwarded, and end the connection."""
        answer = reply(bad.status, str(bad), closes=True)
        self._context.refusals.add(self._block, bad, answer, asyncio.get_running_loop().time())
        self.write(answer.render())
        self._linger()

    def _call_in(self, seconds: float, end: Callable[..., object], *args: object) -> None:
        """Call ``end`` after this time, in place of any earlier deadline."""
        self._clear_deadline()
        self._deadline = asyncio.get_running_loop().call_later(seconds, end, *args)

    def _clear_deadline(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _linger(self) -> None:
        """End the connection but keep reading: closed while the client sends, it might lose what it was sent."""
        self._is_over = True
        if not self._transport.can_write_eof():
            self._transport.close()
        elif not self._transport.is_closing():
            self._transport.write_eof()
            self._reading.resume()
            self._call_in(LINGER_SECONDS, self._transport.abort)

    def _stop_forward(self, why: str) -> None:
        self._is_over = True
        forward, self._forward = self._forward, None
        if forward:
            forward.stop(why)
