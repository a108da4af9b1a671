"""The recorder of a tap, a separate process: reads messages from the forwarded bytes and writes a session file.

    python -m workbench.recorder.mcp_tap.writing

Its task: {"out": FILE, "server": NAME, "command": TEXT, "started_at": SECONDS, "breaks": [KIND], "mark": FILE}; events
of the tape follow. If the tap is killed, its end of the pipe closes, and what came until then is written. The mark is a
file that is removed at the end. It says {"armed": BOOL} when that changes, {"line": N, "paused": true} for a held line
that waits for a person, and {"line": N} for one that passes: with "data" (base64) another one, with "drop" nothing.
"back" (base64) is a line for the client besides.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from io import BufferedReader
from itertools import compress, islice
from pathlib import Path
from queue import Queue

from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, RESPONSE
from workbench.protocols.mcp import CALL_TOOL, CallInLine, McpChannel
from workbench.recorder.breakpoints.intercepted_events import EDITED, UNEDITED, hop_behind
from workbench.recorder.capture.keeper import STORAGE, new_run, open_private, redactor_for
from workbench.recorder.capture.keeper_process import NICE, collect_rarely, salt_of
from workbench.recorder.child import send_line, serve
from workbench.recorder.mcp_tap.events import (
    ENDED,
    GONE,
    HELD_RECEIVED,
    HELD_SENT,
    LOST,
    LOST_SENT,
    RECEIVED,
    SENT,
    STDERR,
    TapeEvent,
    TapeReader,
)
from workbench.recorder.mcp_tap.pauses import Replacement, TapPauses
from workbench.wire import Body, Exchange, HttpResponse, Origin, Redactor, State
from workbench.wire.session import SessionWriter

AHEAD = 4096
"""Batches that are read ahead; a pipe gives up to 64 kB at once, so that they are as many bytes as a tape may hold."""

PORTION = 64
"""Calls that are written in one transaction: while it lasts, no one else writes the file."""

_STREAMS = {SENT: ("sent", "text"), RECEIVED: ("received", "text"), STDERR: ("received", "stderr")}
"""Kind of event → direction and opcode of its lines."""


class TapWriter:
    """Writes one connection: each call when it begins and when it is over, the connection itself at the end.

    Args:
        writer: open; closed in the end.
        redactor: one for the session.
        task: see the module.
        run: id of the connection, with which those of its calls begin.
    """

    def __init__(self, writer: SessionWriter, redactor: Redactor, task: Mapping[str, JsonValue], run: str = "") -> None:
        self._writer = writer
        self._redactor = redactor
        self.pauses: TapPauses | None = None
        self._replaced: dict[str, list[Replacement]] = {}
        self._held_lines: list[tuple[int, str, bytes, list[CallInLine]]] = []
        connection = Exchange(
            run or new_run(),
            state=State.OPEN,
            origin=Origin.RECORDED,
            started_at=task["started_at"],
            note=f"MCP server {task['server']} over stdio: {task['command']}",
        )
        self._channel = McpChannel(connection, task["server"])
        self._seq = writer.begin(redactor.exchange(self._channel.connection()))
        self._positions: dict[int, int] = {}
        self._begun_count = 0
        self._ended_at = 0.0
        self._end = "the tap was stopped before the server ended"
        self._state = State.INCOMPLETE

    def take(self, events: Iterable[TapeEvent]) -> None:
        """Take events and write the calls that begin or end with them."""
        for event in events:
            self._apply(event)
        try:
            self._write(at_end=False)
        finally:
            self._judge_held()

    def replace_message(self, replaced: Replacement) -> None:
        """Remember what was sent, or received, in the place of a message of a call."""
        self._replaced.setdefault(replaced.exchange, []).append(replaced)

    def _hold(self, event: TapeEvent) -> None:
        """A line that waits at the tap: the client has sent it, or has not received it yet."""
        line, is_sent = event.data.partition(b"\n")[2], event.kind == HELD_SENT
        if is_sent:
            self._channel.feed(*_STREAMS[SENT], line, event.at)
        calls = self._channel.calls_of(*_STREAMS[SENT if is_sent else RECEIVED][:1], line)
        self._held_lines.append((event.number, REQUEST if is_sent else RESPONSE, line, calls))

    def _judge_held(self) -> None:
        lines, self._held_lines = self._held_lines, []
        for number, side, line, calls in lines:
            if self.pauses:
                found = [(self._safe(self._channel.exchange(call.number)), call) for call in calls]
                self.pauses.gate.client = self._channel.agent
                is_tool = [bool(exchange.request and exchange.request.method == CALL_TOOL) for exchange, _ in found]
                self.pauses.take(number, side, line, list(compress(found, is_tool)))

    def _apply(self, event: TapeEvent) -> None:
        self._ended_at = event.at
        if event.kind == ENDED:
            self._state = State.COMPLETE
            self._end = (
                (f"the server was ended by signal {-event.number}")
                if event.number < 0
                else f"exit status {event.number}"
            )
        elif event.kind in (HELD_SENT, HELD_RECEIVED):
            self._hold(event)
        elif event.kind == GONE:
            if self.pauses:
                self.pauses.leave(event.number)
        elif event.kind >= LOST_SENT:
            self._channel.skip(*_STREAMS[event.kind - LOST], event.number)
        else:
            self._channel.feed(*_STREAMS[event.kind], event.data, event.at)

    def _write(self, *, at_end: bool) -> None:
        """Write what is new. What the file did not take is tried again with the next events."""
        while self._write_portion(at_end=at_end):
            continue
        if at_end:
            self._writer.finish(self._seq, self._connection())

    def _write_portion(self, *, at_end: bool) -> bool:
        """Write some of what is new, made ready before: the file has other writers. False if nothing was."""
        begun = [
            (number, self._safe(call, is_open=True))
            for number, call in islice(self._channel.exchanges(self._begun_count + 1), PORTION)
        ]
        known = (*self._positions, *(number for number, _ in begun))
        over = [number for number in known if at_end or self._channel.is_over(number)][:PORTION]
        ended = [(number, [self._safe(each) for each in self._with_children(number)]) for number in over]
        positions = dict(self._positions)
        with self._writer.together() if begun or ended else nullcontext():
            for number, call in begun:
                positions[number] = self._writer.begin(call)
            for number, (call, *children) in ended:
                self._writer.finish(positions.pop(number), call)
                for child in children:
                    self._writer.append(child)
        self._positions, self._begun_count = positions, begun[-1][0] if begun else self._begun_count
        return bool(begun or ended)

    def _with_children(self, number: int) -> Iterator[Exchange]:
        """A call that is over, and what the server was sent, or sent, if that is not what the client has."""
        call = self._final_call(number)
        yield call
        yield from self._children(call)

    def _final_call(self, number: int) -> Exchange:
        """A call with its response; if the tap was stopped, it is unknown whether there was one."""
        call = self._channel.exchange(number)
        notes = self.pauses.notes_of(call.id) if self.pauses else ""
        if not (self._channel.is_over(number) or self._state is State.COMPLETE):
            call = replace(call, state=State.INCOMPLETE, note=self._end)
        return replace(call, note="; ".join(filter(None, (call.note, notes))))

    def _children(self, call: Exchange) -> Iterator[Exchange]:
        """What the server was sent, or sent, if that is not what the client has."""
        if found := self._replaced.pop(call.id, None):
            by_side = {each.side: each.message for each in found}
            request, response = call.request, call.response
            assert request
            if REQUEST in by_side:
                request = replace(request, body=Body(by_side[REQUEST]))
            if RESPONSE in by_side:
                response = HttpResponse(0, body=Body(by_side[RESPONSE]))
            branch = EDITED if REQUEST in by_side else UNEDITED
            child = replace(call, id=f"{call.id}.server", request=request, response=response, note="")
            yield replace(child, hop=hop_behind(call.hop), parent=call.id, branch=branch)

    def _safe(self, exchange: Exchange, *, is_open: bool = False) -> Exchange:
        first_state = replace(exchange, response=None, state=State.OPEN, note="") if is_open else exchange
        return self._redactor.exchange(first_state)

    def _connection(self) -> Exchange:
        whole = self._channel.connection()
        note = f"{whole.note}; {self._end}"
        return self._redactor.exchange(replace(whole, state=self._state, duration=self._ended_at, note=note))

    def close(self) -> None:
        """Write everything and close the file."""
        self._channel.end(self._ended_at)
        self._write(at_end=True)
        self._writer.close()


def read_ahead(batches: Iterator[list[TapeEvent]]) -> Iterator[list[TapeEvent]]:
    """The same events, read ahead: a tap that ends hands over all that it holds, however long the file takes."""
    ahead = Queue[list[TapeEvent] | None](AHEAD)

    def read() -> None:
        for batch in batches:
            ahead.put(batch)
        ahead.put(None)

    threading.Thread(target=read, name="events of the tap", daemon=True).start()
    return _together(ahead)


def _together(ahead: Queue[list[TapeEvent] | None]) -> Iterator[list[TapeEvent]]:
    """All events that are there, at least a batch, at a time."""
    while batch := ahead.get():
        more: list[TapeEvent] | None = []
        while not ahead.empty() and (more := ahead.get()):
            batch += more
        yield batch
        if more is None:
            return


def main(task: Mapping[str, JsonValue]) -> int:
    """Write the events that are handed over until the input ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are for the server; the end of the tape ends this process
    out, run = Path(task["out"]), new_run()
    writer = open_private(out)
    tap = TapWriter(writer, redactor_for(os.environ, salt_of(writer.identity())), task, run)
    pauses = tap.pauses = TapPauses(run, out, list(task.get("breaks", ())), tap.replace_message)
    os.nice(NICE)
    collect_rarely()
    stdin = sys.stdin.buffer
    assert isinstance(stdin, BufferedReader)
    send_line({})
    for events in read_ahead(TapeReader(stdin.read1).batches()):
        try:
            tap.take(events)
        except STORAGE:
            continue  # tried again with the next events
    tap.close()
    pauses.close()
    if task.get("mark"):
        Path(task["mark"]).unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(serve(main))
