"""Connections that carry several exchanges (a WebSocket, a tool server), as ``check`` lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbench.wire import ExchangeKind, urls

if TYPE_CHECKING:
    from workbench.rules import InspectedExchange

_KINDS = (ExchangeKind.WEBSOCKET, ExchangeKind.MCP)


def channels_of(rows: Sequence[InspectedExchange]) -> Mapping[int, int]:
    """Index of each exchange that is part of a connection → index of the connection's own exchange.

    The id of such an exchange is that of its connection, a dot, and its number there.
    """
    connections = {row.summary.id: row.index for row in rows if row.summary.kind in _KINDS}
    found: dict[int, int] = {}
    for row in rows if connections else ():
        parent, _, number = row.summary.id.rpartition(".")
        if parent in connections and number.isdecimal():
            found[row.index] = connections[parent]
    return found


def channels_json(rows: Sequence[InspectedExchange]) -> list[dict[str, object]]:
    """The entries of ``channels``, in the order in which the connections began."""
    parents = channels_of(rows)
    inside: dict[int, list[InspectedExchange]] = {}
    for row in rows:
        if row.index in parents:
            inside.setdefault(parents[row.index], []).append(row)
    return [
        _channel(row, inside.get(row.index, []))
        for row in rows
        if row.summary.kind in _KINDS and row.index not in parents
    ]


def _channel(connection: InspectedExchange, inside: Sequence[InspectedExchange]) -> dict[str, object]:
    summary = connection.summary
    address = urls.split_url(summary.url)
    is_mcp = summary.kind is ExchangeKind.MCP
    protocol = "mcp" if is_mcp else next((row.protocol for row in inside if row.protocol), connection.protocol)
    return {
        "index": connection.index,
        "kind": summary.kind.value,
        "server": unquote(address.netloc) if is_mcp else address.hostname,
        "protocol": protocol,
        "state": summary.state.value,
        "note": summary.note,
        "frames": connection.frames or 0,
        "exchanges": [row.index for row in inside],
    }
