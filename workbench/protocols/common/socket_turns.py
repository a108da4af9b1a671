"""Splits a Responses WebSocket into exchanges: each ``response.create`` with the events that answer it.

Codex and the SDKs of OpenAI and xAI keep one connection for many turns. Facts: developers.openai.com, "WebSocket mode"
and its events; docs.x.ai, "WebSocket Mode": the message has the members of a ``POST /v1/responses`` body plus ``type``
(and ``stream_id``, a lane: turns of a lane are answered in order, and their events repeat the id); the events are those
of the HTTP stream. The Realtime API has messages of the same name with their members in ``response``: that is another
protocol. ``response.append`` was sent by Codex for a time: more input for the previous response.

``response.steer`` adds user input to a response that is being written: that response ends ``incomplete`` with the
reason ``steered``, and the server begins a successor which no ``response.create`` requested. An error may come without
a lane (the limit of the connection: it ends what every lane waits for), and xAI sends it without ``type``
(opencode issue 48227).

The result is the equivalent POST: the message without its envelope, and its events as an event stream with the times of
their frames. The connection with its frames is kept as recorded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field, replace

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.wire import (
    CONNECTION,
    TURNS,
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    State,
    dumps,
    loads,
    patch,
)

_ASKS = ("response.create", "response.append")
_STEERS = "response.steer"
_ENVELOPE = ("type", "stream_id")
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.done", "error")
_HANDSHAKE = regex.compile(r"(?i)connection|upgrade|sec-websocket-.*|content-(?:length|type)|host")
_LINES = regex.compile(rb"\r\n|\r|\n")

EVENTS = "converted from WebSocket messages, one event each"


@dataclass(slots=True)
class _SocketTurn:
    """A message that requests a response, and the events that answer it."""

    number: int
    asked: Frame
    value: dict[str, JsonValue]
    events: list[tuple[Frame, str]] = field(default_factory=list)
    error: dict[str, JsonValue] = field(default_factory=dict)
    response: str = ""
    is_over: bool = False
    is_steered: bool = False
    follows: str = ""
    """Id of the response that was steered, where no ``response.create`` requested this one."""


@dataclass(slots=True)
class _Connection:
    """Turns in the order in which they were requested, each also in its lane, and the last message that steers."""

    turns: list[_SocketTurn] = field(default_factory=list)
    lanes: defaultdict[str, list[_SocketTurn]] = field(default_factory=lambda: defaultdict(list))
    steers: dict[str, tuple[int, Frame, dict[str, JsonValue]]] = field(default_factory=dict)

    def take_sent(self, number: int, frame: Frame, value: dict[str, JsonValue]) -> None:
        """Begin a turn for a message that requests a response; remember one that steers."""
        kind = value.get("type")
        if kind in _ASKS and ("model" in value or "input" in value):
            self._begin(_SocketTurn(number, frame, value), _lane(value))
        elif kind == _STEERS:
            self.steers[str(value.get("previous_response_id"))] = (number, frame, value)

    def take_received(self, number: int, frame: Frame, value: dict[str, JsonValue]) -> None:
        """Assign an event to the turn of its lane that it belongs to; an error without a lane to all that wait."""
        kind = _kind(value)
        if not kind:
            return
        lane = self.lanes[_lane(value)]
        if kind == "error" and "stream_id" not in value and all(turn.is_over for turn in lane):
            for turn in [turn for turn in self.turns if not turn.is_over]:
                _add(turn, frame, kind, value)
        elif owner := self._find_turn(number, frame, kind, value):
            _add(owner, frame, kind, value)

    def _begin(self, turn: _SocketTurn, lane: str) -> _SocketTurn:
        self.turns.append(turn)
        self.lanes[lane].append(turn)
        return turn

    def _find_turn(self, number: int, frame: Frame, kind: str, value: dict[str, JsonValue]) -> _SocketTurn | None:
        """The oldest open turn of the lane; for a late event, the turn that ended last."""
        lane = self.lanes[_lane(value)]
        over = [turn for turn in lane if turn.is_over]
        waiting = [turn for turn in lane if not turn.is_over]
        if kind == "response.created" and over and (over[-1].is_steered or not waiting):
            return self._begin(self._successor(over[-1], number, frame), _lane(value))
        if over and (kind == "response.done" or not waiting):
            return over[-1]
        first = [turn for turn in waiting if bool(turn.events) is (kind != "response.created")]
        return next(iter(first or waiting), None)

    def _successor(self, parent: _SocketTurn, number: int, frame: Frame) -> _SocketTurn:
        """The turn of a response that only a message that steers requested, or nothing that was seen."""
        parent.is_steered = False
        number, asked, steer = self.steers.get(parent.response, (number, frame, {}))
        value = {**parent.value, "input": steer.get("input", []), "previous_response_id": parent.response}
        return _SocketTurn(number, asked, value, follows=parent.response)


class SocketTurns:
    """The turns of one connection, message by message.

    Args:
        connection: its handshake, as far as it is known.
    """

    def __init__(self, connection: Exchange) -> None:
        self._connection = connection
        self._seen = _Connection()
        self._frames = 0

    def __len__(self) -> int:
        return len(self._seen.turns)

    def add(self, frame: Frame) -> None:
        """Take the next message of the connection."""
        self._frames += 1
        take = self._seen.take_sent if frame.direction == "sent" else self._seen.take_received
        take(self._frames, frame, _object(frame))

    def is_over(self, number: int) -> bool:
        """True once the response of a turn is complete; turns are numbered from one."""
        return self._seen.turns[number - 1].is_over

    def exchange(self, number: int) -> Exchange:
        """The turn as the HTTP exchange that it stands for; aborted if its response is not complete."""
        return _exchange(self._connection, self._seen.turns[number - 1], number)


def with_turns(exchanges: Iterable[Exchange], *, have_them: bool = False) -> Iterator[Exchange]:
    """Yield the exchanges, each Responses connection followed by its turns unless ``have_them``."""
    for exchange in exchanges:
        turns = SocketTurns(exchange)
        for frame in exchange.frames if exchange.kind is ExchangeKind.WEBSOCKET else ():
            turns.add(frame)
        yield replace(exchange, meta={**exchange.meta, TURNS: len(turns)}) if len(turns) else exchange
        if not have_them:
            yield from map(turns.exchange, range(1, len(turns) + 1))


def _lane(value: dict[str, JsonValue]) -> str:
    return str(value.get("stream_id"))


def _kind(value: dict[str, JsonValue]) -> str:
    """The type of an event; ``error`` also where only its members say so."""
    kind = value.get("type")
    return "error" if not kind and value.get("error") else str(kind or "")


def _add(turn: _SocketTurn, frame: Frame, kind: str, value: dict[str, JsonValue]) -> None:
    if kind == "error" and not turn.events:
        turn.error = value
    turn.events.append((frame, kind))
    response = value.get("response")
    if isinstance(response, dict):
        turn.response = turn.response or str(response.get("id") or "")
        details = response.get("incomplete_details")
        turn.is_steered |= isinstance(details, dict) and details.get("reason") == "steered"
    turn.is_over |= kind in _ENDS


def _object(frame: Frame) -> dict[str, JsonValue]:
    try:
        value = loads(frame.data) if frame.opcode == "text" and frame.data[:1] == b"{" else None
    except WireError:
        value = None
    return value if isinstance(value, dict) else {}


def _exchange(connection: Exchange, turn: _SocketTurn, number: int) -> Exchange:
    began = turn.asked.at
    last = turn.events[-1][0].at if turn.events else None
    how = f"frame {turn.number} of connection {connection.id}"
    more = "; it continues the previous response" if turn.value.get("type") == "response.append" else ""
    if turn.follows:
        more = f"; it follows {turn.follows}, which was steered: rebuilt from its request"
    end = "" if turn.is_over else "; the connection ended before the response"
    return Exchange(
        f"{connection.id}.{number}",
        request=_request(connection, turn, how),
        response=_response(turn) if turn.events else None,
        state=State.COMPLETE if turn.is_over else State.ABORTED,
        origin=Origin.RECONSTRUCTED,
        started_at=connection.started_at + began if connection.started_at and began is not None else None,
        duration=max(last - began, 0.0) if last is not None and began is not None else None,
        hop=connection.hop,
        client=connection.client,
        meta={CONNECTION: connection.id},
        note=f"Responses over a WebSocket: {how}{more}{end}",
    )


def _request(connection: Exchange, turn: _SocketTurn, how: str) -> HttpRequest:
    shaken = connection.request or HttpRequest()
    kept = tuple((name, value) for name, value in shaken.headers if not _HANDSHAKE.fullmatch(name))
    envelope = [patch.Remove(f"/{name}") for name in _ENVELOPE if name in turn.value]
    sent = dumps(turn.value) if turn.follows else turn.asked.data
    return HttpRequest(
        "POST",
        re.sub(r"^ws(?=s?:)", "http", shaken.url),
        Headers((*kept, ("content-type", "application/json"))),
        Body(patch.apply(sent, envelope), is_raw=False, note=f"{how}, without {' and '.join(_ENVELOPE)}"),
    )


def _response(turn: _SocketTurn) -> HttpResponse:
    """An event stream; for a refused request the status and body that HTTP would have."""
    status = turn.error.get("status", turn.error.get("status_code"))
    if isinstance(status, int) and 400 <= status < 600:
        body = Body(turn.events[0][0].data, is_raw=False, note="an error event of a WebSocket")
        return HttpResponse(status, Headers((("content-type", "application/json"),)), body)
    raw, chunks = bytearray(), []
    for frame, kind in turn.events:
        name = _LINES.sub(b" ", kind.encode("utf-8", "replace"))
        raw += b"event: %s\ndata: %s\n\n" % (name, b"\ndata: ".join(_LINES.split(frame.data)))
        if frame.at is not None and turn.asked.at is not None:
            chunks.append(Chunk(len(raw), max(frame.at - turn.asked.at, 0.0)))
    body = Body(bytes(raw), chunks=tuple(chunks), is_raw=False, note=EVENTS)
    return HttpResponse(200, Headers((("content-type", "text/event-stream"),)), body)
