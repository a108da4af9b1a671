"""Breakpoints of a tap, inside the process that records: judges held lines, pauses them and says what becomes of them.

A loop in a thread of its own has the same gate and control socket as the recorder of model traffic, so that controllers
find a tap as one more recorder of the session.
"""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, RESPONSE
from workbench.protocols.mcp import CallInLine
from workbench.recorder.breakpoints.control import ControlServer
from workbench.recorder.breakpoints.gate import ANSWER, CONTINUE, DROP, EDIT, BreakpointGate, PauseTracker
from workbench.recorder.child import send_line
from workbench.recorder.events import RequestHead
from workbench.wire import Exchange, Headers

START_SECONDS = 5.0


class Replacement(NamedTuple):
    """A message that was sent, or received, in the place of another.

    Attributes:
        exchange: id of the client's exchange.
        side: of the message.
        message: what the server was sent, or what it sent.
    """

    exchange: str
    side: str
    message: bytes


class HeldLine:
    """A line that waits at the tap until something is decided on each of its messages.

    Args:
        number: of the line at the tap.
        line: with its line break.
    """

    def __init__(self, pauses: TapPauses, number: int, line: bytes) -> None:
        self._pauses, self._number, self._line = pauses, number, line
        self._waiting: set[HeldMessage] = set()
        self._changed: list[tuple[CallInLine, bytes]] = []
        self._back: list[bytes] = []

    def add(self, side: str, call: Exchange, place: CallInLine) -> HeldMessage:
        """Add a call that the line makes or answers."""
        message = HeldMessage(self._pauses, self, side, self._line[place.start : place.end], call, place)
        self._waiting.add(message)
        return message

    def report_pause(self) -> None:
        """Say that the line waits for a person."""
        send_line({"line": self._number, "paused": True})

    def settle(self, message: HeldMessage, changed: bytes | None = None, back: bytes = b"") -> None:
        """Take what becomes of a message: another one in its place, nothing (empty), or None for itself.

        Args:
            back: a response that the client gets besides.
        """
        self._waiting.discard(message)
        if changed is not None:
            self._changed.append((message.place, changed))
        if back:
            self._back.append(back)
        if not self._waiting:
            self._pauses.forget(self._number)
            send_line({"line": self._number, **self._words()})

    def _words(self) -> Mapping[str, JsonValue]:
        words: dict[str, JsonValue] = {"back": _text(b"\n".join((*self._back, b"")))} if self._back else {}
        if self._changed:
            line = self._with_changes()
            return {**words, "data": _text(line)} if line else {**words, "drop": True}
        return words

    def _with_changes(self) -> bytes:
        """The line with other messages in it; empty if none is left. Messages that stay keep their bytes."""
        line = self._line
        for place, changed in sorted(self._changed, reverse=True):
            start, end = place.start, place.end
            if not changed:  # with one of the commas beside it
                before, after = line[:start].rstrip(), line[end:].lstrip()
                if after.startswith(b","):
                    end = len(line) - len(after) + 1
                elif before.endswith(b","):
                    start = len(before) - 1
            line = line[:start] + changed + line[end:]
        return b"" if line.strip() in (b"", b"[]") else line

    def leave(self) -> None:
        """The client has ended its side."""
        for message in self._waiting:
            message.tracker.end("the client closed the connection")
        self._pauses.forget(self._number)


class HeldMessage:
    """A message that makes or answers a call, as an exchange that may be paused.

    Args:
        message: its bytes.
        call: the exchange that it belongs to.
        place: where it is in its line.
    """

    limit = note = ""

    def __init__(
        self, pauses: TapPauses, line: HeldLine, side: str, message: bytes, call: Exchange, place: CallInLine
    ) -> None:
        assert call.request
        self._pauses, self._line, self._side, self._message = pauses, line, side, message
        self._call, self.place = call, place
        self.judging: asyncio.Task[None] | None = None
        head = RequestHead(call.request.method, call.request.url, call.request.url, Headers(()), "")
        self.tracker = PauseTracker(pauses.gate, self, call.id, head)

    async def judge(self) -> None:
        """Pause the message if a breakpoint wants that, else let it pass."""
        words: dict[str, JsonValue] = {}
        if self._side == RESPONSE:
            body = base64.b64encode(self._message).decode()
            words = {"status": 0, "reason": "", "headers": [], "version": "", "body": body}
        reasons, why = await self.tracker.evaluate(self._side, **words)
        if reasons:
            self._line.report_pause()
            self.tracker.begin(self._side, reasons, has_head=False)
            return
        if why:
            self.tracker.report_unjudged(why)
            self._pauses.add_notes(self._call.id, self.tracker.notes)
        self._line.settle(self)

    def actions(self) -> tuple[str, ...]:
        """Actions that can end the pause."""
        return CONTINUE, EDIT, ANSWER, DROP

    def held_body(self) -> tuple[bytes, int]:
        """The message, and how many bytes of it are already sent: none."""
        return self._message, 0

    def resume(self) -> None:
        """Pass the message on unchanged."""
        self._end("continued")

    def edit(self, body: bytes) -> None:
        """Pass this message on instead. Line breaks between its values become spaces: a line is a message."""
        message = body.strip().replace(b"\r", b" ").replace(b"\n", b" ")
        if not message:
            raise UsageError("an empty line is not a message", hint="drop the message instead")
        self._replace(message if self._side == REQUEST else self._message)
        self._end("edited" if self._side == REQUEST else "the response was edited", message)

    def answer(self, reply: Mapping[str, JsonValue], who: str) -> None:
        """Give the client this response; the server gets no call."""
        message = b"".join(base64.b64decode(piece) for piece in reply["pieces"])
        if self._side == RESPONSE:
            self._replace(self._message)
            self._end(f"answered by {who}", message)
        else:
            self._end(f"answered by {who}", b"", back=message)

    def drop(self) -> None:
        """Pass nothing on: to the other side, the message was never sent."""
        self._end("dropped", b"")

    def _replace(self, message: bytes) -> None:
        self._pauses.on_replaced(Replacement(self._call.id, self._side, message))

    def _end(self, how: str, changed: bytes | None = None, back: bytes = b"") -> None:
        self.tracker.end(how)
        self._pauses.add_notes(self._call.id, self.tracker.notes)
        self._line.settle(self, changed, back)


