"""Minimising: the smallest request that fails the same way, the smallest fix, the turn that broke it.

In: a failing request, and the judgement of each trial. Out: the best result so far. Searches do no I/O: each is a
generator that yields the bodies which the target has to judge, and None for every local check, and is sent the
judgement. Whoever runs it may stop at any step. It may import what ``trials`` may.
"""

from __future__ import annotations

from workbench.trials.minimize.bench import Judged, MinimizeRun
from workbench.trials.minimize.bisecting import Bisected, Bisection
from workbench.trials.minimize.course import BUDGET, Course, bench_for
from workbench.trials.minimize.driving import Asked, Unanswered, drive, outcome
from workbench.trials.minimize.failure import Failure, answered, predicted
from workbench.trials.minimize.mending import Mended, Mending
from workbench.trials.minimize.search import Result, Search, Steps

__all__ = [
    "BUDGET",
    "Asked",
    "Bisected",
    "Bisection",
    "Course",
    "Failure",
    "Judged",
    "Mended",
    "Mending",
    "MinimizeRun",
    "Result",
    "Search",
    "Steps",
    "Unanswered",
    "answered",
    "bench_for",
    "drive",
    "outcome",
    "predicted",
]
