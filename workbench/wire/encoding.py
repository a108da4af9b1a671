"""Content-Encoding: bodies decoded, whatever their label says, and never larger than a limit."""

from __future__ import annotations

import codecs
import re
from typing import Final

from workbench.errors import WireError
from workbench.limits import MAX_CODINGS, MAX_DECODED_BODY
from workbench.wire._codings import DECODERS, Broken
from workbench.wire.exchange import Body

_MAGIC: Final = {"gzip": b"\x1f\x8b\x08", "zstd": b"\x28\xb5\x2f\xfd"}
_ALIASES: Final = {"x-gzip": "gzip", "identity": "", "none": "", "utf-8": "", "brotli": "br"}
_BEGINNING: Final = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*+(?:[{\[<"]|data:|event:|id:|retry:|:)')
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_LOOK: Final = 512


def decode_body(body: Body) -> bytes:
    """The content-decoded bytes of a body.

    Raises:
        WireError: cut or corrupt data, an unknown coding, or more than ``limits.MAX_DECODED_BODY`` bytes.
            ``decode_partial`` gives what is before the fault.
    """
    decoded, problem = decode_partial(body)
    if problem:
        raise WireError(problem, hint="what comes before the fault can still be shown")
    return decoded


def decode_partial(body: Body, most: int | None = None) -> tuple[bytes, str]:
    """What of a body can be decoded, ``most`` bytes of it at most, and what is wrong with the rest ("" for nothing)."""
    raw, problem = body.raw, ""
    most = MAX_DECODED_BODY if most is None else most
    labels = _labels(body.encoding)
    if len(labels) > MAX_CODINGS:
        return raw, f"{len(labels)} content codings, one inside another; at most {MAX_CODINGS} are undone"
    for label in reversed(labels or [""]):
        coding = _actual(raw, label)
        if coding and coding not in DECODERS:
            return raw, f"content coding {coding[:40]!r} is not known"
        if coding:
            raw, fault = _collect(coding, raw, most)
            problem = problem or fault
    return raw, problem


def detect_encoding(raw: bytes, header: str) -> str:
    """The codings that bytes are really in, as a Content-Encoding value, "" for none.

    Recorders often keep the header of a body they have decoded, and some drop it from one they have not.
    """
    labels = _labels(header)
    actual = _actual(raw, labels[-1] if labels else "")
    return ", ".join(labels) if labels and actual == labels[-1] else actual


def _labels(header: str) -> list[str]:
    names = (name.strip().lower() for name in header.split(","))
    return [known for known in (_ALIASES.get(name, name) for name in names) if known]


def _actual(raw: bytes, label: str) -> str:
    """The outermost coding of bytes: a magic number counts more than the label, and plain text more than a coding."""
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
    """It begins like JSON, an event stream or HTML, and goes on as text: no compressed body does for long."""
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
                return b"".join(pieces), f"{coding} body grows beyond {most:,} bytes and was cut there"
    except Broken as broken:
        return b"".join(pieces), f"{coding} body {broken} after {size:,} decoded bytes"
    return b"".join(pieces), ""
