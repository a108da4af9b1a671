"""What a retry left behind: an effect carried out twice, steps that repeat, output of a failed attempt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.chain.closure import NodeRef
from workbench.edits.fault import Fault
from workbench.edits.places import drop
from workbench.edits.proposal import Loss, Proposal
from workbench.edits.repairs._history import cut_back
from workbench.edits.repairs._search import Propose
from workbench.ir import ToolCallIR
from workbench.rules.wording import quote
from workbench.wire.patch import Change


def repeated(fault: Fault) -> Iterator[Proposal]:
    """The later call goes with its result; so do further ones of a loop."""
    ref = fault.ref
    call = fault.part(ref) if ref else None
    if ref is None or not isinstance(call, ToolCallIR):
        return
    name = quote(call.name, 60)
    yield Proposal(f"drop the repeated call of {name}, with its result", _without(fault, [ref]), Loss.DROPPED)
    related = [r for r in map(fault.ref_at, fault.finding.related) if r and isinstance(fault.part(r), ToolCallIR)]
    later = sorted({*related, ref}, key=lambda r: (r.message, r.part))[1:]
    if len(later) > 1:
        yield Proposal(
            f"drop every repetition, {len(later)} calls with their results", _without(fault, later), Loss.DROPPED
        )
    yield from cut_back(fault, fault.turn(ref.message).start)


def _without(fault: Fault, calls: Sequence[NodeRef]) -> tuple[Change, ...]:
    """The changes that take calls away, with their results."""
    lines = {li.call: li for li in fault.case.closure.lines if li.call}
    refs = [r for call in calls for r in (call, *(lines[call].results if call in lines else ()))]
    return drop(fault, refs)


def stale_partial(fault: Fault) -> Iterator[Proposal]:
    """The call of the failed attempt goes, with what answered it."""
    ref = fault.ref
    if ref is not None and isinstance(fault.part(ref), ToolCallIR):
        yield Proposal("drop the partial call, with its result", _without(fault, [ref]), Loss.DROPPED)
        yield from cut_back(fault, fault.turn(ref.message).start)
    elif ref is not None:
        yield Proposal("drop the output of the failed attempt", drop(fault, [ref]), Loss.DROPPED)


REPAIRS: Mapping[str, tuple[Propose, ...]] = {
    "retry.duplicate-side-effect": (repeated,),
    "retry.loop": (repeated,),
    "retry.stale-partial": (stale_partial,),
}
