"""The server's side of a WebSocket without its frames: messages of the client in, messages of the server out.

The dialogue of the protocol says what is acknowledged and refused, the protocol's splitter which messages make a
request, and a backend answers that request as one over HTTP: a simulator with its contract, script, dials and memory,
or the translation of a recorder.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from workbench import protocols
from workbench.contracts import Refusal
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import DialogueContext, Reaction, SocketRefusal, SocketTurns, with_turns
from workbench.simulator._encoded_reply import ReplyPiece, ServedRequest
from workbench.simulator._endpoints import Route
from workbench.wire import (
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    SseReader,
    State,
    dumps,
    loads,
)

Value = dict[str, JsonValue]
MOST_BYTES = 16 * 1024 * 1024
"""Longest message: OpenAI's backend passes 16,777,000 bytes and closes on 16,777,300 (opencodex issue 2426)."""

TOO_LONG = (1009, "message too big")


@dataclass(slots=True)
class _Response:
    """A response that was requested: the body of its request, the message that requested it, and its lane."""

    body: Value
    value: Value
    lane: str
    is_silent: bool
    is_stopped: bool = False


@dataclass(slots=True)
class Outlet:
    """Where a connection sends to.

    Attributes:
        send: sends a message: its opcode and payload.
        close: closes the connection with a code and a reason.
        abort: breaks it.
        wait: waits some seconds; False if the server ends.
        log: reports what was served.
    """

    send: Callable[[str, bytes], None]
    close: Callable[[int, str], None]
    abort: Callable[[], None]
    wait: Callable[[float], bool]
    log: Callable[[ServedRequest], None] = field(default=lambda _: None)


class SocketReply(Protocol):
    """A response, as ``SimulatedReply`` is one."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Headers, with names in lower case."""
        ...

    @property
    def pieces(self) -> Iterator[ReplyPiece]:
        """The body; can be read once."""
        ...

    @property
    def log_entry(self) -> ServedRequest:
        """What is reported of it."""
        ...

    @property
    def is_cut(self) -> bool:
        """The connection breaks after the pieces."""
        ...

    def body(self) -> bytes:
        """The whole body."""
        ...

    def close(self) -> None:
        """Nobody reads it any more."""
        ...


class SocketBackend(Protocol):
    """Answers the requests of a connection: a simulator, or an upstream that has no WebSocket."""

    def clock(self) -> float:
        """Seconds of the calendar."""
        ...

    def make_id(self, shape: str) -> str:
        """An id of a shape (``"item_{21}"``)."""
        ...

    def is_stored(self, name: str) -> bool:
        """True for the id of a response that a later connection can continue."""
        ...

    @property
    def error_event(self) -> Value | None:
        """The message of an error, where it is not that of the protocol."""
        ...

    @property
    def socket_headers(self) -> tuple[tuple[str, str], ...]:
        """Headers of the 101 response that say who responds."""
        ...

    def url(self, target: str) -> str:
        """Absolute URL of a path."""
        ...

    def refusal_of_draft(self, way: Route, headers: Headers, body: bytes, connection: str) -> Refusal | None:
        """The refusal of a request that is not made yet; None if nothing refuses it."""
        ...

    def respond(
        self, way: Route, headers: Headers, body: bytes, connection: str, *, is_silent: bool = False
    ) -> SocketReply:
        """Answer a request; ``is_silent``: the model is to say nothing."""
        ...

    def keep(self, exchanges: Iterable[Exchange]) -> None:
        """Take a finished connection and its turns."""
        ...


