"""The text of one server-sent event stream by itself."""

from __future__ import annotations

import re

from workbench.importers._bare import response_only
from workbench.wire.session import MemorySession

NAME = "event-stream"
TITLE = "event stream"

_FIRST_LINE = re.compile(rb"\s*(?:data|event|id|retry)?:", re.ASCII)
_DATA_LINE = re.compile(rb"(?:\A|[\r\n])(?:data|event):")


def sniff(head: bytes) -> float:
    """It begins with a field or a comment, and has data or a name."""
    return 0.8 if _FIRST_LINE.match(head) and _DATA_LINE.search(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """One exchange whose response is the stream, byte for byte."""
    return MemorySession(name, (response_only(1, data, "an event stream by itself"),), format=TITLE)
