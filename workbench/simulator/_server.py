"""HTTP/1.1 server on loopback for a simulator: persistent connections and WebSockets, one thread each."""

from __future__ import annotations

import logging
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from workbench.limits import LINGER_SECONDS
from workbench.simulator._core import Simulator
from workbench.simulator._encoded_reply import ServedRequest, SimulatedReply
from workbench.simulator._socket import MOST_BYTES, TOO_LONG, Outlet, ServedSocket
from workbench.wire import (
    MessageDeflater,
    MessageReader,
    accept_deflate,
    accept_key,
    close_payload,
    deflate_of,
    frame_of,
)
from workbench.wire.http1 import (
    Admission,
    BadMessage,
    HeadBuffer,
    Request,
    asks_websocket,
    read_request,
    render,
    request_body,
)

HOST = "127.0.0.1"
MAX_BODY = 64 * 1024 * 1024
"""Most bytes of a request; the largest that a provider accepts is 32 MB."""

IDLE_SECONDS = 75.0
"""Idle timeout of a connection, between and within requests: the default of nginx."""

_READ = 256 * 1024
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Server:
    """Serves one simulator. A context manager: the port is released on exit."""

    def __init__(
        self, simulator: Simulator, *, port: int = 0, log: Callable[[ServedRequest], None] | None = None
    ) -> None:
        self.simulator = simulator
        self._log = log or (lambda _: None)
        self._listener = socket.create_server((HOST, port), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.admission = Admission(self.port, passes_websockets=True)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._accept, name=f"simulator {self.port}", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base URL, ``http://127.0.0.1:PORT``."""
        return f"http://{HOST}:{self.port}"

    def log(self, served: ServedRequest) -> None:
        """Report a served request."""
        self._log(served)

    @property
    def is_ending(self) -> bool:
        """The server accepts no more requests."""
        return self._ends.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait, or until the server ends; False if it ends."""
        return not self._ends.wait(seconds)

    def close(self) -> None:
        """Stop listening and close every connection."""
        self._ends.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(LINGER_SECONDS)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _accept(self) -> None:
        while not self.is_ending:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with suppress(OSError):
                connection.settimeout(IDLE_SECONDS)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                _ServerConnection(self, connection).run()
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()


def serve(simulator: Simulator, *, port: int = 0, log: Callable[[ServedRequest], None] | None = None) -> Server:
    """Serve a simulator on loopback, in threads of this process. Raises OSError if the port is in use."""
    return Server(simulator, port=port, log=log)


class _ServerConnection:
    """Reads and answers the requests of one connection in turn."""

    def __init__(self, server: Server, connection: socket.socket) -> None:
        self.server = server
        self.connection = connection
        self.ahead = HeadBuffer()
        self._sending = threading.Lock()
        self._deflater: MessageDeflater | None = None

    def run(self) -> None:
        keeps = True
        while keeps and not self.server.is_ending:
            try:
                request = self.head()
                if request is None:
                    return
                target = self.server.admission.target(request)
                if b"websocket" in request.tokens(b"upgrade"):
                    self.talk(request, target.decode("latin-1"))
                    return
                body = self.body(request)
                keeps = self.answer(request, target, body)
            except BadMessage as bad:
                self.turn_away(bad)
                return

    def head(self) -> Request | None:
        """The next request head; None if the client has closed the connection."""
        while (block := self.ahead.take()) is None:
            data = self.connection.recv(_READ)
            if not data:
                return None
            self.ahead.add(data)
        return read_request(block)

    def body(self, request: Request) -> bytes:
        body, pieces, size = request_body(request), list[bytes](), 0
        data = self.ahead.take_rest()
        if not body.is_done and b"100-continue" in request.tokens(b"expect"):
            self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while True:
            result = body.feed(data)
            pieces += result.pieces
            size += sum(map(len, result.pieces))
            if size > MAX_BODY:
                raise BadMessage(f"the body is longer than {MAX_BODY:,} bytes", 413)
            if body.is_done:
                self.ahead.add(result.rest)
                return b"".join(pieces)
            data = self.connection.recv(_READ)
            if not data:
                raise BadMessage("the connection ended inside the body")

    def answer(self, request: Request, target: bytes, body: bytes) -> bool:
        """Send the response; False if the connection has to be closed."""
        method = request.method.decode("latin-1")
        try:
            reply = self.server.simulator.send(method, target.decode("latin-1"), request.headers, body)
        except Exception as error:  # an internal error must end the request only, not the server
            logging.getLogger(__name__).debug("a request failed", exc_info=True)
            raise BadMessage(f"{type(error).__name__}: a bug in Workbench", 500) from error
        self.server.log(reply.served)
        keeps = request.version == b"HTTP/1.1" and b"close" not in request.tokens(b"connection")
        is_chunked = request.version == b"HTTP/1.1"
        self.connection.sendall(_head(reply, is_chunked=is_chunked and _has_body(reply, method), keeps=keeps))
        if not _has_body(reply, method):
            return keeps
        for delay, data in reply.pieces:
            if delay and not self.server.wait(delay):
                return False
            self.connection.sendall(b"%x\r\n%s\r\n" % (len(data), data) if is_chunked else data)
        if reply.is_cut:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            return False
        if is_chunked:
            self.connection.sendall(b"0\r\n\r\n")
        return keeps

    def talk(self, request: Request, target: str) -> None:
        """Accept the handshake of a WebSocket, and speak it until it is closed. Raises BadMessage."""
        way = self.server.simulator.socket_route(target)
        headers = request.headers
        key = headers.get("sec-websocket-key")
        if way is None:
            raise BadMessage("no protocol of this contract has a WebSocket at this path", 426)
        if not key or not asks_websocket(request) or headers.get("sec-websocket-version") != "13":
            raise BadMessage("not a WebSocket handshake of version 13 (RFC 6455)")
        outlet = Outlet(self._send_message, self._send_close, self._abort, self.server.wait, self.server.log)
        session = ServedSocket(self.server.simulator, way, target, headers, outlet)
        lines = [b"Upgrade: websocket", b"Connection: Upgrade", f"Sec-WebSocket-Accept: {accept_key(key)}".encode()]
        lines += [f"Sec-WebSocket-Protocol: {session.subprotocol}".encode()] if session.subprotocol else []
        lines += [f"{name}: {value}".encode() for name, value in self.server.simulator.socket_headers]
        self._agreed = accept_deflate(headers.get("sec-websocket-extensions") or "")
        if deflate := deflate_of(self._agreed, "server"):
            self._deflater = MessageDeflater(deflate)
            lines.append(f"Sec-WebSocket-Extensions: {self._agreed}".encode())
        self.connection.sendall(render(_start(101), lines))
        self.connection.settimeout(None)
        self.server.log(ServedRequest("GET", target, 101, note=f"WebSocket, {way.protocol}"))
        session.start()
        payload = None
        try:
            payload = self._read_messages(session)
        finally:
            session.end(payload or b"", is_clean=payload is not None)

    def _read_messages(self, session: ServedSocket) -> bytes | None:
        """Pass messages on until the client closes; returns its close frame, None if it just went away."""
        reader, data = MessageReader(deflate_of(self._agreed, "client")), self.ahead.take_rest()
        while not self.server.is_ending:
            for message in reader.feed(data):
                if message.opcode == "ping":
                    self._send_message("pong", message.data)
                elif message.opcode == "close":
                    if not session.is_over:
                        self._send_message("close", message.data[:2])
                    return message.data
                elif message.opcode != "pong":
                    session.receive(message.opcode, message.data)
            if reader.damage or reader.waiting_bytes > 2 * MOST_BYTES:
                self._send_close(*((1002, reader.damage[0]) if reader.damage else TOO_LONG))
                return None
            data = self.connection.recv(_READ)
            if not data:
                return None
        return None

    def _send_message(self, opcode: str, data: bytes) -> None:
        with suppress(OSError), self._sending:
            deflater = self._deflater if opcode in ("text", "binary") else None
            self.connection.sendall(deflater.frame(opcode, data) if deflater else frame_of(opcode, data))

    def _send_close(self, code: int, reason: str) -> None:
        self._send_message("close", close_payload(code, reason))

    def _abort(self) -> None:
        with suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            self.connection.shutdown(socket.SHUT_RD)

    def turn_away(self, bad: BadMessage) -> None:
        """Reject an invalid message: send the reason, read the rest, and close the connection."""
        text = f"workbench: {bad}\n".encode()
        lines = [b"Content-Type: text/plain; charset=utf-8", b"Content-Length: %d" % len(text), b"Connection: close"]
        lines += [b"Upgrade: HTTP/1.1"] if bad.status == HTTPStatus.UPGRADE_REQUIRED else []
        self.connection.sendall(render(_start(bad.status), lines) + text)
        self.server.log(ServedRequest("?", "?", bad.status, note=bad.what))
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(LINGER_SECONDS)
        until = time.monotonic() + LINGER_SECONDS
        while time.monotonic() < until and self.connection.recv(_READ):
            pass


def _has_body(reply: SimulatedReply, method: str) -> bool:
    return method != "HEAD" and reply.status not in (204, 304)


def _head(reply: SimulatedReply, *, is_chunked: bool, keeps: bool) -> bytes:
    lines = [f"{name}: {value}".encode("latin-1", "replace") for name, value in reply.headers]
    if is_chunked:
        lines.append(b"transfer-encoding: chunked")
    if not keeps:
        lines.append(b"connection: close")
    return render(_start(reply.status), lines)


def _start(status: int) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"HTTP/1.1 {status} {phrase}".encode()
