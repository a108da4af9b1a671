"""A branch in the place of the recorded exchanges, as a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from workbench.ir import NOTHING
from workbench.protocols import REQUEST, DecodedExchange
from workbench.wire import Exchange, Origin, Summary, summarize
from workbench.wire.session import Session, session_id


class BranchSession:
    """The exchanges of a source session before one of them, followed by those of a branch.

    Args:
        source: read on demand; it stays open.
        index: of the exchange that is replaced.
        way: exchanges of the branch; the last is its subject. Of the others only those are included whose answers its
            request continues.
        name: of the session; empty for that of the source.
    """

    is_live = False

    def __init__(self, source: Session, index: int, way: Sequence[Exchange], name: str = "") -> None:
        self.name = name or source.name
        self.about: Mapping[str, str] = source.about or NOTHING
        self.damage: tuple[str, ...] = source.damage
        self._source, self._before = source, max(index, 0)
        self._taken = _answered_path(way)

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
        """The id of the source: notes on one of its exchanges belong to that of the source."""
        return session_id(self._source)

    def work_id(self, source_id: str) -> str:
        """Id for the branches of this session, given an id of its source."""
        told = [source_id, *(exchange.id for exchange in self._taken)]
        return sha256("\0".join(told).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def refresh(self) -> frozenset[int]:
        """Does nothing: it does not grow."""
        return frozenset()

    def close(self) -> None:
        """Does nothing: the source stays open."""


def _answered_path(way: Sequence[Exchange]) -> list[Exchange]:
    """The last exchange, after the answered ones whose conversation it continues."""
    last = way[-1]
    kept, most = [replace(last, parent=None)], _length(last)
    for exchange in reversed(way[:-1]):
        is_answered = exchange.response is not None and 200 <= exchange.response.status < 300
        if exchange.origin is Origin.RESENT and is_answered and _length(exchange) < most:
            kept.insert(0, replace(exchange, parent=None))
            most = _length(exchange)
    return kept


def _length(exchange: Exchange) -> int:
    """Number of messages of a request."""
    return len(DecodedExchange(0, replace(exchange, response=None)).messages(REQUEST))
