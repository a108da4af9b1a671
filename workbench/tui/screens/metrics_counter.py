"""Counts of tokens and tool use for the metrics screen, in a thread, and how far they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from workbench.library import SessionMetrics, files, gather
from workbench.rules import Costs, CountKey, Counts, Prices, TurnCost, count_exchanges, load_prices, turn_costs
from workbench.tui.dispatch import is_open
from workbench.tui.service import InspectedRows, JobAnswer, guard, in_words
from workbench.views import progress_bar

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.screens.metrics import MetricsScreen
    from workbench.tui.screens.session.screen import SessionScreen

SLICE_SECONDS = 0.1
"""Seconds of counting at a time in the inspector's thread, so that other questions do not wait."""


class MetricsProgress(Message):
    """One more session has been counted, of ``of``; ``one`` is None before the first."""

    def __init__(self, number: int, of: int, one: SessionMetrics | None) -> None:
        super().__init__()
        self.number, self.of, self.one = number, of, one


class MetricsEnd(Message):
    """End of the counting; ``why`` is the error, empty if none."""

    def __init__(self, number: int, why: str = "") -> None:
        super().__init__()
        self.number, self.why = number, why


class Tally:
    """Counts the session of an inspector, a slice at a time, in the inspector's thread."""

    def __init__(self, prices: Prices) -> None:
        self._listed = prices
        self.turns: list[TurnCost] = []
        self.counts: list[tuple[CountKey, Counts]] = []
        self._work: Iterator[object] | None = None

    def count_slice(self, inspector: Inspector) -> bool:
        """Count for a slice of time. Returns False once everything is counted."""
        until = time.monotonic() + SLICE_SECONDS
        self._work = self._work or self._all(inspector)
        return any(time.monotonic() > until for _ in self._work)

    def _all(self, inspector: Inspector) -> Iterator[object]:
        yield from inspector.steps()
        for turn in turn_costs(inspector, self._listed):
            self.turns.append(turn)
            yield turn
        for pair in count_exchanges(inspector, Costs(tuple(self.turns))):
            self.counts.append(pair)
            yield pair


class MetricsCounter:
    """Counts files, or an open session, and has the screen shown again after each step.

    Attributes:
        gathered: what is counted so far, one for each session.
        progress: how far the count is; empty at its end.
        why: reason that it failed; empty if it did not.
        date: of the prices.
    """

    def __init__(self, screen: MetricsScreen) -> None:
        self.screen = screen
        self.gathered: list[SessionMetrics] = []
        self.progress = "counting …"
        self.why = ""
        self.date = ""
        self._number = 0

    def count(self, paths: Sequence[Path], session: SessionScreen | None) -> None:
        """Begin to count an open session, or paths if there is none; what was counted before is dropped."""
        self._number += 1
        self.gathered, self.progress, self.why = [], "counting …", ""
        self.screen.show_metrics()
        if session:
            self._count_session(session)
        else:
            work = partial(self._count_paths, self._number, paths)
            self.screen.run_worker(work, thread=True, exclusive=True, group="metrics", exit_on_error=False)

    def _count_paths(self, number: int, paths: Sequence[Path]) -> None:
        worker, post = get_current_worker(), self.screen.post_message
        try:
            prices = load_prices()
            self.date = prices.date
            found = list(files(paths))
            post(MetricsProgress(number, len(found), None))
            for one in gather(found, prices):
                if worker.is_cancelled:
                    return
                post(MetricsProgress(number, len(found), one))
            post(MetricsEnd(number))
        except Exception as error:
            post(MetricsEnd(number, in_words(error)))

    def _count_session(self, session: SessionScreen) -> None:
        """Count an open session in the inspector's thread, a slice at a time."""
        tallies: list[Tally] = []

        def job(inspector: Inspector) -> JobAnswer:
            if not tallies:
                prices = load_prices()
                self.date = prices.date
                tallies.append(Tally(prices))
            has_more = tallies[0].count_slice(inspector)
            session.post_message(InspectedRows(tuple(inspector.rows)))
            return JobAnswer(lambda: self._take_slice(job, tallies[0], has_more=has_more))

        def fail(why: str) -> None:
            self.screen.post_message(MetricsEnd(self._number, why))

        session.inspecting.do(guard(job, fail))

    def _take_slice(self, job: Callable[[Inspector], Message], tally: Tally, *, has_more: bool) -> None:
        session = self.screen.session
        if not is_open(self.screen) or session is None or not self.progress:
            return
        costs = Costs(tuple(tally.turns))
        self.gathered = [SessionMetrics(Path(session.state.name), costs, tuple(tally.counts))]
        if has_more:
            bar = progress_bar(len(session.state.rows), session.state.total)
            self.progress = f"{bar} {len(tally.turns):,} turns …"
            session.inspecting.do(guard(job, self._end))
            self.screen.show_metrics()
        else:
            self._end()

    def add(self, message: MetricsProgress) -> None:
        """Add the count of one more file."""
        if message.number == self._number and self.progress:
            self.gathered += [message.one] if message.one else []
            self.progress = (
                f"{progress_bar(len(self.gathered), message.of)} {len(self.gathered):,} of {message.of:,} sessions …"
            )
            self.screen.show_metrics()

    def finish(self, message: MetricsEnd) -> None:
        """Note that everything is counted, or why not."""
        if message.number == self._number:
            self._end(message.why)

    def stop(self) -> None:
        """Count no further; what is counted stays."""
        self._number += 1
        self.screen.workers.cancel_group(self.screen, "metrics")
        self._end("" if self.gathered else "stopped")

    def _end(self, why: str = "") -> None:
        self.progress, self.why = "", why
        self.screen.show_counted()
