"""Importer for one event stream: server-sent events, or AWS event stream messages."""

from __future__ import annotations

import re

from workbench import regex
from workbench.formats.importers._side_of_value import response_only
from workbench.wire import Framing, framing_of
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
    """One exchange with the stream as its response, byte for byte."""
    return MemorySession(name, (response_only(1, data, "only an event stream"),), format=TITLE)
