"""Decoders of content codings; each yields a body in pieces of limited size, or reports where it broke."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Final

_OUT: Final = 256 * 1024
"""Bytes that a decoder is asked for at a time."""

_IN: Final = 16 * 1024
_GZIP: Final = 31
"""Window bits by which zlib expects a gzip member."""

_ZSTD_IN: Final = 1024
"""Bytes given to zstd at a time, since its output cannot be limited: one kilobyte grows to at most 32 MB."""


class BrokenCoding(Exception):
    """Raised if the data end or are corrupt, with the reason."""


def _zlib(raw: bytes, window: int) -> Iterator[bytes]:
    at = 0
    while True:
        decoder, waiting = zlib.decompressobj(window), b""
        while not decoder.eof:
            if not waiting:
                waiting = raw[at : at + _IN]
                at += len(waiting)
            try:
                piece = decoder.decompress(waiting, _OUT)
            except zlib.error as error:
                raise BrokenCoding(f"is corrupt ({str(error).rpartition(': ')[2]})") from None
            waiting = decoder.unconsumed_tail
            yield piece
            if not piece and not waiting and at == len(raw) and not decoder.eof:
                raise BrokenCoding("is cut off")
        at -= len(decoder.unused_data)
        if window != _GZIP or raw[at : at + 2] != b"\x1f\x8b":
            return  # what follows the last member is padding


def _gzip(raw: bytes) -> Iterator[bytes]:
    return _zlib(raw, _GZIP)


def _deflate(raw: bytes) -> Iterator[bytes]:
    """Zlib data as in RFC 9110, or the bare deflate that some servers send."""
    is_zlib = len(raw) > 1 and raw[0] & 0x0F == 8 and int.from_bytes(raw[:2], "big") % 31 == 0
    return _zlib(raw, 15 if is_zlib else -15)


def _brotli(raw: bytes) -> Iterator[bytes]:
    import brotli  # type: ignore[import-untyped]

    decoder = brotli.Decompressor()
    try:
        piece = decoder.process(raw, output_buffer_limit=_OUT)
        while piece or not decoder.can_accept_more_data():
            yield piece
            piece = decoder.process(b"", output_buffer_limit=_OUT)
    except brotli.error:
        raise BrokenCoding("is corrupt") from None
    if not decoder.is_finished():
        raise BrokenCoding("is cut off")


def _zstd(raw: bytes) -> Iterator[bytes]:
    import zstandard

    at = 0
    while at < len(raw):
        decoder = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        try:
            while not decoder.eof and at < len(raw):
                yield decoder.decompress(raw[at : at + _ZSTD_IN])
                at += _ZSTD_IN
        except zstandard.ZstdError as error:
            raise BrokenCoding(f"is corrupt ({str(error).rpartition(': ')[2]})") from None
        if not decoder.eof:
            raise BrokenCoding("is cut off")
        at = min(at, len(raw)) - len(decoder.unused_data)
        if raw[at : at + 4] != b"\x28\xb5\x2f\xfd":
            return


DECODERS: Final[dict[str, Callable[[bytes], Iterator[bytes]]]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
