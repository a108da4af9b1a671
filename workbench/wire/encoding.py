"""Content-Encoding: bodies decoded, whatever their label says, and never larger than a limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from workbench.errors import WireError
from workbench.limits import MAX_DECODED_BODY
from workbench.wire.exchange import Body

_MAGIC: Final = {b"\x1f\x8b\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ALIASES: Final = {"x-gzip": "gzip", "identity": "", "zlib": "deflate", "zst": "zstd", "brotli": "br", "none": ""}
_PLAIN: Final = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*+(?:[{\[<"]|data:|event:|id:|retry:|:)')
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_PIECE: Final = 256 * 1024


def decode_body(body: Body) -> bytes:
    """The content-decoded bytes of a body.

    Raises:
        WireError: cut or corrupt data, an unknown coding, or more than ``limits.MAX_DECODED_BODY`` bytes.
            ``decode_partial`` gives what is before the fault.
    """
    decoded, problem = decode_partial(body)
    if problem:
        raise WireError(problem, hint="the bytes before that can still be shown")
    return decoded


def decode_partial(body: Body) -> tuple[bytes, str]:
    """What of a body can be decoded, and what is wrong with the rest ("" for nothing)."""
    raw, problem = body.raw, ""
    labels = _labels(body.encoding)
    for number in range(max(1, len(labels))):
        coding = _actual(raw, labels[-1 - number] if labels else "")
        if not coding:
            continue
        if coding not in _DECODERS:
            return raw, f"Content-Encoding {coding!r} is not known"
        raw, found = _collect(coding, raw)
        problem = problem or found
    return raw, problem


def detect_encoding(raw: bytes, header: str) -> str:
    """The codings that bytes are really in, as a Content-Encoding value, "" for none.

    Recorders often keep the header of a body they have decoded, and sometimes drop it from one they have not.
    """
    labels = _labels(header)
    actual = _actual(raw, labels[-1] if labels else "")
    if not actual:
        return ""
    return ", ".join((*labels[:-1], actual)) if labels and actual == labels[-1] else actual


def _labels(header: str) -> list[str]:
    names = (name.strip().lower() for name in header.split(","))
    return [known for known in (_ALIASES.get(name, name) for name in names) if known]


def _actual(raw: bytes, label: str) -> str:
    """The outermost coding of bytes: their magic number counts more than their label, plain text more than a coding."""
    for magic, name in _MAGIC.items():
        if raw.startswith(magic):
            return name
    if label in _MAGIC.values() and len(raw) >= len(b"\x1f\x8b\x08"):
        return ""
    return "" if not raw or _is_plain(raw) else label


def _is_plain(raw: bytes) -> bool:
    """It begins like JSON, an event stream or HTML and holds no control characters: no compressed body does."""
    return bool(_PLAIN.match(raw)) and not _CONTROL.search(raw, 0, 512)


def _collect(coding: str, raw: bytes) -> tuple[bytes, str]:
    pieces, size = list[bytes](), 0
    try:
        for piece in _DECODERS[coding](raw):
            room = MAX_DECODED_BODY - size
            pieces.append(piece[:room])
            size += len(piece)
            if size > MAX_DECODED_BODY:
                return b"".join(pieces), f"{coding} body grows beyond {MAX_DECODED_BODY >> 20} MB decoded, cut there"
    except _Broken as broken:
        return b"".join(pieces), f"{coding} body {broken} after {size} decoded bytes"
    return b"".join(pieces), ""


class _Broken(Exception):
    """The data end or are wrong here; says which."""


def _zlib(raw: bytes, window: int) -> Iterator[bytes]:
    import zlib

    while raw:
        decoder = zlib.decompressobj(window)
        try:
            while not decoder.eof:
                piece = decoder.decompress(raw, _PIECE)
                raw = decoder.unconsumed_tail
                yield piece
                if not piece and not raw and not decoder.eof:
                    raise _Broken("is cut")
        except zlib.error as error:
            raise _Broken(f"is corrupt ({error})") from None
        raw = decoder.unused_data
        if window < 16 or not raw.startswith(b"\x1f\x8b"):
            return  # what follows the last member is padding


def _gzip(raw: bytes) -> Iterator[bytes]:
    return _zlib(raw, 31)


def _deflate(raw: bytes) -> Iterator[bytes]:
    """Zlib data as RFC 9110 wants, or the bare deflate that some servers send."""
    is_zlib = len(raw) > 1 and raw[0] & 0x0F == 8 and int.from_bytes(raw[:2], "big") % 31 == 0
    return _zlib(raw, 15 if is_zlib else -15)


def _brotli(raw: bytes) -> Iterator[bytes]:
    import brotli  # type: ignore[import-untyped]

    decoder = brotli.Decompressor()
    try:
        piece = decoder.process(raw, output_buffer_limit=_PIECE)
        while piece or not decoder.can_accept_more_data():
            yield piece
            piece = decoder.process(b"", output_buffer_limit=_PIECE)
    except brotli.error as error:
        raise _Broken(f"is corrupt ({error})") from None
    if not decoder.is_finished():
        raise _Broken("is cut")


def _zstd(raw: bytes) -> Iterator[bytes]:
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(raw, read_across_frames=True)
    try:
        while piece := reader.read(_PIECE):
            yield piece
    except zstandard.ZstdError as error:
        raise _Broken(f"is corrupt ({error})") from None


_DECODERS: Final[dict[str, Callable[[bytes], Iterator[bytes]]]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
