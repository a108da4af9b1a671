"""Recorded reasoning, restored as it was received: text, proof and position.

Restoring remembered reasoning in a request that lacks it or has it altered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.chain import Conversation, Entry
from workbench.contracts import Contract, Finding, Severity
from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.edits.message_parts import element_pointer, list_position, remove_parts
from workbench.ir import Message, NodeRef, Part, Reasoning, ToolCallIR
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import PROOF, RuleContext, proof_of
from workbench.wire import Change, Insert, Remove, Replace


def entries(fault: Fault) -> list[Entry]:
    """Ledger entries of the request's turns whose reasoning was received in this session."""
    return [e for e in fault.case.ledger.entries if e.message is not None and e.received_in is not None]


def entry_of(fault: Fault, number: int) -> Entry | None:
    """Ledger entry of the turn that a message belongs to; None if there is none."""
    turn = fault.turn(number)
    return next((e for e in entries(fault) if e.message in turn or e.message == number), None)


def restore(fault: Fault, entry: Entry) -> tuple[Change, ...]:
    """Changes that restore the reasoning of a turn; empty if it is not known completely."""
    answer = answer_parts(fault, entry)
    return restore_parts(fault, entry.message, answer) if answer and entry.message is not None else ()


def restore_parts(fault: Fault, number: int, answer: Sequence[Part]) -> tuple[Change, ...]:
    """Changes that restore the reasoning of a message of the turn, given the parts of the answer."""
    return (*_restore_blocks(fault, number, answer), *_restore_proofs(fault.messages[number], answer))


def _restore_blocks(fault: Fault, number: int, answer: Sequence[Part]) -> tuple[Change, ...]:
    """Restore reasoning that is a separate part, or shares a wire part with another one."""
    if not any(isinstance(p, Reasoning) for p in answer):
        return ()
    pieces = shape.reasoning(fault.adapter, answer)
    if pieces is None:
        return ()
    numbers = fault.turn(number) if fault.request.itemized else range(number, number + 1)
    same = _changed_values(fault, numbers, answer)
    if same is not None:
        return same
    refs = [NodeRef(REQUEST, n, k) for n in numbers for k, _ in fault.messages[n].reasoning()]
    is_thought = [r for r in refs if not _is_item(fault, r)]
    removals = remove_parts(fault, is_thought or refs) if refs else ()
    insertions = [c for piece in pieces for c in _insert_piece(fault, numbers, number, piece, answer)]
    return _merge(removals, insertions)


def _restore_proofs(message: Message, answer: Sequence[Part]) -> Iterator[Change]:
    """Restore signatures that are members of calls, in order, if the calls have the same names."""
    theirs = [p for p in answer if isinstance(p, ToolCallIR)]
    for (_, own), want in zip(message.tool_calls(), theirs, strict=False):
        if own.name == want.name and proof_of(want) and proof_of(own) != proof_of(want):
            pointer, value = f"{message.pointer}{element_pointer(own)}/{PROOF}", want.extra[PROOF]
            yield Replace(pointer, value) if PROOF in own.extra else Insert(pointer, value)


def answer_parts(fault: Fault, entry: Entry) -> list[Part]:
    """Parts of the answer that a turn repeats, in order; empty if it is not available."""
    decoded = fault.case.peek(entry.received_in) if entry.received_in is not None else None
    response = decoded.response if decoded else None
    if decoded is None or response is None or decoded.protocol != fault.request.protocol:
        return []
    for messages in response.choices:
        parts = [p for m in messages for p in m.parts]
        ids = {p.id for p in parts if isinstance(p, ToolCallIR)}
        if len(response.choices) == 1 or not entry.call_ids or ids & set(entry.call_ids):
            return parts
    return []


def _is_item(fault: Fault, ref: NodeRef) -> bool:
    """The reasoning is a whole message: an item."""
    return element_pointer(fault.part(ref)) == ""


def _changed_values(fault: Fault, numbers: range, answer: Sequence[Part]) -> tuple[Change, ...] | None:
    """Replace only the values that differ, if the same blocks are in the same order; else None."""
    here = [p for n in numbers for p in fault.messages[n].parts]
    own = [(n, p) for n in numbers for _, p in fault.messages[n].reasoning()]
    theirs = [p for p in answer if isinstance(p, Reasoning)]
    if not own or _kinds(here) != _kinds(answer):
        return None
    changes: list[Change] = []
    for (n, part), want in zip(own, theirs, strict=True):
        if part.source.slices:
            return None
        for name in ("text", "signature", "data"):
            old, new = getattr(part, name), getattr(want, name)
            if old == new:
                continue
            if name not in part.source.fields or new is None:
                return None
            changes.append(Replace(fault.messages[n].absolute(part, name), new))
    return tuple(changes)


