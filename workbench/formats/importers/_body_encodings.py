"""Decodes bodies that a recorder wrapped without saying so: base64 text, lists of chunks, lists of numbers."""

from __future__ import annotations

import base64
import binascii

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire import Framing, framing_of, loads

WAS_BASE64 = "the recorder kept the body as base64"
WAS_CHUNKS = "the recorder kept the body as a list of encoded chunks"

_BASE64 = regex.compile(rb"[A-Za-z0-9+/]+(?:\r?\n[A-Za-z0-9+/]+)*={0,2}\s*")
_BEGINS = regex.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd|\s*[\[{]|(?:data|event|id):")
_SAID = b"base64:"
"""Prefix that some recorders write before binary data."""

_HEX = regex.compile(r"(?:[0-9a-fA-F]{2})+")
_LEAST = 16
_PEEK = 64
"""Characters decoded for a first look; a multiple of four."""


def hidden_base64(raw: bytes) -> bytes | None:
    """Decoded base64 of a body, if the result looks like an HTTP body: gzip, JSON, events, AWS frames.

    After the prefix ``base64:`` any decoded content is accepted.
    """
    if raw.startswith(_SAID):
        return decode_base64(raw.removeprefix(_SAID))
    if len(raw) < _LEAST or not _begins_like_a_body(decode_base64(b"".join(raw[: 2 * _PEEK].split())[:_PEEK])):
        return None
    found = decode_base64(raw) if _BASE64.fullmatch(raw) else None
    return found if found and not (found.lstrip()[:1] in (b"{", b"[") and not _is_json(found)) else None


def decode_base64(text: bytes) -> bytes | None:
    """Bytes of base64 text; None if it is not base64."""
    try:
        return base64.b64decode(b"".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def joined_chunks(value: JsonValue) -> bytes | None:
    """Bytes of a list of base64 or hexadecimal texts, or of such a list as JSON text; None for other values."""
    if isinstance(value, str | bytes):
        value = _list_in(value)
    if not isinstance(value, list) or not value or not all(isinstance(chunk, str) and chunk for chunk in value):
        return None
    if all(_HEX.fullmatch(chunk) for chunk in value):
        return b"".join(bytes.fromhex(chunk) for chunk in value)
    pieces = [decode_base64(chunk.encode("utf-8", "replace")) for chunk in value]
    return None if None in pieces else b"".join(piece for piece in pieces if piece)


def bytes_of_numbers(value: JsonValue) -> bytes | None:
    """Bytes of a list of numbers, or of Node's ``{"type": "Buffer", "data": […]}``; None for other values."""
    if isinstance(value, dict) and value.get("type") == "Buffer":
        value = value.get("data")
    if not isinstance(value, list) or not value or not all(type(n) is int and 0 <= n < 256 for n in value):
        return None
    return bytes(value)


def _begins_like_a_body(start: bytes | None) -> bool:
    return bool(start) and bool(_BEGINS.match(start or b"") or framing_of(start or b"") is Framing.AWS)


def _is_json(data: bytes) -> bool:
    try:
        loads(data)
    except WireError:
        return False
    return True


def _list_in(text: str | bytes) -> JsonValue:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    if not data.lstrip().startswith(b"["):
        return None
    try:
        return loads(data)
    except WireError:
        return None
