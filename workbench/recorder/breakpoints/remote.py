"""Controls the breakpoints of a recorder in another process: arms them, and lists and decides pauses.

    with Remote.of(Path("today.wb")) as remote:
        remote.arm("closure")
        for event in remote.watch():
            if event["event"] == "paused":
                remote.resume(event["pause"]["id"])

The protocol, for other programs: a Unix socket (``runtime_files.sockets_of(FILE)``); each side writes lines of JSON.

Asked: ``{"ask": N, "do": VERB, …}``, answered by ``{"ask": N, …}``, or ``{"ask": N, "error": TEXT, "hint": TEXT}``.

    list                                 {"armed": [KIND], "pauses": [PAUSE], "trouble": TEXT}
    arm, disarm      kind: KIND          the same
    continue, drop   pause: ID           {"pause": ID}
    answer           pause: ID, target: "sim:CONTRACT"; of a tools/call "recording" or "recording:FILE"
    edit             pause: ID, body: BASE64 (without content coding)
    body             pause: ID           {"body": BASE64, "sent": N}: the held body, with what is already sent of it
    watch                                as list; from then on events are sent

Events: ``{"event": "paused", "pause": PAUSE}``, ``{"event": "ended", "pause": ID, "how": TEXT}``, ``{"event":
"armed", "armed": [KIND]}``, ``{"event": "unjudged", "exchange": ID, "why": TEXT}`` (it continued without being
judged), ``{"event": "trouble", "text": TEXT}``. The end of the connection is the end of the recorder.

PAUSE: ``id``; ``exchange`` (id in the session); ``side`` (``"request"`` or ``"response"``); ``reasons`` (a list of
``{"kind", "rule", "words", "pointer"}``, rule "" if it rests on no rule); ``method``, ``url``, ``client``;
``since`` (seconds since the epoch); ``answered_by`` (``"simulator"``, or ``"recording"`` for a tool server);
``timeout`` (seconds the client waits, null if unknown), ``timeout_from`` (how we know), ``times_out_at`` (seconds since
the epoch, or null); ``bytes`` (of the body that is held), ``sent`` (of them already passed on); ``deeds`` (those of
``continue``, ``edit``, ``answer``, ``drop`` that are possible), ``limit`` (why not all are; empty if all are); of a
message of a WebSocket ``note`` (what waits behind it).
"""

from __future__ import annotations

import base64
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

from workbench.errors import UsageError, WireError, WorkbenchError
from workbench.ir import JsonValue
from workbench.limits import CONTROL_SECONDS, MAX_CONTROL_LINE
from workbench.recorder.runtime_files import sockets_of
from workbench.wire import dumps, loads

Pause = Mapping[str, JsonValue]
"""See PAUSE above."""


