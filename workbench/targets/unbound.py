"""Signed blocks that an edit before them has made worthless: found by the rule, and left out by its repair."""

from __future__ import annotations

from typing import NamedTuple

from workbench import repairs
from workbench.decode import REQUEST, Decoded
from workbench.editing import edited
from workbench.errors import WorkbenchError
from workbench.inspection import Inspector, Trial
from workbench.rules import Finding, Severity, contracts
from workbench.targets.target import Target
from workbench.wire.exchange import HttpRequest

RULE = "reasoning.unbound"


class Unbound(NamedTuple):
    """Signed blocks whose signature no longer fits what stands before them.

    Attributes:
        findings: one for each, with its place.
        without: the request without them; None where it cannot do without.
        title: how that is done, in the imperative.
    """

    findings: tuple[Finding, ...]
    without: HttpRequest | None = None
    title: str = ""


def unbound(inspector: Inspector, decoded: Decoded, target: Target) -> Unbound | None:
    """The blocks of a request that are unbound where a provider checks that, in this mode or in another.

    Args:
        inspector: of the session that the request belongs to.
        decoded: the request in its own protocol, in the place of a recorded one.
    """
    if decoded.request is None:
        return None
    own = inspector.judged(decoded)
    names = dict.fromkeys(label.partition(":")[0] for label in (target.contract, own.contract.label))
    for label in (label for name in names if name in contracts.names() for label in contracts.variants(name)):
        if contracts.get(label, protocol=decoded.protocol).enforced(RULE):
            trial = inspector.judged(decoded, label)
            found = tuple(f for f in trial.findings if f.rule == RULE)
            if found:
                return _droppable(inspector, trial, found, label)
    return None


def _droppable(inspector: Inspector, trial: Trial, found: tuple[Finding, ...], label: str) -> Unbound:
    """The findings, with the request that leaves the blocks out and has nothing else broken."""
    decoded, asked = trial.decoded, trial.decoded.exchange.request
    assert asked
    before = _broken(trial)
    fault = repairs.Fault(found[0], trial.case)
    for proposal in (p for propose in repairs.families().get(RULE, ()) for p in propose(fault)):
        if proposal.loss is not repairs.Loss.DROPPED:
            continue
        try:
            without = edited(asked, decoded.request_text, proposal.changes)
            after = _broken(inspector.trial(decoded.index, without, provider=label, protocol=decoded.protocol))
        except WorkbenchError:
            continue
        if RULE not in after and after <= before:
            return Unbound(found, without, proposal.title)
    return Unbound(found)


def _broken(trial: Trial) -> set[str]:
    return {f.rule for f in trial.findings if f.side == REQUEST and f.severity is not Severity.INFO}
