"""One JSON body by itself: a request or an answer, as somebody copied it out of a log."""

from __future__ import annotations

import re

from workbench.errors import UnreadableInput
from workbench.importers._bare import body_only
from workbench.importers._sides import EVENT, side_of
from workbench.wire.jsontext import loads
from workbench.wire.session import MemorySession

NAME = "body"
TITLE = "JSON body"

_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_CALL = re.compile(rb'\s*\[?\s*\{\s*"(?:name|tool|tool_name|function|action)"\s*:\s*["{]')
_ARGUMENTS = re.compile(rb'[,{]\s*"(?:arguments|parameters|args|input|action_input|tool_input)"\s*:')


def sniff(head: bytes) -> float:
    """JSON, less so when it begins like a tool call that a model wrote as text."""
    if not _JSON.match(head):
        return 0.0
    return 0.4 if _CALL.match(head) and _ARGUMENTS.search(head, 0, 4096) else 0.6


def read(data: bytes, name: str) -> MemorySession:
    """One exchange with one side. Raises WireError, UnreadableInput."""
    value = loads(data)
    side = side_of(value)
    if side == EVENT:
        raise UnreadableInput("one event of a stream, not a whole body")
    if side is None and isinstance(value, list):
        raise UnreadableInput("a JSON array, not a body", hint='a list of messages needs {"model": …, "messages": …}')
    if side is None:
        raise UnreadableInput("JSON, but neither a request nor an answer of a model API")
    return MemorySession(name, (body_only(1, side, data, value),), format=TITLE)
