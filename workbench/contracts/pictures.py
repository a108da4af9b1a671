"""Type and size of an image that is in a request as base64, read from its first bytes."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator

HEAD = 64_000
"""Limit of base64 characters that are decoded: the size of a JPEG follows its colour profile."""

_BEGINNINGS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_SIZES_OF_JPEG = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image_type(text: object) -> str:
    """Media type of an image by its first bytes; empty if they are not those of a known type."""
    head = _decode(text, 64)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((name for beginning, name in _BEGINNINGS if head.startswith(beginning)), "")


def longest_side(text: object) -> int:
    """The longer side of an image in pixels; 0 if it is unknown."""
    return max(_sides(_decode(text, HEAD)), default=0)


def _sides(head: bytes) -> tuple[int, ...]:
    if head.startswith(b"\x89PNG") and len(head) >= 24:
        return struct.unpack(">II", head[16:24])
    if head.startswith(b"GIF8") and len(head) >= 10:
        return struct.unpack("<HH", head[6:10])
    if head[:4] == b"RIFF" and head[12:16] == b"VP8X" and len(head) >= 30:
        return (1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little"))
    return next(_sides_of_jpeg(head), ()) if head.startswith(b"\xff\xd8") else ()


def _sides_of_jpeg(head: bytes) -> Iterator[tuple[int, ...]]:
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        if head[at + 1] in _SIZES_OF_JPEG:
            yield struct.unpack(">HH", head[at + 5 : at + 9])
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")


def _decode(text: object, most: int) -> bytes:
    """The first bytes of base64, of a data URL too."""
    if not isinstance(text, str):
        return b""
    data = text.partition(",")[2] if text.startswith("data:") else text
    try:
        return base64.b64decode(data[: most - most % 4])
    except (binascii.Error, ValueError):
        return b""
