"""Lines of a channel that breakpoints may hold, inside the tap.

While nothing is armed, bytes pass as they come. While something is, whole lines pass, and a line that may be a call or
its response is handed to the process that records, which says what becomes of it. That process may be slow or die: a
line without its word within ``SECONDS`` passes unchanged.
"""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.limits import JUDGE_SECONDS, MAX_HELD_REQUEST
from workbench.recorder.mcp_tap.events import GONE, HELD_RECEIVED, HELD_SENT, RECEIVED, SENT, Note

SECONDS = 2 * JUDGE_SECONDS
"""Time for the first word on a line: the process that records, or that checks, may have to start before."""

_HINTS: Mapping[int, tuple[bytes, ...]] = {SENT: (b"tools/call",), RECEIVED: (b'"result"', b'"error"')}
_HELD: Mapping[int, int] = {SENT: HELD_SENT, RECEIVED: HELD_RECEIVED}


class _HeldLine(NamedTuple):
    """A line that waits, with the direction it came from."""

    direction: int
    line: bytes
    deadline: threading.Timer


class PassedStream:
    """One direction of a channel. Bytes may come from two threads: its pump, and the decisions.

    Args:
        target: handle to write to.
        direction: ``SENT`` or ``RECEIVED``.
        note: keeps bytes for the recording.
    """

    def __init__(self, target: int, direction: int, note: Note) -> None:
        self._target, self._direction, self._note = target, direction, note
        self._lock = threading.RLock()
        self._is_at_start = True  # the last byte that passed ended a line
        self._part = bytearray()  # the beginning of a line, while something is armed
        self._late: list[tuple[bytes, bool]] = []  # lines that wait for the end of the one that is passing
        self._holds: Callable[[PassedStream, bytes], bool] | None = None
        self._is_over = False

    def set_holding(self, holds: Callable[[PassedStream, bytes], bool] | None) -> None:
        """Give whole lines to a function that says whether it keeps them; None to pass bytes as they come."""
        with self._lock:
            self._holds = holds
            if holds is None:
                self._flush()

    def take(self, data: bytes) -> None:
        """Pass bytes on, or hold them. Raises OSError."""
        with self._lock:
            if self._holds is None:
                self._pass(data)
            else:
                self._take_lines(data)

    def _take_lines(self, data: bytes) -> None:
        if not self._is_at_start:
            head, end, data = data.partition(b"\n")
            self._pass(head + end)
            if not data:
                return
        *whole, rest = data.split(b"\n")
        for line in whole:
            line = bytes(self._part) + line + b"\n"
            self._part.clear()
            hints = _HINTS[self._direction]
            may_be_held = self._holds is not None and any(hint in line for hint in hints)
            if not (may_be_held and self._holds and self._holds(self, line)):
                self._pass(line)
        self._part += rest
        if len(self._part) > MAX_HELD_REQUEST:
            self._flush()

    def _flush(self) -> None:
        if self._part:
            data = bytes(self._part)
            self._part.clear()
            self._pass(data)

    def _pass(self, data: bytes) -> None:
        """Pass bytes; late lines follow the end of the first line in them."""
        end = data.find(b"\n") + 1 if self._late else 0
        if end:
            self._write(data[:end], is_noted=True)
            late, self._late = self._late, []
            for line, is_noted in late:
                self._write(line, is_noted=is_noted)
        self._write(data[end:], is_noted=True)

    def _write(self, data: bytes, *, is_noted: bool) -> None:
        if data:
            if is_noted:
                self._note(self._direction, data)
            self._is_at_start = data.endswith(b"\n")
            write_all(self._target, data)

    def put(self, line: bytes, *, is_noted: bool) -> None:
        """Pass a whole line, between two others."""
        with self._lock, suppress(OSError):
            if self._is_over:
                return
            if self._is_at_start:
                self._write(line, is_noted=is_noted)
            else:
                self._late.append((line, is_noted))

    def end(self) -> None:
        """Pass the last line, which has no end. Nothing passes from now on."""
        with self._lock:
            with suppress(OSError):
                self._flush()
            self._is_over = True


