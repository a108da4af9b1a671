"""Serves a simulated tool server over standard input and output, and over streamable HTTP on loopback."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import BinaryIO

from workbench.errors import WireError
from workbench.simulator._tool_server import ToolRecording, ToolServer
from workbench.wire import loads

PATH = "/mcp"
_HOST = "127.0.0.1"
_MOST = 64 * 1024 * 1024
"""Bytes of a request that is read."""


def serve_lines(server: ToolServer, source: BinaryIO, target: BinaryIO, latency: float = 0.0) -> None:
    """Answer line by line until the input ends."""
    for line in source:
        for message in server.answer(line):
            time.sleep(latency)
            target.write(message + b"\n")
            target.flush()


@contextmanager
def serve_tools(recorded: ToolRecording, fault: str = "", *, port: int = 0, latency: float = 0.0) -> Iterator[str]:
    """Serve over streamable HTTP in threads of this process; gives the URL. Raises OSError if the port is in use."""
    handler = _handler(recorded, fault, latency)
    server = ThreadingHTTPServer((_HOST, port), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="tool server", daemon=True)
    thread.start()
    try:
        yield f"http://{_HOST}:{server.server_address[1]}{PATH}"
    finally:
        server.shutdown()
        server.server_close()


def _handler(recorded: ToolRecording, fault: str, latency: float) -> type[BaseHTTPRequestHandler]:
    sessions: dict[str, ToolServer] = {}

    class Handler(BaseHTTPRequestHandler):
        """One connection of a client."""

        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Write no log."""

        def do_POST(self) -> None:
            """A message of the client."""
            body = self.rfile.read(min(int(self.headers.get("content-length") or 0), _MOST))
            if self.path.partition("?")[0] != PATH:
                self._reply(404, b"")
                return
            self._take(body, _method_of(body))

        def _take(self, body: bytes, method: str) -> None:
            session = self.headers.get("mcp-session-id")
            if method == "initialize":
                session = uuid.uuid4().hex
                sessions[session] = ToolServer(recorded, fault)
            elif session is None:
                self._reply(400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Session id missing"}}')
                return
            if session not in sessions:
                self._reply(404, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}')
                return
            messages = sessions[session].answer(body)
            if fault == "session-lost" and method == "tools/call":
                del sessions[session]
            time.sleep(latency)
            self._send(messages, session)

        def _send(self, messages: list[bytes], session: str) -> None:
            if len(messages) == 1:
                self._reply(200, messages[0], session)
            elif messages:
                events = b"".join(b"event: message\ndata: " + message + b"\n\n" for message in messages)
                self._reply(200, events, session, "text/event-stream")
            else:
                self._reply(202, b"", session)

        def do_GET(self) -> None:
            """There is no stream of the server."""
            self._reply(405, b"")

        def do_DELETE(self) -> None:
            """The end of a session."""
            known = sessions.pop(self.headers.get("mcp-session-id") or "", None)
            self._reply(200 if known else 404, b"")

        def _reply(self, status: int, body: bytes, session: str = "", kind: str = "application/json") -> None:
            self.send_response(status)
            if body:
                self.send_header("content-type", kind)
            if session:
                self.send_header("mcp-session-id", session)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def _method_of(body: bytes) -> str:
    try:
        message = loads(body)
    except WireError:
        return ""
    return str(message.get("method")) if isinstance(message, dict) else ""
