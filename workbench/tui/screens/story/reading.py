"""Reads a session for its story, a slice of time at a time, in the inspector's thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.tui.service import JobAnswer, guard
from workbench.views import Story, StoryBuilder

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.rules import Inspector
    from workbench.tui.service import Job

SLICE_SECONDS = 0.2
"""Time of reading after which other questions are answered."""


class StoryReading:
    """Makes the story of a session.

    Args:
        ask: puts a question to the inspector's thread.
        findings: returns the findings of the session so far, one for each cause.
        show: shows a story; called on the screen's thread after each slice.

    Attributes:
        is_stopped: the person has cancelled the reading.
        trouble: why the reading ended early; empty if it did not.
    """

    def __init__(
        self,
        ask: Callable[[Job], None],
        findings: Callable[[], Sequence[Finding]],
        show: Callable[[Story], None],
    ) -> None:
        self._ask, self._findings, self._show = ask, findings, show
        self._builder = StoryBuilder()
        self._next = 0
        self._is_asking = False
        self.is_stopped = False
        self.trouble = ""

    @property
    def read(self) -> int:
        """Number of exchanges read."""
        return self._next

    def go_on(self) -> None:
        """Read further exchanges, unless that is running or was cancelled."""
        if not (self._is_asking or self.is_stopped or self.trouble):
            self._is_asking = True
            found = tuple(self._findings())
            self._ask(guard(lambda inspector: self._read(inspector, found), self._fail))

    def stop(self) -> None:
        """Cancel the reading; what was read stays."""
        self.is_stopped = True

    def _read(self, inspector: Inspector, findings: Sequence[Finding]) -> JobAnswer:
        until = time.monotonic() + SLICE_SECONDS
        while self._next < len(inspector.rows) and not self.is_stopped:
            row = inspector.rows[self._next]
            if row.summary.state == "open" and inspector.session.is_live:
                break
            self._builder.add(row, inspector.read_exchange(self._next))
            self._next += 1
            if time.monotonic() > until:
                break
        story = self._builder.story(findings)
        return JobAnswer(lambda: self._take(story))

    def _take(self, story: Story) -> None:
        self._is_asking = False
        self._show(story)

    def _fail(self, why: str) -> None:
        self._is_asking = False
        self.trouble = f"exchange {self._next + 1:,} cannot be read: {why}"
        self._show(self._builder.story(self._findings()))
