"""A session in which one exchange is another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.wire.exchange import Exchange, Summary, summarize
from workbench.wire.session import Session


class Replaced:
    """The exchanges of a source, with another one in the place of one of them.

    Args:
        source: read as it is asked for; it stays open.
        index: of the exchange whose place is taken.
        exchange: that takes it.
    """

    def __init__(self, source: Session, index: int, exchange: Exchange) -> None:
        self.name, self.is_live = source.name, False
        self.about: Mapping[str, str] = source.about
        self.damage: tuple[str, ...] = source.damage
        self._source, self._index, self._exchange = source, index, exchange

    @property
    def id(self) -> str:
        return self._source.id

    def __len__(self) -> int:
        return len(self._source)

    def summaries(self) -> Sequence[Summary]:
        rows = list(self._source.summaries())
        rows[self._index] = summarize(self._index, self._exchange, rows[self._index].model)
        return rows

    def exchange(self, index: int) -> Exchange:
        return self._exchange if index == self._index else self._source.exchange(index)

    def refresh(self) -> frozenset[int]:
        """It does not grow."""
        return frozenset()

    def close(self) -> None:
        """The source stays open."""
