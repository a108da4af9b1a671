"""Tunnel to an https upstream through the proxy that the environment names: CONNECT (RFC 9110 9.3.6)."""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from urllib.parse import unquote, urlsplit

from workbench.lazy_dataclass import dataclass
from workbench.recorder.relay.routes import Upstream
from workbench.recorder.relay.upstream_connection import UpstreamConnection
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
    named = any(os.environ.get(name) for base in ("https_proxy", "all_proxy") for name in (base, base.upper()))
    if not (named and upstream.is_tls) or upstream.host in _LOOPBACK:
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
