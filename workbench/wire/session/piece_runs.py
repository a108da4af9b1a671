"""Bodies of one file in pieces: of a body that continues another one only the new pieces are read."""

from __future__ import annotations

from collections.abc import Callable

from workbench.wire.body_text import PiecedText, PieceRun
from workbench.wire.predecessors import CONTINUED, common_start
from workbench.wire.session.pieces import ids_of

MOST_RUNS = 16
"""Bodies that others may continue: main agent, sub-agents, side questions, and branches of each."""


class PieceRuns:
    """The last bodies that were read, which the next ones may continue.

    Args:
        most: bytes of the bodies that are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._runs: list[PieceRun] = []

    def text(self, steps: bytes, size: int, read: Callable[[int], bytes]) -> PiecedText | None:
        """The body of these pieces; None if they do not add up to its size.

        Args:
            steps: differences of the ids of its pieces, of which there is at least one.
            size: of the body in bytes.
            read: reads a piece by its id.

        Raises:
            SessionFormatError: a piece cannot be read.
        """
        run, shared = self._find(steps)
        kept = min(shared, len(steps) // 8 - 1)  # the last piece is the end of the body, which no longer body has
        ids = ids_of(steps[8 * kept :], run.ids[kept - 1] if kept else 0)
        left, found = size - run.end(kept), list[bytes]()
        for piece_id in ids:
            found.append(read(piece_id))
            left -= len(found[-1])
            if left < 0 or not found[-1]:
                break
        if left or len(found) < len(ids):
            return None
        if kept < len(run.pieces):
            run = run.fork(kept)
        run.extend(ids[:-1], steps[8 * kept : -8], found[:-1])
        self._keep(run)
        return PiecedText(run, len(run.pieces), found[-1])

    def _find(self, steps: bytes) -> tuple[PieceRun, int]:
        """The run with the most first pieces in common, the latest of several, and how many these are."""
        best, most = PieceRun(self), 0
        for run in reversed(self._runs):
            shared = common_start(run.steps, steps) // 8
            if shared > most:
                best, most = run, shared
            if most * 8 >= CONTINUED * len(steps):
                break
        return best, most

    def _keep(self, run: PieceRun) -> None:
        others = [other for other in self._runs if other is not run]
        self._runs = [*others[-MOST_RUNS + 1 :], run]
        size = sum(other.end(len(other.pieces)) for other in self._runs)
        while size > self._most and len(self._runs) > 1:
            first = self._runs.pop(0)
            size -= first.end(len(first.pieces))
