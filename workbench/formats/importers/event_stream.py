"""Importer for one event stream: server-sent events, or AWS event stream messages."""

from __future__ import annotations

import re
from itertools import pairwise

from workbench import regex
from workbench.errors import WireError
from workbench.formats.importers._several_streams import may_hold_several, next_streams
from workbench.formats.importers._side_of_value import response_only
from workbench.ir import JsonValue
from workbench.wire import Framing, framing_of, loads, read_stream
from workbench.wire.session import MemorySession

NAME = "event-stream"
TITLE = "event stream"

_FIRST_LINE = regex.compile(rb"\s*(?:data|event|id|retry)?:", re.ASCII)
_DATA_LINE = regex.compile(rb"(?:\A|[\r\n])(?:data|event):")


def sniff(head: bytes) -> float:
    """Starts with a field or comment and has data or a name; or starts with an AWS message prelude."""
    if framing_of(head) is Framing.AWS:
        return 0.9
    return 0.8 if _FIRST_LINE.match(head) and _DATA_LINE.search(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """An exchange for each whole stream, with the stream as its response, byte for byte."""
    begins = [0, *_next_streams(data), len(data)]
    note = "only an event stream" if len(begins) == 2 else "one of the event streams of the file"
    exchanges = tuple(response_only(n, data[a:b], note) for n, (a, b) in enumerate(pairwise(begins), 1))
    return MemorySession(name, exchanges, format=TITLE)


def _next_streams(data: bytes) -> list[int]:
    """Offsets at which another stream begins."""
    if framing_of(data) is Framing.AWS or not may_hold_several(data):
        return []
    events = read_stream(data, framing=Framing.SSE).events
    return [events[n].start for n in next_streams(_payload(event.data or b"") for event in events)]


def _payload(data: bytes) -> JsonValue:
    try:
        return loads(data)
    except WireError:
        return data.decode("utf-8", "replace").strip()
