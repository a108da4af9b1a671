"""Pairs exchanges: those of two hops turn by turn, those of two recordings by hop and conversation.

For two versions or two runs of one task. A conversation is paired with the one that contains the same requests, else
with the one whose first or last messages are most alike; the only one left at a hop is paired with the only one left in
the other recording. Within two conversations equal requests are paired, between them those with the same last message,
and between those one after the other.

Matches the turns of two hops: pairs each inner exchange with the outer exchange it was made from.
The parent that a record names counts first; then times, if the inner exchange began while the outer one was open; then
content. A gateway may alter every request, repeat some, drop some and send some of its own. Takes time in proportion to
the exchanges, except for those that overlap in time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, Protocol

from workbench.diff.wire import align
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols import DecodedExchange, Likeness, alike, likeness_of
from workbench.wire import Origin, Summary

__all__ = [
    "LIKENESS_WITHOUT_TIMES",
    "HopExchange",
    "TurnMatch",
    "encloses",
    "is_outside",
    "likeness_of",
    "ordered_turns",
    "paired_turns",
    "places",
]

LIKENESS_WITH_TIMES = 0.2
"""Least likeness of two exchanges of one turn, if they overlap in time."""

LIKENESS_WITHOUT_TIMES = 0.5
"""Least likeness of two exchanges of one turn, if times are unknown."""

_NEAREST = 24
"""Number of exchanges around a position that are compared, if many overlap or times are unknown."""

_ANCHOR_LIKENESS = 0.7
"""Least likeness of a pair that tells where the partner of the next exchange is looked for."""

_OVERLAP_BONUS = 0.5
"""Added to the likeness (0 to 1) of two exchanges that overlap in time; small, because two machines have two clocks."""

_SKEW = 0.05
"""Seconds by which an exchange may seem to begin before the one it was made from."""


class PairedConversation(Protocol):
    """A conversation of a recording (``chain.Conversation``)."""

    @property
    def id(self) -> object: ...


class ConversationFinder(Protocol):
    """Finds the conversation of each exchange of a recording, given in order (``chain.Conversations``)."""

    def add(self, decoded: DecodedExchange, /) -> PairedConversation | None:
        """The conversation that an exchange continues; None for no model exchange."""
        ...


class HopExchange(NamedTuple):
    """One exchange at one hop."""

    row: Summary
    like: Likeness


class TurnMatch(NamedTuple):
    """One turn at both hops, as positions in the two lists; None and () if a hop does not have it."""

    outer: int | None
    inner: tuple[int, ...]


class _TurnCandidate(NamedTuple):
    """Two exchanges that may be one turn; the likelier pair compares as greater."""

    is_known: bool
    score: float
    is_inside: bool
    near: int
    outer: int
    inner: int
    is_overlapping: bool
    alike: float


def paired_turns(outer: Sequence[HopExchange], inner: Sequence[HopExchange]) -> list[TurnMatch]:
    """Every exchange of both hops once, in the order of the outer hop; those of the inner hop alone are in between."""
    matches = sorted(_all_candidates(outer, inner), reverse=True)
    mine: dict[int, list[int]] = {}
    paired_inner: set[int] = set()
    for match in matches:
        if match.outer not in mine and match.inner not in paired_inner:
            mine[match.outer] = [match.inner]
            paired_inner.add(match.inner)
    for match in matches:
        if match.inner not in paired_inner and match.outer in mine and _is_retry(match, inner, mine[match.outer][0]):
            mine[match.outer].append(match.inner)
            paired_inner.add(match.inner)
    return list(ordered_turns(len(outer), len(inner), mine, paired_inner))


def places(rows: Sequence[Summary]) -> list[str]:
    """Names of the hops of a recording, the client's first: ordered by parents, else by times, else by appearance."""
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
"""Origins of exchanges that were not recorded at any hop."""


