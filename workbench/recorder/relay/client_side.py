"""The client's connection as an exchange, or a WebSocket, uses it, and the relay's own responses to it.

These are plain text, marked so that they are not mistaken for the upstream's.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple, Protocol

from workbench.wire import RELAY_HEADER, Headers


class Reply(NamedTuple):
    """A response of the relay's own."""

    status: int
    headers: Headers
    body: bytes

    @property
    def reason(self) -> str:
        """The reason phrase of the status."""
        return HTTPStatus(self.status).phrase

    def render(self, *, to: bytes = b"") -> bytes:
        """All its bytes, in reply to a request of method ``to``."""
        lines = [f"HTTP/1.1 {self.status} {self.reason}", *(f"{name}: {value}" for name, value in self.headers)]
        return "\r\n".join((*lines, "", "")).encode() + (b"" if to == b"HEAD" else self.body)


def reply(status: int, text: str, *, closes: bool) -> Reply:
    """A whole response. ``closes``: the connection ends after it."""
    body = f"workbench: {text}\n".encode()
    is_failure = status in (HTTPStatus.BAD_GATEWAY, HTTPStatus.LOOP_DETECTED)
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("X-Content-Type-Options", "nosniff"),
        ("Content-Length", str(len(body))),
        (RELAY_HEADER, "failed" if is_failure else "refused"),
    ]
    if status == HTTPStatus.UPGRADE_REQUIRED:
        headers.append(("Upgrade", "HTTP/1.1"))
    if closes:
        headers.append(("Connection", "close"))
    return Reply(status, Headers(tuple(headers)), body)


class ClientSide(Protocol):
    """The client's connection, as an exchange uses it."""

    @property
    def is_full(self) -> bool:
        """The write buffer to the client is full."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes to the client."""
        ...

    def update_reading(self) -> None:
        """Read on, or stop reading: the amount that can be passed on has changed."""
        ...

    def finish(self, *, keeps: bool) -> None:
        """The exchange is over; keep the connection for another one, or end it."""
        ...

    def abort(self, *, resets: bool) -> None:
        """End the connection so that the client knows that the response is not complete and never will be."""
        ...


class SocketSide(ClientSide, Protocol):
    """The client's connection, as a WebSocket uses it."""

    def write_eof(self) -> bool:
        """Send the client the end of what comes; True if it may still send."""
        ...
