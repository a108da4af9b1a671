"""Repairs of reasoning: restored as recorded, or removed if refused; nothing is invented.

If the original is not in the session, three honest repairs remain: this request without thinking, the turn without its
reasoning if the contract allows that, or the conversation cut before the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.chain import ReplayOutcome
from workbench.edits.fault import Fault
from workbench.edits.message_parts import element_pointer, list_position, remove_parts
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs import _recorded_reasoning, _thinking
from workbench.edits.repairs._search import Proposer, cut_back
from workbench.ir import NodeRef, Reasoning
from workbench.protocols import REQUEST
from workbench.wire import Change, Move, Remove


def restore(fault: Fault) -> Iterator[Proposal]:
    """Restore the recorded reasoning: of this turn, and of every turn that sends it altered or not at all."""
    if fault.number is None:
        return
    entry = _recorded_reasoning.entry_of(fault, fault.number)
    if entry and entry.received_in is not None:
        title = f"restore the reasoning from exchange {entry.received_in + 1}"
        yield Proposal(title, _recorded_reasoning.restore(fault, entry))
    wrong = [
        e for e in _recorded_reasoning.entries(fault) if e.sent is not ReplayOutcome.SENT and (e.owed or e.sent_part)
    ]
    if len(wrong) > 1:
        changes = tuple(change for e in wrong for change in _recorded_reasoning.restore(fault, e))
        yield Proposal(f"restore the reasoning of {len(wrong)} turns", changes)


def leave_out(fault: Fault) -> Iterator[Proposal]:
    """Remove the reasoning of this block, turn, carrier or request; also with thinking switched off."""
    ref, number = fault.ref, fault.number
    if number is None:
        return
    part = fault.part(ref) if ref else None
    everything = [r for r, _ in fault.parts(Reasoning)]
    of_turn = [r for r in everything if r.message in fault.turn(number)]
    related = [r for r in map(fault.ref_at, fault.finding.related) if r and isinstance(fault.part(r), Reasoning)]
    choices: list[tuple[str, list[NodeRef]]] = []
    if ref and isinstance(part, Reasoning):
        alike = [r for r, p in fault.parts(Reasoning) if isinstance(p, Reasoning) and p.carrier == part.carrier]
        choices += [("remove this reasoning block", [ref])]
        choices += [("remove this reasoning wherever it occurs", [ref, *related])] if related else []
        choices += [(f"remove {part.carrier} from every turn", alike)]
    choices += [("remove the reasoning of this turn", of_turn), ("remove all reasoning", everything)]
    ways = list(_thinking.switch_off(fault))
    seen = set[tuple[NodeRef, ...]]()
    for title, refs in choices:
        key = tuple(dict.fromkeys(refs))
        if not key or key in seen:
            continue
        seen.add(key)
        removals = remove_parts(fault, key)
        yield Proposal(title, removals, RepairCost.DROPPED)
        for changes in ways:
            yield Proposal(f"{title}, and {_thinking.TITLE}", (*removals, *changes), RepairCost.MODE)


def thinking_off(fault: Fault) -> Iterator[Proposal]:
    """Switch thinking off, so that no reasoning is required."""
    for changes in _thinking.switch_off(fault):
        yield Proposal(_thinking.TITLE, changes, RepairCost.MODE)


def end_before_turn(fault: Fault) -> Iterator[Proposal]:
    """End the conversation before the turn."""
    if fault.number is not None:
        yield from cut_back(fault, fault.turn(fault.number).start)


def to_front(fault: Fault) -> Iterator[Proposal]:
    """Move the reasoning blocks to the front of their message."""
    if fault.number is None:
        return
    message = fault.messages[fault.number]
    first = next((p for p in message.parts if not isinstance(p, Reasoning)), None)
    ahead = message.parts.index(first) if first else 0
    late = [p for k, p in message.reasoning() if k > ahead]
    if first and late and list_position(first) and all(list_position(p) for p in late):
        target = message.pointer + element_pointer(first)
        changes: tuple[Change, ...] = tuple(Move(message.pointer + element_pointer(p), target) for p in late)
        yield Proposal("move the reasoning to the front of its message", changes)


def stray_field(fault: Fault) -> Iterator[Proposal]:
    """Remove a field that the provider does not read."""
    if fault.value(fault.finding.pointer) is not None:
        yield Proposal(
            "remove the field: the provider does not read it here", (Remove(fault.finding.pointer),), RepairCost.DROPPED
        )


def item(fault: Fault) -> Iterator[Proposal]:
    """Remove the unpaired item, or the call with its result."""
    number = fault.number
    if number is None:
        return
    line = next((li for li in fault.case.closure.lines if li.call and li.call.message == number), None)
    if line and line.call:
        refs = [line.call, *(r for r in line.results if r.side == REQUEST)]
        yield Proposal("remove the tool call and its result", remove_parts(fault, refs), RepairCost.DROPPED)
    elif any(fault.messages[number].reasoning()):
        yield Proposal("remove the reasoning item", (Remove(fault.messages[number].pointer),), RepairCost.DROPPED)


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "reasoning.missing": (restore, thinking_off, leave_out, end_before_turn),
    "reasoning.empty": (restore, leave_out, thinking_off, end_before_turn),
    "reasoning.altered": (restore, leave_out, thinking_off, end_before_turn),
    "reasoning.fabricated": (restore, leave_out, thinking_off, end_before_turn),
    "reasoning.foreign": (restore, leave_out, end_before_turn),
    "reasoning.order": (to_front, restore, leave_out),
    "reasoning.misplaced": (stray_field, leave_out),
    "reasoning.stale": (leave_out,),
    "reasoning.unpaired": (restore, item, leave_out, end_before_turn),
    "reasoning.by-reference": (restore, item, leave_out),
    "reasoning.unbound": (restore, leave_out, end_before_turn),
}
