"""Streams: how a body is framed, and its events, whatever frames them.

Beside server-sent events (``sse``): lines of JSON (NDJSON), an array of JSON that arrives element by element (Google's
``streamGenerateContent`` without ``alt=sse``), and AWS event stream messages. Every framing gives the same events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from workbench.errors import LocalProtocolError, WireError
from workbench.wire import _aws_frames, sse
from workbench.wire._aws_frames import AwsEvent, sealed_payload
from workbench.wire._aws_frames import write as aws_message
from workbench.wire._loads import loads
from workbench.wire._sse_block import SseEvent
from workbench.wire.json_scan import CUT, Scanner

__all__ = [
    "Fault",
    "Framing",
    "Stream",
    "aws_message",
    "framing_of",
    "is_sealed",
    "read_stream",
    "read_untyped",
    "rewrite",
    "sealed_payload",
]


class Framing(StrEnum):
    """What separates the events of a stream."""

    SSE = "server-sent events"
    NDJSON = "JSON lines"
    JSON_ARRAY = "JSON array"
    AWS = "AWS event stream"


class Fault(NamedTuple):
    """What is wrong with the framing of one event; the event is read as far as it can be."""

    event: int
    text: str


class Stream(NamedTuple):
    """A body as a stream. ``framing`` is None, and ``events`` are none, for what is no stream."""

    framing: Framing | None
    events: tuple[SseEvent, ...] = ()
    faults: tuple[Fault, ...] = ()


_NDJSON_TYPES: Final = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
_AWS_TYPE: Final = "application/vnd.amazon.eventstream"
_BOM: Final = b"\xef\xbb\xbf"
_JSON: Final = re.compile(rb"[ \t\r\n]*+[{\[]")
_OBJECT: Final = re.compile(rb"[ \t\r\n]*+\{")
_ELEMENT: Final = re.compile(rb'[ \t\r\n]*+\[[ \t\r\n]*+\{[ \t\r\n]*+"(?!error")')
_FIELD: Final = re.compile(rb"(?:^|[\r\n])[ \t]*+(?:data|event):")
_SPACE: Final = b" \t\r\n"


def framing_of(body: bytes, content_type: str = "") -> Framing | None:
    """The framing of a body, told from its content type and its first bytes; None for what is no stream.

    The bytes count more than the type: proxies and recorders mislabel. One JSON object is a stream only where the
    type says that it is lines. An array whose first element is an error is an error body (Google answers so).
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


def read_stream(body: bytes, content_type: str = "", framing: Framing | None = None) -> Stream:
    """The events of a content-decoded body, whole or as far as it came; of what is no stream, none.

    Args:
        body: the bytes; of a stream that still arrives, what came of it. Its whole events stay when more comes.
        content_type: value of the header, "" where it is not known.
        framing: what it is read as; without it, what ``framing_of`` says.
    """
    framing = framing or framing_of(body, content_type)
    if framing is Framing.SSE:
        return Stream(framing, sse.read_events(body))
    if framing is Framing.NDJSON:
        return Stream(framing, tuple(_lines(body)))
    if framing is Framing.JSON_ARRAY:
        return _array(body)
    if framing is Framing.AWS:
        messages = _aws_frames.read(body)
        faults = tuple(Fault(m.event.number, m.fault) for m in messages if m.fault)
        return Stream(framing, tuple(m.event for m in messages), faults)
    return Stream(None)


def read_untyped(body: bytes, framing: Framing | None = None) -> Stream:
    """``read_stream`` without the content type that the body came with, which may be all that called it a stream.

    What begins like no stream and is no JSON is server-sent events if it holds any.
    """
    found = read_stream(body, framing=framing)
    is_json = _JSON.match(body, len(_BOM) if body.startswith(_BOM) else 0)
    if found.framing is None and not is_json and _FIELD.search(body):
        return Stream(Framing.SSE, sse.read_events(body))
    return found


def is_sealed(event: SseEvent) -> bool:
    """The data of the event stands in base64 on the wire, so that no value in it has bytes of its own."""
    return isinstance(event, AwsEvent) and event.is_sealed


def rewrite(body: bytes, events: tuple[SseEvent, ...], data: Mapping[int, bytes]) -> bytes:
    """The body with other data in some events, where a framing counts or encodes what it holds.

    Args:
        body: the stream.
        events: its events.
        data: number of an event → its new data.

    Raises:
        LocalProtocolError: an event that is not whole, or that has no data.
    """
    pieces, at = list[bytes](), 0
    for number in sorted(data):
        event = events[number]
        if not isinstance(event, AwsEvent) or not event.terminated or not event.data_spans:
            raise LocalProtocolError("this event cannot be written anew", where=f"event {number}")
        pieces += (body[at : event.start], event.rewritten(body, data[number]))
        at = event.end
    return b"".join((*pieces, body[at:]))


def _is_lines(body: bytes, start: int) -> bool:
    """The first line is a whole JSON object, and another one begins after it."""
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
    """Every line that is not blank; a last one without its line end is whole when it is JSON."""
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


def _array(body: bytes) -> Stream:
    scanner = Scanner(body)
    root = scanner.root()
    if root is None:
        return Stream(Framing.JSON_ARRAY)
    values = scanner.table(root).values
    events = [_element(body, n // 2, values[n], values[n + 1]) for n in range(0, len(values), 2)]
    last = events[-1].end if events else root + 1
    rest = body[last:].lstrip(_SPACE)
    fault = "" if rest.startswith(b"]") or (not rest and events and not events[-1].terminated) else "is not closed"
    if rest.startswith(b"]") and rest[1:].strip(_SPACE):
        fault = "is followed by other bytes"
    faults = (Fault(max(len(events) - 1, 0), f"the array {fault}"),) if fault else ()
    return Stream(Framing.JSON_ARRAY, tuple(events), faults)


def _element(body: bytes, number: int, start: int, end: int) -> SseEvent:
    is_whole = end != CUT
    end = end if is_whole else len(body.rstrip(_SPACE))
    return SseEvent(number, None, body[start:end], start, end, ((start, end),), terminated=is_whole)
