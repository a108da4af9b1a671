"""Importer for one JSON body: a request or a response copied from a log."""

from __future__ import annotations

from workbench.errors import UnreadableInput
from workbench.formats.importers._files import is_json, is_written_call
from workbench.formats.importers._records import is_record
from workbench.formats.importers._side_of_value import EVENT, body_only, side_of
from workbench.wire import loads
from workbench.wire.session import MemorySession

NAME = "body"
TITLE = "JSON body"


def sniff(head: bytes) -> float:
    """JSON; a lower score if it starts like a tool call that a model wrote as text."""
    if not is_json(head):
        return 0.0
    return 0.4 if is_written_call(head) else 0.6


def read(data: bytes, name: str) -> MemorySession:
    """One exchange with one side. Raises WireError, UnreadableInput."""
    value = loads(data)
    if is_record(value):
        raise UnreadableInput("a record with a request and its response, not a body")
    side = side_of(value)
    if side == EVENT:
        raise UnreadableInput("one event of a stream, not a complete body")
    if side is None and isinstance(value, list):
        raise UnreadableInput("a JSON array, but neither a request nor a response of a model API")
    if side is None:
        raise UnreadableInput("JSON, but neither a request nor a response of a model API")
    return MemorySession(name, (body_only(1, side, data, value),), format=TITLE)
