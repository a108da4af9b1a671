"""Check of a request before it is sent, and of its response, by the target's contract.

Signed reasoning that an earlier edit invalidated, and the request without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench import contracts
from workbench.contracts import Contract, Finding, Refusal, Verdict, refusal_of
from workbench.edits import assessment
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import CheckedVariant, Inspector, accepted_by
from workbench.send.outgoing import Outgoing
from workbench.send.target import Target
from workbench.wire import Exchange, HttpRequest

RULE = "reasoning.unbound"


class UnboundReasoning(NamedTuple):
    """Signed blocks whose signature no longer matches the content before them.

    Attributes:
        pointers: of the blocks in the request.
        message: what was edited, as far as known.
        without: the request without them; None if they are required.
    """

    pointers: tuple[str, ...]
    message: str = ""
    without: HttpRequest | None = None


def find_unbound(
    inspector: Inspector, decoded: DecodedExchange, target: Target, before: DecodedExchange | None = None
) -> UnboundReasoning | None:
    """Invalid signed blocks of a request, if a provider checks that, in this mode or another; None if there are none.

    Args:
        inspector: of the session that the request belongs to.
        decoded: the request in its own protocol, in the place of a recorded one.
        before: the request before the edit; None if only the session shows the edit.
    """
    if decoded.request is None:
        return None
    for label in _checking_contracts(inspector, decoded, target):
        trial = inspector.judge(decoded, label)
        found = [f for f in trial.findings if f.rule == RULE]
        named = {p for f in found for p in (f.pointer, *f.related)}
        edited = set(assessment.unbound_pointers(before, decoded)) if before else set()
        pointers = tuple(
            pointer
            for message in decoded.messages(REQUEST)
            for _, part in message.reasoning()
            if assessment.is_signed(part) and (pointer := assessment.pointer_of(message, part)) is not None
            if pointer in edited or any(f"{name}/".startswith(f"{pointer}/") for name in named)
        )
        if pointers:
            words = found[0].message if found else "an edit before this block invalidates its signature"
            return UnboundReasoning(pointers, words, _request_without(inspector, trial, pointers, label))
    return None


def _checking_contracts(inspector: Inspector, decoded: DecodedExchange, target: Target) -> Iterator[str]:
    """Contracts that check signatures against earlier content: those of the target, and of the request."""
    own = inspector.judge(decoded).contract.label
    names = dict.fromkeys(label.partition(":")[0] for label in (target.contract, own))
    for label in (label for name in names if name in contracts.names() for label in contracts.variants(name)):
        if contracts.get(label, protocol=decoded.protocol).check_for(RULE):
            yield label


def _request_without(
    inspector: Inspector, trial: CheckedVariant, pointers: tuple[str, ...], label: str
) -> HttpRequest | None:
    shorter = assessment.without_blocks(inspector, trial, pointers, label)
    if shorter is None:
        return None
    after = inspector.trial(trial.decoded.index, shorter, provider=label, protocol=trial.decoded.protocol)
    return None if any(f.rule == RULE for f in after.findings) else shorter


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


def judge_exchange(inspector: Inspector, index: int, outgoing: Outgoing, exchange: Exchange) -> CheckedVariant:
    """Decode and judge the sent exchange in the place of a recorded one: request and response.

    Args:
        inspector, index: as for ``preflight``.
        exchange: as ``Sender.send`` returned it.
    """
    inspector.detail(index)  # inspects everything before it
    decoded = DecodedExchange(index, exchange, outgoing.protocol or None, known=inspector.known)
    return inspector.judge(decoded, outgoing.contract.label, is_alone=outgoing.is_converted)
