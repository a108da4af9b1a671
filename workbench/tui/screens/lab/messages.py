"""Message from a thread of the probe lab to its screen."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message


class LabUpdate(Message):
    """Has ``then`` called on the thread of the screen."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self.then = then
