"""Opens connections to upstreams; each failure is explained in one line."""

from __future__ import annotations

import asyncio
import socket
import ssl

from workbench.errors import WorkbenchError
from workbench.limits import CONNECT_SECONDS
from workbench.recorder.relay import loop_guard
from workbench.recorder.relay.proxy_tunnel import open_tunnel, proxy_for
from workbench.recorder.relay.routes import Upstream
from workbench.recorder.relay.upstream_connection import ConnectionPool, UpstreamConnection

_NEXT_ADDRESS_SECONDS = 0.25  # RFC 8305 5: the next address of a name is tried after this


class Unreachable(WorkbenchError):
    """No connection to an upstream. ``status`` is the status of the response that the client gets."""

    def __init__(self, what: str, hint: str, status: int = 502) -> None:
        super().__init__(what, hint=hint)
        self.status = status


class Connector:
    """Opens connections for one relay that listens at ``own``; never one to itself."""

    def __init__(self, pool: ConnectionPool, own: tuple[str, int], tls: ssl.SSLContext | None) -> None:
        self._pool = pool
        self._own = own
        self._tls = tls

    async def connect(self, upstream: Upstream) -> UpstreamConnection:
        """Connect, with TLS for an https URL. Raises Unreachable."""
        where = f"{upstream.host}:{upstream.port}"
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                connection = await self._connect_through_proxy(upstream)
        except TimeoutError:
            what = f"{where} did not accept a connection within {CONNECT_SECONDS:.0f} seconds"
            raise Unreachable(what, "check the upstream's URL and the network") from None
        except (OSError, ValueError) as error:
            raise _unreachable(error, upstream.host, where) from error
        host, port = connection.transport.get_extra_info("peername")[:2]
        if (host, port) == self._own:
            connection.drop()
            raise Unreachable(f"the upstream {where} is this listener itself", "give the provider's URL", 508)
        if host in loop_guard.LOOPBACK and loop_guard.is_loop(port, upstream.name):
            connection.drop()
            what = f"the upstream {where} is a recorder that leads back to this one: requests would loop forever"
            raise Unreachable(what, "give one of them the provider's URL", 508)
        return connection

    async def _connect_through_proxy(self, upstream: Upstream) -> UpstreamConnection:
        proxy = proxy_for(upstream)
        if proxy is None:
            connection = await self._open(upstream, upstream.host, upstream.port)
        else:
            connection = await self._open(upstream, proxy.host, proxy.port)
        try:
            if proxy:
                await open_tunnel(connection, proxy)
            if upstream.is_tls:
                await self._start_tls(connection)
        except BaseException:
            connection.drop()
            raise
        return connection

    async def _open(self, upstream: Upstream, host: str, port: int) -> UpstreamConnection:
        loop = asyncio.get_running_loop()
        next_address = None if _is_address(host) else _NEXT_ADDRESS_SECONDS
        opening = loop.create_task(
            loop.create_connection(
                lambda: UpstreamConnection(upstream, self._pool), host, port, happy_eyeballs_delay=next_address
            ),
            name=f"open {host}:{port}",
        )
        try:
            _, connection = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close)  # cancelled itself, asyncio might leave its socket open
            raise
        return connection

    async def _start_tls(self, connection: UpstreamConnection) -> None:
        loop, host = asyncio.get_running_loop(), connection.upstream.host
        transport = await loop.start_tls(connection.transport, connection, self._context(), server_hostname=host)
        if transport is None:  # the other side was gone as the handshake ended
            raise ConnectionResetError("the connection was closed")
        connection.transport = transport

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        return self._tls


def _is_address(host: str) -> bool:
    """An IP address, and not a name that might have several addresses."""
    try:
        socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    except (OSError, ValueError):
        return False
    return True


def _close(opening: asyncio.Task[tuple[asyncio.Transport, UpstreamConnection]]) -> None:
    if not opening.cancelled() and not opening.exception():
        opening.result()[1].drop()


def _unreachable(error: Exception, host: str, where: str) -> Unreachable:
    if isinstance(error, ssl.SSLCertVerificationError):
        what = f"the certificate of {where} is not accepted: {error.verify_message}"
        return Unreachable(what, "if a gateway of yours signed it, name its CA file in SSL_CERT_FILE")
    if isinstance(error, ssl.SSLError):
        return Unreachable(f"TLS with {where} failed: {error.reason}", "check that the upstream speaks https://")
    if isinstance(error, socket.gaierror):
        return Unreachable(f"the name {host} cannot be resolved: {error.strerror}", "check the URL and the network")
    if isinstance(error, ConnectionRefusedError):
        return Unreachable(f"nothing listens at {where}", "start the upstream or correct its URL")
    return Unreachable(f"{where} cannot be reached: {error}", "check the URL and the network")
