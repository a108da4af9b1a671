"""The recordings that the app has started: none of them may outlive it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

if TYPE_CHECKING:
    from textual.app import App

    from workbench.recorder.process import Recording


class RecorderTrouble(Message):
    """A recorder cannot write what it hears."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Running(NamedTuple):
    """A recording that was started, and where it forwards to: name → base URL."""

    recording: Recording
    upstreams: Mapping[str, str]


class Recordings:
    """Recorders that run for this app. May be used from any thread."""

    def __init__(self) -> None:
        self._all: list[Recording] = []
        self._lock = Lock()
        self._is_over = False

    @property
    def running(self) -> list[Recording]:
        """Those that still record."""
        with self._lock:
            self._all = [recording for recording in self._all if recording.is_running]
            return list(self._all)

    def start(self, upstreams: Mapping[str, str], out: Path, trouble: Callable[[str], None]) -> Running:
        """Start a recorder and wait until it listens; ``trouble`` may be told something in another thread later.

        Raises:
            WorkbenchError, OSError: it did not start.
        """
        from workbench.recorder import process

        recording = process.start(upstreams, out, trouble=trouble)
        with self._lock:
            self._all.append(recording)
        if self._is_over:
            recording.stop()
        return Running(recording, upstreams)

    def ask_before_leaving(self, app: App[None]) -> bool:
        """Ask whether to leave while something is recorded. False where nothing is, and there is nothing to ask."""
        from workbench.tui.screens.confirm import ConfirmScreen

        number = len(self.running)
        if not number or isinstance(app.screen, ConfirmScreen):
            return bool(number)
        what = "A recording runs" if number == 1 else f"{number} recordings run"
        question = ConfirmScreen(f"{what}, and ends with the workbench. Leave?", "stop and leave", "stay")
        app.push_screen(question, lambda is_sure: app.exit() if is_sure else None)
        return True

    def stop_all(self) -> None:
        """The app ends."""
        self._is_over = True
        for recording in self.running:
            recording.stop()
