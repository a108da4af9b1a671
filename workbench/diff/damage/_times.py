"""Whether a stream was held back, told from when its bytes came at two places.

What counts is what the events of one arrival on the client's side waited for: while the first of them was held, others
came further up. Clocks need not agree for that. A gateway that waits for the end and then plays the stream at a pace of
its own is seen where one place's exchange lies within the other's, so that both clocks are one.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import NamedTuple

from workbench.diff.damage._folded import Folded
from workbench.protocols import DecodedExchange

LEAST_SPREAD = 0.1
"""Seconds over which a stream has to come for anybody to tell that it was held."""

HELD = 0.4
"""Share of that time, at least, for which nothing was passed on while more came."""

_TOGETHER = 0.004
"""Seconds within which two arrivals are one."""

_FEWEST = 3
"""Arrivals further up, at least."""


class Held(NamedTuple):
    """A stream that was held back.

    Attributes:
        spread: seconds over which it came.
        share: of them, for which it was held, 0 to 1.
        arrivals: how many there were, further up and at the client.
        is_late: nothing was passed on until everything had come.
    """

    spread: float
    share: float
    arrivals: tuple[int, int]
    is_late: bool

    @property
    def words(self) -> str:
        """What was seen."""
        came, went = self.arrivals
        if self.is_late and went > 1:
            return f"it came over {self.spread:.2f} s, and nothing was passed on before it was over"
        return f"it came in {came:,} arrivals over {self.spread:.2f} s and was passed on in {went:,}"


def held(upstream: Folded, client: Folded) -> Held | None:
    """The stream was held back on its way to the client; None where it was not, or no times tell."""
    points = _points(upstream, client)
    if len(points) < _FEWEST:
        return _by_chunks(upstream.decoded, client.decoded)
    sent, got = [sent for sent, _ in points], [got for _, got in points]
    spread = max(sent) - min(sent)
    came = _count(sent)
    if spread < LEAST_SPREAD or came < _FEWEST:
        return None
    waited, first = 0.0, 0
    for n in range(1, len(points) + 1):
        if n == len(points) or got[n] - got[n - 1] > _TOGETHER:
            waited += max(0.0, max(sent[first:n]) - sent[first])
            first = n
    went = _count(got)
    is_late = _is_late(upstream.decoded, client.decoded, points[0][1], max(sent))
    if waited >= max(HELD * spread, LEAST_SPREAD / 2) and went <= 0.7 * came:
        return Held(spread, waited / spread, (came, went), is_late)
    return Held(spread, 1.0, (came, went), True) if is_late else None


def _by_chunks(upstream: DecodedExchange, client: DecodedExchange) -> Held | None:
    """Where a content coding hides which bytes are which: everything came at once that had come over time."""
    bodies = (d.exchange.response.body if d.exchange.response else None for d in (upstream, client))
    sent, got = ([chunk.at for chunk in body.chunks] if body else [] for body in bodies)
    if len(sent) < _FEWEST or not got or not (upstream.events and client.events):
        return None
    spread = sent[-1] - sent[0]
    is_held = spread >= LEAST_SPREAD and _count(sent) >= _FEWEST and _count(got) == 1
    return Held(spread, 1.0, (_count(sent), 1), False) if is_held else None


def _count(times: list[float]) -> int:
    return 1 + sum(b - a > _TOGETHER for a, b in pairwise(times))


def _is_late(upstream: DecodedExchange, client: DecodedExchange, first: float, last: float) -> bool:
    """The client got its first piece when the last one had come, by clocks that agree."""
    outer, inner = client.exchange, upstream.exchange
    if outer.started_at is None or inner.started_at is None or outer.duration is None or inner.duration is None:
        return False
    shift = inner.started_at - outer.started_at
    is_within = 0 <= shift <= 5.0 and shift + inner.duration <= outer.duration + 0.05
    return is_within and first >= shift + last - _TOGETHER


def _points(upstream: Folded, client: Folded) -> list[tuple[float, float]]:
    """(when it came, when it was passed on) of the same content, each in seconds from the start of its exchange."""
    texts = _by_texts(upstream, client)
    return texts if len(texts) >= _FEWEST else _by_events(upstream, client)


def _by_texts(upstream: Folded, client: Folded) -> list[tuple[float, float]]:
    """By how much of the texts had come: holds however the events are cut."""
    theirs, mine = _grown(upstream), _grown(client)
    if not theirs or not mine:
        return []
    ends = [length for length, _ in mine]
    found = []
    for length, at in theirs:
        row = bisect_left(ends, length)
        if row < len(mine):
            found.append((at, mine[row][1]))
    return found


def _grown(stream: Folded) -> list[tuple[int, float]]:
    """(characters so far, when they had come)."""
    found, length = list[tuple[int, float]](), 0
    for event in stream.events:
        size = sum(map(len, event.pieces.values()))
        at = stream.decoded.arrival(event.source) if size else None
        if at is not None:
            length += size
            found.append((length, at))
    return found


def _by_events(upstream: Folded, client: Folded) -> list[tuple[float, float]]:
    if len(upstream.events) != len(client.events):
        return []
    pairs = (
        (upstream.decoded.arrival(a.source), client.decoded.arrival(b.source))
        for a, b in zip(upstream.events, client.events, strict=True)
    )
    return [(a, b) for a, b in pairs if a is not None and b is not None]
