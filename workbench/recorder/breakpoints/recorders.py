"""All recorders that write one session, as one: several may, each at its own hop (``workbench record --hop``).

Each numbers its pauses independently. The id of the paused exchange names a pause, too, and is unique in the session.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

from workbench.errors import UsageError, WorkbenchError
from workbench.ir import JsonValue
from workbench.recorder.breakpoints.remote import Pause, Remote
from workbench.recorder.runtime_files import sockets_of


class Recorders:
    """Connections to all recorders of a session, oldest first. For one thread at a time.

    Raises:
        UsageError: no recorder writes the session.
    """

    def __init__(self, session: Path) -> None:
        self._remotes: list[Remote] = []
        for path in reversed(sockets_of(session)):
            with suppress(UsageError):
                self._remotes.append(Remote(path))
        if not self._remotes:
            hint = "breakpoints need a live recording: workbench record --out FILE"
            raise UsageError("no recorder is writing this session", where=str(session), hint=hint)

    def state(self) -> Mapping[str, JsonValue]:
        """``{"armed", "pauses", "trouble"}`` of all of them, the oldest pause first. Raises WorkbenchError."""
        all_told = [each for _, each in self._states()]
        armed = dict.fromkeys(kind for each in all_told for kind in each["armed"])
        pauses = sorted((pause for each in all_told for pause in each["pauses"]), key=lambda pause: pause["since"])
        trouble = dict.fromkeys(each["trouble"] for each in all_told if each["trouble"])
        return {"armed": [*armed], "pauses": pauses, "trouble": "; ".join(trouble)}

    def find_pause(self, name: str) -> tuple[Remote, int]:
        """The recorder of a pause and its number there, by that number or by the exchange id. Raises UsageError."""
        pauses = [(remote, pause) for remote, told in self._states() for pause in told["pauses"]]
        named = [(remote, pause) for remote, pause in pauses if name in (str(pause["id"]), pause["exchange"])]
        if len(named) > 1:
            hint = "name the exchange: " + " or ".join(pause["exchange"] for _, pause in named)
            raise UsageError(f"{len(named)} recorders write this session, and each has a pause {name}", hint=hint)
        if not named:
            there = ", ".join(pause_names([pause for _, pause in pauses]))
            raise UsageError(f"there is no pause {name!a}", hint=f"paused: {there or 'nothing'}")
        remote, pause = named[0]
        return remote, pause["id"]

    def arm(self, kind: str) -> None:
        """Arm a breakpoint at every recorder. Raises UsageError, WorkbenchError."""
        for remote in self._remotes:
            remote.arm(kind)

    def disarm(self, kind: str) -> None:
        """Disarm a breakpoint. Raises UsageError if it is armed nowhere; WorkbenchError."""
        armed = [remote for remote, told in self._states() if kind in (*told["armed"], "all")]
        for remote in armed or self._remotes[-1:]:
            remote.disarm(kind)

    def wait(self, seconds: float | None = None) -> Pause | None:
        """A pause at any recorder, current or next; None if there is none within this time.

        Raises:
            WorkbenchError: all of them ended meanwhile.
        """
        told: SimpleQueue[Pause | WorkbenchError | None] = SimpleQueue()
        waiting = _reconnect(self._remotes)
        try:
            for remote in waiting:
                threading.Thread(target=_wait, args=(remote, seconds, told), name="waits", daemon=True).start()
            answers = []
            for _ in waiting:
                answers.append(answer := told.get())
                if isinstance(answer, Mapping):
                    return answer
        finally:
            for remote in waiting:
                remote.close()
        if None in answers:
            return None
        raise WorkbenchError("the recorder has ended")

    def _states(self) -> list[tuple[Remote, Mapping[str, JsonValue]]]:
        """State of each recorder that still runs. Raises WorkbenchError if none does."""
        found = []
        gone: WorkbenchError | None = None
        for remote in self._remotes:
            try:
                found.append((remote, remote.state()))
            except WorkbenchError as error:
                gone = error
        if not found and gone:
            raise gone
        return found

    def __enter__(self) -> Recorders:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for remote in self._remotes:
            remote.close()


def pause_names(pauses: Sequence[Pause]) -> list[str]:
    """Names of pauses: the number, or the exchange id if another recorder has the same number."""
    count = Counter(pause["id"] for pause in pauses)
    return [str(pause["id"]) if count[pause["id"]] == 1 else str(pause["exchange"]) for pause in pauses]


def _reconnect(remotes: Iterable[Remote]) -> list[Remote]:
    """New connections to the same recorders, as far as they still run."""
    found = []
    for remote in remotes:
        with suppress(UsageError):
            found.append(Remote(remote.path))
    return found


def _wait(remote: Remote, seconds: float | None, told: SimpleQueue[Pause | WorkbenchError | None]) -> None:
    try:
        told.put(remote.wait(seconds))
    except WorkbenchError as error:
        told.put(error)
