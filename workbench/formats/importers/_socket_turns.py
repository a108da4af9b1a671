"""Responses over a WebSocket: each ``response.create`` and the events that answer it, as an exchange of its own.

Codex and the SDKs of OpenAI and xAI keep one connection for many turns. Facts: developers.openai.com, "WebSocket mode"
and its events; docs.x.ai, "WebSocket Mode": the message has the members of the body of ``POST /v1/responses`` beside
its ``type`` (and ``stream_id``, a lane: turns of a lane are answered one after the other, their events repeat it), the
events are those of its stream. The Realtime API has messages of the same name, whose members stand in ``response``: it
is another protocol. ``response.append`` is what Codex sent for a time: more input for the response before it.

What is made here is the POST that would have said the same: the message without its envelope, its events as an event
stream with the times of their frames. The connection with its frames stays beside it, as recorded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire import patch
from workbench.wire.exchange import (
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
)
from workbench.wire.frames import TURNS
from workbench.wire.jsontext import loads

_ASKS = ("response.create", "response.append")
_ENVELOPE = ("type", "stream_id")
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.done", "error")
_HANDSHAKE = re.compile(r"(?i)connection|upgrade|sec-websocket-.*|content-(?:length|type)|host")
_LINES = re.compile(rb"\r\n|\r|\n")

EVENTS = "the events came as WebSocket messages, each is written as one of an event stream"


@dataclass(slots=True)
class _Turn:
    """A message that asks for a response, and what answered it."""

    number: int
    asked: Frame
    value: dict[str, JsonValue]
    events: list[tuple[Frame, str]] = field(default_factory=list)
    error: dict[str, JsonValue] = field(default_factory=dict)
    is_over: bool = False


def with_turns(exchanges: Iterable[Exchange], *, have_them: bool = False) -> Iterator[Exchange]:
    """The exchanges, each connection that carries Responses followed by its turns, unless they have them already."""
    for exchange in exchanges:
        turns = _turns(exchange) if exchange.kind is Kind.WEBSOCKET else []
        yield replace(exchange, meta={**exchange.meta, TURNS: len(turns)}) if turns else exchange
        if not have_them:
            yield from (_exchange(exchange, turn, number) for number, turn in enumerate(turns, 1))


def _turns(connection: Exchange) -> list[_Turn]:
    turns: list[_Turn] = []
    lanes = defaultdict[str, list[_Turn]](list)
    for number, frame in enumerate(connection.frames, 1):
        value = _object(frame)
        kind, lane = str(value.get("type", "")), lanes[str(value.get("stream_id"))]
        if frame.direction == "sent":
            if kind in _ASKS and ("model" in value or "input" in value):
                turns.append(_Turn(number, frame, value))
                lane.append(turns[-1])
        elif kind:
            _answer(lane, frame, kind, value)
    return turns


def _answer(lane: list[_Turn], frame: Frame, kind: str, value: dict[str, JsonValue]) -> None:
    """Give an event to the turn of its lane that waits longest; what follows an end, to the one that ended."""
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


def _exchange(connection: Exchange, turn: _Turn, number: int) -> Exchange:
    began = turn.asked.at
    last = turn.events[-1][0].at if turn.events else None
    how = f"frame {turn.number} of connection {connection.id}"
    more = "; it continues the response before it" if turn.value["type"] == "response.append" else ""
    end = "" if turn.is_over else "; the connection ended before its answer did"
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


def _request(connection: Exchange, turn: _Turn, how: str) -> HttpRequest:
    shaken = connection.request or HttpRequest()
    kept = tuple((name, value) for name, value in shaken.headers if not _HANDSHAKE.fullmatch(name))
    envelope = [patch.Remove(f"/{name}") for name in _ENVELOPE if name in turn.value]
    return HttpRequest(
        "POST",
        re.sub(r"^ws(?=s?:)", "http", shaken.url),
        Headers((*kept, ("content-type", "application/json"))),
        Body(patch.apply(turn.asked.data, envelope), is_raw=False, note=f"{how}, without {' and '.join(_ENVELOPE)}"),
    )


def _response(turn: _Turn) -> HttpResponse:
    """An event stream; of a request that was refused the status and the body it would have had."""
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
