"""Facts that only all lines of a connection together show: framing faults, tool lists that changed."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.protocols.mcp.channel import RECEIVED, SENT, TEXT
from workbench.wire import Frame, loads

_CHANGED = "notifications/tools/list_changed"
_OF_LISTS = (b"list_changed", b"tools/list", b"tools/call", b'"tools"')
"""Texts of which a line has one if it matters for the list of tools."""


def fault_of_line(line: bytes) -> str:
    """Why a line is no message; empty for a message, and for a blank line, which readers skip."""
    if not line.strip():
        return ""
    if line.lower().startswith(b"content-length:"):
        return "a Content-Length header, as language servers send it; in MCP a message is one line without a header"
    try:
        value = loads(line)
    except WireError:
        return "not JSON"
    messages = value if isinstance(value, list) and value else [value]
    is_message = all(isinstance(message, dict) and "jsonrpc" in message for message in messages)
    return "" if is_message else "JSON, but not a JSON-RPC message"


def first_call_after_change(frames: Iterable[Frame]) -> tuple[int, int] | None:
    """Frames of a change of the tool list that the client did not read, and of the first call it made all the same.

    A change that is announced before the first list has arrived is part of that list.
    """
    asked: set[object] = set()
    is_listed, changed = False, None
    for number, frame in enumerate(frames):
        message = _message(frame) if any(text in frame.data for text in _OF_LISTS) else {}
        method, id_ = message.get("method"), repr(message.get("id"))
        if frame.direction == SENT and method == "tools/list":
            asked.add(id_)
            changed = None
        elif frame.direction == RECEIVED and method is None and id_ in asked:
            is_listed = True
        elif frame.direction == RECEIVED and method == _CHANGED and is_listed:
            changed = number
        elif frame.direction == SENT and method == "tools/call" and changed is not None:
            return changed, number
    return None


def _message(frame: Frame) -> dict[str, JsonValue]:
    try:
        value = loads(frame.data) if frame.opcode == TEXT else None
    except WireError:
        return {}
    return value if isinstance(value, dict) else {}
