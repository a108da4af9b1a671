"""Bodies of HTTP/1.1 messages: where each ends, and what its bytes are without the chunk framing (RFC 9112 6 and 7).

A body is followed as its bytes pass: what is sent on is what came, chunk sizes, extensions and trailers included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from workbench.limits import MAX_CHUNK_LINE, MAX_HEADER_BLOCK
from workbench.wire.http1.head import BadMessage, Head, Request, Response, read_fields

_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?\r\n")
_LENGTH = re.compile(rb"[0-9]{1,18}")


class Fed(NamedTuple):
    """What became of bytes fed: ``wire`` to send on, ``pieces`` of the body in it, ``rest`` behind the body's end."""

    wire: bytes
    pieces: Sequence[bytes]
    rest: bytes


class Body(Protocol):
    """Follows one body. ``ends_with_connection``: only the end of the connection ends it."""

    is_done: bool
    ends_with_connection: bool

    def feed(self, data: bytes) -> Fed:
        """More bytes came. Raises BadMessage."""
        ...


class LengthBody:
    """A body of so many bytes; with 0, none."""

    ends_with_connection = False

    def __init__(self, length: int) -> None:
        self._left = length
        self.is_done = length == 0

    def feed(self, data: bytes) -> Fed:
        wire = data[: self._left]
        self._left -= len(wire)
        self.is_done = self._left == 0
        return Fed(wire, (wire,) if wire else (), data[len(wire) :])


class OpenBody:
    """A body that the end of the connection ends."""

    ends_with_connection = True
    is_done = False

    def feed(self, data: bytes) -> Fed:
        return Fed(data, (data,), b"")


class _At(Enum):
    SIZE = "chunk size"
    DATA = "chunk data"
    DATA_END = "end of a chunk"
    TRAILER = "trailer"


class ChunkedBody:
    """A body in chunks. A line is sent on when it is whole and good, chunk data as they come.

    Attributes:
        good: once bad framing was fed, what was good of it.
    """

    ends_with_connection = False

    def __init__(self) -> None:
        self.is_done = False
        self.good = Fed(b"", (), b"")
        self._at = _At.SIZE
        self._left = 0
        self._held = bytearray()
        self._trailer_size = 0

    def feed(self, data: bytes) -> Fed:
        if self._at is _At.SIZE and not self._held and (fed := _one(data)):
            return fed
        if self._held and self._goes_on(data):
            self._held += data
            return Fed(b"", (), b"")
        data = bytes(self._held) + data if self._held else data
        pieces: list[bytes] = []
        pos = 0
        while pos < len(data) and not self.is_done:
            if self._at is _At.DATA:
                piece = data[pos : pos + self._left]
                pieces.append(piece)
                pos += len(piece)
                self._left -= len(piece)
                if not self._left:
                    self._at = _At.DATA_END
            elif end := self._good_line(data, pos, pieces):
                pos = end
            else:
                break
        self._held = bytearray() if self.is_done else bytearray(data[pos:])
        return Fed(data[:pos], pieces, data[pos:] if self.is_done else b"")

    def _goes_on(self, data: bytes) -> bool:
        """More of a line that is held, and not its end: it need not be read again for that."""
        is_line = self._at in (_At.SIZE, _At.TRAILER)
        return is_line and b"\n" not in data and len(self._held) + len(data) <= MAX_CHUNK_LINE

    def _good_line(self, data: bytes, pos: int, pieces: Sequence[bytes]) -> int:
        try:
            return self._line(data, pos)
        except BadMessage:
            self.good = Fed(data[:pos], pieces, b"")
            raise

    def _line(self, data: bytes, pos: int) -> int:
        """Take one line of framing; gives where it ends, 0 while it is not whole."""
        if self._at is _At.SIZE:
            return self._size(data, pos)
        end = data.find(b"\r\n", pos)
        if self._at is _At.DATA_END:
            if not b"\r\n".startswith(data[pos : pos + 2]):
                raise BadMessage("a chunk is longer than its size says", found=data[pos : pos + 20])
            self._at = _At.SIZE if end == pos else self._at
            return end + 2 if end == pos else 0
        return self._trailer(data, pos, end)

    def _size(self, data: bytes, pos: int) -> int:
        matched = _SIZE_LINE.match(data, pos)
        if not matched:
            if data.find(b"\n", pos) >= 0 or len(data) - pos > MAX_CHUNK_LINE:
                raise BadMessage("not a chunk size", found=data[pos : pos + 40])
            return 0
        self._left = int(matched[1], 16)
        self._at = _At.DATA if self._left else _At.TRAILER
        return matched.end()

    def _trailer(self, data: bytes, pos: int, end: int) -> int:
        if end < 0:
            if data.find(b"\n", pos) >= 0 or len(data) - pos > MAX_CHUNK_LINE:
                raise BadMessage("not a trailer line", found=data[pos : pos + 40])
            return 0
        self._trailer_size += end + 2 - pos
        if self._trailer_size > MAX_HEADER_BLOCK:
            raise BadMessage(f"the trailers are longer than {MAX_HEADER_BLOCK:,} bytes")
        if end == pos:
            self.is_done = True
        else:
            read_fields([data[pos:end]])
        return end + 2


def _one(data: bytes) -> Fed | None:
    """What became of one whole chunk, as nearly all come; None for anything else."""
    matched = _SIZE_LINE.match(data)
    size = int(matched[1], 16) if matched else 0
    if matched and size and matched.end() + size + 2 == len(data) and data.endswith(b"\r\n"):
        return Fed(data, (data[matched.end() : -2],), b"")
    return None


def request_body(head: Request) -> Body:
    """The body that follows a request's head. Raises BadMessage where that is ambiguous."""
    lengths = head.values(b"content-length")
    if _is_chunked(head):
        if lengths:
            raise BadMessage("both Content-Length and Transfer-Encoding are given: the length is ambiguous")
        if head.version == b"HTTP/1.0":
            raise BadMessage("Transfer-Encoding does not exist in HTTP/1.0")
        return ChunkedBody()
    if len(lengths) > 1:
        raise BadMessage("Content-Length is given twice: the length is ambiguous")
    return LengthBody(_length(lengths[0]) if lengths else 0)


def response_body(head: Response, method: bytes) -> Body:
    """The body that follows the head of a final response to that method. Raises BadMessage."""
    if method == b"HEAD" or head.status in (204, 304):
        return LengthBody(0)
    if _is_chunked(head):
        return ChunkedBody()
    lengths = {_length(v.strip(b" \t")) for value in head.values(b"content-length") for v in value.split(b",")}
    if len(lengths) > 1:
        raise BadMessage("different lengths are given in Content-Length")
    return LengthBody(lengths.pop()) if lengths else OpenBody()


def _is_chunked(head: Head) -> bool:
    codings = head.values(b"transfer-encoding")
    if not codings:
        return False
    if len(codings) > 1 or codings[0].lower() != b"chunked":
        raise BadMessage("only the transfer coding 'chunked' is known", 501, found=b", ".join(codings))
    return True


def _length(value: bytes) -> int:
    if not _LENGTH.fullmatch(value):
        raise BadMessage("Content-Length is no length", found=value)
    return int(value)
