"""Inspection off the screen's thread: one thread owns the inspector, goes through the session, and opens on demand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.inspection import Inspected, Inspector
    from workbench.tui.opened import Opened
    from workbench.wire.session import Session

BATCH_SECONDS = 0.1
"""Rows are handed over this often: more would repaint for nothing."""


@dataclass
class RowsCame(Message):
    """Exchanges were inspected. ``rows`` are all rows so far: earlier ones may have changed."""

    rows: tuple[Inspected, ...]

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RowsCame)


@dataclass
class ExchangeOpened(Message):
    """An exchange that was asked for is there."""

    opened: Opened


@dataclass
class Trouble(Message):
    """An exchange could not be read. ``index`` is None when the inspection itself had to stop."""

    text: str
    index: int | None = None


Post = Callable[[Message], object]


class Inspecting:
    """Runs in a thread of its own; ``ask`` and ``stop`` may be called from any other.

    Only the exchange asked for last is opened. Exchanges before it are inspected first, and their rows handed over.
    """

    def __init__(self, session: Session, provider: str | None, protocol: str | None) -> None:
        self._arguments = (session, provider, protocol)
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

    def run(self, post: Post) -> None:
        """Inspect everything and answer questions until stopped."""
        from workbench.inspection import Inspector  # the first paint does not wait for the core

        inspector = Inspector(*self._arguments)
        is_done = self._length == 0
        while not self._is_stopped:
            wanted = self._wanted
            if wanted is not None and (is_done or wanted < len(inspector.rows)):
                self._open(inspector, wanted, post)
            elif not is_done:
                is_done = self._inspect(inspector, post)
            else:
                self._wait()

    def _inspect(self, inspector: Inspector, post: Post) -> bool:
        """A batch of steps. True when there are no more."""
        until = time.monotonic() + BATCH_SECONDS
        try:
            for row in inspector.steps():
                is_wanted = self._wanted is not None and self._wanted <= row.index
                if is_wanted or self._is_stopped or time.monotonic() > until:
                    break
        except Exception as error:
            post(Trouble(f"inspection stopped at exchange {len(inspector.rows) + 1}: {_words(error)}"))
            return True
        finally:
            post(RowsCame(tuple(inspector.rows)))
        return len(inspector.rows) >= self._length

    def _open(self, inspector: Inspector, index: int, post: Post) -> None:
        from workbench.tui.opened import Opened

        try:
            message: Message = ExchangeOpened(Opened(inspector.detail(index)))
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
