"""Texts of bodies that repeat one another: stored pieces are compared by their ids, and joined only if needed."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import Protocol

from workbench.wire.predecessors import FIRST_LOOK, common_start


class BodyText(Protocol):
    """Interface of a body's bytes, for any storage.

    Attributes:
        size: number of bytes.
    """

    @property
    def size(self) -> int: ...

    def whole(self) -> bytes:
        """All of it."""
        ...

    def between(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``."""
        ...

    def count_shared(self, other: BodyText) -> int:
        """Number of first bytes that are the same in another text, or a lower bound of it that costs less."""
        ...


class WholeText:
    """A body in memory."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    @property
    def size(self) -> int:
        return len(self.data)

    def whole(self) -> bytes:
        return self.data

    def between(self, start: int, end: int) -> bytes:
        return self.data[start:end]

    def count_shared(self, other: BodyText) -> int:
        return common_start(self.data, other.data) if isinstance(other, WholeText) else _count_shared(self, other)


class PieceRun:
    """Pieces in the order in which bodies of one file repeat them. It only grows.

    Attributes:
        ids: of the pieces.
        steps: the difference of each id to the id before it, as eight bytes: what a file stores.
        pieces: their bytes.
        ends: end of each piece in the body.
        file: what the ids belong to.
    """

    __slots__ = ("ends", "file", "ids", "pieces", "steps")

    def __init__(self, file: object) -> None:
        self.file = file
        self.ids = array("q")
        self.steps = b""
        self.pieces: list[bytes] = []
        self.ends = array("q")

    def fork(self, count: int) -> PieceRun:
        """Another run that begins with the first pieces of this one."""
        other = PieceRun(self.file)
        other.ids, other.steps = self.ids[:count], self.steps[: 8 * count]
        other.pieces, other.ends = self.pieces[:count], self.ends[:count]
        return other

    def extend(self, ids: Sequence[int], steps: bytes, pieces: Sequence[bytes]) -> None:
        """Add pieces."""
        at = self.end(len(self.pieces))
        self.ends.extend(islice(accumulate(map(len, pieces), initial=at), 1, None))
        self.pieces += pieces
        self.ids.extend(ids)
        self.steps += steps

    def end(self, count: int) -> int:
        """End of the first pieces in the body."""
        return self.ends[count - 1] if count else 0


class PiecedText:
    """A body in pieces that other bodies repeat: the first ones of a run, and a separate last one."""

    __slots__ = ("_count", "_last", "_run", "size")

    def __init__(self, run: PieceRun, count: int, last: bytes) -> None:
        self._run, self._count, self._last = run, count, last
        self.size = run.end(count) + len(last)

    def whole(self) -> bytes:
        return b"".join((*self._run.pieces[: self._count], self._last))

    def between(self, start: int, end: int) -> bytes:
        end = min(end, self.size)
        ends, shared = self._run.ends, self.size - len(self._last)
        first = bisect_right(ends, start, 0, self._count)
        last = bisect_left(ends, end, first, self._count)
        found = self._run.pieces[first : min(last + 1, self._count)]
        if end > shared:
            found.append(self._last)
        at = start - ends[first - 1] if first else start
        joined = found[0] if len(found) == 1 else b"".join(found)
        return joined[at : at + end - start] if end > start else b""

    def count_shared(self, other: BodyText) -> int:
        if not isinstance(other, PiecedText) or other._run.file is not self._run.file:
            return _count_shared(self, other)
        count = min(self._count, other._count)
        if self._run is not other._run:
            count = min(count, common_start(self._run.steps, other._run.steps) // 8)
        return self._run.end(count)


def _count_shared(one: BodyText, other: BodyText) -> int:
    low, most, look = 0, min(one.size, other.size), FIRST_LOOK
    while low < most:
        high = min(low + look, most)
        mine, theirs = one.between(low, high), other.between(low, high)
        if mine != theirs:
            return low + common_start(mine, theirs)
        low, look = high, 2 * look
    return low
