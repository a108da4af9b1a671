"""Shared by importers of HTTP recordings: headers, times, and bodies that the recorder decoded or parsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from workbench.formats.importers._body_encodings import (
    WAS_BASE64,
    WAS_CHUNKS,
    decode_base64,
    hidden_base64,
    joined_chunks,
)
from workbench.ir import JsonValue
from workbench.wire import Body, Headers, detect_encoding, dumps

PARSED = "the recorder kept parsed JSON: key order and white space are lost"


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
        return ((name, one) for name, held in value.items() for one in _values(held))
    if isinstance(value, str):
        lines = (line.partition(":") for line in value.splitlines())
        return ((name, one.strip()) for name, colon, one in lines if colon and name)
    held = value if isinstance(value, list) else []
    if held and len(held) % 2 == 0 and all(isinstance(item, str) for item in held):
        return zip(held[::2], held[1::2], strict=True)
    return (pair for item in held for pair in _pair(item))


def _pair(item: JsonValue) -> Iterator[tuple[JsonValue, JsonValue]]:
    if isinstance(item, list) and len(item) == 2:
        yield item[0], item[1]
    name = item.get("name", item.get("key")) if isinstance(item, dict) else None
    if isinstance(name, str):
        yield from ((name, one) for one in _values(item.get("value", item.get("values"))))


def _values(held: JsonValue) -> list[JsonValue]:
    """Values of one header; of a matcher (``{"equalTo": …}``) the value it compares with."""
    if isinstance(held, dict):
        held = next((one for one in held.values() if isinstance(one, str | list)), None)
    return held if isinstance(held, list) else [held]


def body_of(raw: bytes, headers: Headers) -> Body:
    """A body as the recorder kept it.

    Content-Encoding may name a coding that was already removed, and the text may be base64 of the body.
    """
    found = hidden_base64(raw)
    if found is not None:
        held = body_of(found, headers)
        return replace(held, note="; ".join(note for note in (WAS_BASE64, held.note) if note))
    named = headers.get("content-encoding") or ""
    encoding = detect_encoding(raw, named)
    if raw and named and not encoding and named.strip().lower() != "identity":
        return Body(raw, is_raw=False, note=f"the recorder kept the body after decoding {named}")
    return Body(raw, encoding=encoding)


def parsed_body(value: JsonValue) -> Body:
    """A body of which only the JSON value was kept. Raises LocalProtocolError if the value is not JSON."""
    return Body(dumps(value), is_raw=False, note=PARSED)


def base64_body(text: JsonValue, headers: Headers) -> Body:
    """A body stored as base64 text, or as a list of texts, one for each chunk."""
    data = text_bytes(text)
    found = decode_base64(data)
    if found is not None:
        return body_of(found, headers)
    chunks = joined_chunks(data)
    if chunks is not None:
        return replace(body_of(chunks, headers), note=WAS_CHUNKS)
    return Body(data, is_raw=False, note="the recorder states base64, but the text is not base64")


def epoch(value: JsonValue) -> float | None:
    """Seconds since the epoch of an ISO 8601 or RFC 2822 text, or of a number; UTC if it names no zone."""
    found = _moment(value) if isinstance(value, str) else value
    if isinstance(found, int | float) and not isinstance(found, bool) and 0 < found < 1e11:
        return float(found)
    return None


def _moment(value: str) -> float | None:
    iso = value.strip().removesuffix(" GMT").removesuffix(" UTC")
    for parse, written in ((datetime.fromisoformat, iso), (parsedate_to_datetime, value)):
        try:
            moment = parse(written)
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
