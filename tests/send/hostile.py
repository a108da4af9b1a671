"""A server on loopback that answers what a test says, byte for byte, and keeps what it was asked."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

Answer = bytes | Iterable[bytes | threading.Event]
"""The bytes of an answer, whole or piece by piece; an event in between is waited for."""


def answer(body: bytes = b"{}", status: str = "200 OK", *headers: str, length: int | None = None) -> bytes:
    """An answer in HTTP/1.1 that ends its connection; ``length`` is what it claims to be long."""
    size = len(body) if length is None else length
    lines = (f"HTTP/1.1 {status}", *headers, f"Content-Length: {size}", "Connection: close", "", "")
    return "\r\n".join(lines).encode() + body


class Hostile:
    """Answers one connection after the other; the last answer is that of every further one.

    Attributes:
        asked: (head, body) of every request, as they came.
        hung_up: set when a client closed before it had its whole answer.
    """

    def __init__(self, *answers: Answer, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[tuple[bytes, bytes]] = []
        self.hung_up = threading.Event()
        self._answers = list(answers)
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def heads(self) -> list[dict[str, str]]:
        """The headers of every request, by their names in small letters."""
        split = (head.decode("latin-1").split("\r\n")[1:] for head, _ in self.asked)
        return [{n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines)} for lines in split]

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(10)
                if self._tls is None:
                    self._serve(connection)
                else:
                    with self._tls.wrap_socket(connection, server_side=True) as sealed:
                        self._serve(sealed)

    def _serve(self, connection: socket.socket) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        sizes = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        while sizes and len(body) < int(sizes[0]):
            body += connection.recv(65536)
        self.asked.append((head, body))
        said = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        for piece in [said] if isinstance(said, bytes) else said:
            if isinstance(piece, threading.Event):
                self._wait(connection, piece)
            else:
                connection.sendall(piece)

    def _wait(self, connection: socket.socket, event: threading.Event) -> None:
        """Until the event, or until the client goes."""
        connection.settimeout(0.01)
        for _ in range(1000):
            if event.is_set():
                break
            try:
                if not connection.recv(1):
                    self.hung_up.set()
                    return
            except TimeoutError:
                continue


@contextmanager
def hostile(*answers: Answer, tls: ssl.SSLContext | None = None) -> Iterator[Hostile]:
    """``with hostile(answer(b"…", "429 Too Many Requests")) as server``."""
    server = Hostile(*answers, tls=tls)
    try:
        yield server
    finally:
        server.close()
