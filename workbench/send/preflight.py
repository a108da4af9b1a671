"""Check of a request before it is sent, and of its response, by the target's contract."""

from __future__ import annotations

from workbench.contracts import Contract, Finding, Refusal, Verdict, refusal_of
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import Inspector, Trial, accepted_by
from workbench.send.outgoing import Outgoing
from workbench.send.unbound import UnboundReasoning, find_unbound
from workbench.wire import Exchange


@dataclass(frozen=True, slots=True)
class Preflight:
    """Verdict of the target's contract on exactly the bytes that will be sent.

    Attributes:
        verdict: ``unknown`` for an unreadable body.
        finding: that the verdict rests on, with pointers into the sent body; None if there is none.
        refusal: the provider's response if it refuses.
        findings: all findings on the request under this contract.
        accepted_by: host that accepted exactly these bytes in the recording; empty if none did.
        unbound: signed blocks of the recorded request that an edit invalidated; None if there are none.
    """

    outgoing: Outgoing
    contract: Contract
    verdict: Verdict
    finding: Finding | None
    refusal: Refusal | None
    findings: tuple[Finding, ...]
    unbound: UnboundReasoning | None = None
    accepted_by: str = ""


def run_preflight(
    inspector: Inspector,
    index: int,
    outgoing: Outgoing,
    own: DecodedExchange | None = None,
    before: DecodedExchange | None = None,
) -> Preflight:
    """Judge a request before it is sent.

    Args:
        inspector: of the session it belongs to.
        index: of the recorded exchange whose place it takes.
        own: the request in its own protocol, to search for invalid signed blocks; None to skip that.
        before: the request before the edit, as for ``find_unbound``.
    """
    trial = judge_exchange(inspector, index, outgoing, Exchange("", outgoing.request))
    found, recorded = trial.judgement, inspector.detail(index).decoded
    verdict = found.verdict if trial.decoded.request else Verdict.UNKNOWN
    return Preflight(
        outgoing,
        trial.contract,
        verdict,
        found.finding,
        refusal_of(found.finding, trial.contract) if found.finding else None,
        tuple(f for f in trial.findings if f.side == REQUEST),
        find_unbound(inspector, own, outgoing.target, before) if own and not outgoing.is_converted else None,
        accepted_by(recorded) if trial.decoded.request_text == recorded.request_text else "",
    )


def judge_exchange(inspector: Inspector, index: int, outgoing: Outgoing, exchange: Exchange) -> Trial:
    """Decode and judge the sent exchange in the place of a recorded one: request and response.

    Args:
        inspector, index: as for ``preflight``.
        exchange: as ``Sender.send`` returned it.
    """
    inspector.detail(index)  # inspects everything before it
    decoded = DecodedExchange(index, exchange, outgoing.protocol or None, known=inspector.known)
    return inspector.judge(decoded, outgoing.contract.label, is_alone=outgoing.is_converted)
