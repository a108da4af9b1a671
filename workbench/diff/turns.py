"""The turns of two places side by side: which exchange behind a gateway was made of which one before it.

What an exchange was made from by record counts first; then times, where what went on began while what came in was
going on; then what is said. Every request may be altered, some asked twice, some never passed on, some made by the
gateway itself. Takes time in proportion to the exchanges, but for those that go on at one time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.chain import Likeness, alike, likeness_of
from workbench.diff.wire import align
from workbench.wire import Origin, Summary

__all__ = ["ELSE", "Sight", "Turn", "encloses", "in_order", "is_outside", "likeness_of", "places", "turns"]

WHILE = 0.2
"""Likeness with which two exchanges are one turn, where one went on while the other did."""

ELSE = 0.5
"""The same where no times tell."""

_NEAREST = 24
"""Exchanges around that are compared, where many go on at one time or no times tell."""

_SURE = 0.7
"""Likeness from which a turn tells about which position the next one is looked for."""

_TIMED = 0.5
"""What it counts that one went on while the other did, beside a likeness of 1: clocks of two machines may differ."""

_SKEW = 0.05
"""Seconds that an exchange may seem to have begun before the one it was made of."""


class Sight(NamedTuple):
    """One exchange at one place."""

    row: Summary
    like: Likeness


class Turn(NamedTuple):
    """One turn at both places, as positions in the two lists: None and () where one has none."""

    outer: int | None
    inner: tuple[int, ...]


class _Match(NamedTuple):
    """Two exchanges that may be one turn: what is more likely is greater."""

    is_known: bool
    score: float
    is_inside: bool
    near: int
    outer: int
    inner: int
    is_while: bool
    alike: float


def turns(outer: Sequence[Sight], inner: Sequence[Sight]) -> list[Turn]:
    """Every exchange of both places once, in the order of the outer one; what only the inner one has stands between."""
    matches = sorted(_matches(outer, inner), reverse=True)
    mine: dict[int, list[int]] = {}
    taken: set[int] = set()
    for match in matches:
        if match.outer not in mine and match.inner not in taken:
            mine[match.outer] = [match.inner]
            taken.add(match.inner)
    for match in matches:
        if match.inner not in taken and match.outer in mine and _is_try(match, inner, mine[match.outer][0]):
            mine[match.outer].append(match.inner)
            taken.add(match.inner)
    return list(in_order(len(outer), len(inner), mine, taken))


def places(rows: Sequence[Summary]) -> list[str]:
    """Names of the places of a recording, the client's first: by what was made of what, by times, else as they come."""
    rows = [row for row in rows if row.origin not in _MADE_HERE]
    by_name: dict[str, list[Summary]] = {}
    for row in rows:
        by_name.setdefault(row.hop, []).append(row)
    names = list(by_name)
    first = {name: n for n, name in enumerate(names)}
    outside = {
        name: sum(
            _is_outer(by_name[name], by_name[other], first[name] < first[other]) for other in names if other != name
        )
        for name in names
    }
    return sorted(names, key=lambda name: (-outside[name], first[name]))


_MADE_HERE = frozenset({Origin.RESENT, Origin.EDITED, Origin.PROBE})
"""Exchanges that no client had with anybody: they were seen at no place."""


def _is_outer(one: Sequence[Summary], other: Sequence[Summary], otherwise: bool) -> bool:
    ids = {row.id for row in one}, {row.id for row in other}
    made = sum(row.parent in ids[0] for row in other) - sum(row.parent in ids[1] for row in one)
    if made:
        return made > 0
    told = is_outside(one, other)
    return otherwise if told is None else told


def is_outside(one: Sequence[Summary], other: Sequence[Summary]) -> bool | None:
    """The exchanges of the first place enclose those of the second in time; None where no times tell."""
    inside = _enclosed(one, other) - _enclosed(other, one)
    return None if inside == 0 else inside > 0


def encloses(one: Sequence[Summary], other: Sequence[Summary]) -> bool:
    """Most exchanges of one of two places were made while one of the other place was going on."""
    most = min(len(one), len(other))
    return most > 0 and max(_enclosed(one, other), _enclosed(other, one)) * 2 > most


def _enclosed(outer: Sequence[Summary], inner: Sequence[Summary]) -> int:
    """How many of the second began while one of the first went on, and ended before it did."""
    spans = sorted((r.started_at, r.started_at + (r.duration or 0.0)) for r in outer if r.started_at is not None)
    starts, latest, far = [start for start, _ in spans], list[float](), 0.0
    for _, end in spans:
        far = max(far, end)
        latest.append(far)
    count = 0
    for row in inner:
        if row.started_at is not None:
            at = bisect_left(starts, row.started_at) - 1
            count += at >= 0 and row.started_at + (row.duration or 0.0) <= latest[at]
    return count