class Remote:
    """A connection to one recorder. For one thread at a time, except ``close``, which ends a ``watch`` of another.

    Raises:
        UsageError: no recorder listens there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._command_count = 0
        self._events: deque[Mapping[str, JsonValue]] = deque()
        self._rest = b""
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(CONTROL_SECONDS)
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise UsageError("the recorder has ended", where=str(path)) from error

    @classmethod
    def of(cls, session: Path) -> Remote:
        """Connect to the recorder of a session; of several (see ``Recorders``), to the newest.

        Raises:
            UsageError: none does.
        """
        for path in sockets_of(session):
            with suppress(UsageError):
                return cls(path)
        hint = "breakpoints need a live recording: workbench record --out FILE"
        raise UsageError("no recorder is writing this session", where=str(session), hint=hint)

    # State

    def state(self) -> Mapping[str, JsonValue]:
        """``{"armed", "pauses", "trouble"}``."""
        return self.ask("list")

    def pauses(self) -> tuple[Pause, ...]:
        """Current pauses, oldest first."""
        return tuple(self.state()["pauses"])

    def body(self, pause: int) -> bytes:
        """The held body without content coding, including what is already sent."""
        return base64.b64decode(self.ask("body", pause=pause)["body"])

    # Arming

    def arm(self, kind: str) -> tuple[str, ...]:
        """Arm a breakpoint (see ``kinds.parse``); returns what is armed now."""
        return tuple(self.ask("arm", kind=kind)["armed"])

    def disarm(self, kind: str) -> tuple[str, ...]:
        """Disarm a breakpoint, or ``"all"``; returns what is armed now. Paused exchanges stay paused."""
        return tuple(self.ask("disarm", kind=kind)["armed"])

    # Decisions

    def resume(self, pause: int) -> None:
        """Continue: the message is passed on unchanged."""
        self.ask("continue", pause=pause)

    def edit(self, pause: int, body: bytes) -> None:
        """Pass this body on instead."""
        self.ask("edit", pause=pause, body=base64.b64encode(body).decode())

    def answer(self, pause: int, target: str) -> None:
        """Have a simulator (``sim:CONTRACT``) respond instead of the upstream."""
        self.ask("answer", pause=pause, target=target)

    def drop(self, pause: int) -> None:
        """Abort the client's connection, and the exchange with the upstream."""
        self.ask("drop", pause=pause)

    # Events

    def watch(self) -> Iterator[Mapping[str, JsonValue]]:
        """Events from now on, beginning with the current pauses; ends with the recorder, or ``close``."""
        for pause in self._start_watching():
            yield {"event": "paused", "pause": pause}
        while True:
            event = self._events.popleft() if self._events else self._read_line(None)
            if event is None:
                return
            yield event

    def wait(self, seconds: float | None = None) -> Pause | None:
        """A current pause, or the next one; None if there is none within this time.

        Raises:
            WorkbenchError: the recorder ended meanwhile.
        """
        until = None if seconds is None else time.monotonic() + seconds
        paused: Pause | None = next(iter(self._start_watching()), None)
        while paused is None:
            seconds_left = None if until is None else max(0.001, until - time.monotonic())
            try:
                event = self._events.popleft() if self._events else self._read_line(seconds_left)
            except TimeoutError:
                return None
            if event is None:
                raise WorkbenchError("the recorder has ended")
            paused = event["pause"] if event["event"] == "paused" else None
        return paused

    def _start_watching(self) -> tuple[Pause, ...]:
        """Subscribe to events; returns the current pauses, which replace all earlier events."""
        pauses = tuple(self.ask("watch")["pauses"])
        self._events = deque(e for e in self._events if e["event"] not in ("paused", "ended", "armed"))
        return pauses

    def ask(self, verb: str, **words: JsonValue) -> Mapping[str, JsonValue]:
        """Send any request of the protocol. Raises UsageError if it is refused, WorkbenchError if the recorder ends."""
        self._command_count += 1
        try:
            self._socket.settimeout(CONTROL_SECONDS)
            self._socket.sendall(dumps({"ask": self._command_count, "do": verb, **words}) + b"\n")
        except OSError as error:
            raise WorkbenchError("the recorder has ended") from error
        while (answer := self._read_answer()) is not None:
            if "event" in answer:
                self._events.append(answer)
            elif answer.get("ask") == self._command_count and "error" in answer:
                raise UsageError(answer["error"], hint=answer.get("hint") or None)
            elif answer.get("ask") == self._command_count:
                return answer
        raise WorkbenchError("the recorder has ended")

    def _read_answer(self) -> Mapping[str, JsonValue] | None:
        try:
            return self._read_line(CONTROL_SECONDS)
        except TimeoutError:
            raise WorkbenchError(f"the recorder has not responded for {CONTROL_SECONDS:g} seconds") from None

    def _read_line(self, seconds: float | None) -> Mapping[str, JsonValue] | None:
        """The next line; None at the end of the connection. Raises TimeoutError."""
        while b"\n" not in self._rest:
            try:
                self._socket.settimeout(seconds)
                more = self._socket.recv(1 << 20)
            except TimeoutError:
                raise
            except OSError:
                return None
            if not more or len(self._rest) > MAX_CONTROL_LINE:
                return None
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        try:
            message = loads(line)
        except WireError:
            return None
        return message if isinstance(message, dict) else None

    def close(self) -> None:
        """Disconnect. Paused exchanges stay paused. May be called again, and from another thread."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


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
        pauses = [(remote, pause) for remote, state in self._states() for pause in state["pauses"]]
        matching = [(remote, pause) for remote, pause in pauses if name in (str(pause["id"]), pause["exchange"])]
        if len(matching) > 1:
            hint = "use the exchange id instead of the number: " + " or ".join(
                pause["exchange"] for _, pause in matching
            )
            raise UsageError(f"{len(matching)} recorders write to this session, and each has a pause {name}", hint=hint)
        if not matching:
            there = ", ".join(pause_names([pause for _, pause in pauses]))
            raise UsageError(f"no pause with number {name!a}", hint=f"paused: {there or 'nothing'}")
        remote, pause = matching[0]
        return remote, pause["id"]

    def arm(self, kind: str) -> None:
        """Arm a breakpoint at every recorder. Raises UsageError, WorkbenchError."""
        for remote in self._remotes:
            remote.arm(kind)

    def disarm(self, kind: str) -> None:
        """Disarm a breakpoint. Raises UsageError if it is armed nowhere; WorkbenchError."""
        armed = [remote for remote, state in self._states() if kind in (*state["armed"], "all")]
        for remote in armed or self._remotes[-1:]:
            remote.disarm(kind)

    def wait(self, seconds: float | None = None) -> Pause | None:
        """A pause at any recorder, current or next; None if there is none within this time.

        Raises:
            WorkbenchError: all of them ended meanwhile.
        """
        outcomes: SimpleQueue[Pause | WorkbenchError | None] = SimpleQueue()
        waiting = _reconnect(self._remotes)
        try:
            for remote in waiting:
                threading.Thread(target=_wait, args=(remote, seconds, outcomes), name="waits", daemon=True).start()
            answers = []
            for _ in waiting:
                answers.append(answer := outcomes.get())
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
        failure: WorkbenchError | None = None
        for remote in self._remotes:
            try:
                found.append((remote, remote.state()))
            except WorkbenchError as error:
                failure = error
        if not found and failure:
            raise failure
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


def _wait(remote: Remote, seconds: float | None, outcomes: SimpleQueue[Pause | WorkbenchError | None]) -> None:
    try:
        outcomes.put(remote.wait(seconds))
    except WorkbenchError as error:
        outcomes.put(error)
