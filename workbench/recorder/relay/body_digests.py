"""Digests of a body: as it was read from one connection, and as it was written to the other.

The two computations share nothing but the bytes, so that a fault between them shows. Bytes are digested when some have
come together, and not one by one while they pass.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

from workbench.wire import BodyDigest
from workbench.wire.http1 import BadMessage, ChunkedBody

TOGETHER = 16 * 1024
"""Bytes of one side that are digested at once."""


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


class BodyDigests:
    """Digests of one body of one exchange."""

    __slots__ = (
        "_bytes_in", "_bytes_out", "_digest_out", "_framing", "_head_left", "_parts", "_parts_size", "_pieces",
        "_pieces_size", "_received",
    )  # fmt: skip

    def __init__(self) -> None:
        self._pieces, self._pieces_size = list[bytes](), 0
        self._parts, self._parts_size = list[bytes](), 0
        self._received: _Digest | None = None
        self._digest_out: _Digest | None = None
        self._bytes_in = self._bytes_out = self._head_left = 0
        self._framing: ChunkedBody | None = None

    def add_received(self, piece: bytes) -> None:
        """Add a piece that was read, without its framing."""
        self._pieces.append(piece)
        self._pieces_size += len(piece)
        if self._pieces_size > TOGETHER:
            self._digest_received()

    def start_sending(self, *, head_size: int, is_chunked: bool) -> None:
        """Start (again) with the first byte that is sent; ``head_size`` bytes of a head come before the body."""
        self._digest_out, self._bytes_out, self._parts_size = None, 0, 0
        self._parts.clear()
        self._head_left = head_size
        self._framing = ChunkedBody() if is_chunked else None

    def add_sent(self, data: bytes) -> None:
        """Add bytes that were written to a connection, with their framing."""
        self._parts.append(data)
        self._parts_size += len(data)
        if self._parts_size > TOGETHER:
            self._digest_sent()

    def _digest_received(self) -> None:
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._pieces_size = 0
        self._received = _digest(self._received, data)
        self._bytes_in += len(data)

    def _digest_sent(self) -> None:
        data = b"".join(self._parts)
        self._parts.clear()
        self._parts_size = 0
        if self._head_left:
            skipped = min(self._head_left, len(data))
            self._head_left -= skipped
            data = data[skipped:]
        if self._framing and data:
            data = self._without_framing(data, self._framing)
        self._digest_out = _digest(self._digest_out, data)
        self._bytes_out += len(data)

    def _without_framing(self, data: bytes, framing: ChunkedBody) -> bytes:
        try:
            _, pieces, rest = framing.feed(data)
        except BadMessage:
            self._framing = None  # what is no framing is counted as it is, and the digests differ
            return data
        return b"".join((*pieces, rest))

    def result(self) -> BodyDigest:
        """Digests and sizes up to now."""
        self._digest_received()
        self._digest_sent()
        assert self._received and self._digest_out
        return BodyDigest(self._received.hexdigest(), self._digest_out.hexdigest(), self._bytes_in, self._bytes_out)


def _digest(digest: _Digest | None, data: bytes) -> _Digest:
    """A digest with more bytes; made with its first ones, which takes longer than to digest a small body."""
    if digest is None:
        return sha256(data)
    digest.update(data)
    return digest
