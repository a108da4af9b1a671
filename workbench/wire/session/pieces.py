"""Splits bodies into pieces that later requests repeat, and packs lists of numbers."""

from __future__ import annotations

import hashlib
import struct
import sys
import threading
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from workbench.errors import SessionFormatError
from workbench.limits import MAX_PIECES, MAX_STORED_BODY, MAX_STORED_NUMBERS
from workbench.wire.body_text import PiecedText, PieceRun
from workbench.wire.exchange import Chunk
from workbench.wire.jsontext import JsonIndex, list_spans
from workbench.wire.predecessors import CONTINUED, common_start
from workbench.wire.session import values

if TYPE_CHECKING:
    from zstandard import ZstdCompressor, ZstdDecompressor


_own = threading.local()

SHARED = ("messages", "input", "contents", "tools", "system")
"""Members with elements that an agent repeats in every request."""

_WINDOW = 128 * 1024 * 1024
"""Limit of memory for a zstd frame: far more than our own frames need."""

SMALL = 4096
"""Bodies below this size are one piece: an index entry would cost more than it saves."""


def cut(index: JsonIndex, least: int = SMALL) -> list[bytes]:
    """Split an indexed body into pieces that join to it exactly; one piece if it has no such members.

    Args:
        least: bytes of a body that is split.
    """
    body = index.text
    if len(body) < least or body.lstrip()[:1] != b"{":
        return [body] if body else []
    spans = list_spans(body, SHARED)
    if spans is None:
        spans = sorted(islice(_elements(index), MAX_PIECES + 1))
    if len(spans) > MAX_PIECES:
        return [body]
    pieces, at = [], 0
    for start, end in spans:
        if start < at:
            continue
        if start > at:
            pieces.append(body[at:start])
        pieces.append(body[start:end])
        at = end
    if at < len(body):
        pieces.append(body[at:])
    return pieces


def _elements(index: JsonIndex) -> Iterator[tuple[int, int]]:
    for name in SHARED:
        span = index.span(f"/{name}")
        if span and index.text[span[0] : span[0] + 1] == b"[":
            yield from (child for _, child in index.elements(f"/{name}"))


def piece_digest(piece: bytes) -> bytes:
    """Key of a piece."""
    return hashlib.blake2b(piece, digest_size=16).digest()


def body_digest(body: bytes) -> bytes:
    """Key of a body, and its proof."""
    return hashlib.sha256(body).digest()


def compress(data: bytes) -> bytes:
    """A zstd frame, or the bytes themselves if that is not shorter."""
    packed = _compressor().compress(data) if len(data) > 32 else data
    return packed if len(packed) < len(data) else data


def _compressor() -> ZstdCompressor:
    """This thread's compressor: creating one takes as long as compressing a page, and threads cannot share it."""
    found: ZstdCompressor | None = getattr(_own, "compressor", None)
    if found is None:
        import zstandard

        found = _own.compressor = zstandard.ZstdCompressor(level=6, write_content_size=True)
    return found


def _decompressor() -> ZstdDecompressor:
    """This thread's decompressor: creating one takes twice as long as decompressing a message."""
    found: ZstdDecompressor | None = getattr(_own, "decompressor", None)
    if found is None:
        import zstandard

        found = _own.decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    return found


def expand(data: bytes, size: int) -> bytes:
    """Plain bytes of a stored piece. Raises SessionFormatError if the frame is damaged."""
    if not 0 <= size <= MAX_STORED_BODY:
        raise SessionFormatError(f"a piece claims {size:,} bytes; the limit for a body is {MAX_STORED_BODY:,}")
    if len(data) == size:
        return data
    import zstandard

    try:
        frame_size = zstandard.frame_content_size(data)  # what a frame says of itself outranks the limit it is given
        if frame_size not in (-1, size):
            raise SessionFormatError(f"a piece claims {frame_size:,} bytes, but {size:,} were stored")
        plain = _decompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as error:
        raise SessionFormatError(f"a piece of {size:,} bytes cannot be decompressed ({error})") from error
    if len(plain) != size:
        raise SessionFormatError(f"a piece has {len(plain):,} bytes, but {size:,} were stored")
    return plain


def pack_ids(ids: Sequence[int]) -> bytes:
    """Pack piece ids as compressed differences: histories repeat, so they are nearly constant."""
    deltas = array("q", (b - a for a, b in zip((0, *ids), ids, strict=False)))
    raw = struct.pack("<I", len(ids)) + _little(deltas).tobytes()
    return struct.pack("<I", len(raw)) + compress(raw)


def unpack_ids(data: bytes) -> list[int]:
    """The inverse of ``pack_ids``."""
    return ids_of(unpack_steps(data))


