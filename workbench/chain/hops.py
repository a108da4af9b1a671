"""Hops: the same turn recorded twice, before and after a gateway.

The two exchanges of a turn are found by their content: the same last words, and most of the same history. If both have
times, those that overlap are preferred. The hop whose exchange began earlier is the outer one, nearer to the client;
without times, the hop that comes first in the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter

from workbench.lazy_dataclass import dataclass
from workbench.protocols import DecodedExchange, alike, ends_alike, likeness_of
from workbench.wire import Summary

NEAREST = 4
"""Number of exchanges before and after that are read to find the same turn, if there are no times."""

WITHIN = 64
"""Number of exchanges before and after among which the same turn is looked for."""

ALIKE = 0.5
"""Share of the longer request's content that both have to contain."""

Peek = Callable[[int], DecodedExchange | None]


_hop_of = attrgetter("hop")


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
        around = summaries[max(0, decoded.index - WITHIN) : decoded.index + WITHIN + 1]
        self._around = around if len(set(map(_hop_of, around))) > 1 else ()

    @property
    def hop(self) -> str:
        """Name of the hop of this exchange; empty string if it has none."""
        return self._decoded.exchange.hop

    @property
    def is_alone(self) -> bool:
        """Neither a place nearer to the client nor one nearer to the model was recorded around it."""
        return not self._around

    @cached_property
    def outer(self) -> DecodedExchange | None:
        """The same turn one hop nearer to the client; None if it was not recorded there."""
        return self._best(lambda mine, other: self._is_outside(other, mine))

    @cached_property
    def inner(self) -> DecodedExchange | None:
        """The same turn one hop nearer to the model, of several attempts the last; None if not recorded there."""
        return self._best(lambda mine, other: self._is_outside(mine, other))

    def _best(self, is_there: Callable[[Summary, Summary], bool]) -> DecodedExchange | None:
        index = self._decoded.index
        if not self._around or index >= len(self._summaries) or not self._decoded.request:
            return None
        mine = self._summaries[index]
        elsewhere = [row for row in self._around if row.hop != mine.hop]
        known = {row.id: row for row in self._around}
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
    for derived, beside in ((a, b), (b, a)):
        parent = known.get(derived.parent or "") if derived.branch else None
        if parent and parent.hop == beside.hop and parent.id != beside.id:
            return True
    return False


def _overlap(a: Summary, b: Summary) -> bool:
    """One was still in progress when the other began."""
    if a.started_at is None or b.started_at is None:
        return False
    duration = a.duration if a.started_at <= b.started_at else b.duration
    return duration is not None and abs(a.started_at - b.started_at) <= duration