def _is_outer(one: Sequence[Summary], other: Sequence[Summary], otherwise: bool) -> bool:
    ids = {row.id for row in one}, {row.id for row in other}
    children = sum(row.parent in ids[0] for row in other) - sum(row.parent in ids[1] for row in one)
    if children:
        return children > 0
    by_times = is_outside(one, other)
    return otherwise if by_times is None else by_times


def is_outside(one: Sequence[Summary], other: Sequence[Summary]) -> bool | None:
    """True if the exchanges of the first hop enclose those of the second in time; None if times do not tell."""
    inside = _count_enclosed(one, other) - _count_enclosed(other, one)
    return None if inside == 0 else inside > 0


def encloses(one: Sequence[Summary], other: Sequence[Summary]) -> bool:
    """True if most exchanges of one hop happened during exchanges of the other hop."""
    most = min(len(one), len(other))
    return most > 0 and max(_count_enclosed(one, other), _count_enclosed(other, one)) * 2 > most


def _count_enclosed(outer: Sequence[Summary], inner: Sequence[Summary]) -> int:
    """Number of inner exchanges that began and ended during an outer one."""
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


def _all_candidates(outer: Sequence[HopExchange], inner: Sequence[HopExchange]) -> Iterator[_TurnCandidate]:
    ids = {sight.row.id: n for n, sight in enumerate(outer)}
    timed = _TimeIndex(outer)
    anchors, shift = _anchors(outer, inner), 0
    for number, sight in enumerate(inner):
        known = ids.get(sight.row.parent) if sight.row.parent else None
        if known is not None:
            yield _TurnCandidate(True, 1.0, True, 0, known, number, True, 1.0)
        at = anchors.get(number, number + shift)
        found = list(_turn_candidates(outer, timed, number, sight, at))
        yield from found
        best = max(found, default=None)
        shift = best.outer - number if best and best.alike >= _ANCHOR_LIKENESS else at - number


def _turn_candidates(
    outer: Sequence[HopExchange], timed: _TimeIndex, number: int, sight: HopExchange, at: int
) -> Iterator[_TurnCandidate]:
    """Exchanges of the outer hop near a position that may be one turn with an exchange of the inner hop."""
    while_, seen = timed.around(sight.row), set[int]()
    for n in sorted(while_, key=lambda n: abs(n - at))[:_NEAREST]:
        seen.add(n)
        share = alike(outer[n].like, sight.like)
        if share >= LIKENESS_WITH_TIMES or (len(while_) == 1 and share > 0):
            is_inside = _is_inside(sight.row, outer[n].row)
            yield _TurnCandidate(False, share + _OVERLAP_BONUS, is_inside, -abs(n - at), n, number, True, share)
    for n in range(max(0, at - _NEAREST), min(len(outer), at + _NEAREST + 1)):
        share = 0.0 if n in seen else alike(outer[n].like, sight.like)
        if share >= LIKENESS_WITHOUT_TIMES:
            yield _TurnCandidate(False, share, False, -abs(n - at), n, number, False, share)


class _TimeIndex:
    """Times of the exchanges of a hop, sorted by their start."""

    def __init__(self, outer: Sequence[HopExchange]) -> None:
        spans = ((_span(sight.row), n) for n, sight in enumerate(outer))
        self._spans = sorted((span, n) for span, n in spans if span)
        self._starts = [span[0] for span, _ in self._spans]
        self._longest = max((end - start for (start, end), _ in self._spans), default=0.0)

    def around(self, row: Summary) -> list[int]:
        """Positions of the exchanges that were open when this one began."""
        if row.started_at is None:
            return []
        first = bisect_left(self._starts, row.started_at - self._longest - _SKEW)
        last = bisect_right(self._starts, row.started_at + _SKEW)
        return [n for (_, end), n in self._spans[first:last] if row.started_at <= end + _SKEW]


def _is_inside(row: Summary, outer: Summary) -> bool:
    """True if it began and ended during the other one, by clocks that agree."""
    mine, around = _span(row), _span(outer)
    return bool(mine and around and around[0] <= mine[0] and mine[1] <= around[1])


