"""Connections to upstreams: used by one exchange at a time, then kept for the next."""

from __future__ import annotations

import asyncio
import os
import re
import select
from collections.abc import Iterator
from typing import Protocol

from workbench import regex
from workbench.limits import IDLE_UPSTREAM_SECONDS
from workbench.recorder.relay.routes import Upstream
from workbench.wire.http1 import Response

_KEEP_ALIVE = regex.compile(rb"(?:^|[,\s])timeout=([0-9]{1,6})", re.IGNORECASE)


class ConnectionUser(Protocol):
    """The user of a connection: an exchange, the opening of a tunnel, or a WebSocket."""

    def response_data(self, data: bytes) -> None:
        """Receive bytes of the upstream."""
        ...

    def upstream_closed(self, error: Exception | None) -> None:
        """The upstream closed the connection; with an error if it broke. Called once."""
        ...

    def end_of_upstream(self) -> bool:
        """The upstream sends nothing more; True if there is still something to send to it."""
        ...

    def set_upstream_full(self, is_full: bool) -> None:
        """Stop or continue sending, as the write buffer to the upstream is full or not."""
        ...


class UpstreamConnection(asyncio.Protocol):
    """One connection to an upstream."""

    transport: asyncio.Transport

    def __init__(self, upstream: Upstream, pool: ConnectionPool) -> None:
        self.upstream = upstream
        self.user: ConnectionUser | None = None
        self.is_reused = False
        self.idle_since = 0.0
        self._idle_seconds = IDLE_UPSTREAM_SECONDS
        self._pool = pool
        self._is_full = False
        self._early = b""  # said before anybody asked: a server may refuse a connection with an answer
        self._end: tuple[Exception | None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.pause_reading()  # what comes before TLS is started is for TLS to read, else for the first user
        self._pool.add(self)

    def data_received(self, data: bytes) -> None:
        if self.user:
            self.user.response_data(data)
        elif self.is_reused:
            self.transport.abort()  # an answer nobody asked for
        else:
            self._early += data

    def eof_received(self) -> bool:
        if self.user and self.user.end_of_upstream() and not self.upstream.is_tls:
            return True
        self._on_closed(None)
        self.transport.abort()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        if error and not self.upstream.is_tls:
            for data in self._unread():
                if self.user:
                    self.user.response_data(data)
        self._on_closed(error)

    def pause_writing(self) -> None:
        self._is_full = True
        if self.user:
            self.user.set_upstream_full(True)

    def resume_writing(self) -> None:
        self._is_full = False
        if self.user:
            self.user.set_upstream_full(False)

    def replay_to_user(self) -> None:
        """Give a new user what arrived before it used the connection."""
        early, self._early = self._early, b""
        if early and self.user:
            self.user.response_data(early)
        if self._end:
            self._on_closed(self._end[0])

    def drop(self) -> None:
        """Close it at once; its user gets no further calls."""
        self.user = None
        self.transport.abort()

    def release(self, response: Response, now: float) -> None:
        """Keep it for another exchange: its user is done, and nothing is on its way."""
        self.user = None
        if self._is_full or self.transport.is_closing():
            self.transport.abort()
            return
        self.transport.resume_reading()
        for value in response.values(b"keep-alive"):
            if hint := _KEEP_ALIVE.search(value):
                self._idle_seconds = min(IDLE_UPSTREAM_SECONDS, int(hint[1]) - 1)
        self.is_reused = True
        self.idle_since = now
        self._pool.keep(self)

    def is_fresh(self, now: float) -> bool:
        """The upstream should still listen: not idle for long, and nothing arrived, not even an end."""
        if self.transport.is_closing() or now - self.idle_since > self._idle_seconds:
            return False
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not poll.poll(0)

    def _on_closed(self, error: Exception | None) -> None:
        self._pool.remove(self)
        self._end = self._end or (error,)
        user, self.user = self.user, None
        if user:
            user.upstream_closed(error)

    def _unread(self) -> Iterator[bytes]:
        """Bytes that the upstream sent before it stopped reading: asyncio does not read on when a write has failed."""
        socket = self.transport.get_extra_info("socket")
        try:
            while data := os.read(socket.fileno(), 1 << 16):
                yield data
        except OSError:
            return


class ConnectionPool:
    """Open connections of a relay. Of the idle ones, the last used is used first."""

    def __init__(self) -> None:
        self._open: set[UpstreamConnection] = set()
        self._idle: dict[str, list[UpstreamConnection]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: UpstreamConnection) -> None:
        """Add a new connection."""
        self._open.add(connection)

    def remove(self, connection: UpstreamConnection) -> None:
        """Remove a closed connection."""
        self._open.discard(connection)
        idle = self._idle.get(connection.upstream.name, [])
        if connection in idle:
            idle.remove(connection)

    def keep(self, connection: UpstreamConnection) -> None:
        """Keep an idle connection, and close those idle for too long."""
        idle = self._idle.setdefault(connection.upstream.name, [])
        idle.append(connection)
        while idle[0].idle_since < connection.idle_since - IDLE_UPSTREAM_SECONDS:
            idle.pop(0).drop()

    def take(self, upstream: Upstream, now: float) -> UpstreamConnection | None:
        """An idle connection that can be used; None if there is none."""
        idle = self._idle.get(upstream.name, [])
        while idle:
            connection = idle.pop()
            if connection.is_fresh(now):
                return connection
            connection.drop()
        return None

    def close(self) -> None:
        """Close every connection at once."""
        for connection in list(self._open):
            connection.drop()
