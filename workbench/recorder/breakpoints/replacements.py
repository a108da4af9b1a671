"""Replacements of a paused message: heads for another body, and the response of a simulator."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from http import HTTPStatus

from workbench.ir import JsonValue
from workbench.recorder.events import ResponseHead
from workbench.wire import Headers
from workbench.wire.http1 import Request, header_field, render

OF_THE_BYTES = frozenset(
    (b"content-length", b"transfer-encoding", b"content-encoding", b"trailer", b"content-md5", b"digest", b"etag")
)
"""Headers that describe the bytes of a body: wrong for another body."""


def without_headers(request: Request, *keys: bytes) -> Request:
    """The request without some headers, by their names in lower case."""
    fields = tuple(f for f in request.fields if f.key not in keys)
    return Request(request.start, request.version, fields, request.method, request.target)


def with_body(request: Request, body: bytes) -> Request:
    """The head of the request for another body: uncompressed, and without ``Expect``."""
    bare, size = without_headers(request, *OF_THE_BYTES, b"expect"), b"%d" % len(body)
    fields = (*bare.fields, header_field(b"Content-Length", size))
    return Request(request.start, request.version, fields, request.method, request.target)


ACCEPTED: Mapping[str, JsonValue] = {"status": 202, "headers": [], "pieces": [], "is_cut": False}
"""A response without a message: that comes on the client's stream."""

MARK = "X-Workbench-Breakpoint"
"""Header that names who answered in the upstream's place."""

_FRAMING = frozenset(("content-length", "transfer-encoding", "connection", "keep-alive", "content-encoding"))


class SimulatedResponse:
    """One response made by a simulator.

    Args:
        command: ``{"status", "headers", "pieces", "is_cut"}`` of the judge.
        who: made it up.
        version: of the request.
        keeps: the client keeps its connection.

    Attributes:
        head, pieces: for those who record.
        data: all of it, as sent to the client.
        is_cut: it ends early after its pieces.
        keeps: the connection can be used again.
    """

    def __init__(self, command: Mapping[str, JsonValue], who: str, *, version: bytes, keeps: bool) -> None:
        self.pieces = [base64.b64decode(piece) for piece in command["pieces"]]
        self.is_cut = bool(command["is_cut"])
        self.keeps = keeps
        is_chunked = version == b"HTTP/1.1" and (len(self.pieces) > 1 or self.is_cut)
        headers = [(n, v) for n, v in command["headers"] if n.lower() not in _FRAMING]
        headers.append((MARK, who))
        if is_chunked:
            headers.append(("Transfer-Encoding", "chunked"))
        else:
            headers.append(("Content-Length", str(sum(map(len, self.pieces)) + self.is_cut)))
        if not keeps:
            headers.append(("Connection", "close"))
        phrase = _phrase(command["status"])
        self.head = ResponseHead(command["status"], phrase, Headers(tuple(headers)), "HTTP/1.1")
        lines = [f"{name}: {value}".encode("latin-1", "replace") for name, value in headers]
        start = f"HTTP/1.1 {command['status']} {phrase}".encode()
        body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) if is_chunked else p for p in self.pieces if p)
        self.data = render(start, lines) + body + (b"0\r\n\r\n" if is_chunked and not self.is_cut else b"")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