def unpack_steps(data: bytes) -> bytes:
    """Differences of packed piece ids, eight bytes each."""
    return _unpack(data, 8)[0][4:]


def ids_of(steps: bytes, last: int = 0) -> list[int]:
    """Piece ids from their differences; ``last``: id before the first."""
    deltas = array("q")
    deltas.frombytes(steps)
    return list(accumulate(_little(deltas), initial=last))[1:]


def pack_chunks(chunks: Sequence[Chunk], *, is_brief: bool = False) -> bytes:
    """Pack chunk ends and times exactly, compressed unless short-lived; empty for none."""
    if not chunks:
        return b""
    of_ends, of_times = zip(*chunks, strict=True)
    ends, times = array("q", of_ends), array("d", of_times)
    raw = struct.pack("<I", len(chunks)) + _little(ends).tobytes() + _little(times).tobytes()
    return struct.pack("<I", len(raw)) + (raw if is_brief else compress(raw))


def unpack_chunks(data: bytes) -> tuple[Chunk, ...]:
    """The inverse of ``pack_chunks``."""
    if not data:
        return ()
    raw, count = _unpack(data, 16)
    ends, times = array("q"), array("d")
    ends.frombytes(raw[4 : 4 + 8 * count])
    times.frombytes(raw[4 + 8 * count : 4 + 16 * count])
    chunks = tuple(map(Chunk, _little(ends), _little(times)))
    if not all(chunk.end >= 0 and abs(chunk.at) <= values.LAST_SECOND for chunk in chunks):
        raise SessionFormatError("the arrival times of the chunks are impossible")
    return chunks


def _unpack(data: bytes, width: int) -> tuple[bytes, int]:
    """Plain bytes of a list, and the number of items of this width after the count."""
    if len(data) < 8 or (size := struct.unpack_from("<I", data)[0]) < 4:
        raise SessionFormatError("a list of numbers is damaged")
    if size > MAX_STORED_NUMBERS:
        raise SessionFormatError(f"a list of numbers claims {size:,} bytes")
    raw = expand(data[4:], size)
    count: int = struct.unpack_from("<I", raw)[0]
    if len(raw) != 4 + width * count:
        raise SessionFormatError("a list of numbers is damaged")
    return raw, count


def _little(numbers: array) -> array:  # type: ignore[type-arg]
    """The array with little-endian items, on any machine."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers


MOST_RUNS = 16
"""Bodies that others may continue: main agent, sub-agents, side questions, and branches of each."""


class PieceRuns:
    """The last bodies that were read, which the next ones may continue.

    Args:
        most: bytes of the bodies that are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._runs: list[PieceRun] = []

    def text(self, steps: bytes, size: int, read: Callable[[int], bytes]) -> PiecedText | None:
        """The body of these pieces; None if they do not add up to its size.

        Args:
            steps: differences of the ids of its pieces, of which there is at least one.
            size: of the body in bytes.
            read: reads a piece by its id.

        Raises:
            SessionFormatError: a piece cannot be read.
        """
        run, shared = self._find(steps)
        shared_pieces = min(
            shared, len(steps) // 8 - 1
        )  # the last piece is the end of the body, which no longer body has
        ids = ids_of(steps[8 * shared_pieces :], run.ids[shared_pieces - 1] if shared_pieces else 0)
        missing, found = size - run.end(shared_pieces), list[bytes]()
        for piece_id in ids:
            found.append(read(piece_id))
            missing -= len(found[-1])
            if missing < 0 or not found[-1]:
                break
        if missing or len(found) < len(ids):
            return None
        if shared_pieces < len(run.pieces):
            run = run.fork(shared_pieces)
        run.extend(ids[:-1], steps[8 * shared_pieces : -8], found[:-1])
        self._keep(run)
        return PiecedText(run, len(run.pieces), found[-1])

    def _find(self, steps: bytes) -> tuple[PieceRun, int]:
        """The run with the most first pieces in common, the latest of several, and how many these are."""
        best, most = PieceRun(self), 0
        for run in reversed(self._runs):
            shared = common_start(run.steps, steps) // 8
            if shared > most:
                best, most = run, shared
            if most * 8 >= CONTINUED * len(steps):
                break
        return best, most

    def _keep(self, run: PieceRun) -> None:
        others = [other for other in self._runs if other is not run]
        self._runs = [*others[-MOST_RUNS + 1 :], run]
        size = sum([other.ends[-1] for other in self._runs if other.ends])
        while size > self._most and len(self._runs) > 1:
            first = self._runs.pop(0)
            size -= first.end(len(first.pieces))