class HeldLines:
    """Holds lines of both directions while a breakpoint is armed.

    Args:
        note: keeps bytes for the recording, and hands held lines to it.
        is_armed: something is armed from the beginning.
    """

    def __init__(self, to_server: PassedStream, received: PassedStream, note: Note, *, is_armed: bool) -> None:
        self._streams = {SENT: to_server, RECEIVED: received}
        self._note = note
        self._held_lines: dict[int, _HeldLine] = {}
        self._count = 0
        self._changed = threading.Condition()
        self._is_left = False  # the client has ended its side, or the recording is gone: nothing is held any more
        if is_armed:
            self._arm(is_armed=True)

    def _arm(self, *, is_armed: bool) -> None:
        for stream in self._streams.values():
            stream.set_holding(self._hold if is_armed and not self._is_left else None)

    def _hold(self, stream: PassedStream, line: bytes) -> bool:
        direction = SENT if stream is self._streams[SENT] else RECEIVED
        with self._changed:
            if self._is_left:
                return False
            self._count += 1
            number = self._count
            deadline = threading.Timer(SECONDS, self._release, (number,))
            deadline.daemon = True
            self._held_lines[number] = _HeldLine(direction, line, deadline)
        deadline.start()
        self._note(_HELD[direction], b"%d\n" % number + line)
        return True

    def hear(self, message: bytes) -> None:
        """Take a line of the process that records: what is armed, or what becomes of a line."""
        try:
            command = json_object(message)
        except WireError:
            return
        number = command.get("line")
        if "armed" in command:
            self._arm(is_armed=bool(command["armed"]))
        elif not isinstance(number, int):
            return
        elif "paused" in command:
            if held_line := self._held_lines.get(number):
                held_line.deadline.cancel()
        else:
            data, back = (_unpack(command.get(name)) for name in ("data", "back"))
            self._release(number, data, is_dropped=bool(command.get("drop")), back=back)

    def _release(
        self, number: int, line: bytes | None = None, *, is_dropped: bool = False, back: bytes | None = None
    ) -> None:
        """End the wait of a line.

        Args:
            line: another one for it; None for itself.
            is_dropped: nothing is passed on.
            back: a line for the client besides.
        """
        with self._changed:
            held_line = self._held_lines.pop(number, None)
            if held_line is None:
                return
            held_line.deadline.cancel()
        if not is_dropped:
            direction = held_line.direction
            self._streams[direction].put(held_line.line if line is None else line, is_noted=direction == RECEIVED)
        if back is not None:
            self._streams[RECEIVED].put(back, is_noted=True)
        with self._changed:
            self._changed.notify_all()

    def leave(self) -> None:
        """The client has ended its side: responses pass, and calls that were not sent are dropped."""
        self._end(SENT)

    def give_up(self) -> None:
        """The process that records is gone: everything passes."""
        self._end(None)

    def _end(self, dropped: int | None) -> None:
        with self._changed:
            self._is_left = True
            numbers = [*self._held_lines]
        self._arm(is_armed=False)
        for number in numbers:
            held_line = self._held_lines.get(number)
            self._release(number, is_dropped=bool(held_line and held_line.direction == dropped))
            if dropped is not None:
                self._note(GONE, b"%d" % number)

    def wait(self) -> None:
        """Wait until no response is held."""
        with self._changed:
            self._changed.wait_for(
                lambda: all(held_line.direction != RECEIVED for held_line in self._held_lines.values())
            )


def _unpack(value: JsonValue) -> bytes | None:
    return base64.b64decode(value) if isinstance(value, str) else None


def json_object(line: bytes) -> dict[str, JsonValue]:
    """A line of our own process as an object. Raises WireError."""
    from workbench.wire import loads

    value = loads(line)
    if not isinstance(value, dict):
        raise WireError("not an object")
    return value


def write_all(target: int, data: bytes) -> None:
    """Write all of it. Raises OSError."""
    count = os.write(target, data)
    while count < len(data):
        data = data[count:]
        count = os.write(target, data)
