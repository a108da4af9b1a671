"""Reasoning: put back as it was recorded, left out where it is refused; nothing is invented.

Where the original is not in the session there are three honest ways on: this request without thinking, the turn
without its reasoning where the contract allows that, or the conversation cut back to before the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.chain.closure import NodeRef
from workbench.chain.ledger import Sent
from workbench.edits.fault import Fault
from workbench.edits.places import array_of, drop, element
from workbench.edits.proposal import Loss, Proposal
from workbench.edits.repairs import _recorded, _thinking
from workbench.edits.repairs._history import cut_back
from workbench.edits.repairs._search import Propose
from workbench.ir import Reasoning
from workbench.protocols.decode import REQUEST
from workbench.wire.patch import Change, Move, Remove


def restore(fault: Fault) -> Iterator[Proposal]:
    """What came in goes back: of this turn, and of every turn that sends it otherwise."""
    if fault.number is None:
        return
    entry = _recorded.entry_of(fault, fault.number)
    if entry and entry.received_in is not None:
        title = f"put the reasoning back as exchange {entry.received_in + 1} brought it"
        yield Proposal(title, _recorded.restored(fault, entry))
    wrong = [e for e in _recorded.entries(fault) if e.sent is not Sent.SENT and (e.owed or e.sent_part)]
    if len(wrong) > 1:
        changes = tuple(change for e in wrong for change in _recorded.restored(fault, e))
        yield Proposal(f"put the reasoning of {len(wrong)} turns back as it was received", changes)


def leave_out(fault: Fault) -> Iterator[Proposal]:
    """The reasoning of this place, turn, carrier or request is left out; with thinking off too where it takes that."""
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
        choices += [("leave this piece of reasoning out", [ref])]
        choices += [("leave it out wherever it stands", [ref, *related])] if related else []
        choices += [(f"leave {part.carrier} out of every turn", alike)]
    choices += [("leave the reasoning of this turn out", of_turn), ("leave all reasoning out", everything)]
    ways = list(_thinking.off(fault))
    seen = set[tuple[NodeRef, ...]]()
    for title, refs in choices:
        key = tuple(dict.fromkeys(refs))
        if not key or key in seen:
            continue
        seen.add(key)
        gone = drop(fault, key)
        yield Proposal(title, gone, Loss.DROPPED)
        for changes in ways:
            yield Proposal(f"{title}, and {_thinking.TITLE}", (*gone, *changes), Loss.MODE)


def thinking_off(fault: Fault) -> Iterator[Proposal]:
    """The request does without thinking, so that nothing is owed."""
    for changes in _thinking.off(fault):
        yield Proposal(_thinking.TITLE, changes, Loss.MODE)


def before(fault: Fault) -> Iterator[Proposal]:
    """The conversation ends before the turn."""
    if fault.number is not None:
        yield from cut_back(fault, fault.turn(fault.number).start)


def to_front(fault: Fault) -> Iterator[Proposal]:
    """The blocks of the message are moved to its front."""
    if fault.number is None:
        return
    message = fault.messages[fault.number]
    first = next((p for p in message.parts if not isinstance(p, Reasoning)), None)
    ahead = message.parts.index(first) if first else 0
    late = [p for k, p in message.reasoning() if k > ahead]
    if first and late and array_of(first) and all(array_of(p) for p in late):
        target = message.pointer + element(first)
        changes: tuple[Change, ...] = tuple(Move(message.pointer + element(p), target) for p in late)
        yield Proposal("move the reasoning to the front of its message", changes)


def stray_field(fault: Fault) -> Iterator[Proposal]:
    """A field that nobody looks for goes."""
    if fault.value(fault.finding.pointer) is not None:
        yield Proposal("drop the field: nobody looks for it here", (Remove(fault.finding.pointer),), Loss.DROPPED)


def item(fault: Fault) -> Iterator[Proposal]:
    """The item without its partner goes; or the call with its result."""
    number = fault.number
    if number is None:
        return
    line = next((li for li in fault.case.closure.lines if li.call and li.call.message == number), None)
    if line and line.call:
        refs = [line.call, *(r for r in line.results if r.side == REQUEST)]
        yield Proposal("drop the call, with its result", drop(fault, refs), Loss.DROPPED)
    elif any(fault.messages[number].reasoning()):
        yield Proposal("drop the reasoning item", (Remove(fault.messages[number].pointer),), Loss.DROPPED)


REPAIRS: Mapping[str, tuple[Propose, ...]] = {
    "reasoning.missing": (restore, thinking_off, leave_out, before),
    "reasoning.empty": (restore, leave_out, thinking_off, before),
    "reasoning.altered": (restore, leave_out, thinking_off, before),
    "reasoning.fabricated": (restore, leave_out, thinking_off, before),
    "reasoning.foreign": (restore, leave_out, before),
    "reasoning.order": (to_front, restore, leave_out),
    "reasoning.misplaced": (stray_field, leave_out),
    "reasoning.stale": (leave_out,),
    "reasoning.unpaired": (restore, item, leave_out, before),
    "reasoning.by-reference": (restore, item, leave_out),
    "reasoning.unbound": (restore, leave_out, before),
}
