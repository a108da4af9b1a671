"""What an exchange that is no HTTP request and answer consists of: WebSocket messages, and the messages of gRPC calls.

A recorder of gRPC may keep a message both as protobuf bytes and as the tree it stands for (``Exchange.meta["grpc"]``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire._loads import dumps, loads
from workbench.wire.exchange import Exchange, Frame

GRPC: Final = "grpc"
"""Key of ``Exchange.meta`` with the trees of a call's messages, by side."""

TURNS: Final = "turns"
"""Key of ``Exchange.meta`` of a connection whose requests and answers stand behind it as exchanges: how many."""

_HEX: Final = 32
"""Bytes of a binary message that are shown."""


class SeenFrame(NamedTuple):
    """One message.

    Attributes:
        number: in the exchange, from zero.
        direction: ``"sent"`` or ``"received"``, seen from the client.
        type: what its JSON says it is ("response.create"), else how it was sent ("text", "binary", "protobuf").
        value: its JSON, None where it has none.
        text: it in words: JSON in one line, text as it is, the first bytes of anything else.
        size: bytes.
    """

    number: int
    direction: str
    type: str
    value: JsonValue
    text: str
    size: int


def seen_frames(exchange: Exchange) -> Iterator[SeenFrame]:
    """Every message of a connection or call, in order; nothing for HTTP."""
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
    elif frame.opcode == "text":
        text = frame.data.decode("utf-8", "backslashreplace")
    else:
        more = " …" if len(frame.data) > _HEX else ""
        text = f"{frame.data[:_HEX].hex(' ')}{more}" if frame.data else ""
    return SeenFrame(number, frame.direction, _type(value) or frame.opcode, value, text, len(frame.data))


def _type(value: JsonValue) -> str:
    """Its ``type``; of an object without one its keys, of which messages of such protocols have one or two."""
    if not isinstance(value, dict):
        return ""
    kind = value.get("type")
    return kind if isinstance(kind, str) else " + ".join(list(value)[:2])
