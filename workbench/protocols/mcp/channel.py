"""Splits a connection to an MCP server into exchanges: each JSON-RPC request with its response.

Over stdio a message is a line (modelcontextprotocol.io, specification, "Transports"). Both sides send requests, and ids
of the two directions are independent; ``"1"`` is not ``1``. An array is a batch of messages (revision 2025-03-26).
Notifications, output that is no message, and text of standard error stay with the connection, as frames in their order.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols.mcp.http import ASKED_BY
from workbench.protocols.mcp.server_facts import agent_of
from workbench.wire import (
    CONNECTION,
    FRAMES,
    TURNS,
    Body,
    Exchange,
    ExchangeKind,
    Frame,
    HttpRequest,
    HttpResponse,
    JsonIndex,
    State,
    loads,
)

STDIO = "stdio"
"""Method of the exchange that stands for a whole connection."""

CALL_TOOL = "tools/call"
"""Method of a request that calls a tool."""

SENT, RECEIVED = "sent", "received"
TEXT, STDERR = "text", "stderr"

CANCELLED = "cancelled"
"""Key of ``Exchange.meta``: the reason with which the side that asked cancelled the request, which may be empty."""

_OTHER = {SENT: RECEIVED, RECEIVED: SENT}
_Id = tuple[str, str, object]
"""Direction of the request, type of the id, and the id."""


@dataclass(slots=True)
class _Call:
    """A request and the response to it, each with the number of its frame."""

    number: int
    direction: str
    method: str
    tool: str
    frames: list[int]
    request: Body
    response: Body | None = None
    cancelled: str | None = None


@dataclass(slots=True)
class _LineReader:
    """One stream, with its bytes since the last line break."""

    opcode: str = TEXT
    pieces: list[bytes] = field(default_factory=list)
    is_incomplete: bool = False


class CallInLine(NamedTuple):
    """A call of the client that a line makes or answers, and where its message is in the line, in bytes."""

    number: int
    start: int
    end: int


class McpChannel:
    """The messages of one connection over stdio, as they come.

    Args:
        connection: what is known of it at the start; its id begins those of the calls.
        server: its name in the client's configuration.

    Attributes:
        frames: lines of both directions and of standard error, in the order in which they were complete.
        notes: what is wrong with the bytes as a whole.
        agent: what the client calls itself; empty until it has.
    """

    def __init__(self, connection: Exchange, server: str) -> None:
        self.frames: list[Frame] = []
        self.notes: list[str] = []
        self.agent = ""
        self._base = f"mcp://{quote(server, safe='')}"
        self._connection = replace(connection, kind=ExchangeKind.MCP, request=HttpRequest(STDIO, self._base))
        self._streams = {
            (SENT, TEXT): _LineReader(),
            (RECEIVED, TEXT): _LineReader(),
            (RECEIVED, STDERR): _LineReader(STDERR),
        }
        self._calls: list[_Call] = []
        self._waiting: dict[_Id, _Call] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def feed(self, direction: str, opcode: str, data: bytes, at: float) -> None:
        """Take bytes of one stream: ``SENT`` by the client or ``RECEIVED`` by it, ``TEXT`` or ``STDERR``."""
        stream = self._streams[direction, opcode]
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._end_line(stream, direction, line, at)
        if rest:
            stream.pieces.append(rest)

    def skip(self, direction: str, opcode: str, size: int) -> None:
        """Leave out bytes that could not be recorded, up to the end of their line."""
        stream = self._streams[direction, opcode]
        stream.pieces.clear()
        stream.is_incomplete = True
        self.notes.append(f"{size:,} bytes {direction} were not recorded: the recorder was too slow")

    def end(self, at: float) -> None:
        """Take what is behind the last line breaks."""
        for (direction, _), stream in self._streams.items():
            if stream.pieces:
                if stream.opcode == TEXT:
                    self.notes.append(f"the last line {direction} has no line end")
                self._end_line(stream, direction, b"", at)

    def _end_line(self, stream: _LineReader, direction: str, last: bytes, at: float) -> None:
        line = b"".join((*stream.pieces, last)) if stream.pieces else last
        stream.pieces.clear()
        if stream.is_incomplete:
            stream.is_incomplete = False
        else:
            self._add(Frame(direction, stream.opcode, line, at))

    def _add(self, frame: Frame) -> None:
        self.frames.append(frame)
        if frame.opcode != TEXT or frame.data.lstrip()[:1] not in (b"{", b"["):
            return
        try:
            value = loads(frame.data)
        except WireError:
            return
        for message, body in _messages(frame.data, value):
            self._take(frame, message, body)

    def _take(self, frame: Frame, message: dict[str, JsonValue], body: Body) -> None:
        number, id_, method = len(self.frames) - 1, message.get("id"), message.get("method")
        if method == "notifications/cancelled":
            self._cancel(frame.direction, message.get("params"))
        if "id" not in message or not isinstance(id_, str | int | float):
            return
        if isinstance(method, str):
            call = _Call(len(self._calls) + 1, frame.direction, method, _tool(message), [number], body)
            self._calls.append(call)
            self.agent = (frame.direction == SENT and agent_of(message.get("params"))) or self.agent
            self._waiting[_key(frame.direction, id_)] = call
        elif found := self._waiting.pop(_key(_OTHER[frame.direction], id_), None):
            found.frames.append(number)
            found.response = body

    def _cancel(self, direction: str, params: JsonValue) -> None:
        request_id = params.get("requestId") if isinstance(params, dict) else None
        found = self._waiting.get(_key(direction, request_id)) if isinstance(request_id, str | int | float) else None
        if found and isinstance(params, dict):
            found.cancelled = str(params.get("reason") or "")

    def calls_of(self, direction: str, line: bytes) -> list[CallInLine]:
        """The client's open calls that a line makes (``SENT``, once it is fed) or answers; several in a batch."""
        try:
            messages = [*_messages_of_line(line, loads(line))]
        except WireError:
            return []
        found = (
            (self._waiting.get(_key(SENT, id_)), span)
            for message, span in messages
            if isinstance(id_ := message.get("id"), str | int | float) and ("method" in message) == (direction == SENT)
        )
        return [CallInLine(call.number, *span) for call, span in found if call]

    def is_over(self, number: int) -> bool:
        """True once a call has its response; calls are numbered from one."""
        return self._calls[number - 1].response is not None

    def exchanges(self, first: int) -> Iterator[tuple[int, Exchange]]:
        """Calls from a number on, with their numbers."""
        for number in range(first, len(self._calls) + 1):
            yield number, self.exchange(number)

    def exchange(self, number: int) -> Exchange:
        """A call as an exchange; aborted if it has no response."""
        call, began = self._calls[number - 1], self._connection.started_at
        asked, last = self.frames[call.frames[0]].at, self.frames[call.frames[-1]].at
        has_times = asked is not None and last is not None and call.response is not None
        return Exchange(
            f"{self._connection.id}.{number}",
            request=HttpRequest(call.method, f"{self._base}/{quote(call.tool, safe='')}", body=call.request),
            response=HttpResponse(0, body=call.response) if call.response else None,
            state=State.COMPLETE if call.response else State.ABORTED,
            kind=ExchangeKind.MCP,
            origin=self._connection.origin,
            started_at=began + asked if began is not None and asked is not None else None,
            duration=last - asked if has_times else None,  # type: ignore[operator]
            hop=self._connection.hop,
            client=self._connection.client,
            meta={
                CONNECTION: self._connection.id,
                ASKED_BY: "client" if call.direction == SENT else "server",
                FRAMES: list(call.frames),
                **({} if call.cancelled is None else {CANCELLED: call.cancelled}),
            },
            note="" if call.response else "the connection ended before the response",
        )

    def connection(self) -> Exchange:
        """The connection with its frames so far."""
        notes = "; ".join(filter(None, (self._connection.note, *self.notes)))
        meta = {**self._connection.meta, TURNS: len(self._calls)}
        return replace(self._connection, frames=tuple(self.frames), meta=meta, note=notes)


