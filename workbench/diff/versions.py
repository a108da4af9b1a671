"""Pairs the exchanges of two recordings: hop by hop, conversation by conversation, never by position.

For two versions or two runs of one task. A conversation is paired with the one that contains the same requests, else
with the one whose first or last messages are most alike; the only one left at a hop is paired with the only one left in
the other recording. Within two conversations equal requests are paired, between them those with the same last message,
and between those one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import zip_longest

from workbench.chain import Conversations, Likeness, alike, likeness_of
from workbench.diff.turns import LIKENESS_WITHOUT_TIMES, TurnMatch, ordered_turns, places
from workbench.diff.wire import align
from workbench.lazy_dataclass import dataclass
from workbench.protocols import DecodedExchange
from workbench.wire import Summary

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
    def what(self) -> tuple[str, str]:
        """Method and end of the path if these are no model exchanges; empty strings for a conversation."""
        return self.members[0][1].what

    @property
    def names(self) -> set[object]:
        """Values of which threads that may be a pair share one: requests, and the first message."""
        digests: set[object] = {like.digest for _, like in self.members}
        return digests | {("first", *like.said[:1]) for _, like in self.members[:1] if like.said}


def versions(
    before: Iterable[DecodedExchange],
    after: Iterable[DecodedExchange],
    olds: Sequence[Summary],
    news: Sequence[Summary],
) -> list[TurnMatch]:
    """Every exchange of both recordings once, in the order of the first; those of the second alone are in between.

    Args:
        before: all exchanges of the first recording, in order.
        olds: summaries of the first recording; ``news``: of the second.
    """
    one, other = _threads(before), _threads(after)
    mine: dict[int, list[int]] = {}
    for hop, hop_there in _hops(olds, news):
        for a, b in _thread_pairs(one.get(hop, []), other.get(hop_there, [])):
            mine |= {i: [j] for i, j in _exchange_pairs(a.members, b.members) if i is not None and j is not None}
    taken = {j for found in mine.values() for j in found}
    return list(ordered_turns(len(olds), len(news), mine, taken))


def _threads(exchanges: Iterable[DecodedExchange]) -> dict[str, list[_ExchangeThread]]:
    """By hop, in order of first appearance."""
    conversations, found = Conversations(), dict[str, dict[object, _ExchangeThread]]()
    for position, decoded in enumerate(exchanges):
        like, conversation = likeness_of(decoded), conversations.add(decoded)
        key = conversation.id if conversation else like.what
        at_hop = found.setdefault(decoded.exchange.hop, {})
        at_hop.setdefault(key, _ExchangeThread()).members.append((position, like))
    return {hop: list(threads.values()) for hop, threads in found.items()}


def _hops(olds: Sequence[Summary], news: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Pairs of hops: those of the same name, then the rest in order, the client's first."""
    one, other = (list(dict.fromkeys((*places(rows), *(row.hop for row in rows)))) for rows in (olds, news))
    yield from ((hop, hop) for hop in one if hop in other)
    yield from zip([hop for hop in one if hop not in other], [hop for hop in other if hop not in one], strict=False)


def _thread_pairs(
    olds: Sequence[_ExchangeThread], news: Sequence[_ExchangeThread]
) -> Iterator[tuple[_ExchangeThread, _ExchangeThread]]:
    """Pairs of threads, most alike first; then the only conversations left."""
    scored = ((_score(olds[n], news[m]), -abs(n - m), n, m) for n, m in _candidates(olds, news))
    left, right = dict(enumerate(olds)), dict(enumerate(news))
    for score, _, n, m in sorted(scored, reverse=True):
        if score >= LIKENESS_WITHOUT_TIMES and n in left and m in right:
            yield left.pop(n), right.pop(m)
    rest = [[thread for thread in side.values() if thread.what == ("", "")] for side in (left, right)]
    if len(rest[0]) == len(rest[1]) == 1:
        yield rest[0][0], rest[1][0]


def _candidates(olds: Sequence[_ExchangeThread], news: Sequence[_ExchangeThread]) -> Iterable[tuple[int, int]]:
    if len(olds) * len(news) <= MOST_COMPARED:
        return [(n, m) for n in range(len(olds)) for m in range(len(news))]
    known: dict[object, list[int]] = {}
    for m, thread in enumerate(news):
        for name in thread.names:
            known.setdefault(name, []).append(m)
    return {(n, m) for n, thread in enumerate(olds) for name in thread.names for m in known.get(name, ())}


def _score(a: _ExchangeThread, b: _ExchangeThread) -> float:
    """Likeness of two threads; above 1 if they share requests."""
    if a.what != b.what:
        return 0.0
    if a.what != ("", ""):
        return 1.0
    mine, theirs = ({like.digest for _, like in thread.members} for thread in (a, b))
    if same := len(mine & theirs):
        return 1.0 + same / max(len(mine), len(theirs))
    ends = ((a.members[n][1], b.members[n][1]) for n in (0, -1))
    return max(alike(one, other) for one, other in ends)


def _exchange_pairs(olds: Members, news: Members) -> Iterator[tuple[int | None, int | None]]:
    """Positions paired by equal requests, between them by last message and length, between those in order."""

    def key(like: Likeness) -> object:
        return *like.said[-1:], len(like.said)

    for is_equal, old, new in _stretches(olds, news, lambda like: like.digest):
        for _, former, latter in [(True, old, new)] if is_equal else _stretches(old, new, key):
            yield from zip_longest((n for n, _ in former), (n for n, _ in latter))


def _stretches(
    olds: Members, news: Members, key: Callable[[Likeness], object]
) -> Iterator[tuple[bool, Members, Members]]:
    """Stretches of both lists in turn: (True, …) with equal keys, (False, …) without."""
    for tag, i, j, k, m in align([key(like) for _, like in olds], [key(like) for _, like in news]):
        yield tag == "equal", olds[i:j], news[k:m]
