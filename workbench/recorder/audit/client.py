"""The near end of an audit: a client that sends exact bytes to the gateway, and notes the raw bytes it receives."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from workbench.errors import UsageError
from workbench.recorder.audit.case import CaseRequest, Pairs
from workbench.recorder.audit.sighting import CaseStage, Sighting
from workbench.wire import Headers
from workbench.wire.http1 import BadMessage, HeadBuffer, read_response, render, response_body

HOP = "client"

_READ = 256 * 1024
_USUAL: Pairs = (("User-Agent", "workbench-audit"), ("Accept", "*/*"))
_JSON = ("Content-Type", "application/json")


class GatewayURL(NamedTuple):
    """A gateway's base URL, parsed."""

    host: str
    port: int
    path: str
    tls: bool

    @property
    def url(self) -> str:
        """The URL without a path."""
        return f"http{'s' * self.tls}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and port, as in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    def target(self, path: str) -> str:
        """Request target of a path; a version (/v1) at the end of the base is not repeated."""
        first = path.split("/")[1]
        doubled = self.path.endswith(f"/{first}") and first.startswith("v1")
        return self.path + (path[len(first) + 1 :] if doubled else path)


def read_base(url: str) -> GatewayURL:
    """Parse a gateway's URL as people give it. Raises UsageError."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        port = parts.port
    except ValueError:
        port = 0
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.query:
        raise UsageError(f"{url!r} is not the URL of a gateway", hint="give a URL such as http://127.0.0.1:4000")
    if parts.username or parts.password:
        raise UsageError("the gateway's URL contains a password", hint="give the credentials with --header NAME:VALUE")
    tls = parts.scheme == "https"
    return GatewayURL(parts.hostname, port or (443 if tls else 80), parts.path.rstrip("/"), tls)


class AuditClient:
    """Sends requests, each on a separate connection.

    Args:
        headers: sent with every request, credentials among them.
        deadline: seconds that a response may take.
    """

    def __init__(self, base: GatewayURL, headers: Pairs, deadline: float) -> None:
        self._base, self._headers, self.deadline = base, headers, deadline
        self._tls = ssl.create_default_context() if base.tls else None

    async def send(self, case_request: CaseRequest, stage: CaseStage, *, leaves: float | None = None) -> Sighting:
        """Send one request and read its response; what went wrong is in the sighting's ``note``.

        Args:
            leaves: disconnect at the first piece of the response, or after this many seconds without one.

        Raises OSError if nothing accepts the connection.
        """
        hangs_up = leaves is not None
        reader, writer = await asyncio.open_connection(self._base.host, self._base.port, ssl=self._tls, limit=2**20)
        try:
            seen = await self._ask(case_request, writer)
            try:
                async with asyncio.timeout(self.deadline if leaves is None else leaves):
                    await self._hear(seen, reader, stage, case_request.method.encode(), hangs_up)
            except TimeoutError:
                seen.is_left = hangs_up
                seen.note = "" if hangs_up else f"no complete response within {self.deadline:g} seconds"
                seen.is_cut = seen.is_late = not hangs_up
            except (ConnectionError, ssl.SSLError):
                seen.note, seen.is_cut = "the connection was lost", True
            except BadMessage as bad:
                seen.note, seen.is_cut = f"the response is not HTTP/1.1: {bad}", True
            seen.ended = asyncio.get_running_loop().time()
            return seen
        finally:
            writer.transport.abort() if hangs_up else writer.close()
            stage.client_over()

    async def _ask(self, case_request: CaseRequest, writer: asyncio.StreamWriter) -> Sighting:
        loop = asyncio.get_running_loop()
        target = self._base.target(case_request.path)
        own = {name.lower() for name, _ in case_request.headers}
        usual = (*_USUAL, *self._headers) if case_request.body is None else (*_USUAL, _JSON, *self._headers)
        lines = [("Host", self._base.authority), *(p for p in usual if p[0].lower() not in own), *case_request.headers]
        if case_request.body is not None:
            lines.append(("Content-Length", str(len(case_request.body))))
        seen = Sighting(HOP, case_request.method, self._base.url + target, Headers(tuple(lines)), loop.time())
        start = f"{case_request.method} {target} HTTP/1.1".encode()
        writer.write(render(start, [f"{name}: {value}".encode("latin-1") for name, value in lines]))
        if case_request.body is not None:
            seen.request_body.add(case_request.body, loop.time())
            writer.write(case_request.body)
        with suppress(ConnectionError):  # who answers before the request is whole may close: its answer is read
            await writer.drain()
        return seen

    async def _hear(
        self, seen: Sighting, reader: asyncio.StreamReader, stage: CaseStage, method: bytes, hangs_up: bool
    ) -> None:
        loop, heads = asyncio.get_running_loop(), HeadBuffer()
        while seen.response is None:
            data = await reader.read(_READ)
            if not data:
                raise ConnectionResetError
            heads.add(data)
            while seen.response is None and (block := heads.take()) is not None:
                response = read_response(block)
                seen.response = response if response.status >= 200 else None
        body, data = response_body(seen.response, method), heads.take_rest()
        while True:
            for piece in body.feed(data).pieces:
                if piece:
                    seen.response_body.add(piece, loop.time())
                    stage.client_got(piece, loop.time())
            if body.is_done or (hangs_up and seen.response_body.pieces):
                seen.is_left = not body.is_done
                return
            data = await reader.read(_READ)
            if not data:
                seen.is_cut = not body.ends_with_connection
                return
