"""Reads and writes AWS event stream messages: a binary prelude, typed headers, a payload and two CRC32s.

A message is ``total length | headers length | CRC of those 8 bytes | headers | payload | CRC of all before``, numbers
big-endian, 32 bits (Smithy 2.0 specification, "Amazon Event Stream", ``application/vnd.amazon.eventstream``; the same
in botocore ``eventstream.py``). ``:message-type`` is ``event`` (named by ``:event-type``), ``exception`` (named by
``:exception-type``) or ``error`` (``:error-code``, with its text in the header ``:error-message``).
"""

from __future__ import annotations

import binascii
import struct
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Final
from zlib import crc32

from workbench import regex
from workbench.named_tuple import NamedTuple
from workbench.wire.json_index import JsonIndex, Span
from workbench.wire.sse import SseEvent

MAX_MESSAGE: Final = 24 * 1024 * 1024
"""Limit of one message in bytes: the specification allows payloads of 24 MB (botocore refuses larger ones)."""

PRELUDE, TAIL = 12, 4
"""Bytes before the headers of a message, and of its checksum."""
_STRING: Final = 7
_FIXED: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Header type → length of its value; types 6 (bytes) and 7 (string) have a 16-bit length."""
_HEADER_NAME: Final = regex.compile(rb":(?:event-type|exception-type|message-type|content-type|error-code)\x07")
_BYTES: Final = "/bytes"
_SEALED: Final = regex.compile(rb'\{"bytes":"([A-Za-z0-9+/]+={0,2})"(?:,"p":"[A-Za-z0-9]*")?\}')
"""Pattern of nearly all payloads that wrap bytes, with or without padding; others are parsed as JSON."""
_PREAMBLE: Final = struct.Struct(">III")
_CRC: Final = struct.Struct(">I")


class AwsEvent(SseEvent):
    """One message. ``data`` is the payload; for a payload ``{"bytes": base64}`` the bytes, with ``is_sealed``.

    ``start`` and ``end`` are those of the whole message. ``comments`` has the text of ``:error-message``.
    """

    __slots__ = ()

    @property
    def is_sealed(self) -> bool:
        """True if ``data`` is base64 on the wire: a value in it has only the byte range of the whole."""
        return any(end - start != len(self.data or b"") for start, end in self.data_spans)

    def span(self, pointer: str) -> Span | None:
        """Byte range of a pointer into ``data``; the range of the whole base64 text if it is sealed."""
        if not self.is_sealed:
            return super().span(pointer)
        found = JsonIndex(self.data).span(pointer) if self.data else None
        return self.data_spans[0] if found else None

    def rewritten(self, body: bytes, data: bytes) -> bytes:
        """The message with other data and correct lengths and checksums; headers and padding are kept."""
        ((start, end),) = self.data_spans
        total, headers = lengths(body, self.start)
        payload_start = self.start + PRELUDE + headers
        new = b64encode(data) if self.is_sealed else data
        payload = body[payload_start:start] + new + body[end : self.start + total - TAIL]
        return _build(body[self.start + PRELUDE : payload_start], payload)


class AwsMessage(NamedTuple):
    """Parsed content of one message; ``fault`` describes an error, empty if there is none."""

    event: AwsEvent
    fault: str


def is_prelude(body: bytes, at: int = 0) -> bool:
    """True if a message starts here: possible lengths with a correct checksum."""
    if len(body) < at + PRELUDE:
        return False
    total, headers, checksum = _PREAMBLE.unpack_from(body, at)
    is_possible: bool = headers + PRELUDE + TAIL <= total <= MAX_MESSAGE + 128 * 1024
    return is_possible and bool(checksum == crc32(body[at : at + 8]))


def read(body: bytes) -> list[AwsMessage]:
    """All messages of a body; other bytes are one event without data, up to the next message."""
    found: list[AwsMessage] = []
    known: dict[bytes, dict[str, str]] = {}
    at = 0
    while at < len(body):
        whole = is_prelude(body, at)
        if whole:
            message = _message(body, at, len(found), known)
        elif len(body) - at < PRELUDE:
            message = AwsMessage(
                _event(len(found), at, len(body), terminated=False), "the stream ends inside a message"
            )
        else:
            end = _next_prelude(body, at + 1)
            fault = f"bytes {at:,} to {end:,} are not an event stream message: the checksum of the lengths is wrong"
            message = AwsMessage(_event(len(found), at, end, terminated=False), fault)
        found.append(message)
        at = message.event.end
    return found


def write(name: str, payload: bytes, *, kind: str = "event") -> bytes:
    """Build one message: ``kind`` is ``"event"`` or ``"exception"``."""
    headers = ((f":{kind}-type", name), (":content-type", "application/json"), (":message-type", kind))
    return _build(b"".join(_header(*header) for header in headers), payload)


def sealed_payload(data: bytes) -> bytes:
    """The payload ``{"bytes": base64}`` of a chunk."""
    return b'{"bytes":"' + b64encode(data) + b'"}'


def _message(body: bytes, at: int, number: int, known: dict[bytes, dict[str, str]]) -> AwsMessage:
    """The message at an offset; ``known`` caches headers, which most messages of a stream share."""
    total, length = lengths(body, at)
    end = min(at + total, len(body))
    payload_start = at + PRELUDE + length
    head = body[at + PRELUDE : min(payload_start, end)]
    headers = known.get(head)
    if headers is None:
        headers = known[head] = {
            header: head[first:last].decode("utf-8", "replace") for header, first, last in string_headers(head)
        }
    name = next((v for n in ("event", "exception") if (v := headers.get(f":{n}-type"))), headers.get(":error-code"))
    text = headers.get(":error-message")
    comments = (text.encode(),) if text else ()
    if end < at + total:
        span = (min(payload_start, end), end)
        event = _event(number, at, end, name, body[slice(*span)], (span,), comments, terminated=False)
        return AwsMessage(event, "the stream ends inside a message")
    data, span = _payload(body, payload_start, end - TAIL)
    event = _event(number, at, end, name, data, (span,), comments)
    is_right = _number(body, end - TAIL) == crc32(body[at : end - TAIL])
    return AwsMessage(event, "" if is_right else f"the checksum of message {number} is wrong")


def _payload(body: bytes, start: int, end: int) -> tuple[bytes, Span]:
    """Data and position of a payload; the wrapped bytes if it wraps bytes."""
    sealed = _SEALED.fullmatch(body, start, end)
    if sealed:
        try:
            return binascii.a2b_base64(sealed[1]), sealed.span(1)
        except binascii.Error:
            return body[start:end], (start, end)
    payload = body[start:end]
    if payload.lstrip().startswith(b'{"') and b'"bytes"' in payload:
        found = JsonIndex(payload).span(_BYTES)
        quoted = payload[slice(*found)] if found else b""
        if found and quoted.startswith(b'"') and len(quoted) > 2:
            try:
                return b64decode(quoted[1:-1], validate=True), (start + found[0] + 1, start + found[1] - 1)
            except binascii.Error:
                pass
    return payload, (start, end)


def _event(
    number: int,
    start: int,
    end: int,
    name: str | None = None,
    data: bytes | None = None,
    spans: tuple[Span, ...] = (),
    comments: tuple[bytes, ...] = (),
    *,
    terminated: bool = True,
) -> AwsEvent:
    return AwsEvent(number, name, data, start, end, spans, None, None, comments, terminated)


def string_headers(text: bytes) -> Iterator[tuple[str, int, int]]:
    """Name and range of each string header, as far as they are well-formed."""
    at = 0
    while at < len(text):
        value = at + 2 + text[at]
        if value > len(text):
            break
        kind, name = text[value - 1], text[at + 1 : value - 1]
        length = _FIXED.get(kind)
        if length is None:
            value, length = value + 2, int.from_bytes(text[value : value + 2], "big")
            if kind not in (6, _STRING) or value + length > len(text):
                break
        if kind == _STRING:
            yield name.decode("utf-8", "replace"), value, value + length
        at = value + length


def _header(name: str, value: str) -> bytes:
    raw = value.encode()
    return bytes([len(name)]) + name.encode() + bytes([_STRING]) + len(raw).to_bytes(2, "big") + raw


def _build(headers: bytes, payload: bytes) -> bytes:
    """A message of its headers and payload."""
    total = PRELUDE + len(headers) + len(payload) + TAIL
    lengths = total.to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    message = lengths + crc32(lengths).to_bytes(4, "big") + headers + payload
    return message + crc32(message).to_bytes(4, "big")


def _next_prelude(body: bytes, at: int) -> int:
    """Offset of the next message: a first header name after a correct checksum; else the end."""
    for found in _HEADER_NAME.finditer(body, at + PRELUDE):
        start = found.start() - 1 - PRELUDE
        if start >= at and is_prelude(body, start):
            return start
    return len(body)


def lengths(body: bytes, at: int) -> tuple[int, int]:
    """Total length and headers length of the message at an offset."""
    total, headers, _ = _PREAMBLE.unpack_from(body, at)
    return total, headers


def _number(body: bytes, at: int) -> int:
    number: int = _CRC.unpack_from(body, at)[0]
    return number
