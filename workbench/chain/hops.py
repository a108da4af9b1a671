"""Hops: the same turn recorded at two places, before and after a gateway.

A turn seen twice is found by what it says: the same last words, most of the same history. Where both places kept the
time, what overlaps comes first. The place whose exchange began earlier is the outer one, nearer to the client; where no
times tell, the place that comes first in the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from workbench.lazy_dataclass import dataclass
from workbench.protocols import DecodedExchange, alike, ends_alike, likeness_of
from workbench.wire import Summary

NEAREST = 4
"""Exchanges before and after that are read to find the same turn, where no times tell."""

WITHIN = 64
"""Exchanges before and after among which the same turn is looked for."""

ALIKE = 0.5
"""Share of what the longer request says that both have to say."""

Peek = Callable[[int], DecodedExchange | None]


@dataclass(frozen=True, slots=True)
class _Sighting:
    """Another exchange that may be the same turn."""

    decoded: DecodedExchange
    overlaps: bool
    alike: float
    away: int

    @property
    def rank(self) -> tuple[bool, float, int]:
        return self.overlaps, self.alike, -self.away


class Hops:
    """The other sightings of one exchange.

    Args:
        decoded: the exchange.
        summaries: of every exchange of its session.
        peek: reads another exchange of the session.
    """

    def __init__(
        self, decoded: DecodedExchange, summaries: Sequence[Summary] = (), peek: Peek = lambda _: None
    ) -> None:
        self._decoded, self._summaries, self._peek = decoded, summaries, peek

    @property
    def hop(self) -> str:
        """Name of the place of this exchange, "" for none."""
        return self._decoded.exchange.hop

    @cached_property
    def outer(self) -> DecodedExchange | None:
        """The same turn one place nearer to the client; None where nobody saw it there."""
        return self._best(lambda mine, other: self._is_outside(other, mine))

    @cached_property
    def inner(self) -> DecodedExchange | None:
        """The same turn one place nearer to the model, of several attempts the last."""
        return self._best(lambda mine, other: self._is_outside(mine, other))

    def _best(self, is_there: Callable[[Summary, Summary], bool]) -> DecodedExchange | None:
        index = self._decoded.index
        if index >= len(self._summaries) or not self._decoded.request:
            return None
        mine = self._summaries[index]
        around = self._summaries[max(0, index - WITHIN) : index + WITHIN + 1]
        elsewhere = [row for row in around if row.hop != mine.hop]
        known = {row.id: row for row in around} if elsewhere else {}
        rows = [row for row in elsewhere if not _is_of_another(mine, row, known) and is_there(mine, row)]
        found = list(self._alike(mine, rows)) if rows else []
        best = max(found, key=lambda seen: seen.rank, default=None)
        if best and best.overlaps:  # attempts of a gateway: the last of them was passed on
            same = (s for s in found if s.overlaps and s.alike == best.alike)
            best = max(same, key=lambda seen: seen.decoded.index)
        return best.decoded if best else None

    def _is_outside(self, one: Summary, other: Summary) -> bool:
        """The request passed the first of two places before the second."""
        if _overlap(one, other) and one.started_at != other.started_at:
            return (one.started_at or 0.0) < (other.started_at or 0.0)
        first = next(row for row in self._summaries if row.hop in (one.hop, other.hop))
        return first.hop == one.hop and one.index < other.index

    def _alike(self, mine: Summary, rows: Sequence[Summary]) -> Iterator[_Sighting]:
        beside = [row for row in rows if _overlap(mine, row)]
        for row in beside or sorted(rows, key=lambda row: abs(row.index - mine.index))[:NEAREST]:
            other = self._peek(row.index)
            if other is None:
                continue
            one, two = likeness_of(self._decoded), likeness_of(other)
            share = alike(one, two)
            if share >= ALIKE and (beside or ends_alike(one, two)):
                yield _Sighting(other, bool(beside), share, abs(row.index - mine.index))


def _is_of_another(a: Summary, b: Summary, known: Mapping[str, Summary]) -> bool:
    """One of them was made from a third exchange, at the place of the other: it is the same turn as that alone."""
    for made, beside in ((a, b), (b, a)):
        parent = known.get(made.parent or "") if made.branch else None
        if parent and parent.hop == beside.hop and parent.id != beside.id:
            return True
    return False


def _overlap(a: Summary, b: Summary) -> bool:
    """One was still in progress when the other began."""
    if a.started_at is None or b.started_at is None:
        return False
    first, second = sorted(((a.started_at, a.duration), (b.started_at, b.duration)))
    return first[1] is not None and second[0] <= first[0] + first[1]
