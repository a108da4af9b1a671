"""WebSockets in a translation: clients that speak one to an upstream over HTTP, and requests to an upstream over one.

A turn of a client's WebSocket is sent to the translation server as the request that it would be over HTTP, with what
the connection holds in it; so it is converted, corrected and recorded like any other. A request for an upstream with a
WebSocket is made on a connection of its own, and its events are read as the stream that they would be over HTTP.
"""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Final

from workbench import protocols, regex
from workbench.contracts import Refusal
from workbench.errors import WireError
from workbench.ir import JsonValue, Message, ModelResponse
from workbench.protocols import SocketOpening, SocketTurns
from workbench.simulator import Outlet, ReplyPiece, Route, ServedRequest, ServedSocket
from workbench.wire import (
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    MessageReader,
    accept_key,
    close_of,
    close_payload,
    dumps,
    frame_of,
    loads,
)
from workbench.wire.http1 import Request

SOCKET: Final = "x-workbench-socket"
"""Header with the key of the client's connection, on a request that was made of a turn of it."""

_READ = 256 * 1024
_OF_HANDSHAKE = regex.compile(r"(?i)connection|upgrade|sec-websocket-.*|content-.*|host|transfer-encoding|expect")
_COUNTED = regex.compile(r"\{(\d+)\}")
_NORMAL = 1000


class TurnReply:
    """The translation server's response to a turn.

    Attributes:
        is_cut: it ended before it was complete.
    """

    def __init__(self, connection: HTTPConnection, response: HTTPResponse, target: str) -> None:
        self._connection, self._response = connection, response
        self.status = response.status
        self.headers = tuple((name.lower(), value) for name, value in response.getheaders())
        self.log_entry = ServedRequest("POST", target, response.status)
        self.is_cut = False
        self.pieces: Iterator[ReplyPiece] = self._read()

    def _read(self) -> Iterator[ReplyPiece]:
        try:
            while data := self._response.read1(_READ):
                yield ReplyPiece(0.0, data)
        except (OSError, HTTPException):
            self.is_cut = True

    def close(self) -> None:
        """Close the connection, also where the body was not read to its end."""
        self._response.close()  # it keeps the socket of a connection that is to be closed
        self._connection.close()

    def body(self) -> bytes:
        """The whole body."""
        return b"".join(piece.data for piece in self.pieces)


class LostReply:
    """An error in the place of a response: the translation server has ended."""

    status = 502
    headers = (("content-type", "application/json"),)
    is_cut = False

    def __init__(self, why: str, target: str) -> None:
        body = dumps({"error": {"message": f"workbench: {why}", "type": "upstream_error"}})
        self.pieces: Iterator[ReplyPiece] = iter((ReplyPiece(0.0, body),))
        self.log_entry = ServedRequest("POST", target, self.status)

    def close(self) -> None:
        """Nothing has to be closed."""

    def body(self) -> bytes:
        """The whole body."""
        return b"".join(piece.data for piece in self.pieces)


class SilentReply:
    """A response without content, to a request that the model is not to answer (a warm-up)."""

    status = 200
    headers = (("content-type", "text/event-stream"),)
    is_cut = False

    def __init__(self, protocol: str, name: str, model: str, target: str) -> None:
        empty = ModelResponse(
            protocol, id=name, model=model, messages=(Message("assistant", ()),), stop="stop", is_stream=True
        )
        self.pieces: Iterator[ReplyPiece] = iter((ReplyPiece(0.0, protocols.get(protocol).write_stream(empty)),))
        self.log_entry = ServedRequest("POST", target, self.status)

    def close(self) -> None:
        """Nothing has to be closed."""

    def body(self) -> bytes:
        """The whole body."""
        return b"".join(piece.data for piece in self.pieces)


