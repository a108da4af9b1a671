"""What threads of the probe lab post to its screen."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message


class LabUpdate(Message):
    """Something was done in a thread; ``then`` is to be called on the screen's."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self.then = then
