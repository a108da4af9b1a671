"""Exchanges of a tree in little memory: of a large request only what differs from the one it was made of is kept."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from threading import Lock

from workbench.edits import Splice, between, spliced
from workbench.wire.exchange import Exchange

SMALL = 64 * 1024
"""Bytes of a body below which it is kept as it is."""

DEEPEST = 32
"""Bodies that are made of one another: every so many one is kept whole, so that none is far away."""

AT_HAND = 4
"""Bodies that are kept whole because they were asked for last."""


class Recent:
    """What was made or put together last. For any number of threads."""

    def __init__(self) -> None:
        self._found: OrderedDict[int, tuple[Held, Exchange]] = OrderedDict()
        self._lock = Lock()

    def get(self, held: Held) -> Exchange:
        """The whole exchange."""
        return self.find(held) or self.put(held, held.made())

    def find(self, held: Held) -> Exchange | None:
        """The whole exchange, if it is at hand."""
        with self._lock:
            found = self._found.get(id(held))
        return found[1] if found else None

    def put(self, held: Held, exchange: Exchange) -> Exchange:
        """Have it at hand, as the one that was asked for last."""
        with self._lock:
            self._found.pop(id(held), None)
            self._found[id(held)] = held, exchange
            if len(self._found) > AT_HAND:
                self._found.popitem(last=False)
        return exchange


class Held:
    """An exchange.

    Args:
        base: the one whose request it was made of; None for none.
    """

    __slots__ = ("_bare", "_base", "_change", "_depth", "_recent")

    def __init__(self, exchange: Exchange, base: Held | None, recent: Recent) -> None:
        self._bare, self._base, self._recent = exchange, base, recent
        self._change: tuple[Splice, ...] | None = None
        self._depth: int = base._depth + 1 if base else 0
        body = _body(exchange)
        change = between(base.body, body) if base and len(body) > SMALL and self._depth < DEEPEST else None
        if change is None or sum(len(splice.new) for splice in change) > len(body) // 8:
            self._base, self._depth = None, 0
        else:
            self._bare, self._change = _with_body(exchange, b""), change
            recent.put(self, exchange)

    @property
    def bare(self) -> Exchange:
        """All of it but for the body of its request, which may be left out."""
        return self._bare

    @property
    def exchange(self) -> Exchange:
        """The whole of it."""
        return self._bare if self._change is None else self._recent.get(self)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Held) and self.exchange == other.exchange)

    def __hash__(self) -> int:
        return hash(self._bare.id)

    def made(self) -> Exchange:
        """The same, put together now."""
        return self._bare if self._change is None else _with_body(self._bare, self.body)

    @property
    def body(self) -> bytes:
        """The bytes of its request, b"" where there is none; what is not at hand does not come to hand."""
        if self._base is None or self._change is None:
            return _body(self._bare)
        found = self._recent.find(self)
        return _body(found) if found else spliced(self._base.body, self._change)


def _body(exchange: Exchange) -> bytes:
    return exchange.request.body.raw if exchange.request else b""


def _with_body(exchange: Exchange, raw: bytes) -> Exchange:
    assert exchange.request
    return replace(exchange, request=replace(exchange.request, body=replace(exchange.request.body, raw=raw)))
