"""Inspection off the screen's thread: one thread owns the inspector, goes through the session, and opens on demand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition

from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.inspection import Inspected, Inspector
from workbench.tui.selection import Opened, open_detail
from workbench.wire.session import Session

BATCH_SECONDS = 0.05
"""Rows are handed over this often: more would repaint for nothing."""


@dataclass
class RowsCame(Message):
    """Exchanges were inspected."""

    rows: tuple[Inspected, ...]


@dataclass
class ExchangeOpened(Message):
    """An exchange that was asked for is there."""

    opened: Opened


@dataclass
class Trouble(Message):
    """An exchange could not be read. ``index`` is None when the inspection itself had to stop."""

    text: str
    index: int | None = None


class Inspecting:
    """Runs in a thread of its own; ``ask`` and ``stop`` may be called from any other.

    Only the exchange asked for last is opened. Exchanges before it are inspected first, and the rows handed over.
    """

    def __init__(self, session: Session, provider: str | None, protocol: str | None) -> None:
        self._inspector = Inspector(session, provider, protocol)
        self._length = len(session)
        self._changed = Condition()
        self._wanted: int | None = None
        self._is_stopped = False

    def ask(self, index: int) -> None:
        """Open an exchange as soon as possible."""
        with self._changed:
            self._wanted = index
            self._changed.notify()

    def stop(self) -> None:
        """End the thread after the step it is in."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify()

    def run(self, post: Callable[[Message], object]) -> None:
        """Inspect everything and answer questions until stopped."""
        inspected = 0
        while not self._is_stopped:
            wanted = self._wanted
            if wanted is not None and (wanted < inspected or inspected >= self._length):
                self._open(wanted, post)
            elif inspected < self._length:
                inspected = self._inspect(inspected, post)
            else:
                self._wait()

    def _inspect(self, inspected: int, post: Callable[[Message], object]) -> int:
        """A batch of steps. The number of exchanges that are done with."""
        rows: list[Inspected] = []
        until = time.monotonic() + BATCH_SECONDS
        try:
            for row in self._inspector.steps():
                rows.append(row)
                is_wanted = self._wanted is not None and self._wanted <= row.index
                if is_wanted or self._is_stopped or time.monotonic() > until:
                    break
            else:
                inspected = self._length - len(rows)
        except Exception as error:
            post(RowsCame(tuple(rows)))
            post(Trouble(f"inspection stopped at exchange {inspected + len(rows) + 1}: {_words(error)}"))
            return self._length
        post(RowsCame(tuple(rows)))
        return inspected + len(rows)

    def _open(self, index: int, post: Callable[[Message], object]) -> None:
        try:
            message: Message = ExchangeOpened(open_detail(self._inspector.detail(index)))
        except Exception as error:
            message = Trouble(f"exchange {index + 1} cannot be shown: {_words(error)}", index)
        with self._changed:
            if self._wanted == index:
                self._wanted = None
        post(message)

    def _wait(self) -> None:
        with self._changed:
            while self._wanted is None and not self._is_stopped:
                self._changed.wait()


def _words(error: Exception) -> str:
    """Our own errors in their words; a fault of ours by its name: the session stays open."""
    return str(error) if isinstance(error, WorkbenchError | OSError) else f"{type(error).__name__}: {error}"
