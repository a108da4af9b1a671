"""Streams: framing of a body and its events, for all framings.

Besides server-sent events (``sse``): lines of JSON (NDJSON), a JSON array that arrives element by element (Google's
``streamGenerateContent`` without ``alt=sse``), and AWS event stream messages. Every framing gives the same events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from workbench import regex
from workbench.errors import LocalProtocolError, WireError
from workbench.named_tuple import NamedTuple
from workbench.wire import _aws_frames, sse
from workbench.wire._aws_frames import AwsEvent, sealed_payload
from workbench.wire._aws_frames import write as aws_message
from workbench.wire._loads import loads
from workbench.wire.json_scan import CUT, Scanner
from workbench.wire.sse import SseEvent

__all__ = [
    "BodyStream",
    "Framing",
    "FramingFault",
    "aws_message",
    "framing_of",
    "is_sealed",
    "read_stream",
    "read_untyped",
    "rewrite",
    "sealed_payload",
]


class Framing(StrEnum):
    """Separator of the events of a stream."""

    SSE = "server-sent events"
    NDJSON = "JSON lines"
    JSON_ARRAY = "JSON array"
    AWS = "AWS event stream"


class FramingFault(NamedTuple):
    """A framing fault of one event; the event is read as far as possible."""

    event: int
    text: str


class BodyStream(NamedTuple):
    """A body as a stream. If it is not a stream, ``framing`` is None and ``events`` is empty."""

    framing: Framing | None
    events: tuple[SseEvent, ...] = ()
    faults: tuple[FramingFault, ...] = ()


_NDJSON_TYPES: Final = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
_AWS_TYPE: Final = "application/vnd.amazon.eventstream"
_BOM: Final = b"\xef\xbb\xbf"
_JSON: Final = regex.compile(rb"[ \t\r\n]*+[{\[]")
_OBJECT: Final = regex.compile(rb"[ \t\r\n]*+\{")
_ELEMENT: Final = regex.compile(rb'[ \t\r\n]*+\[[ \t\r\n]*+\{[ \t\r\n]*+"(?!error")')
_FIELD: Final = regex.compile(rb"(?:^|[\r\n])[ \t]*+(?:data|event):")
_SPACE: Final = b" \t\r\n"


def framing_of(body: bytes, content_type: str = "") -> Framing | None:
    """Framing of a body by its content type and first bytes; None if it is not a stream.

    The bytes have priority: proxies and recorders mislabel. One JSON object is a stream only if the type states lines.
    An array with an error as first element is an error body (Google responds so).
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _AWS_TYPE or _aws_frames.is_prelude(body):
        return Framing.AWS if body and not _JSON.match(body) else None
    if sse.looks_like_stream(body, content_type):
        return Framing.SSE
    start = len(_BOM) if body.startswith(_BOM) else 0
    if _ELEMENT.match(body, start):
        return Framing.JSON_ARRAY
    if kind in _NDJSON_TYPES:
        return Framing.NDJSON if _OBJECT.match(body, start) else None
    return Framing.NDJSON if _is_lines(body, start) else None


def read_stream(body: bytes, content_type: str = "", framing: Framing | None = None) -> BodyStream:
    """Events of a content-decoded body, complete or so far; empty if it is not a stream.

    Args:
        body: the bytes; of an open stream those received. Complete events do not change when more arrive.
        content_type: value of the header, empty if unknown.
        framing: framing to assume; by default from ``framing_of``.
    """
    framing = framing or framing_of(body, content_type)
    if framing is Framing.SSE:
        return BodyStream(framing, sse.read_events(body))
    if framing is Framing.NDJSON:
        return BodyStream(framing, tuple(_lines(body)))
    if framing is Framing.JSON_ARRAY:
        return _array(body)
    if framing is Framing.AWS:
        messages = _aws_frames.read(body)
        faults = tuple(FramingFault(m.event.number, m.fault) for m in messages if m.fault)
        return BodyStream(framing, tuple(m.event for m in messages), faults)
    return BodyStream(None)


