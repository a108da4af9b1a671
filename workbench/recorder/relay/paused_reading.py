"""Reading from a peer that is paused while another one catches up."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

_SECONDS = 1.0
"""Time between two looks at a connection from which nothing is read."""


class PausedReading:
    """Pauses a transport, and notices that its peer breaks the connection meanwhile: asyncio looks at no paused socket.

    Args:
        on_broken: called when the peer has reset the connection.
    """

    def __init__(self, transport: asyncio.Transport, on_broken: Callable[[], None]) -> None:
        self._transport = transport
        self._on_broken = on_broken
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_paused(self) -> bool:
        """Nothing is read."""
        return self._timer is not None

    def pause(self) -> None:
        """Stop reading."""
        self._transport.pause_reading()
        self._look_later()

    def resume(self) -> None:
        """Read again."""
        self.stop()
        self._transport.resume_reading()

    def stop(self) -> None:
        """Look no more."""
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_SECONDS, self._look)

    def _look(self) -> None:
        if self._transport.is_closing():
            self._timer = None
        elif _has_error(self._transport.get_extra_info("socket").fileno()):
            self._timer = None
            self._on_broken()
        else:
            self._look_later()


def _has_error(descriptor: int) -> bool:
    """A socket has an error, such as a reset; nothing is read from it."""
    if descriptor < 0 or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))
