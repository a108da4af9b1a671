"""What is known of a request before it is sent, and of its answer behind it: judged as the target would."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.contracts import Contract, Finding, Refusal, Verdict, refusal
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.rules import accepted_by
from workbench.rules.inspection import Inspector, Trial
from workbench.send.outgoing import Outgoing
from workbench.send.unbound import Unbound, unbound
from workbench.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Preflight:
    """What the target's contract makes of exactly what will be sent.

    Attributes:
        verdict: ``unknown`` for a body that cannot be read.
        finding: what the verdict rests on; None where there is none. Its places are those of the body as it is sent.
        refusal: the provider's answer where it refuses.
        findings: all that the rules say of the request under this contract.
        accepted_by: the host that accepted just these bytes in the recording; an empty string if none is known to.
        unbound: signed blocks of the request as it is recorded that an edit before them made worthless; None for none.
    """

    outgoing: Outgoing
    contract: Contract
    verdict: Verdict
    finding: Finding | None
    refusal: Refusal | None
    findings: tuple[Finding, ...]
    unbound: Unbound | None = None
    accepted_by: str = ""


def preflight(
    inspector: Inspector,
    index: int,
    outgoing: Outgoing,
    own: DecodedExchange | None = None,
    before: DecodedExchange | None = None,
) -> Preflight:
    """Judge a request that is about to be sent.

    Args:
        inspector: of the session it belongs to.
        index: of the recorded exchange in whose place it stands.
        own: the request in its own protocol, to look for signed blocks that are unbound; None to leave that out.
        before: what it was made of by an edit, as for ``unbound``.
    """
    trial = judged(inspector, index, outgoing, Exchange("", outgoing.request))
    found, recorded = trial.judgement, inspector.detail(index).decoded
    verdict = found.verdict if trial.decoded.request else Verdict.UNKNOWN
    return Preflight(
        outgoing,
        trial.contract,
        verdict,
        found.finding,
        refusal(found.finding, trial.contract) if found.finding else None,
        tuple(f for f in trial.findings if f.side == REQUEST),
        unbound(inspector, own, outgoing.target, before) if own and not outgoing.is_converted else None,
        accepted_by(recorded) if trial.decoded.request_text == recorded.request_text else "",
    )


def judged(inspector: Inspector, index: int, outgoing: Outgoing, exchange: Exchange) -> Trial:
    """The exchange that sending gave, decoded and checked in the place of a recorded one: request and answer.

    Args:
        inspector, index: as for ``preflight``.
        exchange: as ``Sender.send`` returned it.
    """
    inspector.detail(index)  # so that everything before it is known
    decoded = DecodedExchange(index, exchange, outgoing.protocol or None, known=inspector.known)
    return inspector.judged(decoded, outgoing.contract.label, is_alone=outgoing.is_converted)
