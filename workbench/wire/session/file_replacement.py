"""A session with one exchange replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.wire.exchange import Exchange, Summary, summarize
from workbench.wire.session import Session


class ReplacingSession:
    """The exchanges of a source with one of them replaced.

    Args:
        source: read on demand; it stays open.
        index: of the replaced exchange.
        exchange: the replacement.
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
        """Return an empty set: this session does not grow."""
        return frozenset()

    def close(self) -> None:
        """Do nothing: the source stays open."""