def _span(row: Summary) -> tuple[float, float] | None:
    if row.started_at is None or row.duration is None:
        return None
    return row.started_at, row.started_at + row.duration


def _anchors(outer: Sequence[HopExchange], inner: Sequence[HopExchange]) -> dict[int, int]:
    """Inner position → outer position with the same last message and length, as far as both are in one order."""
    keys = [[(*s.like.fingerprints[-1:], len(s.like.fingerprints)) for s in sights] for sights in (outer, inner)]
    equal = ((i, j, k) for tag, i, j, k, _ in align(*keys) if tag == "equal")
    return {k + n: i + n for i, j, k in equal for n in range(j - i)}


def _is_retry(match: _TurnCandidate, inner: Sequence[HopExchange], first: int) -> bool:
    """True if it repeats the request of the same turn: at the same time, or directly before or after."""
    one, other = inner[first], inner[match.inner]
    is_again = alike(one.like, other.like) >= 0.9 and (match.is_overlapping or match.is_known)
    is_next = abs(first - match.inner) == 1 and one.like.digest == other.like.digest
    return is_again or (is_next and not match.is_overlapping and match.alike >= LIKENESS_WITHOUT_TIMES)


def ordered_turns(outers: int, inners: int, mine: dict[int, list[int]], paired_inner: set[int]) -> Iterator[TurnMatch]:
    """Every position of both hops once: the outer ones in order, those of the inner hop alone between them."""
    alone = [n for n in range(inners) if n not in paired_inner]
    at = 0
    for n in range(outers):
        rows = tuple(sorted(mine.get(n, ())))
        while rows and at < len(alone) and alone[at] < rows[0]:
            yield TurnMatch(None, (alone[at],))
            at += 1
        yield TurnMatch(n, rows)
    yield from (TurnMatch(None, (n,)) for n in alone[at:])


MOST_COMPARED = 10_000
"""Pairs of conversations compared without a common request or first message."""

Members = Sequence[tuple[int, Likeness]]
"""Exchanges of a conversation: (position in the recording, fingerprint)."""


@dataclass(slots=True)
class _ExchangeThread:
    """A conversation, or the requests of one method and path that are no model exchanges.

    Attributes:
        members: (position in the recording, fingerprint), in order.
    """

    members: list[tuple[int, Likeness]] = field(default_factory=list)

    @property
    def endpoint_key(self) -> tuple[str, str]:
        """Method and end of the path if these are no model exchanges; empty strings for a conversation."""
        return self.members[0][1].what

    @property
    def names(self) -> set[object]:
        """Values of which threads that may be a pair share one: requests, and the first message."""
        digests: set[object] = {like.digest for _, like in self.members}
        return digests | {("first", *like.fingerprints[:1]) for _, like in self.members[:1] if like.fingerprints}


def versions(
    before: Iterable[DecodedExchange],
    after: Iterable[DecodedExchange],
    summaries: Sequence[Summary],
    news: Sequence[Summary],
    conversations: Callable[[], ConversationFinder],
) -> list[TurnMatch]:
    """Every exchange of both recordings once, in the order of the first; those of the second alone are in between.

    Args:
        before: all exchanges of the first recording, in order.
        summaries: summaries of the first recording; ``news``: of the second.
        conversations: finds those of one recording, from none.
    """
    one, other = _threads(before, conversations()), _threads(after, conversations())
    mine: dict[int, list[int]] = {}
    for hop, hop_there in _hops(summaries, news):
        for a, b in _thread_pairs(one.get(hop, []), other.get(hop_there, [])):
            mine |= {i: [j] for i, j in _exchange_pairs(a.members, b.members) if i is not None and j is not None}
    paired_inner = {j for found in mine.values() for j in found}
    return list(ordered_turns(len(summaries), len(news), mine, paired_inner))


