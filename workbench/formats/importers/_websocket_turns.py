"""Splits a Responses WebSocket into exchanges: each ``response.create`` with the events that answer it.

Codex and the SDKs of OpenAI and xAI keep one connection for many turns. Facts: developers.openai.com, "WebSocket mode"
and its events; docs.x.ai, "WebSocket Mode": the message has the members of a ``POST /v1/responses`` body plus ``type``
(and ``stream_id``, a lane: turns of a lane are answered in order, and their events repeat the id); the events are those
of the HTTP stream. The Realtime API has messages of the same name with their members in ``response``: that is another
protocol. ``response.append`` was sent by Codex for a time: more input for the previous response.

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
    TURNS,
    Body,
    Chunk,
    Exchange,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    Kind,
    Origin,
    State,
    loads,
    patch,
)

_ASKS = ("response.create", "response.append")
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
    is_over: bool = False


def with_turns(exchanges: Iterable[Exchange], *, have_them: bool = False) -> Iterator[Exchange]:
    """Yield the exchanges, each Responses connection followed by its turns unless ``have_them``."""
    for exchange in exchanges:
        turns = _turns(exchange) if exchange.kind is Kind.WEBSOCKET else []
        yield replace(exchange, meta={**exchange.meta, TURNS: len(turns)}) if turns else exchange
        if not have_them:
            yield from (_exchange(exchange, turn, number) for number, turn in enumerate(turns, 1))


def _turns(connection: Exchange) -> list[_SocketTurn]:
    turns: list[_SocketTurn] = []
    lanes = defaultdict[str, list[_SocketTurn]](list)
    for number, frame in enumerate(connection.frames, 1):
        value = _object(frame)
        kind, lane = str(value.get("type", "")), lanes[str(value.get("stream_id"))]
        if frame.direction == "sent":
            if kind in _ASKS and ("model" in value or "input" in value):
                turns.append(_SocketTurn(number, frame, value))
                lane.append(turns[-1])
        elif kind:
            _answer(lane, frame, kind, value)
    return turns


def _answer(lane: list[_SocketTurn], frame: Frame, kind: str, value: dict[str, JsonValue]) -> None:
    """Assign an event to the oldest open turn of its lane; a late event to the turn that ended last."""
    over = [turn for turn in lane if turn.is_over]
    waiting = [turn for turn in lane if not turn.is_over]
    is_late = kind == "response.done" and over
    turn = over[-1] if over and (is_late or not waiting) else waiting[0] if waiting else None
    if turn is None:
        return
    if kind == "error" and not turn.events:
        turn.error = value
    turn.events.append((frame, kind))
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
    more = "; it continues the previous response" if turn.value["type"] == "response.append" else ""
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
        note=f"Responses over a WebSocket: {how}{more}{end}",
    )


def _request(connection: Exchange, turn: _SocketTurn, how: str) -> HttpRequest:
    shaken = connection.request or HttpRequest()
    kept = tuple((name, value) for name, value in shaken.headers if not _HANDSHAKE.fullmatch(name))
    envelope = [patch.Remove(f"/{name}") for name in _ENVELOPE if name in turn.value]
    return HttpRequest(
        "POST",
        re.sub(r"^ws(?=s?:)", "http", shaken.url),
        Headers((*kept, ("content-type", "application/json"))),
        Body(patch.apply(turn.asked.data, envelope), is_raw=False, note=f"{how}, without {' and '.join(_ENVELOPE)}"),
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
