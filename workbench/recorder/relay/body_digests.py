"""Digests of a body: as it was read from one connection, and as it was written to the other.

The two computations share nothing but the bytes, so that a fault between them shows.
"""

from __future__ import annotations

from hashlib import sha256

from workbench.wire import BodyDigest
from workbench.wire.http1 import BadMessage, ChunkedBody


class BodyDigests:
    """Digests of one body of one exchange."""

    def __init__(self) -> None:
        self._received, self._bytes_in = sha256(), 0
        self._sent, self._bytes_out = sha256(), 0
        self._head_left = 0
        self._framing: ChunkedBody | None = None

    def add_received(self, piece: bytes) -> None:
        """Add a piece that was read, without its framing."""
        self._received.update(piece)
        self._bytes_in += len(piece)

    def start_sending(self, *, head_size: int, is_chunked: bool) -> None:
        """Start (again) with the first byte that is sent; ``head_size`` bytes of a head come before the body."""
        if self._bytes_out:
            self._sent, self._bytes_out = sha256(), 0
        self._head_left = head_size
        self._framing = ChunkedBody() if is_chunked else None

    def add_sent(self, data: bytes) -> None:
        """Add bytes that were written to a connection, with their framing."""
        if self._head_left:
            skipped = min(self._head_left, len(data))
            self._head_left -= skipped
            data = data[skipped:]
        if self._framing is None:
            self._count(data)
        elif data:
            self._unframe(data, self._framing)

    def _unframe(self, data: bytes, framing: ChunkedBody) -> None:
        try:
            fed = framing.feed(data)
        except BadMessage:
            self._framing = None  # what is no framing is counted as it is, and the digests differ
            self._count(data)
            return
        for piece in fed.pieces:
            self._count(piece)
        self._count(fed.rest)

    def _count(self, data: bytes) -> None:
        self._sent.update(data)
        self._bytes_out += len(data)

    def result(self) -> BodyDigest:
        """Digests and sizes up to now."""
        return BodyDigest(self._received.hexdigest(), self._sent.hexdigest(), self._bytes_in, self._bytes_out)
