"""The selection that drives every pane: a place of an exchange, and the items of each view that belong to it.

These are plain values: ``workbench.tui.exchange_view`` makes them, panes show them; they are cheap to import.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.lazy_dataclass import dataclass, field
from workbench.views import REQUEST

Spans = tuple[tuple[int, int], ...]
"""Byte ranges of a content-decoded body."""


@dataclass(frozen=True)
class ExchangeSelection:
    """A place of an exchange.

    Attributes:
        exchange: index in the session, from zero.
        side: ``"request"`` or ``"response"``.
        pointer: absolute pointer into that side's body, or into the accumulated message of a stream.
        events: stream events that contained it.
        spans: its byte ranges; empty if it is not on the wire.
        related: related pointers of the same side.
        node: node of the outline, if it was made at one: a message and its only part may have the same pointer.
    """

    exchange: int
    side: str = REQUEST
    pointer: str = ""
    events: tuple[int, ...] = ()
    spans: Spans = ()
    related: tuple[str, ...] = ()
    node: int | None = field(default=None, compare=False)


class SessionSpot(NamedTuple):
    """Target of a jump from another screen to the session screen: a byte of one side of an exchange."""

    exchange: int
    side: str
    offset: int


@dataclass(frozen=True)
class Lights:
    """Items that belong to a selection.

    Attributes:
        node: node of the outline; None if the selection is on no node.
        nodes: related nodes: the result of a call, the call of a result.
        calls: lines of the closure.
        entries: ledger entries of the selection itself.
        turn: other ledger entries of the same turn.
        spans: byte ranges of ``nodes`` on each side.
    """

    node: int | None = None
    nodes: frozenset[int] = frozenset()
    calls: frozenset[int] = frozenset()
    entries: frozenset[int] = frozenset()
    turn: frozenset[int] = frozenset()
    spans: dict[str, Spans] = field(default_factory=dict)
