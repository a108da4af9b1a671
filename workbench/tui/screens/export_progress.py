"""Progress of an export that reads many exchanges, and its cancellation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.views import progress_bar

if TYPE_CHECKING:
    from workbench.tui.screens.exporting import ExportScreen

LEAST = 100
"""Exchanges to read from which on an export has a bar."""


class ExportCancellation(Exception):
    """The person cancelled the export, or asked for another one."""


class ExportProgress(Message):
    """A part of what an export reads has been read."""

    def __init__(self, number: int, done: int, total: int) -> None:
        super().__init__()
        self.number = number
        self.words = f"{progress_bar(done, total)} {min(100, done * 100 // max(1, total))} % · esc: cancel"

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ExportProgress)


def step_of(screen: ExportScreen, number: int) -> Callable[[int, int], None]:
    """What an export calls for each exchange that it reads, in the inspector's thread.

    It posts every percent, and raises ExportCancellation once the screen asked for something else.
    """
    shown = -1

    def step(done: int, total: int) -> None:
        nonlocal shown
        if number != screen.asked:
            raise ExportCancellation
        percent = done * 100 // max(1, total)
        if total >= LEAST and percent != shown:
            shown = percent
            screen.post_message(ExportProgress(number, done, total))

    return step
