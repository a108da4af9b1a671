"""Repairs of what retries leave in a history: duplicate side effects, repeated steps, failed attempts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.edits.fault import Fault
from workbench.edits.message_parts import remove_parts
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs._search import Proposer, cut_back
from workbench.ir import NodeRef, ToolCallIR
from workbench.rules import quote
from workbench.wire import Change


def repeated_call(fault: Fault) -> Iterator[Proposal]:
    """Remove the later call with its result; also further calls of a loop."""
    ref = fault.ref
    call = fault.part(ref) if ref else None
    if ref is None or not isinstance(call, ToolCallIR):
        return
    name = quote(call.name, 60)
    yield Proposal(f"remove the repeated call to {name} and its result", _without(fault, [ref]), RepairCost.DROPPED)
    related = [r for r in map(fault.ref_at, fault.finding.related) if r and isinstance(fault.part(r), ToolCallIR)]
    later = sorted({*related, ref}, key=lambda r: (r.message, r.part))[1:]
    if len(later) > 1:
        yield Proposal(
            f"remove all {len(later)} repeated calls and their results", _without(fault, later), RepairCost.DROPPED
        )
    yield from cut_back(fault, fault.turn(ref.message).start)


def _without(fault: Fault, calls: Sequence[NodeRef]) -> tuple[Change, ...]:
    """Changes that remove calls with their results."""
    lines = {li.call: li for li in fault.case.closure.lines if li.call}
    refs = [r for call in calls for r in (call, *(lines[call].results if call in lines else ()))]
    return remove_parts(fault, refs)


def stale_partial(fault: Fault) -> Iterator[Proposal]:
    """Remove the call of the failed attempt, with its result."""
    ref = fault.ref
    if ref is not None and isinstance(fault.part(ref), ToolCallIR):
        yield Proposal("remove the partial tool call and its result", _without(fault, [ref]), RepairCost.DROPPED)
        yield from cut_back(fault, fault.turn(ref.message).start)
    elif ref is not None:
        yield Proposal("remove the output of the failed attempt", remove_parts(fault, [ref]), RepairCost.DROPPED)


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "retry.duplicate-side-effect": (repeated_call,),
    "retry.loop": (repeated_call,),
    "retry.stale-partial": (stale_partial,),
}
