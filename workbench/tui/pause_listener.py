"""Listens to every recorder of the session on the screen for exchanges that are paused at breakpoints.

One thread looks for recorders while the session grows, and one thread per recorder listens to it. A decision on a pause
uses a connection of its own, so that nothing on the screen waits for a recorder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.errors import UsageError, WorkbenchError
from workbench.tui.models.pauses import PausedSide, held_of

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.recorder.breakpoints import Remote
    from workbench.wire import Redaction

LOOK_SECONDS = 0.5
"""Recorders are looked for this often: one that begins to write the session later is found so late."""

Post = Callable[[Message], object]
Talk = Callable[["Remote"], object]


class PauseChange(Message):
    """A pause began or ended, or other breakpoints are armed.

    Attributes:
        came: the new pause; None if none began.
        ended: the pause that ended; ``how`` is its outcome in words.
    """

    def __init__(self, came: PausedSide | None = None, ended: PausedSide | None = None, how: str = "") -> None:
        super().__init__()
        self.came, self.ended, self.how = came, ended, how


class PausingTrouble(Message):
    """A recorder cannot check exchanges, or could not carry out a decision."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class PauseListener:
    """Listens to the recorders of a session. Its methods may be called from any thread.

    Args:
        session: the session file.
        post: called with each message.
    """

    def __init__(self, session: Path, post: Post) -> None:
        self._session, self._post = session, post
        self._lock = Lock()
        self._paused_sides: dict[tuple[Path, int], PausedSide] = {}
        self._armed: dict[Path, tuple[str, ...]] = {}
        self._remotes: dict[Path, Remote] = {}
        self._ends = Event()

    @property
    def paused_sides(self) -> list[PausedSide]:
        """Sides paused at breakpoints, the oldest first."""
        with self._lock:
            return sorted(self._paused_sides.values(), key=lambda each: each.since)

    @property
    def armed_names(self) -> tuple[str, ...]:
        """Breakpoints that are armed at any recorder."""
        with self._lock:
            return tuple(dict.fromkeys(kind for each in self._armed.values() for kind in each))

    @property
    def recorders(self) -> tuple[Path, ...]:
        """Sockets of the recorders that respond."""
        with self._lock:
            return tuple(self._armed)

    def start(self) -> None:
        """Start listening."""
        Thread(target=self._look, name="pauses", daemon=True).start()

    def stop(self) -> None:
        """Stop listening. Paused exchanges stay paused."""
        self._ends.set()
        with self._lock:
            remotes = list(self._remotes.values())
        for remote in remotes:
            remote.close()

    def _look(self) -> None:
        from workbench.recorder import sockets_of
        from workbench.recorder.breakpoints import Remote

        while not self._ends.is_set():
            for path in sockets_of(self._session):
                if path not in self._remotes:
                    with suppress(WorkbenchError, OSError):
                        remote = Remote(path)
                        with self._lock:
                            self._remotes[path] = remote
                        Thread(target=self._listen, args=(remote,), name="pauses", daemon=True).start()
            self._ends.wait(LOOK_SECONDS)

    def _listen(self, remote: Remote) -> None:
        """Listen to one recorder until it ends."""
        with suppress(WorkbenchError, OSError):
            self._arm(remote.path, remote.state()["armed"])
            for event in remote.watch():
                self._hear(remote.path, event)
        with self._lock:
            self._remotes.pop(remote.path, None)
            self._armed.pop(remote.path, None)
            keys = [key for key in self._paused_sides if key[0] == remote.path]
        for key in keys:
            self._end(key, "the recorder has ended")
        remote.close()
        self._tell(PauseChange())

    def _hear(self, recorder: Path, event: Mapping[str, JsonValue]) -> None:
        match event.get("event"):
            case "paused":
                paused = held_of(recorder, event["pause"])
                with self._lock:
                    is_new = (recorder, paused.id) not in self._paused_sides
                    self._paused_sides[recorder, paused.id] = paused
                if is_new:
                    self._tell(PauseChange(came=paused))
            case "ended":
                self._end((recorder, event["pause"]), event.get("how", ""))
            case "armed":
                self._arm(recorder, event["armed"])
            case "unjudged":
                self._tell(PausingTrouble(f"an exchange was forwarded unchecked: {event.get('why', '')}"))
            case "trouble":
                self._tell(PausingTrouble(f"breakpoints: {event.get('text', '')}"))

    def _arm(self, recorder: Path, armed: list[str]) -> None:
        with self._lock:
            self._armed[recorder] = tuple(armed)
        self._tell(PauseChange())

    def _end(self, key: tuple[Path, int], how: str) -> None:
        with self._lock:
            paused = self._paused_sides.pop(key, None)
        if paused:
            self._tell(PauseChange(ended=paused, how=how))

    def _tell(self, message: Message) -> None:
        if not self._ends.is_set():
            self._post(message)

    # What people decide.

    def decide(self, paused_side: PausedSide, talk: Talk) -> None:
        """Send a decision on a pause."""
        self._ask((paused_side.recorder,), talk)

    def toggle(self, kind: str) -> None:
        """Arm or disarm a kind of breakpoint in every recorder."""
        is_armed = kind in self.armed_names
        self._ask(self.recorders, lambda remote: remote.disarm(kind) if is_armed else remote.arm(kind))

    def _ask(self, recorders: tuple[Path, ...], talk: Talk) -> None:
        Thread(target=self._talk, args=(recorders, talk), name="decision", daemon=True).start()

    def _talk(self, recorders: tuple[Path, ...], talk: Talk) -> None:
        from workbench.recorder.breakpoints import Remote

        for recorder in recorders:
            try:
                with Remote(recorder) as remote:
                    talk(remote)
            except (WorkbenchError, OSError) as error:
                self._tell(PausingTrouble(str(error)))


def paused_in(session: Path) -> list[PausedSide]:
    """Paused sides of a session, the oldest first. Waits for each recorder; skips one that is gone."""
    from workbench.recorder import sockets_of
    from workbench.recorder.breakpoints import Remote

    found: list[PausedSide] = []
    for path in sockets_of(session):
        with suppress(WorkbenchError, OSError), Remote(path) as remote:
            found += [held_of(path, pause) for pause in remote.pauses()]
    return sorted(found, key=lambda each: each.since)


def with_secrets(edited: bytes, recorded: bytes, original: bytes, marks: Sequence[Redaction]) -> bytes:
    """Put the secrets of the paused bytes in place of the stand-ins, in an edit of the recorded bytes.

    Args:
        marks: places of the stand-ins in the recorded bytes.

    Raises:
        UsageError: recorded and paused bytes differ in length.
    """
    if marks and len(recorded) != len(original):
        raise UsageError("this edit cannot be applied: stand-ins for secrets in the recording have different lengths")
    for mark in marks:
        edited = edited.replace(recorded[mark.start : mark.end], original[mark.start : mark.end])
    return edited


def now() -> float:
    """Seconds since the epoch, as recorders count them."""
    return time.time()
