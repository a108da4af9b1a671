"""One event stream by itself: server-sent events, or the messages of an AWS event stream."""

from __future__ import annotations

import re

from workbench.formats.importers._bare import response_only
from workbench.wire.session import MemorySession
from workbench.wire.stream import Framing, framing_of

NAME = "event-stream"
TITLE = "event stream"

_FIRST_LINE = re.compile(rb"\s*(?:data|event|id|retry)?:", re.ASCII)
_DATA_LINE = re.compile(rb"(?:\A|[\r\n])(?:data|event):")


def sniff(head: bytes) -> float:
    """It begins with a field or a comment, and has data or a name; or with the prelude of a message."""
    if framing_of(head) is Framing.AWS:
        return 0.9
    return 0.8 if _FIRST_LINE.match(head) and _DATA_LINE.search(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """One exchange whose response is the stream, byte for byte."""
    return MemorySession(name, (response_only(1, data, "an event stream by itself"),), format=TITLE)
