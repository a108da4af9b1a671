"""Decodes content encodings up to a size limit."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator
from typing import Final

from workbench import regex
from workbench.errors import WireError
from workbench.limits import MAX_CODINGS, MAX_DECODED_BODY
from workbench.wire.body_text import PiecedText
from workbench.wire.exchange import Body

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
                raise BrokenCoding("is truncated")
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
        raise BrokenCoding("is truncated")


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
            raise BrokenCoding("is truncated")
        at = min(at, len(raw)) - len(decoder.unused_data)
        if raw[at : at + 4] != b"\x28\xb5\x2f\xfd":
            return


DECODERS: Final[dict[str, Callable[[bytes], Iterator[bytes]]]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}


_MAGIC: Final = {"gzip": b"\x1f\x8b\x08", "zstd": b"\x28\xb5\x2f\xfd"}
_ALIASES: Final = {"x-gzip": "gzip", "identity": "", "none": "", "utf-8": "", "brotli": "br"}
_BEGINNING: Final = regex.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*+(?:[{\[<"]|data:|event:|id:|retry:|:)')
_CONTROL: Final = regex.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_LOOK: Final = 512


def decode_body(body: Body) -> bytes:
    """Content-decoded bytes of a body.

    Raises:
        WireError: truncated or corrupt data, an unknown coding, or more than ``limits.MAX_DECODED_BODY`` bytes.
            ``decode_partial`` gives the part before the fault.
    """
    decoded, problem = decode_partial(body)
    if problem:
        raise WireError(problem, hint="all data before the error can still be shown")
    return decoded


def decode_partial(body: Body, most: int | None = None) -> tuple[bytes, str]:
    """Decodable part of a body, at most ``most`` bytes, and the fault of the rest, empty if there is none."""
    raw, problem = body.raw, ""
    most = MAX_DECODED_BODY if most is None else most
    labels = _labels(body.encoding)
    if len(labels) > MAX_CODINGS:
        return raw, f"{len(labels)} nested content encodings; at most {MAX_CODINGS} are decoded"
    for label in reversed(labels or [""]):
        coding = _actual(raw, label)
        if coding and coding not in DECODERS:
            return raw, f"unknown content encoding {coding[:40]!r}"
        if coding:
            raw, fault = _collect(coding, raw, most)
            problem = problem or fault
    return raw, problem


def is_plain_text(body: Body) -> bool:
    """True if a body in pieces is known to have no coding, without joining it."""
    return isinstance(body.text, PiecedText) and not body.encoding and body.text.between(0, 1) == b"{"


def detect_encoding(raw: bytes, header: str) -> str:
    """Actual codings of the bytes, as a Content-Encoding value; empty for none.

    Recorders often keep the header of a body they have decoded, and some drop it from one they have not.
    """
    labels = _labels(header)
    actual = _actual(raw, labels[-1] if labels else "")
    return ", ".join(labels) if labels and actual == labels[-1] else actual


def _labels(header: str) -> list[str]:
    names = header.lower().split(",") if header else ()
    return [known for name in names if (known := _ALIASES.get(name.strip(), name.strip()))]


def _actual(raw: bytes, label: str) -> str:
    """Outermost coding: a magic number has priority over the label, and plain text over a coding."""
    for coding, magic in _MAGIC.items():
        if raw.startswith(magic):
            return coding
    if not raw:
        return ""
    if label in _MAGIC:
        return label if _MAGIC[label].startswith(raw[:4]) else ""
    if not label or not _is_plain(raw):
        return label
    # A short brotli text may look plain: that it decodes to its end settles it.
    return label if label == "br" and len(raw) < _LOOK and all(_verdict(raw)) else ""


def _verdict(raw: bytes) -> tuple[bool, bool]:
    decoded, fault = _collect("br", raw, MAX_DECODED_BODY)
    return bool(decoded), not fault


def _is_plain(raw: bytes) -> bool:
    """True if it starts like JSON, an event stream or HTML and continues as text, which no compressed body does."""
    if not _BEGINNING.match(raw):
        return False
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(raw[:_LOOK])
    except UnicodeDecodeError:
        return False
    return not _CONTROL.search(text)


def _collect(coding: str, raw: bytes, most: int) -> tuple[bytes, str]:
    pieces, size = list[bytes](), 0
    try:
        for piece in DECODERS[coding](raw):
            pieces.append(piece[: most - size])
            size += len(piece)
            if size > most:
                return b"".join(pieces), f"{coding} body exceeds {most:,} bytes and was truncated"
    except BrokenCoding as broken:
        return b"".join(pieces), f"{coding} body {broken} after {size:,} decoded bytes"
    return b"".join(pieces), ""
