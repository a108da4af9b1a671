"""Minimising: the smallest request that fails the same way, the smallest edit that mends it, the turn it broke.

Searches do no I/O: each is a generator that yields the bodies which the target has to judge, and None for every local
check, and is sent what the target made of them. Whoever runs it may stop at any step: it keeps its best.
"""

from __future__ import annotations

from workbench.minimize.bench import Bench, Judged
from workbench.minimize.bisecting import Bisected, Bisection
from workbench.minimize.course import BUDGET, Course, bench_for
from workbench.minimize.driving import Asked, Unanswered, drive, outcome
from workbench.minimize.failure import Failure, answered, predicted
from workbench.minimize.mending import Mended, Mending
from workbench.minimize.search import Result, Search, Steps

__all__ = [
    "BUDGET",
    "Asked",
    "Bench",
    "Bisected",
    "Bisection",
    "Course",
    "Failure",
    "Judged",
    "Mended",
    "Mending",
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
