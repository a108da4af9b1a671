"""Importer for plain text that a model wrote; the last resort."""

from __future__ import annotations

from workbench.errors import UnreadableInput
from workbench.formats.importers._side_of_value import response_only
from workbench.wire.session import MemorySession

NAME = "model-text"
TITLE = "model text"


def sniff(head: bytes) -> float:
    """Lowest score for anything that is not binary."""
    return 0.0 if b"\0" in head else 0.05


def read(data: bytes, name: str) -> MemorySession:
    """One exchange with the text as its response. Raises UnreadableInput if it is not UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableInput(f"not UTF-8 text: line {line}, byte {error.start}: {error.reason}") from error
    exchange = response_only(1, data, "model text", content_type="text/plain; charset=utf-8")
    return MemorySession(name, (exchange,), format=TITLE)