def _key(direction: str, id_: object) -> _Id:
    return direction, type(id_).__name__, id_


def _tool(message: dict[str, JsonValue]) -> str:
    """Object of a request: the name of a tool or prompt, or the URI of a resource."""
    params = message.get("params")
    name = (params.get("name") or params.get("uri")) if isinstance(params, dict) else None
    return name if isinstance(name, str) else ""


def _messages(line: bytes, value: JsonValue) -> Iterator[tuple[dict[str, JsonValue], Body]]:
    """The messages of a line with their bytes: one, or those of a batch."""
    for number, (message, span) in enumerate(_messages_of_line(line, value), start=1):
        is_whole = isinstance(value, dict)
        yield (
            message,
            Body(line) if is_whole else Body(line[slice(*span)], is_raw=False, note=f"message {number} of a batch"),
        )


def _messages_of_line(line: bytes, value: JsonValue) -> Iterator[tuple[dict[str, JsonValue], tuple[int, int]]]:
    """The messages of a line with their places in it: one, or those of a batch."""
    if isinstance(value, dict):
        yield value, (0, len(line.rstrip(b"\r\n")))
    elif isinstance(value, list):
        index = JsonIndex(line)
        for number, message in enumerate(value):
            if isinstance(message, dict) and (span := index.span(f"/{number}")):
                yield message, span


def fault_of_line(line: bytes) -> str:
    """Why a line is no message; empty for a message, and for a blank line, which readers skip."""
    if not line.strip():
        return ""
    if line.startswith(codecs.BOM_UTF8):
        return "a message with a byte order mark before it; readers drop the line"
    if line.lower().startswith(b"content-length:"):
        return (
            "a Content-Length header, as in the Language Server Protocol; an MCP message is one line without a header"
        )
    try:
        value = loads(line)
    except WireError:
        return "not JSON"
    messages = value if isinstance(value, list) and value else [value]
    is_message = all(isinstance(message, dict) and "jsonrpc" in message for message in messages)
    return "" if is_message else "JSON, but not a JSON-RPC message"