def read_untyped(body: bytes, framing: Framing | None = None) -> BodyStream:
    """``read_stream`` without the content type, which may have been the only sign of a stream.

    A body that does not start like a stream and is not JSON is read as server-sent events if it has any.
    """
    found = read_stream(body, framing=framing)
    is_json = _JSON.match(body, len(_BOM) if body.startswith(_BOM) else 0)
    if found.framing is None and not is_json and _FIELD.search(body):
        return BodyStream(Framing.SSE, sse.read_events(body))
    return found


def is_sealed(event: SseEvent) -> bool:
    """True if the event's data is base64 on the wire, so that values in it have no separate bytes."""
    return isinstance(event, AwsEvent) and event.is_sealed


def rewrite(body: bytes, events: tuple[SseEvent, ...], data: Mapping[int, bytes]) -> bytes:
    """The body with new data in some events, for framings that count or encode their content.

    Args:
        body: the stream.
        events: its events.
        data: number of an event → its new data.

    Raises:
        LocalProtocolError: an event that is incomplete or has no data.
    """
    pieces, at = list[bytes](), 0
    for number in sorted(data):
        event = events[number]
        if not isinstance(event, AwsEvent) or not event.terminated or not event.data_spans:
            raise LocalProtocolError("this event cannot be rewritten", where=f"event {number}")
        pieces += (body[at : event.start], event.rewritten(body, data[number]))
        at = event.end
    return b"".join((*pieces, body[at:]))


def _is_lines(body: bytes, start: int) -> bool:
    """True if the first line is a whole JSON object and another one starts after it."""
    found = _OBJECT.match(body, start)
    stop = body.find(b"\n", found.end()) if found else -1
    if not found or stop < 0 or not _OBJECT.match(body, stop):
        return False
    line = body[found.end() - 1 : stop].rstrip(_SPACE)
    return line.endswith(b"}") and _is_json(line)


def _is_json(text: bytes) -> bool:
    try:
        loads(text)
    except WireError:
        return False
    return True


def _lines(body: bytes) -> Iterator[SseEvent]:
    """Every non-blank line; a last one without line end is complete if it is JSON."""
    at, number = len(_BOM) if body.startswith(_BOM) else 0, 0
    while at < len(body):
        found = body.find(b"\n", at)
        stop = found if found >= 0 else len(body)
        line = body[at:stop]
        start = at + len(line) - len(line.lstrip(_SPACE))
        data = line.strip(_SPACE)
        if data:
            end = start + len(data)
            terminated = found >= 0 or (data.endswith(b"}") and _is_json(data))
            yield SseEvent(number, None, data, start, end, ((start, end),), terminated=terminated)
            number += 1
        at = stop + 1


def _array(body: bytes) -> BodyStream:
    scanner = Scanner(body)
    root = scanner.root()
    if root is None:
        return BodyStream(Framing.JSON_ARRAY)
    values = scanner.table(root).values
    events = [_element(body, n // 2, values[n], values[n + 1]) for n in range(0, len(values), 2)]
    last = events[-1].end if events else root + 1
    rest = body[last:].lstrip(_SPACE)
    fault = "" if rest.startswith(b"]") or (not rest and events and not events[-1].terminated) else "is not closed"
    if rest.startswith(b"]") and rest[1:].strip(_SPACE):
        fault = "is followed by more bytes"
    faults = (FramingFault(max(len(events) - 1, 0), f"the array {fault}"),) if fault else ()
    return BodyStream(Framing.JSON_ARRAY, tuple(events), faults)


def _element(body: bytes, number: int, start: int, end: int) -> SseEvent:
    is_whole = end != CUT
    end = end if is_whole else len(body.rstrip(_SPACE))
    return SseEvent(number, None, body[start:end], start, end, ((start, end),), terminated=is_whole)
