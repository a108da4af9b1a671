"""An endpoint on loopback in the test's hand: it answers piece by piece, and each piece waits until it is let go."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Semaphore, Thread

from tests.tui import writing

STREAMED = (writing.start(), writing.delta("one"), writing.delta(" two"), writing.stop())
"""A stream in four pieces; ``event`` of the second begins a text."""


class Endpoint:
    """What it was asked, and what it answers."""

    def __init__(self, pieces: Sequence[bytes], statuses: Sequence[int]) -> None:
        self.pieces, self.statuses = pieces, list(statuses)
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self._gate = Semaphore(0)
        self.is_left = Event()
        self.url = ""

    def go(self, pieces: int = 1) -> None:
        """Send on."""
        self._gate.release(pieces)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        self.asked.append((handler.path, dict(handler.headers), body))
        status = self.statuses.pop(0) if self.statuses else 200
        if status != 200:
            error = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
            self._head(handler, status, "application/json", [("retry-after", "0")])
            handler.wfile.write(error.encode())
            return
        self._head(handler, 200, "text/event-stream", [])
        try:
            for piece in self.pieces:
                self._gate.acquire(timeout=30)
                handler.wfile.write(piece)
                handler.wfile.flush()
        except OSError:
            self.is_left.set()

    def _head(self, handler: BaseHTTPRequestHandler, status: int, kind: str, more: list[tuple[str, str]]) -> None:
        handler.send_response(status)
        for name, value in [("content-type", kind), ("connection", "close"), *more]:
            handler.send_header(name, value)
        handler.end_headers()


@contextmanager
def endpoint(pieces: Sequence[bytes] = STREAMED, statuses: Sequence[int] = ()) -> Iterator[Endpoint]:
    """An endpoint while the test runs. ``statuses``: of its first answers; 200 behind them."""
    held = Endpoint(pieces, statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            held.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    held.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield held
    finally:
        held.go(100)
        server.shutdown()
        server.server_close()
