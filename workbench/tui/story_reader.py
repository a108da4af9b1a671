"""Summaries of sessions, made outside of the screen's thread, for the visible sessions only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from workbench.library import SessionSummary


class StoryReady(Message):
    """The summary of a session is ready."""

    def __init__(self, path: Path, story: SessionSummary) -> None:
        super().__init__()
        self.path = path
        self.story = story


class StoryReader:
    """Summarises sessions in a thread of its own; ``ask`` and ``stop`` may be called from any thread."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._wanted: list[Path] = []
        self._is_stopped = False

    def ask(self, paths: Sequence[Path]) -> None:
        """Set the sessions to summarise; a summary that is no longer wanted is cancelled."""
        with self._changed:
            self._wanted = list(paths)
            self._changed.notify()

    def stop(self) -> None:
        """End the thread soon."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify()

    def run(self, post: Callable[[Message], object]) -> None:
        """Summarise the requested sessions until stopped."""
        from workbench.library import (  # the first paint does not wait for the core
            SessionSummary,
            describe_file,
        )
        from workbench.tui.models import surveys

        while path := self._next():
            try:
                if surveys.is_survey(path):
                    story: SessionSummary | None = surveys.describe_survey(path)
                else:
                    story = describe_file(path, lambda path=path: self._is_unwanted(path))  # type: ignore[misc]
            except Exception as error:  # a bug in Workbench: the other sessions are still summarised
                story = SessionSummary("", "not read", f"a bug in Workbench: {type(error).__name__}: {error}")
            if story:
                self._is_told(path)
                post(StoryReady(path, story))

    def _next(self) -> Path | None:
        from workbench.library import file_size

        with self._changed:
            while not self._wanted and not self._is_stopped:
                self._changed.wait()
            return None if self._is_stopped else min(self._wanted, key=file_size)

    def _is_told(self, path: Path) -> None:
        with self._changed:
            self._wanted = [wanted for wanted in self._wanted if wanted != path]

    def _is_unwanted(self, path: Path) -> bool:
        return self._is_stopped or path not in self._wanted
