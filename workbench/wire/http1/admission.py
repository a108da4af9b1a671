"""Decides whether the relay accepts a request: local origin, known host, supported framing.

A web page that makes the browser call loopback (DNS rebinding, cross-site requests) is visible in Host, Origin and
Sec-Fetch-Site, which a page cannot set; other programs send no Origin, or one with a scheme of their own.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from workbench.wire.http1.head import BadMessage, Request, quote

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Admission:
    """Checks requests against the address of the listener.

    Args:
        passes_websockets: their handshakes are accepted; else the response is 426, which clients take as a reason to
            use HTTP (measured with Codex 0.169.0).
    """

    def __init__(self, port: int, *, passes_websockets: bool = False) -> None:
        self._passes_websockets = passes_websockets
        hosts = {"[::1]" if host == "::1" else host for host in _LOOPBACK}
        self._authorities = {f"{host}:{port}".encode() for host in hosts}
        if port == 80:
            self._authorities |= {host.encode() for host in hosts}

    def target(self, request: Request) -> bytes:
        """Path and query of a request to this listener. Raises BadMessage with the status to answer."""
        self._check_method(request)
        target = self._origin_form(request.target)
        self._check_host(request)
        _check_page(request)
        if b"websocket" in request.tokens(b"upgrade") and not self._passes_websockets:
            raise BadMessage(
                "this recording passes no WebSockets on (--no-websocket, --break): use plain HTTP requests", 426
            )
        return target

    def _check_method(self, request: Request) -> None:
        if request.method == b"CONNECT":
            raise BadMessage("this is not a forward proxy: set the client's base URL to it, not HTTP_PROXY", 405)

    def _origin_form(self, target: bytes) -> bytes:
        if target.startswith(b"/"):
            return target
        scheme, mark, rest = target.partition(b"://")
        authority, slash, path = rest.partition(b"/")
        if mark and scheme.lower() == b"http" and authority.lower() in self._authorities:
            return slash + path or b"/"
        if mark:
            raise BadMessage("this is not a forward proxy: set the client's base URL to it, not HTTP_PROXY")
        raise BadMessage(f"not a path: {quote(target)}")

    def _check_host(self, request: Request) -> None:
        hosts = request.values(b"host")
        if len(hosts) > 1 or (not hosts and request.version == b"HTTP/1.1"):
            raise BadMessage(f"exactly one Host header is required, not {len(hosts)}")
        if hosts and hosts[0].lower() not in self._authorities:
            known = " or ".join(sorted(a.decode() for a in self._authorities))
            raise BadMessage(f"Host is {quote(hosts[0])}; only requests for {known} are accepted", 421)


def _check_page(request: Request) -> None:
    """Refuse requests of web pages from other sites. Pages served from this machine may use the relay."""
    origins = request.values(b"origin")
    for origin in origins:
        if origin == b"null" or (origin.lower().startswith((b"http:", b"https:")) and not _is_local(origin)):
            raise BadMessage(f"a web page of {quote(origin)} may not use this listener", 403)
    if not origins and b"cross-site" in request.tokens(b"sec-fetch-site"):
        raise BadMessage("a web page of another site may not use this listener", 403)


def _is_local(origin: bytes) -> bool:
    try:
        return urlsplit(origin.decode("latin-1")).hostname in _LOOPBACK
    except ValueError:
        return False
