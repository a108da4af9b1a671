"""Remembers the last bodies of several conversations: an agent repeats its whole history in each request.

What is known of a body holds for the bytes that the next one repeats.
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple

_T = TypeVar("_T")

MOST: Final = 8
"""Conversations remembered at once; an agent and its sub-agents take turns."""
MOST_BYTES: Final = 32 * 1024 * 1024
FIRST_LOOK: Final = 4096
"""Bytes compared first; each later look is twice as long, so that a difference at the beginning is cheap."""
CONTINUED: Final = 0.9
"""Share of a body from which it is a continuation, and no other predecessor is compared."""


class Predecessor(NamedTuple, Generic[_T]):
    """An earlier body and the facts known about it."""

    body: bytes
    known: _T


class Repetition(NamedTuple, Generic[_T]):
    """The predecessor that a body repeats most of: so many bytes at the start, and as many at the end."""

    before: Predecessor[_T]
    start: int
    end: int


@dataclass(slots=True)
class Predecessors(Generic[_T]):
    """The last body of each conversation, most recent first."""

    _requests: list[Predecessor[_T]] = field(default_factory=list)

    def closest(self, body: bytes) -> Repetition[_T] | None:
        """The predecessor with the most in common; None if there is none."""
        best: Repetition[_T] | None = None
        for before in self._requests:
            start = common_start(before.body, body)
            end = common_end(before.body, body, min(len(before.body), len(body)) - start)
            if best is None or start + end > best.start + best.end:
                best = Repetition(before, start, end)
            if start + end >= CONTINUED * len(body):
                break
        return best

    def remember(self, body: bytes, known: _T, repeated: Repetition[_T] | None) -> None:
        """Remember a body, in place of the one that it continues."""
        if repeated and repeated.start + repeated.end >= len(repeated.before.body) // 2:
            self._requests = [each for each in self._requests if each is not repeated.before]
        self._requests.insert(0, Predecessor(body, known))
        while len(self._requests) > MOST or sum(len(each.body) for each in self._requests) > MOST_BYTES:
            self._requests.pop()

    def clear(self) -> None:
        """Forget everything."""
        self._requests.clear()


def common_start(one: bytes, other: bytes) -> int:
    """Number of bytes with which both begin."""
    low, most, look = 0, min(len(one), len(other)), FIRST_LOOK
    mine = memoryview(one)
    while low < most:
        high = min(low + look, most)
        if other.startswith(mine[low:high], low):
            low, look = high, 2 * look
        elif look == 1 or high - low == 1:
            break
        else:
            most, look = high - 1, max((high - low) // 2, 1)
    return low


def common_end(one: bytes, other: bytes, most: int) -> int:
    """Number of bytes, at most so many, with which both end."""
    low, high, ends = 0, most, (len(one), len(other))
    if one[ends[0] - high :] == other[ends[1] - high :]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        is_same = one[ends[0] - middle : ends[0] - low] == other[ends[1] - middle : ends[1] - low]
        low, high = (middle, high) if is_same else (low, middle)
    return low
