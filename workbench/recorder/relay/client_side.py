"""The client's connection as an exchange, or a WebSocket, uses it, and the relay's own responses to it.

These are plain text, marked so that they are not mistaken for the upstream's.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Protocol

MARK = b"X-Workbench-Relay"
"""Header of every answer that is the relay's own; its value is ``refused`` or ``failed``."""


def reply(status: int, text: str, *, to: bytes = b"", closes: bool) -> bytes:
    """A whole response to a request of method ``to``. ``closes``: the connection ends after it."""
    body = f"workbench: {text}\n".encode()
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode(),
        b"Content-Type: text/plain; charset=utf-8",
        b"X-Content-Type-Options: nosniff",
        b"Content-Length: %d" % len(body),
        b"%s: %s" % (MARK, b"failed" if status in (HTTPStatus.BAD_GATEWAY, HTTPStatus.LOOP_DETECTED) else b"refused"),
    ]
    if status == HTTPStatus.UPGRADE_REQUIRED:
        lines.append(b"Upgrade: HTTP/1.1")
    if closes:
        lines.append(b"Connection: close")
    return b"\r\n".join((*lines, b"", b"" if to == b"HEAD" else body))


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
