"""Comparison of two sources in the inspector's thread: aligns their turns, a slice of time at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from workbench.safetext import visible
from workbench.tui.models import comparing
from workbench.tui.models.comparing import ComparedRow, ComparedTurn
from workbench.tui.service import JobAnswer, guard, is_open

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange
    from workbench.rules import Inspector
    from workbench.tui.compare_sources import CollationSource
    from workbench.tui.screens.comparing.screen import ComparingScreen
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.service import Job

SLICE = 0.1
"""Seconds of comparing between two updates of the screen."""

Sides = tuple["DecodedExchange | None", "DecodedExchange | None"]


class TurnComparison:
    """Turns of a source, as far as they have been compared.

    Args:
        screen: shows them.
        source: both sides.

    Attributes:
        turns: turns compared so far.
        is_over: all turns are compared, or the comparison failed.
        trouble: reason of a failure; empty if none.
    """

    def __init__(self, screen: ComparingScreen, source: CollationSource) -> None:
        self.screen, self.source = screen, source
        self.turns: list[ComparedTurn] = []
        self.is_over = False
        self.trouble = ""
        self._remaining: Iterator[ComparedTurn] | None = None

    @property
    def is_shown(self) -> bool:
        """The screen is open, and shows this comparison."""
        return is_open(self.screen) and self.screen.comparison is self

    def close(self) -> None:
        """Close the source, in the inspector's thread."""
        source = self.source
        self.screen.session.inspecting.do(lambda inspector: JobAnswer(source.close))

    def _ask(self, job: Job) -> None:
        self.screen.session.inspecting.do_shown(guard(job, self._fail))

    def _fail(self, why: str) -> None:
        if self.is_shown:
            self.trouble, self.is_over = why, True
            self.screen.show()

    def compare(self) -> None:
        """Compare turns for one slice of time, then the next, to the end."""

        def job(inspector: Inspector) -> JobAnswer:
            if self._remaining is None:
                self._remaining = self.source.turns(inspector)
            until, more = time.monotonic() + SLICE, list[ComparedTurn]()
            for turn in self._remaining:
                more.append(turn)
                if time.monotonic() > until:
                    return JobAnswer(partial(self._add_turns, more, is_over=False))
            return JobAnswer(partial(self._add_turns, more, is_over=True))

        self._ask(job)

    def _add_turns(self, more: list[ComparedTurn], *, is_over: bool) -> None:
        if not self.is_shown:
            return
        self.turns += more
        self.is_over = is_over
        self.screen.show_turns()
        if not is_over:
            self.compare()

    def look(self, turn: ComparedTurn, show: Callable[[ComparedTurn, Sides, tuple[ComparedRow, ...]], None]) -> None:
        """Decode both sides of a turn, and pass them and their places to ``show``."""

        def job(inspector: Inspector) -> JobAnswer:
            before, after = self.source.both(inspector, turn)
            found = comparing.places(before, after, turn.damages) if before and after else ()
            return JobAnswer(lambda: show(turn, (before, after), found))

        self._ask(job)


def begin(
    session: SessionScreen,
    index: int,
    show: Callable[[CollationSource], None],
    none: Callable[[], None],
    now: CollationSource | None = None,
) -> None:
    """Find two hops of a session to compare, neighbours first.

    Args:
        index: index of the open exchange; the first pair contains its hop.
        show: called with the pair.
        none: called if the session has one hop only.
        now: the shown source; the pair after it is next.
    """

    def job(inspector: Inspector) -> JobAnswer:
        from itertools import combinations, pairwise

        from workbench.diff import hops_of
        from workbench.tui.compare_sources import CollatedHops

        names = hops_of(inspector.session)
        pairs = list(dict.fromkeys((*pairwise(names), *combinations(names, 2))))
        if not pairs:
            return JobAnswer(none)
        at = (
            pairs.index(now.names) + 1
            if isinstance(now, CollatedHops) and now.names in pairs
            else _near(inspector, pairs)
        )
        hops = CollatedHops(*pairs[at % len(pairs)])
        return JobAnswer(lambda: show(hops))

    def _near(inspector: Inspector, pairs: list[tuple[str, str]]) -> int:
        here = inspector.session.summaries()[index].hop
        return next((n for n, pair in enumerate(pairs) if here in pair), 0)

    session.inspecting.do(guard(job, lambda why: session.notify(visible(why), severity="error", markup=False)))
