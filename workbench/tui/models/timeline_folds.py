"""Folds of the timeline: runs of exchanges that need no attention, each shown as one row.

A *position* is an index into the shown exchanges; an *item* is a row of the list. A run has a row of its own above its
exchanges; while it is closed, they have none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import groupby
from typing import NamedTuple

from workbench.views import Line, Span, line

HEALTHY, CARRIED = "healthy", "carried"
"""Kinds of exchanges that are folded: without findings, or with findings of earlier exchanges only."""

LONG = 30
"""Exchanges from which a session is folded: fewer fit on a screen."""

LEAST = 4
"""Exchanges of a run, at least; fewer are read faster than the row that replaces them."""

NEWEST = 3
"""Exchanges at the end that are never folded: a person follows them."""

_WORDS = {HEALTHY: "without findings", CARRIED: "with carried breaks only"}


class Run(NamedTuple):
    """Positions ``first`` to ``last``, all of one kind."""

    first: int
    last: int
    kind: str

    @property
    def size(self) -> int:
        """Number of exchanges."""
        return self.last - self.first + 1


def find_runs(kinds: Sequence[str]) -> list[Run]:
    """Runs of a long session in which some exchange needs attention; the neighbours of a run's ends are kept.

    Args:
        kinds: kind of each shown exchange; empty for one that needs attention.
    """
    if len(kinds) < LONG or "" not in kinds:
        return []
    runs, at = [], 0
    for kind, members in groupby(kinds):
        size = sum(1 for _ in members)
        run = Run(at + 1, min(at + size - 2, len(kinds) - 1 - NEWEST), kind)
        at += size
        if kind and run.size >= LEAST:
            runs.append(run)
    return runs


class _Segment(NamedTuple):
    """Consecutive rows: exchanges from a position on, or one row of a run."""

    item: int
    position: int
    run: Run | None


class Folds:
    """Maps rows of the list to exchanges and back.

    Args:
        total: number of shown exchanges.
        runs: in order.
        opened: runs whose exchanges are shown.
    """

    def __init__(self, total: int, runs: Sequence[Run] = (), opened: Collection[Run] = ()) -> None:
        self.runs = tuple(runs)
        self._segments = [_Segment(0, 0, None)]
        hidden = 0
        for number, run in enumerate(runs):
            item = run.first + number - hidden
            self._segments.append(_Segment(item, run.first, run))
            hidden += 0 if run in opened else run.size
            self._segments.append(_Segment(item + 1, run.first if run in opened else run.last + 1, None))
        self.count = total + len(self.runs) - hidden

    def run_at(self, item: int) -> Run | None:
        """The run that a row stands for; None for the row of an exchange."""
        return self._at(item).run

    def position_at(self, item: int) -> int:
        """Position of a row; of a run, its first one."""
        segment = self._at(item)
        return segment.position + item - segment.item

    def item_of(self, position: int) -> int:
        """The row of a position, or of the closed run that contains it."""
        after = bisect_right(self._segments, position, key=lambda segment: segment.position)
        segment = self._segments[after - 1]
        return segment.item + (0 if segment.run else position - segment.position)

    def run_of(self, position: int) -> Run | None:
        """The run that contains a position."""
        return next((run for run in self.runs if run.first <= position <= run.last), None)

    def _at(self, item: int) -> _Segment:
        return self._segments[bisect_right(self._segments, item, key=lambda segment: segment.item) - 1]


def run_line(run: Run, numbers: tuple[int, int], digits: int, *, is_open: bool) -> Line:
    """The row of a run.

    Args:
        numbers: indexes of its first and last exchange.
        digits: columns of the numbers of exchanges.
    """
    first, last = numbers
    sign, style = ("✓", "ok") if run.kind == HEALTHY else ("↑", "warning")
    return line(
        Span(" " * max(0, digits - 1)),
        Span("⊟ " if is_open else "⊞ ", "accent"),
        Span(f"{first + 1:,}–{last + 1:,}  ", "muted"),
        Span(f"{sign} {run.size:,} {_WORDS[run.kind]}", style),
    )
