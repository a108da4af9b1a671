"""The recordings that the app has started; all of them end with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

if TYPE_CHECKING:
    from textual.app import App

    from workbench.recorder import RecorderProcess


SIMULATED = "sim:"
"""Begins the name of a simulator."""


class RecorderTrouble(Message):
    """A recorder cannot write to its file."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Plan(NamedTuple):
    """Settings of a recording.

    Attributes:
        upstreams: name → base URL or simulator; with ``spoken`` any target.
        out: the session file; an existing one is appended to.
        hop: name of the hop; "" for none.
        spoken: protocol of the upstreams, if clients use another one; "" to forward everything unchanged.
        breaks: breakpoints that are armed from the beginning.
        clients: commands of the clients that the person wants to record, if they were named.
    """

    upstreams: Mapping[str, str]
    out: Path
    hop: str = ""
    spoken: str = ""
    breaks: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()

    @property
    def bases(self) -> Mapping[str, str]:
        """Name → URL whose path the client's base URL must have; "" for the path of the client's own provider."""
        return {name: "" if self.spoken or is_simulated(to) else to for name, to in self.upstreams.items()}

    @property
    def has_simulators(self) -> bool:
        """True if an upstream is a simulator."""
        return any(map(is_simulated, self.upstreams.values()))


def is_simulated(upstream: str) -> bool:
    """True if the upstream is a simulator and not a server."""
    return upstream.startswith(SIMULATED)


class StartedRecording(NamedTuple):
    """A recording that was started."""

    recording: RecorderProcess
    plan: Plan


class Recordings:
    """Recorders that run for this app. May be used from any thread."""

    def __init__(self) -> None:
        self._all: list[RecorderProcess] = []
        self._lock = Lock()
        self._is_over = False

    @property
    def running(self) -> list[RecorderProcess]:
        """Recorders that are still running."""
        with self._lock:
            self._all = [recording for recording in self._all if recording.is_running]
            return list(self._all)

    def start(self, plan: Plan, trouble: Callable[[str], None]) -> StartedRecording:
        """Start a recorder and wait until it listens; ``trouble`` may be called later, in another thread.

        Raises:
            WorkbenchError, OSError: it did not start.
        """
        recording = _start(plan, trouble)
        with self._lock:
            self._all.append(recording)
        if self._is_over:
            recording.stop()
        return StartedRecording(recording, plan)

    def ask_before_leaving(self, app: App[None]) -> bool:
        """Ask before leaving while a recording is running. Returns False, without asking, if there is none."""
        from workbench.tui.screens.questions import ConfirmScreen

        number = len(self.running)
        if not number or isinstance(app.screen, ConfirmScreen):
            return bool(number)
        what = "A recording is running; it ends" if number == 1 else f"{number} recordings are running; they end"
        question = ConfirmScreen(f"{what} when Workbench exits. Exit now?", "stop and exit", "stay")
        app.push_screen(question, lambda is_sure: app.exit() if is_sure else None)
        return True

    def stop_all(self) -> None:
        """Stop all recordings, because the app ends."""
        self._is_over = True
        for recording in self.running:
            recording.stop()


def _start(plan: Plan, trouble: Callable[[str], None]) -> RecorderProcess:
    from workbench.recorder import process

    if plan.spoken or plan.has_simulators:
        return process.start_translation(
            plan.upstreams, plan.out, spoken=plan.spoken, hop=plan.hop, breaks=plan.breaks, on_trouble=trouble
        )
    return process.start(
        plan.upstreams,
        plan.out,
        hop=plan.hop,
        breaks=plan.breaks,
        on_trouble=trouble,
    )
