"""Messages of non-HTTP exchanges: WebSocket messages, lines of tool servers, and messages of gRPC calls.

A gRPC recorder may keep a message as protobuf bytes and as its parsed tree (``Exchange.meta["grpc"]``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.wire._loads import dumps, loads
from workbench.wire.exchange import Exchange, Frame

GRPC: Final = "grpc"
"""Key of ``Exchange.meta`` with the parsed messages of a call, by side."""

TURNS: Final = "turns"
"""Key of ``Exchange.meta`` of a connection: number of exchanges derived from it, which follow it."""

FRAMES: Final = "frames"
"""Key of ``Exchange.meta`` of such an exchange: numbers of its frames in the connection, from zero. Of a tool server a
list; of a WebSocket those of the request, and runs (first, last) of those of the response, one frame an event."""

UPSTREAM: Final = "upstream"
"""Key of ``Exchange.meta`` of a request to a tool server over HTTP: the server's name in the client's configuration."""

TOOL_HOP: Final = "tools"
"""Name of the hop between an agent and the tool servers that it reaches over HTTP."""

_HEX: Final = 32
"""Bytes shown of a binary message."""


class SeenFrame(NamedTuple):
    """One message.

    Attributes:
        number: in the exchange, from zero.
        direction: ``"sent"`` or ``"received"``, seen from the client.
        type: type in its JSON ("response.create", "tools/call"), else its opcode ("text", "binary", "protobuf").
        value: its JSON; None if it has none.
        text: for display: JSON on one line, text, or the first bytes.
        size: bytes.
    """

    number: int
    direction: str
    type: str
    value: JsonValue
    text: str
    size: int


def seen_frames(exchange: Exchange) -> Iterator[SeenFrame]:
    """All messages of a connection or call, in order; empty for HTTP."""
    for number, frame in enumerate(exchange.frames):
        yield _frame(number, frame)
    trees = exchange.meta.get(GRPC)
    if isinstance(trees, dict) and not exchange.frames:
        for number, (side, tree) in enumerate(trees.items()):
            http = exchange.request if side == "request" else exchange.response
            size = len(http.body.raw) if http else 0
            direction = "sent" if side == "request" else "received"
            yield SeenFrame(number, direction, "protobuf", tree, dumps(tree).decode("utf-8", "replace"), size)


def _frame(number: int, frame: Frame) -> SeenFrame:
    try:
        value = loads(frame.data) if frame.data[:1] in (b"{", b"[") else None
    except WireError:
        value = None
    if value is not None:
        text = dumps(value).decode("utf-8", "replace")
    elif frame.opcode in ("text", "stderr"):
        text = frame.data.decode("utf-8", "backslashreplace")
    else:
        more = " …" if len(frame.data) > _HEX else ""
        text = f"{frame.data[:_HEX].hex(' ')}{more}" if frame.data else ""
    return SeenFrame(number, frame.direction, _type(value) or frame.opcode, value, text, len(frame.data))


def _type(value: JsonValue) -> str:
    """Its ``type``; of JSON-RPC the method; else the object's keys, of which such messages have one or two."""
    if not isinstance(value, dict):
        return ""
    kind = value.get("type")
    if "jsonrpc" in value:
        kind = value.get("method") or next((name for name in ("result", "error") if name in value), None)
    return kind if isinstance(kind, str) else " + ".join(list(value)[:2])
