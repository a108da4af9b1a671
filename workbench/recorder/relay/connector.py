"""Opens connections to upstreams; each failure is explained in one line."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from base64 import b64encode
from urllib.parse import unquote, urlsplit

from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import dataclass
from workbench.limits import CONNECT_SECONDS
from workbench.recorder.relay import loop_guard
from workbench.recorder.relay.routes import Upstream
from workbench.recorder.relay.upstream_connection import ConnectionPool, UpstreamConnection
from workbench.wire.http1 import BadMessage, HeadBuffer, Response, read_response, render

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A forward proxy. ``authorization`` is for the proxy alone; empty if it needs none."""

    host: str
    port: int
    authorization: bytes


def proxy_for(upstream: Upstream) -> Proxy | None:
    """The proxy of ``HTTPS_PROXY`` or ``ALL_PROXY``; None for loopback and ``NO_PROXY``. Raises ValueError."""
    has_proxy_variable = any(
        os.environ.get(name) for base in ("https_proxy", "all_proxy") for name in (base, base.upper())
    )
    if not (has_proxy_variable and upstream.is_tls) or upstream.host in _LOOPBACK:
        return None
    from urllib.request import getproxies, proxy_bypass  # slow to import, seldom needed

    proxies = getproxies()
    if proxy_bypass(f"{upstream.host}:{upstream.port}"):
        return None
    text = proxies.get("https") or proxies.get("all") or ""
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError("HTTPS_PROXY must be an http:// URL")
    user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()
    authorization = b"Basic " + b64encode(user) if parts.username else b""
    return Proxy(parts.hostname, parts.port or 80, authorization)


async def open_tunnel(connection: UpstreamConnection, proxy: Proxy) -> None:
    """Ask the proxy for a tunnel to the connection's upstream. Raises ConnectionError if the proxy refuses."""
    upstream = connection.upstream
    host = f"[{upstream.host}]" if ":" in upstream.host else upstream.host
    authority = f"{host}:{upstream.port}".encode("idna" if not host.isascii() else "ascii")
    lines = [b"Host: " + authority]
    if proxy.authorization:
        lines.append(b"Proxy-Authorization: " + proxy.authorization)
    answer = connection.user = _ProxyResponse()
    connection.transport.resume_reading()
    connection.transport.write(render(b"CONNECT %s HTTP/1.1" % authority, lines))
    connection.replay_to_user()
    response = await answer.response
    connection.user = None
    connection.transport.pause_reading()
    if not 200 <= response.status < 300:
        reason = response.reason.decode("latin-1")
        raise ConnectionError(f"the proxy {proxy.host}:{proxy.port} answered {response.status} {reason!a}")


class _ProxyResponse:
    """Reads the head of the proxy's response."""

    def __init__(self) -> None:
        self.response: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._heads = HeadBuffer()

    def response_data(self, data: bytes) -> None:
        self._heads.add(data)
        try:
            block = self._heads.take()
            if block is not None and not self.response.done():
                self.response.set_result(read_response(block))
        except BadMessage as bad:
            self._fail(f"the proxy's response is not HTTP/1.1: {bad.what}")

    def upstream_closed(self, error: Exception | None) -> None:
        self._fail(f"the proxy closed the connection{f' ({error})' if error else ''}")

    def end_of_upstream(self) -> bool:
        return False

    def set_upstream_full(self, is_full: bool) -> None:
        """Ignored: only one short head is sent."""

    def _fail(self, why: str) -> None:
        if not self.response.done():
            self.response.set_exception(ConnectionError(why))


_NEXT_ADDRESS_SECONDS = 0.25  # RFC 8305 5: the next address of a name is tried after this

_TLS_SECONDS = CONNECT_SECONDS / 2


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
            raise Unreachable(f"the upstream {where} is this recorder itself", "give the provider's URL", 508)
        if host in loop_guard.LOOPBACK and loop_guard.is_loop(port, upstream.name):
            connection.drop()
            what = f"the upstream {where} is a recorder that forwards to this one: requests would loop forever"
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
        transport = await loop.start_tls(
            connection.transport,
            connection,
            self._context(),
            server_hostname=host,
            ssl_handshake_timeout=_TLS_SECONDS,
        )
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
        return Unreachable(what, "if your own gateway signed this certificate, set SSL_CERT_FILE to its CA file")
    if isinstance(error, ssl.SSLError):
        return Unreachable(f"TLS with {where} failed: {error.reason}", "check that the upstream supports https://")
    if isinstance(error, ConnectionAbortedError) and "SSL handshake" in str(error):  # asyncio's words for its timeout
        what = f"TLS with {where} was not agreed on within {_TLS_SECONDS:.0f} seconds"
        return Unreachable(what, "check that the upstream supports https://")
    if isinstance(error, socket.gaierror):
        return Unreachable(f"the name {host} cannot be resolved: {error.strerror}", "check the URL and the network")
    if isinstance(error, ConnectionRefusedError):
        return Unreachable(f"nothing is listening on {where}", "start the upstream or correct its URL")
    return Unreachable(f"{where} cannot be reached: {error}", "check the URL and the network")
