"""Assessment of an edit: what differs, the verdict of a contract, and the signatures it invalidates."""

from __future__ import annotations

from workbench.chain import Closure, Ledger
from workbench.contracts import Judgement
from workbench.diff import Difference, compare_indexed
from workbench.edits import signatures
from workbench.edits.request import json_problem, text_of
from workbench.lazy_dataclass import dataclass
from workbench.rules import Inspector, Trial
from workbench.wire import HttpRequest, JsonIndex


@dataclass(frozen=True, slots=True)
class EditAssessment:
    """Effect of an edit on a request.

    Attributes:
        difference: between the bodies before and after, in bytes and in meaning.
        problem: reason why it cannot be judged, in one line: not JSON, or no request of its protocol; empty if it can.
        trial: of the request after the edit; None if it cannot be judged.
        unbound: pointers of signed blocks that may be invalid now.
    """

    difference: Difference
    problem: str = ""
    trial: Trial | None = None
    unbound: tuple[str, ...] = ()

    @property
    def judgement(self) -> Judgement | None:
        """Verdict of the contract; None if there is none."""
        return self.trial.judgement if self.trial else None

    @property
    def closure(self) -> Closure | None:
        """Tool calls and results of the request; None if it cannot be judged."""
        return self.trial.case.closure if self.trial else None

    @property
    def ledger(self) -> Ledger | None:
        """Reasoning of the request; None if it cannot be judged."""
        return self.trial.case.ledger if self.trial else None


def assess(
    inspector: Inspector, index: int, request: HttpRequest, *, provider: str = "", since: HttpRequest | None = None
) -> EditAssessment:
    """Assess an edited request in the place of a recorded one.

    Args:
        index: of the recorded exchange; the edited request is read in its protocol.
        provider: contract to judge by; empty for that of the inspection.
        since: request to compare with; None for the recorded one.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: it cannot be read.
        UsageError: no such contract.
    """
    recorded = inspector.detail(index).decoded
    before = since or recorded.exchange.request or HttpRequest()
    text = text_of(request)
    old = recorded.request_index if since is None else JsonIndex(text_of(before))
    wrong = json_problem(text)
    if wrong:
        return EditAssessment(compare_indexed(old, JsonIndex(text)), wrong)
    trial = inspector.trial(index, request, provider=provider, protocol=recorded.protocol)
    difference = compare_indexed(old, trial.decoded.request_index)
    if trial.decoded.request is None:
        told = next((p.message for p in trial.decoded.problems), "not a request of a known protocol")
        return EditAssessment(difference, told)
    base = recorded if since is None else inspector.trial(index, since, protocol=recorded.protocol).decoded
    return EditAssessment(difference, "", trial, signatures.unbound_pointers(base, trial.decoded))
