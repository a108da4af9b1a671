"""Minimising: the smallest request that fails in the same way, its smallest fix, and the turn that broke it.

In: a failing request, and the verdict on each trial. Out: the best result so far. Searches do no I/O: each is a
generator that yields bodies for the target and receives its verdicts, and yields None after every local check. It may
be stopped at any step. It may import what ``trials`` may.

Minimisation of one request: first the smallest one that fails in the same way, then its fixes.
"""

from __future__ import annotations

from workbench.rules import Inspector
from workbench.send import Outgoing, Target, prepare
from workbench.trials.minimize.bisecting import Bisection, BisectResult
from workbench.trials.minimize.driving import TargetVerdict, UnansweredError, drive, target_verdict
from workbench.trials.minimize.failure import BodyJudge, Failure, JudgedBody, contract_failure, target_failure
from workbench.trials.minimize.fixes import MOST_ASKED, FixSearch, MinimalFix
from workbench.trials.minimize.search import MinimizeResult, MinimizeSearch, Steps
from workbench.wire import Exchange, HttpRequest
from workbench.wire.session import MemorySession

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


BUDGET = 150
"""Default number of requests to a target."""


class MinimizeRun:
    """One minimisation. ``run`` yields like ``MinimizeSearch.run``; it may be stopped at any step.

    Attributes:
        outgoing: the request as the target receives it; trial bodies take its place.
        fixes: edits that make it accepted, the best first; empty until they are known.

    Args:
        inspector: of the session.
        index: of the exchange.
        target: that has to confirm that it fails in the same way.
        protocol: to send it in; empty for the target's own.
        budget: most requests to the target, at least one.
        request: in place of the recorded one; None for that one.

    Raises:
        IndexError, SessionFormatError: as ``MinimizeRun``.
        LocalProtocolError, UsageError: as ``prepare``.
    """

    def __init__(
        self,
        inspector: Inspector,
        index: int,
        target: Target,
        protocol: str = "",
        budget: int = BUDGET,
        request: HttpRequest | None = None,
    ) -> None:
        own = inspector.detail(index).decoded
        if request is not None:
            own = inspector.trial(index, request, protocol=own.protocol).decoded
        self.outgoing = prepare(own, target, protocol=protocol)
        self.body_judge = judge_for(inspector, index, self.outgoing)
        self.budget = budget
        self.search = MinimizeSearch(self.body_judge, max(1, budget - MOST_ASKED), is_exact=target.is_simulator)
        self.fixes: tuple[MinimalFix, ...] = ()
        self._fix_search: FixSearch | None = None

    @property
    def calls(self) -> int:
        """Number of requests to the target."""
        return self.search.calls + (self._fix_search.calls if self._fix_search else 0)

    @property
    def stage(self) -> str:
        """Current stage, in words."""
        return "searching for the smallest fix" if self._fix_search and not self.fixes else self.search.stage

    def result(self) -> MinimizeResult:
        """The smallest request so far."""
        return self.search.result()

    def with_body(self, body: bytes) -> HttpRequest:
        """The request for the target, with another body."""
        return self.body_judge.with_body(body)

    def run(self) -> Steps[None]:
        """Run the search to the end."""
        yield from self.search.run()
        if self.search.remote:
            self._fix_search = FixSearch(self.body_judge, self.search.remote, self.budget - self.search.calls)
            self.fixes = yield from self._fix_search.run()


def judge_for(inspector: Inspector, index: int, outgoing: Outgoing) -> BodyJudge:
    """Judge in the target's form of a request; a converted one is judged alone, as its history has another form."""
    label = outgoing.contract.label
    if not outgoing.is_converted:
        return BodyJudge(inspector, index, outgoing.request, label)
    alone = MemorySession(inspector.session.name, (Exchange("1", outgoing.request),))
    return BodyJudge(Inspector(alone, provider=label, protocol=outgoing.protocol), 0)