def _kinds(parts: Sequence[Part]) -> list[str]:
    return [p.carrier if isinstance(p, Reasoning) else type(p).__name__ for p in parts]


def _insert_piece(
    fault: Fault, numbers: range, number: int, piece: shape.EncodedNode, answer: Sequence[Part]
) -> Iterator[Change]:
    """Insert one piece of reasoning into the message, or among the items."""
    message = fault.messages[number]
    others = [(n, p) for n in numbers for p in fault.messages[n].parts if not isinstance(p, Reasoning)]
    if piece.at is None:  # a signature on the following part
        target = _follower_of(message, piece.before, answer)
        if target is not None:
            yield Insert(message.pointer + element_pointer(target) + piece.suffix, piece.value)
    elif piece.at == "":
        behind = others[piece.before][0] if piece.before < len(others) else numbers.stop
        yield Insert(f"{fault.list_pointer}/{behind}", piece.value)
    elif piece.is_element:
        yield from _insert_block(fault, message, piece)
    elif piece.suffix == "text":
        old = fault.value(message.pointer + piece.at)
        yield Replace(message.pointer + piece.at, f"{piece.value}{old if isinstance(old, str) else ''}")
    elif piece.value is not None:
        yield Insert(message.pointer + piece.at, piece.value)


def _insert_block(fault: Fault, message: Message, piece: shape.EncodedNode) -> Iterator[Change]:
    """Insert a block among the blocks; a single text becomes one of them."""
    rest = [p for p in message.parts if not isinstance(p, Reasoning)]
    places = [list_position(p) for p in rest]
    at = message.pointer + (piece.at or "")
    inside = [p for p in places if p and p[0] == piece.at]
    if inside:
        index = inside[piece.before][1] if piece.before < len(inside) else inside[-1][1] + 1
        yield Insert(f"{at}/{index}", piece.value)
        return
    content = fault.value(at)
    if isinstance(content, str) and content:
        texts = [p for p in rest if element_pointer(p) == piece.at]
        yield Replace(at, [piece.value, *(shape.block(fault.adapter, p, "assistant") for p in texts)])
    elif "content" in (fault.value(message.pointer) or ()):
        yield Replace(at, [piece.value])
    else:
        yield Insert(at, [piece.value])


def _follower_of(message: Message, before: int, answer: Sequence[Part]) -> Part | None:
    """The part of a message that corresponds to the one after the reasoning."""
    followers = [p for p in answer if not isinstance(p, Reasoning)]
    follower = followers[before] if before < len(followers) else None
    own = [p for p in message.parts if not isinstance(p, Reasoning)]
    if isinstance(follower, ToolCallIR):
        ordinal = sum(isinstance(p, ToolCallIR) for p in followers[:before])
        calls = [p for p in own if isinstance(p, ToolCallIR)]
        return calls[ordinal] if ordinal < len(calls) else None
    return own[before] if before < len(own) else None


def _merge(changes: Sequence[Change], insertions: Sequence[Change]) -> tuple[Change, ...]:
    """Replace a member that is removed and inserted at the same place."""
    places = {c.pointer for c in changes if isinstance(c, Remove)}
    swapped = {
        c.pointer for c in insertions if isinstance(c, Insert) and c.pointer in places and not _is_slot(c.pointer)
    }
    others = [c for c in changes if not (isinstance(c, Remove) and c.pointer in swapped)]
    new = [Replace(c.pointer, c.value) if isinstance(c, Insert) and c.pointer in swapped else c for c in insertions]
    return (*others, *new)


def _is_slot(pointer: str) -> bool:
    return pointer.rpartition("/")[2].isdecimal()


def restore_reasoning(
    decoded: DecodedExchange, contract: Contract, received: Mapping[int, Sequence[Part]]
) -> tuple[Change, ...]:
    """Changes that restore the reasoning of turns of a request.

    Args:
        decoded: the request.
        contract: to judge by.
        received: index of a message of the turn → the parts of the answer that it repeats, in order.
    """
    case = RuleContext(decoded, contract, Conversation(-1))
    fault = Fault(Finding("reasoning.missing", Severity.ERROR, decoded.index, REQUEST, "", ""), case)
    return tuple(change for number, parts in received.items() for change in restore_parts(fault, number, parts))