class TranslationBackend:
    """Answers the turns of one connection with the translation server.

    Args:
        address: host and port of that server.
        target: path and query of the handshake, at that server.
        key: of the client's connection.
    """

    def __init__(self, address: tuple[str, int], target: str, key: int) -> None:
        self._address, self._target, self._key = address, target, key

    def clock(self) -> float:
        """Seconds of the calendar."""
        return time.time()

    def make_id(self, shape: str) -> str:
        """An id of a shape."""
        return _COUNTED.sub(lambda found: secrets.token_hex(32)[: int(found[1])], shape)

    @property
    def error_event(self) -> None:
        """None: errors are written as the protocol has them."""

    @property
    def socket_headers(self) -> tuple[tuple[str, str], ...]:
        """None: the upstream is known from its own exchanges."""
        return ()

    def is_stored(self, name: str) -> bool:
        """No response is kept beyond its connection."""
        return False

    def url(self, target: str) -> str:
        """Absolute URL of a path."""
        return f"http://{self._address[0]}:{self._address[1]}{target}"

    def refusal_of_draft(self, way: Route, headers: Headers, body: bytes, connection: str) -> Refusal | None:
        """Nothing is refused before it is sent."""
        return None

    def respond(
        self, way: Route, headers: Headers, body: bytes, connection: str, *, is_silent: bool = False
    ) -> TurnReply | SilentReply | LostReply:
        """Send a request to the translation server."""
        if is_silent:
            request = loads(body)
            model = request.get("model") if isinstance(request, dict) else None
            return SilentReply(way.protocol, self.make_id("resp_{24}"), str(model or ""), self._target)
        other_headers = {name: value for name, value in headers if not _OF_HANDSHAKE.fullmatch(name)}
        other_headers |= {"content-type": "application/json", SOCKET: str(self._key)}
        there = HTTPConnection(*self._address)
        try:
            there.request("POST", self._target, body, other_headers)
            return TurnReply(there, there.getresponse(), self._target)
        except (OSError, HTTPException) as error:
            there.close()
            return LostReply(f"the recorder has ended ({type(error).__name__})", self._target)

    def keep(self, exchanges: Iterable[Exchange]) -> None:
        """Nothing: the relay has recorded the connection."""