def _text(line: bytes) -> str:
    return base64.b64encode(line).decode()


class TapPauses:
    """The gate of one tap, with its control socket and its held lines.

    Args:
        run: what the ids of the connection's exchanges begin with.
        out: the session file.
        breaks: breakpoints that are armed from the beginning.
        on_replaced: called, in the loop's thread, when another message takes the place of one.
    """

    def __init__(self, run: str, out: Path, breaks: list[str], on_replaced: Callable[[Replacement], None]) -> None:
        self.on_replaced = on_replaced
        self._run, self._out, self._breaks = run, out, breaks
        self._held_lines: dict[int, HeldLine] = {}
        self._notes: dict[str, list[str]] = {}
        self._is_armed = bool(breaks)
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run_loop, name="breakpoints", daemon=True)
        self._thread.start()
        self._started.wait(START_SECONDS)

    def _run_loop(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:  # it closes the loop
                runner.run(self._serve())
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self.gate = BreakpointGate(self._run, self._out, is_tool_hop=True)
        control = ControlServer(self.gate, self._out)
        for kind in self._breaks:
            self.gate.arm(kind)
        self.gate.listeners.add(self._on_event)
        with suppress(OSError, UsageError):  # breakpoints cannot be controlled; traffic is recorded
            await control.start()
        self._started.set()
        if self._breaks:
            self._tell_armed(is_first=True)
        try:
            await self._end.wait()
        finally:
            await control.close()
            self.gate.close()

    def _on_event(self, event: Mapping[str, JsonValue]) -> None:
        if event.get("event") == "armed":
            self._tell_armed()

    def _tell_armed(self, *, is_first: bool = False) -> None:
        is_armed = bool(self.gate.armed_sides)
        if is_first or is_armed != self._is_armed:
            self._is_armed = is_armed
            send_line({"armed": is_armed})

    # From the thread that writes.

    def take(self, number: int, side: str, line: bytes, calls: Sequence[tuple[Exchange, CallInLine]]) -> None:
        """Judge the calls that a held line makes or answers; a line of no call passes."""
        if not self._soon(self._take, number, side, line, calls):
            send_line({"line": number})

    def _soon(self, work: Callable[..., object], *given: object) -> bool:
        """Do something in the loop's thread; False if the loop has ended, and nobody judges any more."""
        try:
            self._loop.call_soon_threadsafe(work, *given)
        except RuntimeError:
            return False
        return True

    def _take(self, number: int, side: str, line: bytes, calls: Sequence[tuple[Exchange, CallInLine]]) -> None:
        if not calls:
            send_line({"line": number})
            return
        held_line = self._held_lines[number] = HeldLine(self, number, line)
        for message in [held_line.add(side, *call) for call in calls]:
            message.judging = self._loop.create_task(message.judge(), name="check a message")

    def leave(self, number: int) -> None:
        """A line waits for nothing any more."""

        def leave() -> None:
            if held_line := self._held_lines.get(number):
                held_line.leave()

        self._soon(leave)

    def notes_of(self, exchange: str) -> str:
        """What happened to an exchange at breakpoints, in words; empty if nothing."""
        return "; ".join(self._notes.get(exchange, ()))

    def close(self) -> None:
        """Close the control socket and end the judge."""
        self._soon(self._end.set)
        self._thread.join(START_SECONDS)

    # From held messages.

    def forget(self, number: int) -> None:
        """A line has left the tap."""
        self._held_lines.pop(number, None)

    def add_notes(self, exchange: str, notes: list[str]) -> None:
        """Keep notes for the note of an exchange."""
        self._notes.setdefault(exchange, []).extend(notes)
