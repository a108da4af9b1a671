"""Inspection off the screen's thread: one thread owns the inspector, goes through the session, and opens on demand."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Condition
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.inspection import Inspected, Inspector
    from workbench.tui.opened import Opened
    from workbench.wire.exchange import Summary
    from workbench.wire.session import Session

BATCH_SECONDS = 0.1
"""Rows are handed over this often: more would repaint for nothing."""


class Listed(Message):
    """The session is open; its list is read."""

    def __init__(self, name: str, summaries: Sequence[Summary], damage: tuple[str, ...]) -> None:
        super().__init__()
        self.name = name
        self.summaries = summaries
        self.damage = damage


class NotOpened(Message):
    """The session cannot be opened."""

    def __init__(self, error: WorkbenchError | OSError) -> None:
        super().__init__()
        self.error = error


class RowsCame(Message):
    """Exchanges were inspected. ``rows`` are all rows so far: earlier ones may have changed."""

    def __init__(self, rows: tuple[Inspected, ...]) -> None:
        super().__init__()
        self.rows = rows

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RowsCame)


class ExchangeOpened(Message):
    """An exchange that was asked for is there."""

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self.opened = opened


class Trouble(Message):
    """An exchange could not be read. ``index`` is None when the inspection itself had to stop."""

    def __init__(self, text: str, index: int | None = None) -> None:
        super().__init__()
        self.text = text
        self.index = index


Post = Callable[[Message], object]
Opener = Callable[[], "Session"]
"""Opens a session; raises WorkbenchError or OSError where it cannot. What it opens is closed at the end."""


class Inspecting:
    """Runs in a thread of its own; ``ask`` and ``stop`` may be called from any other.

    Only the exchange asked for last is opened. Exchanges before it are inspected first, and their rows handed over.
    """

    def __init__(self, source: Session | Opener, provider: str | None, protocol: str | None) -> None:
        self._source = source
        self._provider, self._protocol = provider, protocol
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
        """Open the session, inspect all of it and answer questions until stopped."""
        if not callable(self._source):
            self._go_through(self._source, post)
            return
        try:
            session = self._source()
        except (WorkbenchError, OSError) as error:
            post(NotOpened(error))
            return
        try:
            self._go_through(session, post)
        finally:
            session.close()

    def _go_through(self, session: Session, post: Post) -> None:
        post(Listed(session.name, session.summaries(), tuple(session.damage)))
        from workbench.inspection import Inspector  # the list does not wait for the core

        inspector = Inspector(session, self._provider, self._protocol)
        is_done = len(session) == 0
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
        return len(inspector.rows) >= len(inspector.session)

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
