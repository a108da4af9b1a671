"""HTTP to real endpoints, with httpx: TLS, proxies of the environment and timeouts as it has them.

Redirects are never followed: a key goes to no other place. Nothing for this machine goes through a proxy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.limits import CONNECT_SECONDS
from workbench.send.target import is_loopback
from workbench.wire.exchange import Headers

if TYPE_CHECKING:
    import ssl

    import httpx

    from workbench.wire.exchange import HttpRequest


class Endpoint:
    """Connections to endpoints, kept for the next request. An async context manager.

    Args:
        seconds: that an answer may take to begin, and to go on.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._clients: dict[tuple[bool, bool], httpx.AsyncClient] = {}

    async def aclose(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            await client.aclose()
        self._clients.clear()

    async def open(self, request: HttpRequest, headers: Headers) -> httpx.Response:
        """Send a request; the head of the answer, whose body is read with ``aiter_raw``, and which has to be closed.

        Raises:
            httpx.TransportError: the network fails; ``retrying`` tells whether it is worth another attempt.
        """
        import httpx

        fields = [(name.encode("latin-1"), _octets(value)) for name, value in headers]
        asked = httpx.Request(request.method, request.url, headers=fields, content=request.body.raw)
        return await self._client(request.url).send(asked, stream=True, follow_redirects=False)

    def _client(self, url: str) -> httpx.AsyncClient:
        import httpx

        kind = is_local, is_plain = is_loopback(url), url.startswith("http:")
        if kind not in self._clients:
            timeout = httpx.Timeout(self._seconds, connect=CONNECT_SECONDS)
            verify = trusting_nobody() if is_local and is_plain else httpx.create_ssl_context()
            self._clients[kind] = httpx.AsyncClient(timeout=timeout, verify=verify, trust_env=not is_local)
        return self._clients[kind]


def trusting_nobody() -> ssl.SSLContext:
    """For clients that never speak TLS: reading who is trusted takes longer than a short request."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _octets(value: str) -> bytes:
    """The bytes of a header's value; importers may hand over text that no wire carried so."""
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")


def in_words(error: BaseException) -> str:
    """Why a connection failed, in a line."""
    import ssl

    import httpx

    if isinstance(error, httpx.TimeoutException):
        kind = "connect" if isinstance(error, httpx.ConnectTimeout) else "answer"
        return f"it took too long to {kind}"
    root: BaseException = error
    while (under := root.__cause__ or root.__context__) is not None:
        root = under
    if isinstance(root, ssl.SSLCertVerificationError):
        why = root.verify_message.rstrip(".")
        return f"its certificate is not accepted: {why}; if a gateway of yours signed it, name its CA in SSL_CERT_FILE"
    if isinstance(root, ssl.SSLError) and root.reason:
        return f"TLS failed: {root.reason.replace('_', ' ').lower()}; check that it speaks https://"
    return (getattr(root, "strerror", None) or str(error) or str(root) or type(error).__name__).split("\n")[0]


def is_certificate(error: BaseException | None) -> bool:
    """The certificate of the other side is not trusted, or it speaks no TLS: no other attempt will change that."""
    while error is not None:
        if "CERTIFICATE" in str(error).upper() or "WRONG_VERSION_NUMBER" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
