"""A reverse proxy for HTTP/1.1 that changes nothing: a loopback listener in front of one or several upstreams.

WebSockets pass too: what follows a 101 response is forwarded byte for byte (``socket_tunnel``).

Bodies pass exactly as received, chunk framing and content coding included; of the heads only hop-by-hop headers,
``Host`` and the target's base change, and ``Connection: close`` is added if the connection to the client ends. An
``EventListener`` receives every exchange as events. The relay's own responses (refusals, unreachable upstreams) are
plain text and have the header ``X-Workbench-Relay``; requests that it refuses are exchanges of the recording, too.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.recorder.events import EventListener, SafeListener
from workbench.recorder.relay.client_connection import ClientConnection, RelayContext
from workbench.recorder.relay.connector import Connector
from workbench.recorder.relay.refusal_log import RefusalLog
from workbench.recorder.relay.routes import Routes
from workbench.recorder.relay.upstream_connection import ConnectionPool
from workbench.wire.http1 import Admission

if TYPE_CHECKING:
    from workbench.recorder.breakpoints.gate import BreakpointGate

_BACKLOG = 1024  # connections that may wait while the loop is busy; the default of 100 stalls a burst of clients

_TURNS_TO_CLOSE = 20  # of the loop, for transports that were aborted; the layers of TLS take a few


class Relay:
    """One listener and what it forwards to.

    Args:
        upstreams: name → base URL, ``http`` or ``https``, with a path or without.
        listener: receives the events of every exchange. If it raises, it is disabled and traffic continues. Relays of
            one recording share a ``SafeListener``.
        host: ``127.0.0.1`` or ``::1``; nothing but loopback is listened on.
        port: 0 takes a free one.
        tls: used for https upstreams instead of the system's trust.
        hop: name of this place, where one recording has several.
        gate: its breakpoints, where there may be any.
        passes_websockets: their handshakes are passed on; else they are refused with 426.
        listener_tls: its own certificate, for clients that accept nothing but TLS.
        on_refusal: called with one line for each reason why it refuses requests.

    Raises:
        UsageError: a base URL, name or host that cannot be.
    """

    def __init__(
        self,
        upstreams: Mapping[str, str],
        listener: EventListener | SafeListener,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        hop: str = "",
        gate: BreakpointGate | None = None,
        passes_websockets: bool = True,
        listener_tls: ssl.SSLContext | None = None,
        on_refusal: Callable[[str], None] = lambda line: None,
    ) -> None:
        if host not in ("127.0.0.1", "::1"):
            raise UsageError(
                f"{host!a} is not a loopback address", hint="listen on 127.0.0.1: requests contain API keys"
            )
        self._routes = Routes(upstreams)
        self._listener = listener if isinstance(listener, SafeListener) else SafeListener(listener)
        self._hop, self._gate = hop, gate
        self._on_refusal = on_refusal
        self._passes_websockets = passes_websockets
        self._listener_tls = listener_tls
        self._host, self._port, self._tls = host, port, tls
        self._server: asyncio.Server | None = None
        self._context: RelayContext | None = None

    @property
    def port(self) -> int:
        """Port that it listens on; 0 before ``start`` if any port will do."""
        return self._port

    @property
    def listener_failure(self) -> Exception | None:
        """The exception that disabled the listener; None if there was none."""
        return self._listener.failure

    def url(self, name: str) -> str:
        """Base URL that a client uses for that upstream, after ``start``. Raises KeyError."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        scheme = "https" if self._listener_tls else "http"
        return f"{scheme}://{host}:{self._port}{self._routes.path(name)}"

    async def start(self) -> None:
        """Listen. Raises UsageError if the port is in use."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                self._new_connection, self._host, self._port, backlog=_BACKLOG, ssl=self._listener_tls
            )
        except OSError as error:
            raise UsageError(
                f"cannot listen on {self._host}:{self._port}: {os.strerror(error.errno or 0)}",
                hint="choose another port",
            ) from error
        self._port = self._server.sockets[0].getsockname()[1]
        pool = ConnectionPool()
        admission = Admission(self._port, passes_websockets=self._passes_websockets)
        dialer = Connector(pool, (self._host, self._port), self._tls)
        refusals = RefusalLog(self._listener, self._routes, self._hop, self._on_refusal)
        self._context = RelayContext(
            self._routes, admission, dialer, pool, self._listener, refusals, self._hop, self._gate
        )

    async def close(self) -> None:
        """Stop listening and end every connection at once; exchanges in progress end as aborted."""
        server, desk = self._server, self._context
        if server is None or desk is None:
            return
        self._server = None
        server.close()
        for client in list(desk.clients):
            client.stop("the recorder was stopped")
        desk.pool.close()
        for _ in range(_TURNS_TO_CLOSE):
            if desk.clients or len(desk.pool):
                await asyncio.sleep(0)
        await server.wait_closed()

    def _new_connection(self) -> ClientConnection:
        assert self._context
        return ClientConnection(self._context)
