"""Everything about minimising one request: the smallest one that fails so, then the edits that mend it."""

from __future__ import annotations

from workbench.rules.inspection import Inspector
from workbench.send.outgoing import Outgoing, prepare
from workbench.send.target import Target
from workbench.trials.minimize.bench import MinimizeRun
from workbench.trials.minimize.mending import MOST_ASKED, Mended, Mending
from workbench.trials.minimize.search import Result, Search, Steps
from workbench.wire.exchange import Exchange, HttpRequest
from workbench.wire.session import MemorySession

BUDGET = 150
"""How often a target is asked, unless people say otherwise."""


class Course:
    """One minimisation. ``run`` yields as ``Search.run`` does; it may be stopped at any step.

    Attributes:
        outgoing: the request as the target gets it; the bodies that are tried go in its place.
        edits: what makes it accepted, the best first; () until that is known.

    Args:
        inspector: of the session.
        index: of the exchange.
        target: who has to agree that it fails in the same way.
        protocol: to send it as; "" for what the target speaks.
        budget: how often the target may be asked, at least once.
        request: in the place of the recorded one, None for that one.

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
        self.bench = bench_for(inspector, index, self.outgoing)
        self.budget = budget
        self.search = Search(self.bench, max(1, budget - MOST_ASKED), is_exact=target.is_simulator)
        self.edits: tuple[Mended, ...] = ()
        self._mending: Mending | None = None

    @property
    def calls(self) -> int:
        """How often the target was asked."""
        return self.search.calls + (self._mending.calls if self._mending else 0)

    @property
    def stage(self) -> str:
        """What is done at this moment."""
        return "looking for the smallest edit" if self._mending and not self.edits else self.search.stage

    def result(self) -> Result:
        """The smallest request so far."""
        return self.search.result()

    def made(self, body: bytes) -> HttpRequest:
        """The request that goes to the target, with another body."""
        return self.bench.made(body)

    def run(self) -> Steps[None]:
        """Search to the end."""
        yield from self.search.run()
        if self.search.remote:
            self._mending = Mending(self.bench, self.search.remote, self.budget - self.search.calls)
            self.edits = yield from self._mending.run()


def bench_for(inspector: Inspector, index: int, outgoing: Outgoing) -> MinimizeRun:
    """Where a request is judged as its target would; a converted one by itself: what came before was said otherwise."""
    label = outgoing.contract.label
    if not outgoing.is_converted:
        return MinimizeRun(inspector, index, outgoing.request, label)
    alone = MemorySession(inspector.session.name, (Exchange("1", outgoing.request),))
    return MinimizeRun(Inspector(alone, provider=label, protocol=outgoing.protocol), 0)
