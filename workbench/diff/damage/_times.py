"""Detects a stream that was held back, from the times when its bytes arrived at two hops.

For each arrival at the client: while its first event waited, did more arrive upstream? Clocks need not agree for that.
A gateway that waits for the end and then plays the stream at its own pace is detected if one exchange lies within the
other in time, so that both clocks are one.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import NamedTuple

from workbench.diff.damage._stream_texts import StreamTexts
from workbench.protocols import DecodedExchange

LEAST_SPREAD = 0.1
"""Least duration of a stream, in seconds, for which a delay can be detected."""

LEAST_SHARE = 0.4
"""Least share of that time during which nothing was forwarded while more arrived."""

_TOGETHER = 0.004
"""Seconds within which two arrivals count as one."""

_FEWEST = 3
"""Least number of arrivals upstream."""


class StreamDelay(NamedTuple):
    """A stream that was held back.

    Attributes:
        spread: seconds over which it arrived.
        share: share of them during which it was held, 0 to 1.
        arrivals: number of arrivals, upstream and at the client.
        is_late: nothing was forwarded until everything had arrived.
    """

    spread: float
    share: float
    arrivals: tuple[int, int]
    is_late: bool

    @property
    def words(self) -> str:
        """Description for people."""
        came, went = self.arrivals
        if self.is_late and went > 1:
            return f"received over {self.spread:.2f} s, and nothing was forwarded until its end"
        return f"received in {came:,} arrivals over {self.spread:.2f} s, forwarded in {went:,}"


def stream_delay(upstream: StreamTexts, client: StreamTexts) -> StreamDelay | None:
    """Delay of a stream on its way to the client; None if it was not held back, or times are unknown."""
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
    if waited >= max(LEAST_SHARE * spread, LEAST_SPREAD / 2) and went <= 0.7 * came:
        return StreamDelay(spread, waited / spread, (came, went), is_late)
    return StreamDelay(spread, 1.0, (came, went), True) if is_late else None


def _by_chunks(upstream: DecodedExchange, client: DecodedExchange) -> StreamDelay | None:
    """Fallback if a content coding hides which bytes are which: all arrived at once that was sent over time."""
    bodies = (d.exchange.response.body if d.exchange.response else None for d in (upstream, client))
    sent, got = ([chunk.at for chunk in body.chunks] if body else [] for body in bodies)
    if len(sent) < _FEWEST or not got or not (upstream.events and client.events):
        return None
    spread = sent[-1] - sent[0]
    is_held = spread >= LEAST_SPREAD and _count(sent) >= _FEWEST and _count(got) == 1
    return StreamDelay(spread, 1.0, (_count(sent), 1), False) if is_held else None


def _count(times: list[float]) -> int:
    return 1 + sum(b - a > _TOGETHER for a, b in pairwise(times))


def _is_late(upstream: DecodedExchange, client: DecodedExchange, first: float, last: float) -> bool:
    """True if the client got its first piece after the last one had arrived, by clocks that agree."""
    outer, inner = client.exchange, upstream.exchange
    if outer.started_at is None or inner.started_at is None or outer.duration is None or inner.duration is None:
        return False
    shift = inner.started_at - outer.started_at
    is_within = 0 <= shift <= 5.0 and shift + inner.duration <= outer.duration + 0.05
    return is_within and first >= shift + last - _TOGETHER


def _points(upstream: StreamTexts, client: StreamTexts) -> list[tuple[float, float]]:
    """(arrival time, forwarding time) of the same content, in seconds from the start of each exchange."""
    texts = _by_texts(upstream, client)
    return texts if len(texts) >= _FEWEST else _by_events(upstream, client)


def _by_texts(upstream: StreamTexts, client: StreamTexts) -> list[tuple[float, float]]:
    """Points by the length of the texts so far: valid however the events are cut."""
    theirs, mine = _text_growth(upstream), _text_growth(client)
    if not theirs or not mine:
        return []
    ends = [length for length, _ in mine]
    found = []
    for length, at in theirs:
        row = bisect_left(ends, length)
        if row < len(mine):
            found.append((at, mine[row][1]))
    return found


def _text_growth(stream: StreamTexts) -> list[tuple[int, float]]:
    """(characters so far, arrival time)."""
    found, length = list[tuple[int, float]](), 0
    for event in stream.events:
        size = sum(map(len, event.pieces.values()))
        at = stream.decoded.arrival(event.source) if size else None
        if at is not None:
            length += size
            found.append((length, at))
    return found


def _by_events(upstream: StreamTexts, client: StreamTexts) -> list[tuple[float, float]]:
    if len(upstream.events) != len(client.events):
        return []
    pairs = (
        (upstream.decoded.arrival(a.source), client.decoded.arrival(b.source))
        for a, b in zip(upstream.events, client.events, strict=True)
    )
    return [(a, b) for a, b in pairs if a is not None and b is not None]
