"""A session in the order in which its exchanges ended: each is inspected once, however many are under way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from workbench.lazy_dataclass import replace
from workbench.wire import TOOL_HOP, Exchange, ExchangeKind, State, Summary, summarize
from workbench.wire.session import Session

_OF_GUEST = -1
"""Index in the source of an exchange that is not from there."""


class EndedFirst:
    """The exchanges of a source, those with models once they are let in; for a while one more, as if it was open.

    The one more may also be a guest, which the source need not have.

    In the order of their requests, one that ends would change all that were inspected behind it. Those with tool
    servers, and WebSockets, are here from their beginning: what comes in them while they are open belongs to others.
    """

    def __init__(self, source: Session) -> None:
        self.name, self.damage, self.is_live = source.name, source.damage, source.is_live
        self.about: Mapping[str, str] = source.about
        self._open = set[int]()
        self._ended: dict[int, Summary] = {}  # and were not let in
        self._source = source
        self._rows: list[Summary] = []
        self._order: list[int] = []
        self._places: dict[int, int] = {}
        self._last: int | None = None
        self._guest: Exchange | None = None
        self._take(range(len(source)))

    def __len__(self) -> int:
        return len(self._order)

    @property
    def id(self) -> str:
        return self._source.id

    def summaries(self) -> Sequence[Summary]:
        return self._rows

    def exchange(self, index: int) -> Exchange:
        if self._guest is not None and index == len(self._order) - 1:
            return self._guest
        found = self._source.exchange(self._order[index])
        return replace(found, state=State.OPEN) if index == self._last else found

    @property
    def is_waiting(self) -> bool:
        """Exchanges are not here: they are open, or were not let in."""
        return bool(self._open or self._ended)

    def let_in(self, before: float | None = None, most: int | None = None) -> bool:
        """Append exchanges that have ended; whether there were any.

        Args:
            before: only those that had ended then, in seconds since the epoch.
            most: number of exchanges.
        """
        found = [index for index, row in self._ended.items() if _had_ended(row, before)][:most]
        for index in found:
            self._append(index, self._ended.pop(index))
        return bool(found)

    def place(self, index: int) -> int | None:
        """Index here of an exchange of the source; None if it is not here."""
        return self._places.get(index)

    def refresh(self) -> frozenset[int]:
        """Read changes of the source; return indices here of new and changed exchanges."""
        self._rows = list(self._rows)  # who has asked for them keeps what they were
        return self._take(sorted(self._source.refresh()))

    def close(self) -> None:
        """Do nothing: the source stays open."""

    @contextmanager
    def with_last(self, index: int) -> Iterator[int]:
        """Put an exchange of the source last for a while, as if it was open; its index here."""
        place = self._last = self._append(index, replace(self._source.summaries()[index], state=State.OPEN))
        try:
            yield place
        finally:
            self._last = None
            self._rows.pop()
            del self._places[self._order.pop()]

    @contextmanager
    def with_guest(self, guest: Exchange) -> Iterator[int]:
        """Put an open exchange last for a while; its index here."""
        place, self._guest = len(self._order), guest
        self._order.append(_OF_GUEST)
        self._rows.append(summarize(place, guest))
        try:
            yield place
        finally:
            self._guest = None
            self._rows.pop()
            self._order.pop()

    def _take(self, changed: Sequence[int]) -> frozenset[int]:
        known, found = self._source.summaries(), set[int]()
        for index in changed:
            row, place = known[index], self._places.get(index)
            if place is not None:
                self._rows[place] = replace(row, index=place)
                found.add(place)
            elif row.kind is not ExchangeKind.HTTP or row.hop == TOOL_HOP:
                self._open.discard(index)  # its answer has shown what it is
                found.add(self._append(index, row))
            elif row.state is State.OPEN:
                self._open.add(index)
            else:
                self._open.discard(index)
                self._ended[index] = row
        return frozenset(found)

    def _append(self, index: int, row: Summary) -> int:
        place = self._places[index] = len(self._order)
        self._order.append(index)
        self._rows.append(replace(row, index=place))
        return place


def _had_ended(row: Summary, before: float | None) -> bool:
    """True also if the times are not known."""
    return before is None or row.started_at is None or row.started_at + (row.duration or 0.0) <= before
