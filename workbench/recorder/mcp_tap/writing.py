"""The recorder of a tap, a process of its own: it reads the messages in what passed and writes them to a session file.

    python -m workbench.recorder.mcp_tap.writing

Its task: {"out": FILE, "server": NAME, "command": TEXT, "started_at": SECONDS}; events of the tape follow. If the tap
is killed, its end of the pipe closes, and what came until then is written.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from queue import Queue

from workbench.ir import JsonValue
from workbench.protocols.mcp import McpChannel
from workbench.recorder.capture.keeper import STORAGE, new_run, open_private, redactor_for
from workbench.recorder.capture.keeper_process import NICE, collect_rarely, salt_of
from workbench.recorder.child import send_line, serve
from workbench.recorder.mcp_tap.tape import ENDED, LOST, LOST_SENT, RECEIVED, SENT, STDERR, TapeEvent, TapeReader
from workbench.wire import Exchange, Origin, Redactor, State
from workbench.wire.session import SessionWriter

AHEAD = 4096
"""Batches that are read ahead; a pipe gives up to 64 kB at once, so that they are as many bytes as a tape may hold."""

_STREAMS = {SENT: ("sent", "text"), RECEIVED: ("received", "text"), STDERR: ("received", "stderr")}
"""Kind of event → direction and opcode of its lines."""


class TapWriter:
    """Writes one connection: each call when it begins and when it is over, the connection itself at the end.

    Args:
        writer: open; closed in the end.
        redactor: one for the session.
        task: see the module.
    """

    def __init__(self, writer: SessionWriter, redactor: Redactor, task: Mapping[str, JsonValue]) -> None:
        self._writer = writer
        self._redactor = redactor
        connection = Exchange(
            new_run(),
            state=State.OPEN,
            origin=Origin.RECORDED,
            started_at=task["started_at"],
            note=f"MCP server {task['server']} over stdio: {task['command']}",
        )
        self._channel = McpChannel(connection, task["server"])
        self._seq = writer.begin(redactor.exchange(self._channel.connection()))
        self._positions: dict[int, int] = {}
        self._begun = 0
        self._ended_at = 0.0
        self._end = "the tap was stopped before the server ended"
        self._state = State.INCOMPLETE

    def take(self, events: Iterable[TapeEvent]) -> None:
        """Take events and write the calls that begin or end with them."""
        for event in events:
            self._apply(event)
        self._write(at_end=False)

    def _apply(self, event: TapeEvent) -> None:
        self._ended_at = event.at
        if event.kind == ENDED:
            self._state = State.COMPLETE
            self._end = f"it was ended by signal {-event.number}" if event.number < 0 else f"exit status {event.number}"
        elif event.kind >= LOST_SENT:
            self._channel.skip(*_STREAMS[event.kind - LOST], event.number)
        else:
            self._channel.feed(*_STREAMS[event.kind], event.data, event.at)

    def _write(self, *, at_end: bool) -> None:
        """Write what is new. What the file did not take is tried again with the next events."""
        positions, begun = dict(self._positions), self._begun
        with self._writer.together():
            for begun, call in self._channel.exchanges(self._begun + 1):
                positions[begun] = self._writer.begin(self._safe(call, is_open=True))
            for number in list(positions):
                if at_end or self._channel.is_over(number):
                    self._writer.finish(positions.pop(number), self._safe(self._final_call(number)))
            if at_end:
                self._writer.finish(self._seq, self._connection())
        self._positions, self._begun = positions, begun

    def _final_call(self, number: int) -> Exchange:
        """A call with its response; if the tap was stopped, nobody knows whether there was one."""
        call = self._channel.exchange(number)
        if self._channel.is_over(number) or self._state is State.COMPLETE:
            return call
        return replace(call, state=State.INCOMPLETE, note=self._end)

    def _safe(self, exchange: Exchange, *, is_open: bool = False) -> Exchange:
        begun = replace(exchange, response=None, state=State.OPEN, note="") if is_open else exchange
        return self._redactor.exchange(begun)

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
    writer = open_private(Path(task["out"]))
    tap = TapWriter(writer, redactor_for(os.environ, salt_of(writer.identity())), task)
    os.nice(NICE)
    collect_rarely()
    send_line({})
    for events in read_ahead(TapeReader(lambda size: os.read(0, size)).batches()):
        try:
            tap.take(events)
        except STORAGE:
            continue  # tried again with the next events
    tap.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(serve(main))
