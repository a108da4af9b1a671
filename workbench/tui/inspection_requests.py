"""What screens ask of the inspector's thread, and the inspector of the session as the screen shows it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from threading import Condition
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.message import Message

    from workbench.rules import Inspector
    from workbench.wire import Exchange

    Job = Callable[[Inspector], Message]

KEY_SECONDS = 0.03
"""Pause of the pass after a key: the screen has the interpreter for itself until the key is painted."""


class InspectionRequests:
    """Requests from any thread to the inspector's; each wakes it.

    Attributes:
        wanted: the exchange to open, the one requested last; None if there is none.
        jobs: questions to answer, in order.
        is_paused: no more is inspected than is asked for.
        is_stopped: the thread ends after its step.
    """

    def __init__(self) -> None:
        self.wanted: int | None = None
        self.jobs: deque[Job] = deque()
        self.is_paused = self.is_stopped = False
        self._changed = Condition()
        self._key_until = 0.0

    def open(self, index: int) -> None:
        """Open an exchange as soon as possible."""
        with self._changed:
            self.wanted = index
            self._changed.notify()

    def open_first(self, index: int) -> bool:
        """Open an exchange unless another is requested. Returns True if it will be opened."""
        with self._changed:
            if self.wanted is not None:
                return False
            self.wanted = index
            return True

    def note_opened(self, index: int) -> None:
        """Note that an exchange was opened, unless another one is requested by now."""
        with self._changed:
            if self.wanted == index:
                self.wanted = None

    def add(self, job: Job) -> None:
        """Queue a question."""
        with self._changed:
            self.jobs.append(job)
            self._changed.notify()

    def pause(self, is_paused: bool) -> None:
        """Pause the inspection (questions are still answered), or resume it."""
        with self._changed:
            self.is_paused = is_paused
            self._changed.notify()

    def stop(self) -> None:
        """End the thread after the step it is in."""
        with self._changed:
            self.is_stopped = True
            self._changed.notify()

    def note_key(self) -> None:
        """Let the screen go first: the pass pauses for a moment."""
        self._key_until = time.monotonic() + KEY_SECONDS

    def wait_for_key(self) -> None:
        """Sleep until the key that was noted last is painted."""
        while (seconds := self._key_until - time.monotonic()) > 0 and not self.is_stopped:
            time.sleep(seconds)

    def wait(self, until: float) -> None:
        """Wait for a request, or until a time of the monotonic clock."""
        now = time.monotonic()
        with self._changed:
            if self.wanted is None and not self.jobs and not self.is_stopped:
                self._changed.wait(until - now)

    @property
    def is_empty(self) -> bool:
        """True if no question and no exchange is pending."""
        return not (self.jobs or self.wanted is not None)


class ShownBranches:
    """Branches that replace their exchanges on the screen; each is made when it is first asked for."""

    def __init__(self) -> None:
        self._branches: Mapping[int, Callable[[], Exchange]] = {}
        self._latest: tuple[Mapping[int, Callable[[], Exchange]], int, Inspector] | None = None

    def set(self, index: int, exchange_of: Callable[[], Exchange] | None) -> None:
        """Set the branch that replaces an exchange; None removes it."""
        others = {n: branch for n, branch in self._branches.items() if n != index}
        self._branches = others | ({index: exchange_of} if exchange_of else {})

    def over(self, inspector: Inspector) -> Inspector:
        """Inspector of the session with its branches. Called in the inspector's thread."""
        branches, known = self._branches, len(inspector.rows)
        if self._latest is None or self._latest[0] is not branches or self._latest[1] != known:
            branched = inspector
            for index, exchange_of in branches.items():
                branched = branched.with_exchange(index, exchange_of()) if index < known else branched
            self._latest = branches, known, branched
        return self._latest[2] if branches else inspector
