"""Finds the end of HTTP/1.1 bodies, and their bytes without chunk framing (RFC 9112, 6 and 7).

A body is followed as its bytes pass: they are sent on unchanged, with chunk sizes, extensions and trailers.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from workbench import regex
from workbench.limits import MAX_CHUNK_LINE, MAX_HEADER_BLOCK
from workbench.wire.http1.head import BadMessage, Head, Request, Response, read_fields

_SIZE_LINE = regex.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?\r\n")
_LENGTH = regex.compile(rb"[0-9]{1,18}")


class FeedResult(NamedTuple):
    """Result of feeding bytes: ``wire`` to send on, ``pieces`` of the body, ``rest`` after the body's end."""

    wire: bytes
    pieces: Sequence[bytes]
    rest: bytes


class BodyReader(Protocol):
    """Follows one body.

    Attributes:
        ends_with_connection: only the end of the connection ends it.
        good: after invalid framing, the valid bytes before it.
    """

    is_done: bool
    ends_with_connection: bool
    good: FeedResult

    def feed(self, data: bytes) -> FeedResult:
        """Process more bytes. Raises BadMessage."""
        ...


_NOTHING = FeedResult(b"", (), b"")


class LengthBody:
    """A body with a length; 0 for none."""

    ends_with_connection = False
    good = _NOTHING

    def __init__(self, length: int) -> None:
        self._remaining = length
        self.is_done = length == 0

    def feed(self, data: bytes) -> FeedResult:
        wire = data[: self._remaining]
        self._remaining -= len(wire)
        self.is_done = self._remaining == 0
        return FeedResult(wire, (wire,) if wire else (), data[len(wire) :])


class OpenBody:
    """A body that ends with the connection."""

    ends_with_connection = True
    is_done = False
    good = _NOTHING

    def feed(self, data: bytes) -> FeedResult:
        return FeedResult(data, (data,), b"")


class _ChunkPart(Enum):
    SIZE = "chunk size"
    DATA = "chunk data"
    DATA_END = "end of a chunk"
    TRAILER = "trailer"


class ChunkedBody:
    """A chunked body. A framing line is sent on when it is complete and valid, chunk data immediately."""

    ends_with_connection = False

    def __init__(self) -> None:
        self.is_done = False
        self.good = _NOTHING
        self._at = _ChunkPart.SIZE
        self._remaining = 0
        self._buffer = bytearray()
        self._trailer_size = 0

    def feed(self, data: bytes) -> FeedResult:
        if self._buffer:
            if self._goes_on(data):
                self._buffer += data
                return _NOTHING
            data = bytes(self._buffer) + data
        pieces: list[bytes] = []
        pos = _whole_chunks(data, pieces) if self._at is _ChunkPart.SIZE else 0
        if pos < len(data):
            pos = self._parts(data, pos, pieces)
        self._buffer = bytearray() if self.is_done or pos == len(data) else bytearray(data[pos:])
        return FeedResult(data[:pos], pieces, data[pos:] if self.is_done else b"")

    def _parts(self, data: bytes, pos: int, pieces: list[bytes]) -> int:
        """Process parts of chunks; return where the first incomplete line begins."""
        while pos < len(data) and not self.is_done:
            if self._at is _ChunkPart.DATA:
                piece = data[pos : pos + self._remaining]
                pieces.append(piece)
                pos += len(piece)
                self._remaining -= len(piece)
                if not self._remaining:
                    self._at = _ChunkPart.DATA_END
            elif end := self._good_line(data, pos, pieces):
                pos = end
            else:
                break
        return pos

    def _goes_on(self, data: bytes) -> bool:
        """True if this is more of a held line, without its end: the line need not be parsed again."""
        is_line = self._at in (_ChunkPart.SIZE, _ChunkPart.TRAILER)
        return is_line and b"\n" not in data and len(self._buffer) + len(data) <= MAX_CHUNK_LINE

    def _good_line(self, data: bytes, pos: int, pieces: Sequence[bytes]) -> int:
        try:
            return self._line(data, pos)
        except BadMessage:
            self.good = FeedResult(data[:pos], pieces, b"")
            raise

    def _line(self, data: bytes, pos: int) -> int:
        """Process one framing line; return its end, or 0 if it is incomplete."""
        if self._at is _ChunkPart.SIZE:
            return self._size(data, pos)
        end = data.find(b"\r\n", pos)
        if self._at is _ChunkPart.DATA_END:
            if not b"\r\n".startswith(data[pos : pos + 2]):
                raise BadMessage("a chunk is longer than its declared size", found=data[pos : pos + 20])
            self._at = _ChunkPart.SIZE if end == pos else self._at
            return end + 2 if end == pos else 0
        return self._trailer(data, pos, end)

    def _size(self, data: bytes, pos: int) -> int:
        matched = _SIZE_LINE.match(data, pos)
        if not matched:
            if data.find(b"\n", pos) >= 0 or len(data) - pos > MAX_CHUNK_LINE:
                raise BadMessage("not a chunk size", found=data[pos : pos + 40])
            return 0
        self._remaining = int(matched[1], 16)
        self._at = _ChunkPart.DATA if self._remaining else _ChunkPart.TRAILER
        return matched.end()

    def _trailer(self, data: bytes, pos: int, end: int) -> int:
        if end < 0:
            if data.find(b"\n", pos) >= 0 or len(data) - pos > MAX_CHUNK_LINE:
                raise BadMessage("expected an HTTP trailer line after the last chunk", found=data[pos : pos + 40])
            return 0
        self._trailer_size += end + 2 - pos
        if self._trailer_size > MAX_HEADER_BLOCK:
            raise BadMessage(f"the trailers are longer than {MAX_HEADER_BLOCK:,} bytes")
        if end == pos:
            self.is_done = True
        else:
            read_fields([data[pos:end]])
        return end + 2


