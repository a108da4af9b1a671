"""Minimising: the smallest request that fails in the same way, its smallest fix, and the turn that broke it.

In: a failing request, and the verdict on each trial. Out: the best result so far. Searches do no I/O: each is a
generator that yields bodies for the target and receives its verdicts, and yields None after every local check. It may
be stopped at any step. It may import what ``trials`` may.
"""

from __future__ import annotations

from workbench.trials.minimize.bisecting import Bisection, BisectResult
from workbench.trials.minimize.body_judge import BodyJudge, JudgedBody
from workbench.trials.minimize.driving import TargetVerdict, UnansweredError, drive, target_verdict
from workbench.trials.minimize.failure import Failure, contract_failure, target_failure
from workbench.trials.minimize.fixes import FixSearch, MinimalFix
from workbench.trials.minimize.minimize_run import BUDGET, MinimizeRun, judge_for
from workbench.trials.minimize.search import MinimizeResult, MinimizeSearch, Steps

__all__ = [
    "BUDGET",
    "BisectResult",
    "Bisection",
    "BodyJudge",
    "Failure",
    "FixSearch",
    "JudgedBody",
    "MinimalFix",
    "MinimizeResult",
    "MinimizeRun",
    "MinimizeSearch",
    "Steps",
    "TargetVerdict",
    "UnansweredError",
    "contract_failure",
    "drive",
    "judge_for",
    "target_failure",
    "target_verdict",
]
