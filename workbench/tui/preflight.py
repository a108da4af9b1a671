"""What would be sent, and everything there is to say of it before: made in the inspector's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.decode import REQUEST, Decoded
from workbench.errors import LocalProtocolError, WorkbenchError
from workbench.wire.exchange import Exchange

if TYPE_CHECKING:
    from workbench.inspection import Inspector, Trial
    from workbench.rules import Finding
    from workbench.targets.outgoing import Outgoing
    from workbench.targets.target import Target
    from workbench.wire.exchange import HttpRequest
    from workbench.workspace import Node

UNBOUND = "reasoning.unbound"


class Unbound(NamedTuple):
    """Signed blocks whose signature an edit before them breaks.

    Attributes:
        finding: the first of them, and what was edited.
        without: the request without them; None where it cannot do without.
        title: how that is done, in the imperative.
    """

    finding: Finding
    without: HttpRequest | None = None
    title: str = ""


class Preflight(NamedTuple):
    """A request on its way.

    Attributes:
        own: the request in its own protocol.
        outgoing: what would go out.
        trial: what the target's contract says of that.
        unbound: None where every signature still holds.
    """

    own: Decoded
    outgoing: Outgoing
    trial: Trial
    unbound: Unbound | None = None


def look(inspector: Inspector, node: Node, target: Target, protocol: str = "", stream: bool | None = None) -> Preflight:
    """The request of a node as it would go to a target.

    Args:
        protocol: to write it in, "" for what the target speaks.
        stream: ask for a stream, or for none; None as the request has it.

    Raises:
        LocalProtocolError: there is no request, or it cannot be said in that protocol.
        UsageError: the target does not speak that protocol.
    """
    from workbench.targets.outgoing import prepare

    request = node.exchange.request
    if request is None:
        raise LocalProtocolError("no request was recorded", where=f"exchange {node.index + 1}")
    detail = inspector.detail(node.index)
    own = inspector.trial(node.index, request, protocol=detail.decoded.protocol)
    outgoing = prepare(own.decoded, target, protocol=protocol, stream=stream)
    trial = judge(inspector, node.index, outgoing, Exchange(node.id, outgoing.request))
    found = None if outgoing.is_converted else _unbound(inspector, own, target.contract)
    return Preflight(own.decoded, outgoing, trial, found)


def judge(inspector: Inspector, index: int, outgoing: Outgoing, exchange: Exchange) -> Trial:
    """What the target's contract says of what goes out, and of what came back where ``exchange`` has an answer."""
    decoded = Decoded(index, exchange, outgoing.protocol or None)
    return inspector.judged(decoded, outgoing.target.contract, is_alone=outgoing.is_converted)


def _unbound(inspector: Inspector, own: Trial, target: str) -> Unbound | None:
    """Signed blocks that no longer hold where a provider checks that, in this mode or in another."""
    from workbench.rules import contracts

    names = dict.fromkeys(label.partition(":")[0] for label in (target, own.contract.label))
    for label in (label for name in names if name in contracts.names() for label in contracts.variants(name)):
        if contracts.get(label, protocol=own.decoded.protocol).enforced(UNBOUND) is None:
            continue
        trial = inspector.judged(own.decoded, label)
        finding = next((f for f in trial.findings if f.rule == UNBOUND), None)
        if finding is not None:
            return _droppable(inspector, trial, finding, label)
    return None


def _droppable(inspector: Inspector, trial: Trial, finding: Finding, label: str) -> Unbound:
    """The finding, with the request that leaves the blocks out and has nothing else broken."""
    from workbench import repairs
    from workbench.editing import edited

    decoded = trial.decoded
    asked = decoded.exchange.request
    assert asked
    before = _broken(trial)
    fault = repairs.Fault(finding, trial.case)
    for proposal in (p for propose in repairs.families().get(UNBOUND, ()) for p in propose(fault)):
        if proposal.loss is not repairs.Loss.DROPPED:
            continue
        try:
            without = edited(asked, decoded.request_text, proposal.changes)
            after = _broken(inspector.trial(decoded.index, without, provider=label, protocol=decoded.protocol))
        except WorkbenchError:
            continue
        if UNBOUND not in after and after <= before:
            return Unbound(finding, without, proposal.title)
    return Unbound(finding)


def _broken(trial: Trial) -> set[str]:
    return {f.rule for f in trial.findings if f.side == REQUEST and f.severity != "info"}
