"""The exchanges of two recordings side by side: hop by hop, conversation by conversation, never by position.

For two versions or two runs of one task. A conversation belongs to the one of the other recording that holds the same
requests, else to the one that is most like it in what it says first or last; one that is left over at a hop belongs to
the only one left over at the other. Within two conversations equal requests belong together, between them those that
end with the same words, between those the ones that follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from workbench.chain import Conversations, Likeness, alike, likeness_of
from workbench.diff.turns import ELSE, Turn, in_order, places
from workbench.diff.wire import align
from workbench.protocols import DecodedExchange
from workbench.wire import Summary

MOST_COMPARED = 10_000
"""Pairs of conversations that are compared without having a request or the first words in common."""

Members = Sequence[tuple[int, Likeness]]
"""Exchanges of a conversation: position in the recording, and what each is known by."""


@dataclass(slots=True)
class _Thread:
    """A conversation, or the requests of one method and path that are no model exchanges.

    Attributes:
        members: (position in the recording, what it is known by), in order.
    """

    members: list[tuple[int, Likeness]] = field(default_factory=list)

    @property
    def what(self) -> tuple[str, str]:
        """Method and end of the path of what is no model exchange; empty strings for a conversation."""
        return self.members[0][1].what

    @property
    def names(self) -> set[object]:
        """Values one of which two threads share that are known to be alike: requests, and the first thing said."""
        digests: set[object] = {like.digest for _, like in self.members}
        return digests | {("first", *like.said[:1]) for _, like in self.members[:1] if like.said}


def versions(
    before: Iterable[DecodedExchange],
    after: Iterable[DecodedExchange],
    olds: Sequence[Summary],
    news: Sequence[Summary],
) -> list[Turn]:
    """Every exchange of both recordings once, in the order of the first; what only the second has stands between.

    Args:
        before: all exchanges of the first recording, in order.
        olds: its list; ``news``: that of the second one.
    """
    one, other = _threads(before), _threads(after)
    mine: dict[int, list[int]] = {}
    for hop, hop_there in _hops(olds, news):
        for a, b in _matched(one.get(hop, []), other.get(hop_there, [])):
            mine |= {i: [j] for i, j in _aligned(a.members, b.members) if i is not None and j is not None}
    taken = {j for found in mine.values() for j in found}
    return list(in_order(len(olds), len(news), mine, taken))


def _threads(exchanges: Iterable[DecodedExchange]) -> dict[str, list[_Thread]]:
    """By hop, in order of first appearance."""
    conversations, found = Conversations(), dict[str, dict[object, _Thread]]()
    for position, decoded in enumerate(exchanges):
        like, conversation = likeness_of(decoded), conversations.add(decoded)
        key = conversation.id if conversation else like.what
        at_hop = found.setdefault(decoded.exchange.hop, {})
        at_hop.setdefault(key, _Thread()).members.append((position, like))
    return {hop: list(threads.values()) for hop, threads in found.items()}


def _hops(olds: Sequence[Summary], news: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Hops of the same name; of the others the client's first with the client's first."""
    one, other = (list(dict.fromkeys((*places(rows), *(row.hop for row in rows)))) for rows in (olds, news))
    yield from ((hop, hop) for hop in one if hop in other)
    yield from zip([hop for hop in one if hop not in other], [hop for hop in other if hop not in one], strict=False)


def _matched(olds: Sequence[_Thread], news: Sequence[_Thread]) -> Iterator[tuple[_Thread, _Thread]]:
    """The likest first; in the end the only one of each that is left over."""
    scored = ((_score(olds[n], news[m]), -abs(n - m), n, m) for n, m in _candidates(olds, news))
    left, right = dict(enumerate(olds)), dict(enumerate(news))
    for score, _, n, m in sorted(scored, reverse=True):
        if score >= ELSE and n in left and m in right:
            yield left.pop(n), right.pop(m)
    rest = [[thread for thread in side.values() if thread.what == ("", "")] for side in (left, right)]
    if len(rest[0]) == len(rest[1]) == 1:
        yield rest[0][0], rest[1][0]


def _candidates(olds: Sequence[_Thread], news: Sequence[_Thread]) -> Iterable[tuple[int, int]]:
    if len(olds) * len(news) <= MOST_COMPARED:
        return [(n, m) for n in range(len(olds)) for m in range(len(news))]
    known: dict[object, list[int]] = {}
    for m, thread in enumerate(news):
        for name in thread.names:
            known.setdefault(name, []).append(m)
    return {(n, m) for n, thread in enumerate(olds) for name in thread.names for m in known.get(name, ())}


def _score(a: _Thread, b: _Thread) -> float:
    """How much two threads are one: above 1 where they hold the same requests."""
    if a.what != b.what:
        return 0.0
    if a.what != ("", ""):
        return 1.0
    mine, theirs = ({like.digest for _, like in thread.members} for thread in (a, b))
    if same := len(mine & theirs):
        return 1.0 + same / max(len(mine), len(theirs))
    ends = ((a.members[n][1], b.members[n][1]) for n in (0, -1))
    return max(alike(one, other) for one, other in ends)


def _aligned(olds: Members, news: Members) -> Iterator[tuple[int | None, int | None]]:
    """Equal requests, between them those of the same last words and length, between those one after the other."""

    def key(like: Likeness) -> object:
        return *like.said[-1:], len(like.said)

    for is_equal, old, new in _stretches(olds, news, lambda like: like.digest):
        for _, former, latter in [(True, old, new)] if is_equal else _stretches(old, new, key):
            yield from zip_longest((n for n, _ in former), (n for n, _ in latter))


def _stretches(
    olds: Members, news: Members, key: Callable[[Likeness], object]
) -> Iterator[tuple[bool, Members, Members]]:
    """Parts of both in turn, those whose keys are equal and those whose are not."""
    for tag, i, j, k, m in align([key(like) for _, like in olds], [key(like) for _, like in news]):
        yield tag == "equal", olds[i:j], news[k:m]
