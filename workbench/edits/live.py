"""What an edit means while it is made: what differs, whether a contract takes it, and which signatures it unbinds."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.chain.closure import Closure
from workbench.chain.ledger import Ledger
from workbench.contracts import Judgement
from workbench.diff import Difference, compare_indexed
from workbench.edits import signed
from workbench.edits.request import problem, text_of
from workbench.rules.inspection import Inspector, Trial
from workbench.wire.exchange import HttpRequest
from workbench.wire.jsontext import JsonIndex


@dataclass(frozen=True, slots=True)
class Meaning:
    """What became of a request.

    Attributes:
        difference: between the bodies before and after, in bytes and in meaning.
        problem: why nothing can be judged, in one line: it is no JSON, or no request of its protocol; "" where it can.
        trial: of the request after; None where nothing can be judged.
        unbound: pointers of signed blocks that may hold no longer.
    """

    difference: Difference
    problem: str = ""
    trial: Trial | None = None
    unbound: tuple[str, ...] = ()

    @property
    def judgement(self) -> Judgement | None:
        """What the contract makes of it; None where no verdict can be claimed."""
        return self.trial.judgement if self.trial else None

    @property
    def closure(self) -> Closure | None:
        """Calls and results of it."""
        return self.trial.case.closure if self.trial else None

    @property
    def ledger(self) -> Ledger | None:
        """Reasoning of it."""
        return self.trial.case.ledger if self.trial else None


def meaning(
    inspector: Inspector, index: int, request: HttpRequest, *, provider: str = "", since: HttpRequest | None = None
) -> Meaning:
    """What an edited request means in the place of a recorded one.

    Args:
        index: of the recorded exchange; what it is written in is the protocol of the edited one too.
        provider: contract to judge it by, "" for that of the inspection.
        since: what it is compared with, None for the request as recorded.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: it cannot be read.
        UsageError: no such contract.
    """
    recorded = inspector.detail(index).decoded
    before = since or recorded.exchange.request or HttpRequest()
    text = text_of(request)
    old = recorded.request_index if since is None else JsonIndex(text_of(before))
    wrong = problem(text)
    if wrong:
        return Meaning(compare_indexed(old, JsonIndex(text)), wrong)
    trial = inspector.trial(index, request, provider=provider, protocol=recorded.protocol)
    difference = compare_indexed(old, trial.decoded.request_index)
    if trial.decoded.request is None:
        told = next((p.message for p in trial.decoded.problems), "no request of a protocol that is known")
        return Meaning(difference, told)
    base = recorded if since is None else inspector.trial(index, since, protocol=recorded.protocol).decoded
    return Meaning(difference, "", trial, signed.unbound(base, trial.decoded))
