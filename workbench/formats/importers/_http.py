"""Shared by importers of HTTP recordings: headers, times, and bodies that the recorder decoded or parsed.

Decodes bodies that a recorder wrapped without saying so: base64 text, lists of chunks, lists of numbers.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.wire import Body, Framing, Headers, detect_encoding, dumps, framing_of, loads

PARSED = "the recording tool stored parsed JSON: key order and whitespace are lost"


def text_bytes(value: JsonValue) -> bytes:
    """Bytes of recorded text or bytes; other scalars are written as text."""
    if isinstance(value, bytes):
        return value
    if value is None:
        return b""
    return (value if isinstance(value, str) else str(value)).encode("utf-8", "surrogatepass")


def header_text(value: JsonValue) -> str:
    """A header name or value: wire bytes read as Latin-1."""
    if isinstance(value, str) and value.isascii():
        return value
    return text_bytes(value).decode("latin-1")


def whole_text(value: JsonValue) -> str:
    """Text for a URL or note; lone surrogates become "?". Empty if the value is not a string."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def headers_of(value: JsonValue) -> Headers:
    """Headers in any form that recorders use.

    A mapping to a text, a list of texts or a matcher; a list of pairs, of ``{name, value}``, of ``{name, values}`` or
    of ``{key, value}``; alternating names and values; or the lines of a header block.
    """
    return Headers(tuple((header_text(n), header_text(v)) for n, v in _pairs(value)))


def _pairs(value: JsonValue) -> Iterable[tuple[JsonValue, JsonValue]]:
    if isinstance(value, dict):
        return ((name, one) for name, items in value.items() for one in _values(items))
    if isinstance(value, str):
        lines = (line.partition(":") for line in value.splitlines())
        return ((name, one.strip()) for name, colon, one in lines if colon and name)
    items = value if isinstance(value, list) else []
    if items and len(items) % 2 == 0 and all(isinstance(item, str) for item in items):
        return zip(items[::2], items[1::2], strict=True)
    return (pair for item in items for pair in _pair(item))


def _pair(item: JsonValue) -> Iterator[tuple[JsonValue, JsonValue]]:
    if isinstance(item, list) and len(item) == 2:
        yield item[0], item[1]
    name = item.get("name", item.get("key")) if isinstance(item, dict) else None
    if isinstance(name, str):
        yield from ((name, one) for one in _values(item.get("value", item.get("values"))))


def _values(value: JsonValue) -> list[JsonValue]:
    """Values of one header; of a matcher (``{"equalTo": …}``) the value it compares with."""
    if isinstance(value, dict):
        value = next((one for one in value.values() if isinstance(one, str | list)), None)
    return value if isinstance(value, list) else [value]


def stored_body(raw: bytes, headers: Headers) -> Body:
    """A body as the recording tool stored it.

    Content-Encoding may name a coding that was already removed, and the text may be base64 of the body.
    """
    found = hidden_base64(raw)
    if found is not None:
        inner = stored_body(found, headers)
        return replace(inner, note="; ".join(note for note in (WAS_BASE64, inner.note) if note))
    content_encoding = headers.get("content-encoding") or ""
    encoding = detect_encoding(raw, content_encoding)
    if raw and content_encoding and not encoding and content_encoding.strip().lower() != "identity":
        return Body(raw, is_raw=False, note=f"the recording tool stored the body after decoding {content_encoding}")
    return Body(raw, encoding=encoding)


def parsed_body(value: JsonValue) -> Body:
    """A body of which only the JSON value was kept. Raises LocalProtocolError if the value is not JSON."""
    return Body(dumps(value), is_raw=False, note=PARSED)


def base64_body(text: JsonValue, headers: Headers) -> Body:
    """A body stored as base64 text, or as a list of texts, one for each chunk."""
    data = text_bytes(text)
    found = decode_base64(data)
    if found is not None:
        return stored_body(found, headers)
    chunks = joined_chunks(data)
    if chunks is not None:
        return replace(stored_body(chunks, headers), note=WAS_CHUNKS)
    return Body(data, is_raw=False, note="the recording tool states base64, but the text is not base64")


def epoch(value: JsonValue) -> float | None:
    """Seconds since the epoch of an ISO 8601 or RFC 2822 text, or of a number; UTC if it names no zone."""
    found = _moment(value) if isinstance(value, str) else value
    if isinstance(found, int | float) and not isinstance(found, bool) and 0 < found < 1e11:
        return float(found)
    return None


def _moment(value: str) -> float | None:
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    iso = value.strip().removesuffix(" GMT").removesuffix(" UTC")
    for parse, source in ((datetime.fromisoformat, iso), (parsedate_to_datetime, value)):
        try:
            moment = parse(source)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def seconds(value: JsonValue) -> float | None:
    """HAR milliseconds in seconds; None if unknown (-1)."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12:
        return value / 1000
    return None


def whole(value: JsonValue, default: int = 0) -> int:
    """An integer, or a text of digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10 else default


WAS_BASE64 = "the recording tool stored the body as base64"
WAS_CHUNKS = "the recording tool stored the body as a list of encoded chunks"

_BASE64 = regex.compile(rb"[A-Za-z0-9+/]+(?:\r?\n[A-Za-z0-9+/]+)*={0,2}\s*")
_BEGINS = regex.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd|\s*[\[{]|(?:data|event|id):")
_BASE64_PREFIX = b"base64:"
"""Prefix that some recorders write before binary data."""

_HEX = regex.compile(r"(?:[0-9a-fA-F]{2})+")
_LEAST = 16
_PEEK = 64
"""Characters decoded for a first look; a multiple of four."""


def hidden_base64(raw: bytes) -> bytes | None:
    """Decoded base64 of a body, if the result looks like an HTTP body: gzip, JSON, events, AWS frames.

    After the prefix ``base64:`` any decoded content is accepted.
    """
    if raw.startswith(_BASE64_PREFIX):
        return decode_base64(raw.removeprefix(_BASE64_PREFIX))
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