def _threads(
    exchanges: Iterable[DecodedExchange], conversations: ConversationFinder
) -> dict[str, list[_ExchangeThread]]:
    """Group by hop, in order of first appearance."""
    found: dict[str, dict[object, _ExchangeThread]] = {}
    for position, decoded in enumerate(exchanges):
        like, conversation = likeness_of(decoded), conversations.add(decoded)
        key = conversation.id if conversation else like.what
        at_hop = found.setdefault(decoded.exchange.hop, {})
        at_hop.setdefault(key, _ExchangeThread()).members.append((position, like))
    return {hop: list(threads.values()) for hop, threads in found.items()}


def _hops(summaries: Sequence[Summary], news: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Pairs of hops: those of the same name, then the rest in order, the client's first."""
    one, other = (list(dict.fromkeys((*places(rows), *(row.hop for row in rows)))) for rows in (summaries, news))
    yield from ((hop, hop) for hop in one if hop in other)
    yield from zip([hop for hop in one if hop not in other], [hop for hop in other if hop not in one], strict=False)


def _thread_pairs(
    exchange_threads: Sequence[_ExchangeThread], news: Sequence[_ExchangeThread]
) -> Iterator[tuple[_ExchangeThread, _ExchangeThread]]:
    """Pairs of threads, most alike first; then the only conversations left."""
    scored = ((_score(exchange_threads[n], news[m]), -abs(n - m), n, m) for n, m in _candidates(exchange_threads, news))
    ours, theirs = dict(enumerate(exchange_threads)), dict(enumerate(news))
    for score, _, n, m in sorted(scored, reverse=True):
        if score >= LIKENESS_WITHOUT_TIMES and n in ours and m in theirs:
            yield ours.pop(n), theirs.pop(m)
    rest = [[thread for thread in side.values() if thread.endpoint_key == ("", "")] for side in (ours, theirs)]
    if len(rest[0]) == len(rest[1]) == 1:
        yield rest[0][0], rest[1][0]


def _candidates(
    exchange_threads: Sequence[_ExchangeThread], news: Sequence[_ExchangeThread]
) -> Iterable[tuple[int, int]]:
    if len(exchange_threads) * len(news) <= MOST_COMPARED:
        return [(n, m) for n in range(len(exchange_threads)) for m in range(len(news))]
    known: dict[object, list[int]] = {}
    for m, thread in enumerate(news):
        for name in thread.names:
            known.setdefault(name, []).append(m)
    return {(n, m) for n, thread in enumerate(exchange_threads) for name in thread.names for m in known.get(name, ())}


def _score(a: _ExchangeThread, b: _ExchangeThread) -> float:
    """Likeness of two threads; above 1 if they share requests."""
    if a.endpoint_key != b.endpoint_key:
        return 0.0
    if a.endpoint_key != ("", ""):
        return 1.0
    mine, theirs = ({like.digest for _, like in thread.members} for thread in (a, b))
    if same := len(mine & theirs):
        return 1.0 + same / max(len(mine), len(theirs))
    ends = ((a.members[n][1], b.members[n][1]) for n in (0, -1))
    return max(alike(one, other) for one, other in ends)


def _exchange_pairs(members: Members, news: Members) -> Iterator[tuple[int | None, int | None]]:
    """Positions paired by equal requests, between them by last message and length, between those in order."""

    def key(like: Likeness) -> object:
        return *like.fingerprints[-1:], len(like.fingerprints)

    for is_equal, old, new in _stretches(members, news, lambda like: like.digest):
        for _, former, latter in [(True, old, new)] if is_equal else _stretches(old, new, key):
            yield from zip_longest((n for n, _ in former), (n for n, _ in latter))


def _stretches(
    members: Members, news: Members, key: Callable[[Likeness], object]
) -> Iterator[tuple[bool, Members, Members]]:
    """Stretches of both lists in turn: (True, …) with equal keys, (False, …) without."""
    for tag, i, j, k, m in align([key(like) for _, like in members], [key(like) for _, like in news]):
        yield tag == "equal", members[i:j], news[k:m]
