"""Reads the wire form of Protocol Buffers: fields with their numbers, values as they are on the wire.

Facts: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench.errors import WireError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LONGEST = 10


class WireField(NamedTuple):
    """One field: its number, its wire type, and a number or the bytes of a text or message."""

    number: int
    kind: int
    value: int | bytes


def fields_of(data: bytes) -> Iterator[WireField]:
    """The fields of a message, in order. Raises WireError for bytes that are not a message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if not number:
            raise WireError(f"a field without a number at byte {at}")
        if kind == VARINT:
            value, at = varint(data, at)
            yield WireField(number, kind, value)
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(kind)
        if kind == BYTES:
            size, at = varint(data, at)
        if size is None or at + size > len(data):
            raise WireError(f"a field extends beyond its message at byte {at}")
        content = data[at : at + size]
        yield WireField(number, kind, content if kind == BYTES else int.from_bytes(content, "little"))
        at += size


def varint(data: bytes, at: int) -> tuple[int, int]:
    """(number, offset after it). Raises WireError."""
    value = 0
    for count in range(_LONGEST):
        if at >= len(data):
            raise WireError("the message is truncated")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, at
    raise WireError(f"a varint that is too long at byte {at}")