class ClientSocket:
    """Serves one client that speaks a WebSocket.

    Args:
        way: its protocol.
        path: path and query of the handshake, without the name of the upstream.
        writer: to the client.
    """

    def __init__(
        self, backend: TranslationBackend, way: Route, path: str, head: Request, writer: asyncio.StreamWriter
    ) -> None:
        self._loop, self._writer, self._head = asyncio.get_running_loop(), writer, head
        self._over = threading.Event()
        outlet = Outlet(self._send, self._send_close, self._abort, lambda seconds: not self._over.wait(seconds))
        self._session = ServedSocket(backend, way, path, head.headers, outlet, expands=True)

    async def serve(self, reader: asyncio.StreamReader, ahead: bytes) -> None:
        """Accept the handshake, and take messages until one side closes."""
        subprotocol = self._session.subprotocol
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
        lines.append(f"Sec-WebSocket-Accept: {accept_key(self._head.headers.get('sec-websocket-key') or '')}")
        lines += [f"Sec-WebSocket-Protocol: {subprotocol}"] if subprotocol else []
        self._writer.write("\r\n".join((*lines, "", "")).encode())
        self._session.start()
        payload = None
        try:
            payload = await self._read(reader, ahead)
        finally:
            self._over.set()
            self._session.end(payload or b"", is_clean=payload is not None)

    async def _read(self, reader: asyncio.StreamReader, data: bytes) -> bytes | None:
        """Take messages; returns the close frame of the client, None if it just went away."""
        messages = MessageReader()
        while True:
            for message in messages.feed(data):
                if message.opcode == "ping":
                    self._send("pong", message.data)
                elif message.opcode == "close":
                    if not self._session.is_over:
                        self._send("close", message.data[:2])
                    return message.data
                elif message.opcode != "pong":
                    self._session.receive(message.opcode, message.data)
            data = await reader.read(_READ)
            if not data:
                return None

    def _send(self, opcode: str, data: bytes) -> None:
        self._soon(self._writer.write, frame_of(opcode, data))

    def _send_close(self, code: int, reason: str) -> None:
        self._send("close", close_payload(code, reason))

    def _abort(self) -> None:
        self._soon(self._writer.transport.abort)

    def _soon(self, call: Callable[..., object], *args: object) -> None:
        """Call it in the loop of the recorder; after the end of the loop there is no connection to send on."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, *args)


class UpstreamSocket:
    """One request on a WebSocket of its own.

    Args:
        protocol: of the upstream.
        request: as it would be sent over HTTP.
    """

    def __init__(
        self, protocol: str, request: HttpRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        make = protocols.get(protocol).opening
        assert make
        self._opening: SocketOpening = make(request.body.raw)
        self._reader, self._writer = reader, writer
        self._messages = MessageReader()
        self._turns = SocketTurns(
            Exchange(
                "upstream", HttpRequest("GET", request.url, request.headers), HttpResponse(101),
                kind=ExchangeKind.WEBSOCKET,
            )
        )  # fmt: skip
        self._frames = 0
        self.closed = ""

    async def ask(self, ahead: bytes) -> AsyncIterator[Frame]:
        """Make the request; yields each event of its response, and ends with it.

        ``closed`` says afterwards how the server closed the connection, if that came first.
        """
        groups = list(self._opening.groups)
        self._say(groups.pop(0))
        data = ahead
        while True:
            for message in self._messages.feed(data):
                frame = Frame("received", message.opcode, message.data, time.monotonic())
                self._add(frame)
                if message.opcode == "ping":
                    self._writer.write(frame_of("pong", message.data, os.urandom(4)))
                elif message.opcode == "close":
                    code, why = close_of(message.data)
                    self.closed = f"the upstream closed the WebSocket with {code}{f' ({why})' if why else ''}"
                    return
                elif groups and _is(message.data, self._opening.ready):
                    self._say(groups.pop(0))
                elif (number := self._turns.number_of(self._frames - 1)) or _is(message.data, "error"):
                    yield frame
                    if not number or self._turns.is_complete(number):
                        self._writer.write(frame_of("close", close_payload(_NORMAL, ""), os.urandom(4)))
                        return
            data = await self._reader.read(_READ)
            if not data:
                self.closed = "the upstream ended the WebSocket connection without a close frame"
                return

    def error(self) -> HttpResponse | None:
        """The response that refuses the request, as over HTTP; None if it was not refused."""
        if not len(self._turns):
            return None
        response = self._turns.exchange(len(self._turns)).response
        return response if response and response.status >= 400 else None

    def _say(self, messages: Iterable[dict[str, JsonValue]]) -> None:
        for message in messages:
            data = dumps(message)
            self._add(Frame("sent", "text", data, time.monotonic()))
            self._writer.write(frame_of("text", data, os.urandom(4)))

    def _add(self, frame: Frame) -> None:
        self._turns.add(frame)
        self._frames += 1


def handshake(request: HttpRequest, target: str, authority: str, more: Iterable[tuple[str, str]]) -> bytes:
    """The head of an upgrade for a request."""
    other_headers = [(name, value) for name, value in request.headers if not _OF_HANDSHAKE.fullmatch(name)]
    own = [("host", authority), ("upgrade", "websocket"), ("sec-websocket-version", "13")]
    own.append(("sec-websocket-key", base64.b64encode(os.urandom(16)).decode()))
    lines = [f"{name}: {value}".encode("latin-1", "replace") for name, value in (*own, *other_headers, *more)]
    return b"\r\n".join((f"GET {target} HTTP/1.1".encode("latin-1", "replace"), *lines, b"", b""))


def as_event(frame: Frame) -> bytes:
    """A message as an event of a stream."""
    kind = _member(frame.data, "type")
    name = f"event: {kind}\n".encode() if isinstance(kind, str) and kind.isprintable() else b""
    return name + b"".join(b"data: %s\n" % line for line in frame.data.splitlines()) + b"\n"


def whole_response(frame: Frame) -> bytes:
    """The response that the last event of a stream holds; the event itself if it holds none."""
    response = _member(frame.data, "response")
    return dumps(response) if isinstance(response, dict) else frame.data


def _is(data: bytes, name: str) -> bool:
    """The message has this type, or this key."""
    return bool(name) and (_member(data, "type") == name or _member(data, name) is not None)


def _member(data: bytes, name: str) -> JsonValue:
    try:
        value = loads(data)
    except WireError:
        return None
    return value.get(name) if isinstance(value, dict) else None
