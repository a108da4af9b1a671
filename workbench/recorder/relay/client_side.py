"""The client's connection as an exchange, or a WebSocket, uses it."""

from __future__ import annotations

from typing import Protocol


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
