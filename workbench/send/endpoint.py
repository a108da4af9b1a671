"""HTTP to real endpoints with httpx, with its TLS, proxy and timeout defaults.

Redirects are never followed, so that a key goes to no other host. Requests to this machine use no proxy.

Retry policy: for 429, 5xx (529 too) and connections that broke before a response.
A 5xx whose error blames the request is not retried: llama.cpp answers arguments that are not JSON with a 500.
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from workbench import regex
from workbench.errors import WireError
from workbench.limits import CONNECT_SECONDS
from workbench.protocols import refusals
from workbench.send.target import is_loopback
from workbench.wire import Headers, loads

if TYPE_CHECKING:
    import ssl

    import httpx

    from workbench.wire import HttpRequest


class HttpEndpoint:
    """Connections to endpoints, kept for the next request. An async context manager.

    Args:
        seconds: timeout for the response to begin, and for each pause in it.
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
        """Send a request and return the head of the response; read its body with ``aiter_raw`` and close it.

        Raises:
            httpx.TransportError: the network fails; ``is_retryable`` decides about another attempt.
        """
        import httpx

        fields = [(name.encode("latin-1"), _octets(value)) for name, value in headers]
        outgoing = httpx.Request(request.method, request.url, headers=fields, content=request.body.raw)
        return await self._client(request.url).send(outgoing, stream=True, follow_redirects=False)

    def _client(self, url: str) -> httpx.AsyncClient:
        import httpx

        kind = is_local, is_plain = is_loopback(url), url.startswith("http:")
        if kind not in self._clients:
            timeout = httpx.Timeout(self._seconds, connect=CONNECT_SECONDS)
            verify = ssl_context_without_roots() if is_local and is_plain else httpx.create_ssl_context()
            self._clients[kind] = httpx.AsyncClient(timeout=timeout, verify=verify, trust_env=not is_local)
        return self._clients[kind]


def ssl_context_without_roots() -> ssl.SSLContext:
    """For clients that never use TLS: loading the trusted roots takes longer than a short request."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _octets(value: str) -> bytes:
    """Bytes of a header's value; importers may provide text that cannot be latin-1."""
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")


def describe_error(error: BaseException) -> str:
    """Why a connection failed, in one line."""
    import ssl

    import httpx

    if isinstance(error, httpx.TimeoutException):
        is_late = isinstance(error, httpx.ReadTimeout)
        what = "connecting" if isinstance(error, httpx.ConnectTimeout) else "sending the request"
        return "timeout: no response from the server" if is_late else f"timeout while {what}"
    root: BaseException = error
    while (under := root.__cause__ or root.__context__) is not None:
        root = under
    if isinstance(root, ssl.SSLCertVerificationError):
        why = root.verify_message.rstrip(".")
        return f"certificate not accepted: {why}; if your own gateway signed it, set SSL_CERT_FILE to its CA"
    if isinstance(root, ssl.SSLError) and root.reason:
        return f"TLS failed: {root.reason.replace('_', ' ').lower()}; check that the server supports https://"
    return (getattr(root, "strerror", None) or str(error) or str(root) or type(error).__name__).split("\n")[0]


def is_tls_error(error: BaseException | None) -> bool:
    """The certificate is not trusted, or the server does not use TLS: a retry cannot help."""
    while error is not None:
        if "CERTIFICATE" in str(error).upper() or "WRONG_VERSION_NUMBER" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


FIRST_SECONDS = 0.5
MOST_SECONDS = 8.0
"""Backoff doubles from the first to the second value, as in the official SDKs."""

MOST_REQUESTED_SECONDS = 60.0
"""If a server requests a longer wait, the request is not retried and the user is told."""


_UNPARSED: Final = regex.compile(
    r"failed to parse (?:tool call arguments|messages|tools|tool_choice|request)\b", re.IGNORECASE
)


def is_retryable(status: int, headers: Headers) -> bool:
    """The refusal may be temporary; a server can deny that (``x-should-retry: false``)."""
    should_retry = (headers.get("x-should-retry") or "").lower()
    return should_retry != "false" and (status == 429 or status >= 500 or (should_retry == "true" and status >= 400))


def blames_request(body: bytes) -> bool:
    """The error body blames the request, so that a retry would fail too.

    Either its type is ``invalid_request_error``, or it names a part of the request that could not be parsed. If a
    server could not parse its model's output (``Failed to parse input at pos 12``), a retry may succeed.
    """
    try:
        value = loads(body)
    except WireError:
        return False
    error = value.get("error") if isinstance(value, dict) else None
    kind, text = (error.get("type"), error.get("message")) if isinstance(error, dict) else (None, error)
    if kind == "invalid_request_error" or (isinstance(text, str) and _UNPARSED.match(text)):
        return True
    refusal = refusals.of_exchange(500, Headers(), body)
    return refusal is not None and refusal.by == "text" and refusal.kind.is_shown


def requested_wait(headers: Headers, now: float) -> float | None:
    """Seconds to wait from ``retry-after-ms`` or ``Retry-After`` (seconds or date); None if absent.

    Args:
        now: seconds since the epoch.
    """
    wait = refusals.told_wait(headers)
    if wait is not None:
        return wait
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after") or "").timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def backoff(attempt: int, random: float) -> float:
    """Seconds before the next attempt if the server requests no wait.

    Args:
        attempt: number of the failed attempt, from 1.
        random: 0 … 1: shortens the wait by up to a quarter, so that clients do not retry all at once.
    """
    return min(MOST_SECONDS, FIRST_SECONDS * 2.0 ** min(attempt - 1, 16)) * (1 - 0.25 * random)
