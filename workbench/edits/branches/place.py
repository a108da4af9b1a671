"""A branch in the place of what was recorded: a session like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from workbench.ir import NOTHING
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.wire.exchange import Exchange, Origin, Summary, summarize
from workbench.wire.session import Session
from workbench.wire.session.identity import session_id


class InPlace:
    """The exchanges of a source before one of them, and those of a branch in its place.

    Args:
        source: read as it is asked for; it stays open.
        index: of the exchange whose place is taken.
        way: the exchanges of the branch, the last being the one that it is about. Of those before it only answers
            that its request goes on from are taken.
        name: of the session; "" for the one of the source.
    """

    is_live = False

    def __init__(self, source: Session, index: int, way: Sequence[Exchange], name: str = "") -> None:
        self.name = name or source.name
        self.about: Mapping[str, str] = source.about or NOTHING
        self.damage: tuple[str, ...] = source.damage
        self._source, self._before = source, max(index, 0)
        self._taken = _led_to(way)

    def __len__(self) -> int:
        return self._before + len(self._taken)

    def summaries(self) -> Sequence[Summary]:
        made = (summarize(self._before + n, exchange) for n, exchange in enumerate(self._taken))
        return (*self._source.summaries()[: self._before], *made)

    def exchange(self, index: int) -> Exchange:
        if index < self._before:
            return self._source.exchange(index)
        return self._taken[index - self._before]

    @property
    def id(self) -> str:
        """That of its source: what is noted on an exchange of it is noted on that of the source."""
        return session_id(self._source)

    def work_id(self, source_id: str) -> str:
        """What its own branches are known by, where its source is known by an id."""
        told = [source_id, *(exchange.id for exchange in self._taken)]
        return sha256("\0".join(told).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def refresh(self) -> frozenset[int]:
        """It does not grow."""
        return frozenset()

    def close(self) -> None:
        """The source stays open."""


def _led_to(way: Sequence[Exchange]) -> list[Exchange]:
    """The last exchange, behind those that were answered and whose conversation it continues."""
    last = way[-1]
    kept, most = [replace(last, parent=None)], _length(last)
    for exchange in reversed(way[:-1]):
        is_answered = exchange.response is not None and 200 <= exchange.response.status < 300
        if exchange.origin is Origin.RESENT and is_answered and _length(exchange) < most:
            kept.insert(0, replace(exchange, parent=None))
            most = _length(exchange)
    return kept


def _length(exchange: Exchange) -> int:
    """Messages of a request."""
    return len(DecodedExchange(0, replace(exchange, response=None)).messages(REQUEST))