def _matches(outer: Sequence[Sight], inner: Sequence[Sight]) -> Iterator[_Match]:
    ids = {sight.row.id: n for n, sight in enumerate(outer)}
    timed = _Timed(outer)
    anchors, shift = _anchors(outer, inner), 0
    for number, sight in enumerate(inner):
        known = ids.get(sight.row.parent) if sight.row.parent else None
        if known is not None:
            yield _Match(True, 1.0, True, 0, known, number, True, 1.0)
        at = anchors.get(number, number + shift)
        found = list(_near(outer, timed, number, sight, at))
        yield from found
        best = max(found, default=None)
        shift = best.outer - number if best and best.alike >= _SURE else at - number


def _near(outer: Sequence[Sight], timed: _Timed, number: int, sight: Sight, at: int) -> Iterator[_Match]:
    """What may be one turn with an exchange of the inner place, about a position of the outer one."""
    while_, seen = timed.around(sight.row), set[int]()
    for n in sorted(while_, key=lambda n: abs(n - at))[:_NEAREST]:
        seen.add(n)
        share = alike(outer[n].like, sight.like)
        if share >= WHILE or (len(while_) == 1 and share > 0):
            is_inside = _is_inside(sight.row, outer[n].row)
            yield _Match(False, share + _TIMED, is_inside, -abs(n - at), n, number, True, share)
    for n in range(max(0, at - _NEAREST), min(len(outer), at + _NEAREST + 1)):
        share = 0.0 if n in seen else alike(outer[n].like, sight.like)
        if share >= ELSE:
            yield _Match(False, share, False, -abs(n - at), n, number, False, share)


class _Timed:
    """When the exchanges of a place went on."""

    def __init__(self, outer: Sequence[Sight]) -> None:
        spans = ((_span(sight.row), n) for n, sight in enumerate(outer))
        self._spans = sorted((span, n) for span, n in spans if span)
        self._starts = [span[0] for span, _ in self._spans]
        self._longest = max((end - start for (start, end), _ in self._spans), default=0.0)

    def around(self, row: Summary) -> list[int]:
        """Positions of the exchanges that went on when this one began."""
        if row.started_at is None:
            return []
        first = bisect_left(self._starts, row.started_at - self._longest - _SKEW)
        last = bisect_right(self._starts, row.started_at + _SKEW)
        return [n for (_, end), n in self._spans[first:last] if row.started_at <= end + _SKEW]


def _is_inside(row: Summary, outer: Summary) -> bool:
    """It began and ended while the other went on, by clocks that agree: one before or behind it did not."""
    mine, around = _span(row), _span(outer)
    return bool(mine and around and around[0] <= mine[0] and mine[1] <= around[1])


def _span(row: Summary) -> tuple[float, float] | None:
    if row.started_at is None or row.duration is None:
        return None
    return row.started_at, row.started_at + row.duration


def _anchors(outer: Sequence[Sight], inner: Sequence[Sight]) -> dict[int, int]:
    """Inner position → the outer one that ends with the same words and is as long, where that goes in one order."""
    keys = [[(*s.like.said[-1:], len(s.like.said)) for s in sights] for sights in (outer, inner)]
    equal = ((i, j, k) for tag, i, j, k, _ in align(*keys) if tag == "equal")
    return {k + n: i + n for i, j, k in equal for n in range(j - i)}


def _is_try(match: _Match, inner: Sequence[Sight], first: int) -> bool:
    """It repeats what was asked already for the same turn: at the same time, or next to it."""
    one, other = inner[first], inner[match.inner]
    is_again = alike(one.like, other.like) >= 0.9 and (match.is_while or match.is_known)
    is_next = abs(first - match.inner) == 1 and one.like.digest == other.like.digest
    return is_again or (is_next and not match.is_while and match.alike >= ELSE)


def in_order(outers: int, inners: int, mine: dict[int, list[int]], taken: set[int]) -> Iterator[Turn]:
    """Every position of both once: those of the outer one in order, what only the inner one has between them."""
    alone = [n for n in range(inners) if n not in taken]
    at = 0
    for n in range(outers):
        rows = tuple(sorted(mine.get(n, ())))
        while rows and at < len(alone) and alone[at] < rows[0]:
            yield Turn(None, (alone[at],))
            at += 1
        yield Turn(n, rows)
    yield from (Turn(None, (n,)) for n in alone[at:])
