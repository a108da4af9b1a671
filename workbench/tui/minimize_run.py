"""Minimising outside of the screen's thread: local checks in the inspector's thread, requests in a dispatch."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.lazy_dataclass import replace
from workbench.tui.models.minimizing import RemainingPart, pieces

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.send import Outgoing, Sender
    from workbench.trials.minimize import MinimalFix, MinimizeResult, MinimizeRun, Steps, TargetVerdict
    from workbench.tui.dispatch import InspectorQuestions
    from workbench.tui.models.rowtable import Range

TURN_SECONDS = 0.1
"""Seconds of local checks before the inspector's thread answers other questions."""


class SearchProgress(NamedTuple):
    """Progress of a search.

    Attributes:
        outgoing: the request as the target gets it.
        pieces: remaining parts.
        fault, first_fault: byte ranges of the finding in the remaining request, and in the original one.
        edits: smallest fixes; () until they are known.
    """

    outgoing: Outgoing
    result: MinimizeResult
    stage: str
    calls: int
    budget: int
    pieces: tuple[RemainingPart, ...]
    fault: tuple[Range, ...]
    first_fault: tuple[Range, ...]
    edits: tuple[MinimalFix, ...] = ()
    is_over: bool = False


class Shrinking:
    """One search, step by step. Everything except ``work`` runs in the inspector's thread.

    Args:
        begin: creates the ``MinimizeRun``.
        on_progress: called with the progress, in any thread.
    """

    def __init__(
        self, begin: Callable[[Inspector], MinimizeRun], on_progress: Callable[[SearchProgress], None]
    ) -> None:
        self._begin, self._on_progress = begin, on_progress
        self._course: MinimizeRun | None = None
        self._steps: Steps[None] | None = None
        self._first: tuple[Range, ...] | None = None

    def work(self, asking: InspectorQuestions) -> Callable[[Sender], Coroutine[Any, Any, None]]:
        """Return the job that a dispatch runs: ask for the next candidate, send it, report the verdict, until done."""

        async def all_of_it(sender: Sender) -> None:
            from workbench.trials.minimize import target_verdict

            reply: TargetVerdict | None = None
            while True:
                wanted, is_over = await asking(partial(self._turn, reply))
                if is_over:
                    return
                reply = None
                if wanted is not None:
                    assert self._course
                    going = self._course.outgoing
                    outgoing = replace(going, request=self._course.with_body(wanted))
                    reply = target_verdict(await sender.send(outgoing), going.protocol)

        return all_of_it

    def _turn(self, reply: TargetVerdict | None, inspector: Inspector) -> tuple[bytes | None, bool]:
        """Search for one slice of time: (body to send to the target, or None; True if the search is over)."""
        if self._course is None or self._steps is None:
            self._course = self._begin(inspector)
            self._steps = self._course.run()
            self._tell()
        until, step = time.monotonic() + TURN_SECONDS, None
        try:
            step = self._steps.send(reply)
            self._first = self._fault() if self._first is None else self._first
            while step is None and time.monotonic() < until:
                step = next(self._steps)
        except StopIteration:
            self._tell(is_over=True)
            return None, True
        self._tell()
        return step, False

    def _tell(self, *, is_over: bool = False) -> None:
        course = self._course
        assert course
        view = course.search.current
        self._on_progress(
            SearchProgress(
                course.outgoing,
                course.result(),
                course.stage,
                course.calls,
                course.budget,
                pieces(view) if view else (),
                self._fault(),
                self._first or (),
                course.fixes,
                is_over,
            )
        )

    def _fault(self) -> tuple[Range, ...]:
        """Byte range of the finding in the remaining request; empty if unknown."""
        view = self._course.search.current if self._course else None
        return (view.finding.span,) if view and view.finding and view.finding.span else ()