class ServedSocket:
    """One connection. Thread-safe: each lane answers in a thread of its own.

    Args:
        backend: answers its requests.
        expands: requests are sent to the backend as over HTTP, with what the connection holds in them.
    """

    def __init__(
        self,
        backend: SocketBackend,
        way: Route,
        target: str,
        headers: Headers,
        outlet: Outlet,
        *,
        expands: bool = False,
    ) -> None:
        self._backend, self._expands = backend, expands
        self._way = way
        self._target = target
        self._headers = headers
        self._outlet = outlet
        self._began = backend.clock()
        self._lock = threading.RLock()
        self._frames: list[Frame] = []
        self._waiting: dict[str, deque[_Response]] = {}
        self._current: dict[str, _Response] = {}
        self.is_over = False
        self._exchange = self._handshake()
        self._turns = SocketTurns(self._exchange)
        make = protocols.get(way.protocol).dialogue
        assert make
        context = DialogueContext(
            target,
            lambda name: headers.get(name) or "",
            backend.make_id,
            backend.is_stored,
            self._seconds,
            backend.error_event,
        )
        self._dialogue = make(context)

    @property
    def subprotocol(self) -> str:
        """The subprotocol that the server accepts; empty if there is none."""
        offered = [name.strip() for name in (self._headers.get("sec-websocket-protocol") or "").split(",")]
        return next((name for name in offered if name in self._dialogue.subprotocols), "")

    def _handshake(self) -> Exchange:
        url = self._backend.url(self._target).replace("http", "ws", 1)
        request = HttpRequest("GET", url, self._headers)
        return Exchange(
            self._backend.make_id("ws_{16}"),
            request,
            HttpResponse(101, Headers(self._backend.socket_headers)),
            kind=ExchangeKind.WEBSOCKET,
            origin=Origin.RECORDED,
            started_at=self._began,
            client="simulator",
            state=State.OPEN,
        )

    def _seconds(self) -> float:
        return max(0.0, self._backend.clock() - self._began)

    def start(self) -> None:
        """Say what the server says first."""
        with self._lock:
            self._perform(self._dialogue.greet(), {})

    def receive(self, opcode: str, data: bytes) -> None:
        """Take a message of the client."""
        with self._lock:
            if self.is_over:
                return
            self._add("sent", opcode, data)
            value = _object(data)
            if len(data) > MOST_BYTES:
                self._perform(Reaction(close=TOO_LONG), {})
            elif value is None:
                self._perform(self._dialogue.take_unreadable(), {})
            else:
                self._perform(self._dialogue.take(value), value)

    def end(self, payload: bytes, *, is_clean: bool) -> None:
        """The client closed the connection: keep it, with its turns."""
        with self._lock:
            if is_clean:
                self._add("sent", "close", payload)
            if self.is_over and not is_clean:
                return
            self.is_over = True
            for response in self._current.values():
                response.is_stopped = True
            self._waiting.clear()
        frames, state = tuple(self._frames), State.COMPLETE
        whole = replace(self._exchange, frames=frames, duration=self._seconds(), state=state)
        self._backend.keep(with_turns([whole]))

    # -- what the server does

    def _perform(self, reaction: Reaction, value: Value, *, is_logged: bool = False) -> None:
        refusal = self._refusal(reaction.draft)
        if refusal is not None:
            self._perform(self._dialogue.refuse(refusal, value), value)
            return
        if reaction.stops:
            self._stop(reaction.lane or "")
        self._say(reaction.messages)
        if reaction.accept:
            self._say(reaction.accept())
        if not is_logged:
            self._note(reaction)
        if reaction.lane is not None:
            self._request(_Response(reaction.request or self._last_request(), value, reaction.lane, reaction.is_silent))
        if reaction.close:
            self._close(*reaction.close)

    def _last_request(self) -> Value:
        """The request of the last turn, as it would be over HTTP."""
        request = self._turns.exchange(len(self._turns)).request
        body = loads(request.body.raw) if request else None
        assert isinstance(body, dict)
        return body

    def _refusal(self, draft: Value | None) -> SocketRefusal | None:
        if draft is None:
            return None
        finding = self._backend.refusal_of_draft(self._way, self._headers, dumps(draft), self._exchange.id)
        return _refusal_of(finding) if finding else None

    def _stop(self, lane: str) -> None:
        response = self._current.pop(lane, None)
        if response:
            response.is_stopped = True
            self._say(self._dialogue.stop(lane))

    def _request(self, response: _Response) -> None:
        """Answer a request once its lane is free."""
        waiting = self._waiting.setdefault(response.lane, deque())
        waiting.append(response)
        if response.lane not in self._current:
            self._begin(waiting)

    def _begin(self, waiting: deque[_Response]) -> None:
        response = waiting.popleft()
        self._current[response.lane] = response
        threading.Thread(target=self._answer, args=(response,), daemon=True).start()

    def _answer(self, response: _Response) -> None:
        body = response.body
        if self._expands:
            with self._lock:
                body = self._dialogue.request_body(body, response.lane)
        reply = self._backend.respond(
            self._way, self._headers, dumps({**body, "stream": True}), self._exchange.id, is_silent=response.is_silent
        )
        try:
            self._deliver(response, reply)
        finally:
            reply.close()
        self._finish(response)

    def _deliver(self, response: _Response, reply: SocketReply) -> None:
        self._outlet.log(replace(reply.log_entry, method="WS"))
        if reply.status >= 400:
            with self._lock:
                if not response.is_stopped:
                    reaction = self._dialogue.refuse(_refusal_of_reply(reply), response.value)
                    self._perform(reaction, response.value, is_logged=True)
        elif not self._stream(response, reply) or reply.is_cut:
            self._outlet.abort()

    def _stream(self, response: _Response, reply: SocketReply) -> bool:
        """Send the events of a response; False if the server ends meanwhile."""
        reader, is_events = SseReader(), "event-stream" in dict(reply.headers).get("content-type", "")
        for delay, piece in reply.pieces:
            if delay and not self._outlet.wait(delay):
                return False
            found = [event.data for event in reader.feed(piece)] if is_events else [piece]
            with self._lock:
                for data in found:
                    if response.is_stopped or self.is_over:
                        return True
                    value = _object(data or b"")
                    self._say(self._dialogue.say(value, response.lane) if value is not None else ())
        return True

    def _finish(self, response: _Response) -> None:
        with self._lock:
            if self._current.get(response.lane) is response:
                del self._current[response.lane]
            waiting = self._waiting.get(response.lane)
            if waiting and response.lane not in self._current and not self.is_over:
                self._begin(waiting)

    # -- messages

    def _say(self, messages: Iterable[Value]) -> None:
        for message in messages:
            if self.is_over:
                return
            data = dumps(message)
            self._add("received", self._dialogue.opcode, data)
            self._outlet.send(self._dialogue.opcode, data)

    def _close(self, code: int, reason: str) -> None:
        if not self.is_over:
            self._outlet.close(code, reason)
            self._add("received", "close", code.to_bytes(2) + reason.encode("utf-8", "replace")[:123])
            self.is_over = True

    def _add(self, direction: str, opcode: str, data: bytes) -> None:
        frame = Frame(direction, opcode, data, self._seconds())
        self._frames.append(frame)
        self._turns.add(frame)

    def _note(self, reaction: Reaction) -> None:
        """Report what was refused, and what the dialogue notes."""
        errors = [message["error"] for message in reaction.messages if message.get("type") == "error"]
        texts = [str(error.get("message")) for error in errors if isinstance(error, dict)]
        if reaction.close:
            texts.append(f"closed with {reaction.close[0]}: {reaction.close[1]}")
        status = 400 if errors or reaction.close else 200
        for text in (*texts, *filter(None, (reaction.note,))):
            self._outlet.log(ServedRequest("WS", self._target, status, note=text))


def _object(data: bytes) -> Value | None:
    try:
        value = loads(data)
    except WireError:
        return None
    return value if isinstance(value, dict) else None


def _refusal_of(refusal: Refusal) -> SocketRefusal:
    return SocketRefusal(refusal.status, refusal.body, _message(refusal.body))


def _refusal_of_reply(reply: SocketReply) -> SocketRefusal:
    body = _object(reply.body()) or {}
    return SocketRefusal(reply.status, body, _message(body))


def _message(body: JsonValue) -> str:
    """The text of an error body."""
    error = body.get("error", body) if isinstance(body, dict) else body
    text = error.get("message") if isinstance(error, dict) else error
    return text if isinstance(text, str) else ""
