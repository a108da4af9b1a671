"""Terminal driver that restores the terminal, however the program ends.

Textual's own drivers do not handle a signal that ends the process, nor a terminal that goes away (the reader thread
spins; the writer thread dies, and everything that writes then waits forever).
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from textual.drivers.linux_driver import LinuxDriver

from workbench.safetext import clip, visible

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp

ENDINGS = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
"""Signals that end the app in order, with the exit status that shells give them: 128 and their number."""

PATIENCE = 5.0
"""Seconds that work in progress has to stop, once a signal ended the app."""

LOOK = 1.0
"""Seconds between two checks that the terminal still exists."""

PUSH_TITLE, POP_TITLE = "\x1b[22;0t", "\x1b[23;0t"
"""Save the title of the window, and restore it."""

MOST_TITLE = 80
"""Columns of a title."""

RESET = (
    "\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[?1004l\x1b[<u\x1b[?1049l\x1b[?25h"
)
"""Paste, wrap, mouse, focus and keys as a shell expects them; the main screen and its cursor."""


class Output:
    """Wraps a terminal's file: reports the first failed write, and ignores all later ones.

    Args:
        file: the file to write to.
        lost: called at the first failure, in the thread that writes.
    """

    def __init__(self, file: IO[str], lost: Callable[[], None]) -> None:
        self._file = file
        self._lost = lost

    def write(self, text: str) -> None:
        try:
            self._file.write(text)
        except OSError:
            self._lost()

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError:
            self._lost()

    def fileno(self) -> int:
        return self._file.fileno()


class Terminal(LinuxDriver):
    """The terminal on standard input and standard error."""

    _app: WorkbenchApp

    def __init__(self, app: WorkbenchApp, **options: Any) -> None:
        super().__init__(app, **options)
        self._file: Any = Output(self._file, self._lose)
        self._watched: asyncio.TimerHandle | None = None
        self._is_asleep = self._has_title = False

    def set_title(self, text: str) -> None:
        """Set the title of the window; the one before it comes back when the app ends."""
        if not self._has_title:
            self._has_title = True
            self.write(PUSH_TITLE)
        self.write(f"\x1b]0;{clip(visible(text), MOST_TITLE)}\x1b\\")

    def start_application_mode(self) -> None:
        for number in ENDINGS:
            self._loop.add_signal_handler(number, self._end, 128 + number)
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._watch()

    def stop_application_mode(self) -> None:
        if self._watched:
            self._watched.cancel()
        super().stop_application_mode()
        self.write("\x1b[?1016l")
        if self._has_title:
            self.write(POP_TITLE)

    def _sigtstp_application(self, *_: object) -> None:
        self._is_asleep = True
        super()._sigtstp_application()

    def _sigcont_application(self, *_: object) -> None:
        """Enter application mode again after a suspend; after SIGSTOP, which did not leave it, only paint again."""
        if self._is_asleep:
            self._is_asleep = False
            super()._sigcont_application()
        self._app.call_later(self._app.refresh, layout=True)

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except OSError:
            self._lose()
        except Exception as error:
            self._app.call_later(self._app._handle_exception, error)

    def _watch(self) -> None:
        """Check regularly for a hang-up, and end the app then: reads would return end-of-file forever."""
        if is_gone(self.fileno):
            self._lose()
        else:
            self._watched = self._loop.call_later(LOOK, self._watch)

    def _lose(self) -> None:
        """End the app: the terminal is gone."""
        self.exit_event.set()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end, 128 + signal.SIGHUP)

    def _end(self, status: int) -> None:
        """End the app; if that takes too long, end the process."""
        if self._app.is_ending:
            return
        self._app.end(status)
        guard = threading.Timer(PATIENCE, self._end_now, (status,))
        guard.daemon = True
        guard.start()

    def _end_now(self, status: int) -> None:
        put_back(self.attrs_before)
        os._exit(status)


def is_gone(file: int) -> bool:
    """True if the other end of a file is closed: of a terminal, it has hung up."""
    poll = select.poll()
    poll.register(file, 0)
    return bool(poll.poll(0))


def put_back(attributes: list[Any] | None) -> None:
    """Restore the terminal without a driver: modes, screen, cursor, reports. Do nothing for None (no terminal)."""
    import termios

    if attributes is None:
        return
    with suppress(OSError, ValueError):
        os.write(2, RESET.encode())
    with suppress(termios.error, ValueError):
        termios.tcsetattr(0, termios.TCSANOW, attributes)


def attributes() -> list[Any] | None:
    """The modes of the terminal on standard input; None if it is no terminal."""
    import termios

    try:
        return termios.tcgetattr(0)
    except (termios.error, ValueError):
        return None


def let_go() -> None:
    """Redirect the standard streams to the null device: the terminal is gone, and writes to it would fail."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
