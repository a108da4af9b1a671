"""Splits a WebSocket into exchanges: each request for a response with the events that answer it.

Clients keep one connection for many turns. Where a turn begins and ends differs between protocols: each protocol that
is used over WebSockets has a *splitter* in its package. The result is the equivalent POST: the request, put together
from what was sent where a message holds only a part of it, and its events as an event stream with the times of their
frames. The connection with its frames is kept as recorded; a turn names its frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol

from workbench import protocols, regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols.common import undecoded_protocols
from workbench.protocols.common.socket_facts import HeldConversation, Resumption, SocketFact, limit_number
from workbench.wire import (
    CONNECTION,
    FRAMES,
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
    close_of,
    loads,
)

Value = dict[str, JsonValue]
_HANDSHAKE = regex.compile(r"(?i)connection|upgrade|sec-websocket-.*|content-(?:length|type)|host")
_LINES = regex.compile(rb"\r\n|\r|\n")
_BLANKS = b" \t\r\n"
_MOST_HELD = 64
"""Messages that are kept until one of them shows the protocol."""

_MOST_OPEN = 64
"""Turns, the newest ones, of which one may still get an event: the Responses API has 32 lanes and queues 16 more."""

EVENTS = "converted from WebSocket messages, one event each"


@dataclass(slots=True)
class SocketTurn:
    """A request for a response, and the events that answer it.

    Attributes:
        numbers: frames of which the request is made; the last one requested the response.
        at: time of that frame.
        events: number, frame and event name of each message that answers.
        error: the event that refused the request; empty if none did.
        is_over: no more of the response can come.
        is_whole: what has come would be a whole response if nothing more came.
        notes: what is to be said of it.
        path: of the request over HTTP, if that of the connection is another API; else empty.
    """

    numbers: list[int]
    at: float | None
    events: list[tuple[int, Frame, str]] = field(default_factory=list)
    error: Value = field(default_factory=dict)
    is_over: bool = False
    is_whole: bool = False
    notes: list[str] = field(default_factory=list)
    path: str = ""

    def request_body(self) -> tuple[bytes, str]:
        """The request, and how its bytes were made."""
        raise NotImplementedError

    def add(self, number: int, frame: Frame, name: str) -> None:
        """Take an event that answers."""
        self.events.append((number, frame, name))


class TurnSplitter(Protocol):
    """Finds the turns in the messages of one connection. A class that inherits it may leave the last two methods out.

    Attributes:
        turns: in the order in which they began; more are only added at the end.
        title: name of the API, for people.
    """

    turns: list[SocketTurn]
    title: str

    def take_sent(self, number: int, frame: Frame, value: Value) -> None:
        """Take a message of the client; messages are numbered from zero, and ``value`` is their JSON."""
        ...

    def take_received(self, number: int, frame: Frame, value: Value) -> None:
        """Take a message of the server."""
        ...

    def take_end(self, number: int, frame: Frame) -> None:
        """Take the frame that closes the connection."""

    def facts(self, handshake: Exchange) -> Iterator[SocketFact]:
        """What the messages so far show, and the headers of the handshake."""
        return iter(())


class SocketTurns:
    """The turns of one connection, message by message.

    Args:
        connection: its handshake, as far as it is known.
    """

    def __init__(self, connection: Exchange) -> None:
        self._connection = connection
        self._splitter: TurnSplitter | None = None
        self._held: list[tuple[int, Frame, Value]] = []
        self._frames = 0
        self._end = ""
        self._unread: list[tuple[int, Frame]] = []  # messages of the server that are no JSON object

    def __len__(self) -> int:
        return len(self._splitter.turns) if self._splitter else 0

    def add(self, frame: Frame) -> None:
        """Take the next message of the connection."""
        number, value = self._frames, _object(frame)
        self._frames += 1
        if _is_unread(frame, value) and len(self._unread) < _MOST_HELD:
            self._unread.append((number, frame))
        if frame.opcode == "close":
            self._end = self._end or _close_note(frame)
            if self._splitter:
                self._splitter.take_end(number, frame)
        if self._splitter is None:
            self._choose(number, frame, value)
        else:
            self._take(self._splitter, number, frame, value)

    def _choose(self, number: int, frame: Frame, value: Value) -> None:
        """Keep a message; once the protocol is known, take all that were kept."""
        self._held.append((number, frame, value))
        if not value or len(self._held) > _MOST_HELD:
            return
        self._splitter = _splitter_of(self._connection, value)
        if self._splitter:
            for waiting in self._held:
                self._take(self._splitter, *waiting)
            self._held.clear()

    def _take(self, splitter: TurnSplitter, number: int, frame: Frame, value: Value) -> None:
        if value:
            take = splitter.take_sent if frame.direction == "sent" else splitter.take_received
            take(number, frame, value)

    def facts(self) -> Iterator[SocketFact]:
        """Facts about the whole connection, in addition to the turns."""
        is_silent = self._splitter is None and not any(value for _, _, value in self._held) and not self._unread
        splitter = _splitter_of(self._connection, {}) if is_silent else self._splitter
        return limit_number(splitter.facts(self._connection)) if splitter else iter(())

    @property
    def resumption(self) -> Resumption | None:
        """The session that a later connection may continue; None if the protocol knows no such sessions."""
        return getattr(self._splitter, "resumption", None)

    @property
    def held_conversation(self) -> HeldConversation | None:
        """The conversation that ends with the connection; None if the protocol has none, or nothing was said."""
        return getattr(self._splitter, "held_conversation", None)

    def unanswered(self) -> Iterator[int]:
        """Frames of the requests to which the server sent no event."""
        for turn in self._splitter.turns if self._splitter else ():
            if turn.numbers and not turn.events:
                yield turn.numbers[-1]

    def unread_after(self, number: int) -> Sequence[tuple[int, Frame]]:
        """Messages of the server after a frame that are no JSON objects: number and frame; the first 64 of all."""
        return [found for found in self._unread if found[0] > number]

    def number_of(self, frame: int) -> int:
        """The recent turn whose request or response has a frame last; 0 if none does."""
        for number in range(len(self), max(0, len(self) - _MOST_OPEN), -1):
            turn = self._turn(number)
            if (turn.events and turn.events[-1][0] == frame) or (turn.numbers and turn.numbers[-1] == frame):
                return number
        return 0

    def first_open(self) -> tuple[int, int]:
        """(number, frame that began it) of the first recent turn that is not over; those of the next if all are."""
        for number in range(max(1, len(self) - _MOST_OPEN + 1), len(self) + 1):
            turn = self._turn(number)
            if not turn.is_over:
                return number, turn.numbers[-1] if turn.numbers else turn.events[0][0]
        return len(self) + 1, self._frames

    @property
    def are_complete(self) -> bool:
        """True if there are turns, and the responses of all recent ones are complete: none continues."""
        return bool(len(self)) and all(map(self.is_complete, range(max(1, len(self) - _MOST_OPEN + 1), len(self) + 1)))

    def is_over(self, number: int) -> bool:
        """True once the response of a turn is complete; turns are numbered from one."""
        return self._turn(number).is_over

    def is_complete(self, number: int) -> bool:
        """True once the response of a turn could end here: it is over, or the model waits for results of calls."""
        turn = self._turn(number)
        return turn.is_over or turn.is_whole

    def exchange(self, number: int) -> Exchange:
        """The turn as the HTTP exchange that it stands for; aborted if its response is not complete."""
        assert self._splitter
        return _exchange(self._connection, self._turn(number), number, self._splitter.title, self._end)

    def _turn(self, number: int) -> SocketTurn:
        assert self._splitter
        return self._splitter.turns[number - 1]


def with_turns(exchanges: Iterable[Exchange], *, have_them: bool = False) -> Iterator[Exchange]:
    """Yield the exchanges, each connection to a model followed by its turns unless ``have_them``."""
    for exchange in exchanges:
        turns = SocketTurns(exchange)
        for frame in exchange.frames if exchange.kind is ExchangeKind.WEBSOCKET else ():
            turns.add(frame)
        yield replace(exchange, meta={**exchange.meta, TURNS: len(turns)}) if len(turns) else exchange
        if not have_them:
            yield from map(turns.exchange, range(1, len(turns) + 1))


def is_socket_url(url: str) -> bool:
    """A protocol with turns over WebSockets claims this address, or an API that carries those of one."""
    is_claimed = any(adapter.splitter and adapter.claims_url(url) for adapter in protocols.every())
    return is_claimed or undecoded_protocols.name_url(url) == undecoded_protocols.LIVE


def _splitter_of(connection: Exchange, value: Value) -> TurnSplitter | None:
    """A splitter of the protocol of a connection: by a message of it, else by its URL."""
    url = connection.request.url if connection.request else ""
    adapters = [adapter for adapter in protocols.every() if adapter.splitter]
    for make in (make for adapter in adapters for claims, make in adapter.envelopes if claims(value)):
        return make()
    is_of_another = bool(url and undecoded_protocols.name_url(url))  # OpenAI Live has names of Realtime's messages
    by_message = (adapter for adapter in adapters if not is_of_another and adapter.claims_message(value))
    by_url = (adapter for adapter in adapters if url and adapter.claims_url(url))
    found = next(by_message, None) or next(by_url, None)
    return found.splitter() if found and found.splitter else None


def _object(frame: Frame) -> Value:
    """The JSON of a message, also of a binary one (Gemini Live sends it so); empty if it is no object."""
    is_message = frame.opcode in ("text", "binary")
    try:
        value = loads(frame.data) if is_message and frame.data.lstrip(_BLANKS)[:1] == b"{" else None
    except WireError:
        value = None
    return value if isinstance(value, dict) else {}


def _is_unread(frame: Frame, value: Value) -> bool:
    is_message = frame.direction == "received" and frame.opcode in ("text", "binary")
    return is_message and not value and bool(frame.data.strip(_BLANKS))


def _close_note(frame: Frame) -> str:
    code, why = close_of(frame.data)
    who = "client" if frame.direction == "sent" else "server"
    return f"the {who} closed the connection with {code}{f' ({why})' if why else ''}"


def _exchange(connection: Exchange, turn: SocketTurn, number: int, title: str, end: str) -> Exchange:
    last = turn.events[-1][1].at if turn.events else None
    is_complete = turn.is_over or turn.is_whole
    ended = "" if is_complete else "the connection ended before the response" + (f": {end}" if end else "")
    how = f"frame {turn.numbers[-1] + 1} of connection {connection.id}" if turn.numbers else connection.id
    return Exchange(
        f"{connection.id}.{number}",
        request=_request(connection, turn),
        response=_response(connection, turn) if turn.events else None,
        state=State.COMPLETE if is_complete else State.ABORTED,
        origin=Origin.RECONSTRUCTED,
        started_at=connection.started_at + turn.at if connection.started_at and turn.at is not None else None,
        duration=max(last - turn.at, 0.0) if last is not None and turn.at is not None else None,
        hop=connection.hop,
        parent=f"{connection.parent}.{number}" if connection.parent and connection.branch else None,
        branch=connection.branch,
        client=connection.client,
        meta={CONNECTION: connection.id, FRAMES: _frames_of(turn)},
        note="; ".join(filter(None, (f"{title} over a WebSocket: {how}", *turn.notes, ended))),
    )


def _frames_of(turn: SocketTurn) -> dict[str, JsonValue]:
    """The frames of both sides: those of the request, and runs (first, last) of those with its events."""
    return {"request": list(turn.numbers), "response": ranges([number for number, _, _ in turn.events])}


def ranges(numbers: Sequence[int]) -> list[JsonValue]:
    """Growing numbers as runs: pairs of the first and the last."""
    if not numbers:
        return []
    breaks = [n for n, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
    return [[numbers[a], numbers[b - 1]] for a, b in pairwise((0, *breaks, len(numbers)))]


def _request(connection: Exchange, turn: SocketTurn) -> HttpRequest:
    shaken = connection.request or HttpRequest()
    body, note = turn.request_body()
    return HttpRequest(
        "POST",
        _url(shaken.url, turn.path),
        _headers(shaken.headers, "application/json"),
        Body(body, is_raw=False, note=note),
    )


def _url(url: str, path: str) -> str:
    """The address of a turn over HTTP: that of the connection, with the path if there is one."""
    url = re.sub(r"^ws(?=s?:)", "http", url)
    return re.sub(r"^(\w+://[^/?#]*).*", rf"\1{path}", url) if path else url


def _headers(shaken: Headers, content: str) -> Headers:
    """Headers of a turn: those of its side of the handshake that say more than how the connection was made."""
    headers = tuple((name, value) for name, value in shaken if not _HANDSHAKE.fullmatch(name))
    return Headers((*headers, ("content-type", content)))


def _response(connection: Exchange, turn: SocketTurn) -> HttpResponse:
    """An event stream; for a refused request the status and body that HTTP would have."""
    headers = connection.response.headers if connection.response else Headers()
    status = turn.error.get("status", turn.error.get("status_code"))
    if isinstance(status, int) and 400 <= status < 600:
        body = Body(turn.events[0][1].data, is_raw=False, note="an error event of a WebSocket")
        return HttpResponse(status, _headers(headers, "application/json"), body)
    raw, chunks = bytearray(), []
    for _, frame, kind in turn.events:
        name = _LINES.sub(b" ", kind.encode("utf-8", "replace"))
        raw += b"event: %s\n" % name if name else b""
        raw += b"data: %s\n\n" % b"\ndata: ".join(_LINES.split(frame.data))
        if frame.at is not None and turn.at is not None:
            chunks.append(Chunk(len(raw), max(frame.at - turn.at, 0.0)))
    body = Body(bytes(raw), chunks=tuple(chunks), is_raw=False, note=EVENTS)
    return HttpResponse(200, _headers(headers, "text/event-stream"), body)