def _whole_chunks(data: bytes, pieces: list[bytes]) -> int:
    """Add the data of chunks that are there whole, as nearly all are; return where another part begins."""
    pos, match = 0, _SIZE_LINE.match
    while matched := match(data, pos):
        start = matched.end()
        end = start + int(matched[1], 16)
        if end == start or data[end : end + 2] != b"\r\n":
            break
        pieces.append(data[start:end])
        pos = end + 2
    return pos


def request_body(head: Request) -> BodyReader:
    """The body after a request head. Raises BadMessage if its length is ambiguous."""
    lengths = head.values(b"content-length")
    if _is_chunked(head):
        if lengths:
            raise BadMessage("both Content-Length and Transfer-Encoding are given: the length is ambiguous")
        if head.version == b"HTTP/1.0":
            raise BadMessage("HTTP/1.0 does not support Transfer-Encoding")
        return ChunkedBody()
    if len(lengths) > 1:
        raise BadMessage("Content-Length is given twice: the length is ambiguous")
    return LengthBody(_length(lengths[0]) if lengths else 0)


def response_body(head: Response, method: bytes) -> BodyReader:
    """The body after the head of a final response to that method. Raises BadMessage."""
    if method == b"HEAD" or head.status in (204, 304):
        return LengthBody(0)
    if _is_chunked(head):
        return ChunkedBody()
    lengths = {_length(v.strip(b" \t")) for value in head.values(b"content-length") for v in value.split(b",")}
    if len(lengths) > 1:
        raise BadMessage("Content-Length has different values")
    return LengthBody(lengths.pop()) if lengths else OpenBody()


def _is_chunked(head: Head) -> bool:
    codings = head.values(b"transfer-encoding")
    if not codings:
        return False
    if len(codings) > 1 or codings[0].lower() != b"chunked":
        raise BadMessage("only the transfer coding 'chunked' is supported", 501, found=b", ".join(codings))
    return True


def _length(value: bytes) -> int:
    if not _LENGTH.fullmatch(value):
        raise BadMessage("Content-Length is not a number", found=value)
    return int(value)
