"""Heads for messages with a replaced body."""

from __future__ import annotations

from workbench.wire.http1 import HeaderField, Request

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
    fields = (*bare.fields, HeaderField(b"content-length", size, b"Content-Length: " + size))
    return Request(request.start, request.version, fields, request.method, request.target)
