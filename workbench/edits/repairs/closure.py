"""Repairs of tool calls and results: results are added, moved, renamed or removed, or calls removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.chain import CallLine
from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.edits.message_parts import element_pointer, list_position, remove_parts
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs import _results
from workbench.edits.repairs._search import Proposer, cut_back
from workbench.ir import Message, NodeRef, Opaque, ToolCallIR, ToolResultIR
from workbench.protocols import REQUEST
from workbench.rules import quote
from workbench.wire import Insert, Move, Remove, Replace


def missing_result(fault: Fault) -> Iterator[Proposal]:
    """Add an error result; or remove the call; or end the conversation before it."""
    ref = fault.ref
    if ref is None or not isinstance(fault.part(ref), ToolCallIR):
        return
    turn = fault.turn(ref.message)
    open_calls = [li.call for li in fault.case.closure.lines if li.call and not li.results and not li.is_server]
    calls = [call for call in open_calls if call.side == REQUEST and call.message in turn] or [ref]
    for call_refs in dict.fromkeys(((ref,), tuple(calls))):
        yield Proposal(
            _title("add an error result for", fault, call_refs), _results.add(fault, call_refs), RepairCost.STAND_IN
        )
        yield Proposal(_title("remove", fault, call_refs), remove_parts(fault, call_refs), RepairCost.DROPPED)
    yield from cut_back(fault, turn.start)


def orphan_result(fault: Fault) -> Iterator[Proposal]:
    """Remove the result, or turn it into text; or set the id of its call."""
    ref = fault.ref
    part = fault.part(ref) if ref else None
    if ref is None or not isinstance(part, ToolResultIR):
        return
    yield from mismatch(fault)
    line = fault.line(ref)
    if line and line.call and line.call.message > ref.message:  # it stands before its call
        yield from _move_to_call(fault, line, (ref,))
    yield Proposal(f"remove tool result {quote(part.tool_call_id)}", remove_parts(fault, [ref]), RepairCost.DROPPED)
    if list_position(part) and part.content:
        at = fault.messages[ref.message].pointer + element_pointer(part)
        texts = [shape.block(fault.adapter, inner) for inner in part.content]
        if len(texts) == 1 and texts[0]:
            title = f"turn tool result {quote(part.tool_call_id)} into plain text"
            yield Proposal(title, (Replace(at, texts[0]),), RepairCost.DROPPED)


def duplicate_result(fault: Fault) -> Iterator[Proposal]:
    """Remove the later result."""
    ref = fault.ref
    part = fault.part(ref) if ref else None
    if ref and isinstance(part, ToolResultIR):
        title = f"remove the duplicate tool result {quote(part.tool_call_id)}"
        yield Proposal(title, remove_parts(fault, [ref]), RepairCost.DROPPED)


def mismatch(fault: Fault) -> Iterator[Proposal]:
    """Set the result's id to that of the call at its position."""
    line = fault.line(fault.ref)
    if line is None or line.stands_for is None or line.stands_for.side != REQUEST:
        return
    call = fault.part(line.stands_for)
    if isinstance(call, ToolCallIR) and call.id:
        changes = [c for ref in line.results for c in _results.set_id(fault, ref, call.id)]
        yield Proposal(f"set the tool result's id to {quote(call.id)}", tuple(changes))


def not_adjacent(fault: Fault) -> Iterator[Proposal]:
    """Move the results to their calls, or what is between them out of the way; or remove the calls."""
    for line in fault.case.closure.lines:
        if line.between is not None and line.call and line.call.side == REQUEST:
            if fault.number is not None and line.between != fault.number and fault.ref not in line.results:
                continue
            yield from _move_to_call(fault, line, line.results)
            yield from _move_between(fault, line)
            yield from remove_call_and_results(fault, line)


def remove_call_and_results(fault: Fault, line: CallLine) -> Iterator[Proposal]:
    """Remove the call and its late results."""
    refs = [ref for ref in (line.call, *line.results) if ref]
    yield Proposal(f"remove tool call {quote(line.id)} and its result", remove_parts(fault, refs), RepairCost.DROPPED)


def _move_to_call(fault: Fault, line: CallLine, refs: Sequence[NodeRef]) -> Iterator[Proposal]:
    if line.call is not None:
        together = [r for li in fault.case.closure.lines if _is_astray_in_turn(fault, line, li) for r in li.results]
        for moved in dict.fromkeys((tuple(refs), tuple(dict.fromkeys((*refs, *together))))):
            what = "result" if len(moved) == 1 else "results"
            for changes in (_results.move_messages(fault, line.call, moved), _results.move(fault, line.call, moved)):
                if changes:
                    yield Proposal(f"move the tool {what} of {quote(line.id)} to the call", changes)


def _move_between(fault: Fault, line: CallLine) -> Iterator[Proposal]:
    """Move the message that separates a call from its result behind the result, or in front of the call."""
    if line.between is None or line.call is None or not line.results:
        return
    message, at = fault.messages[line.between], max(ref.message for ref in line.results) + 1
    places = [(at, "after the result of"), (line.call.message, "before tool call")]
    for to, where in places[::-1] if message.role == fault.contract.closure.call_role else places:
        title = f"move message {line.between + 1} {where} {quote(line.id)}"
        yield Proposal(title, (Move(message.pointer, f"{fault.list_pointer}/{to}"),), RepairCost.REORDERED)


def _is_astray_in_turn(fault: Fault, line: CallLine, other: CallLine) -> bool:
    """A call of the same turn whose result is misplaced too."""
    is_astray = other.between is not None or other.before is not None
    if not (line.call and other.call and is_astray and other.call.side == REQUEST):
        return False
    return other.call.message in fault.turn(line.call.message)


def not_first(fault: Fault) -> Iterator[Proposal]:
    """Move the results to the front of their message."""
    if fault.number is None:
        return
    message = fault.messages[fault.number]
    places = [list_position(part) for part in message.parts]
    results = [k for k, part in enumerate(message.parts) if isinstance(part, ToolResultIR)]
    first = next((k for k, part in enumerate(message.parts) if not isinstance(part, ToolResultIR)), None)
    moved = [k for k in results if first is not None and k > first]
    if moved and all(places):
        changes = _results.to_front(fault, message, moved, first or 0)
        yield Proposal("move the tool results to the front of their message", changes)
    elif results == list(range(len(results))) or not results:  # the results stand in a later message of the turn
        line = next((li for li in fault.case.closure.lines if li.before and li.before.message == fault.number), None)
        if line and line.call:
            yield from _move_to_call(fault, line, line.results)


def wrong_role(fault: Fault) -> Iterator[Proposal]:
    """Correct the role of the message, or the form of its content."""
    yield from _foreign_result(fault)
    ref = fault.ref
    part = fault.part(ref) if ref else None
    if ref is None or fault.number is None:
        return
    message, terms = fault.messages[fault.number], fault.contract.closure
    kinds = {type(p) for p in message.parts}
    if isinstance(part, ToolCallIR):
        if kinds == {ToolCallIR} and terms.call_role:
            yield Proposal(
                f"change the role of the message to {quote(terms.call_role)}", _role(message, terms.call_role)
            )
        yield from _own_turn(fault, ref, part)
        yield Proposal(f"remove tool call {quote(part.id)}", remove_parts(fault, [ref]), RepairCost.DROPPED)
    elif isinstance(part, ToolResultIR):
        if kinds == {ToolResultIR} and terms.result_role:
            yield Proposal(
                f"change the role of the message to {quote(terms.result_role)}", _role(message, terms.result_role)
            )
        line = fault.line(ref)
        if line and line.call:
            yield from _move_to_call(fault, line, (ref,))
        yield Proposal(f"remove tool result {quote(part.tool_call_id)}", remove_parts(fault, [ref]), RepairCost.DROPPED)


def _own_turn(fault: Fault, ref: NodeRef, call: ToolCallIR) -> Iterator[Proposal]:
    """Move a call out of a message of another role: a separate turn before it, with a stand-in result."""
    message = fault.messages[ref.message]
    call_message = shape.message(fault.adapter, "assistant", [shape.normal_call(fault.adapter, call)])
    line = fault.line(ref)
    if call_message is None or (line and line.results):
        return
    changes = [Insert(message.pointer, call_message), *_results.insert_in_front(fault, ref.message, [call])]
    title = f"move tool call {quote(call.id)} into a separate turn, with an error result"
    yield Proposal(title, (*changes, *remove_parts(fault, [ref])), RepairCost.STAND_IN)


def _role(message: Message, role: str) -> tuple[Replace, ...]:
    return (Replace(f"{message.pointer}/role", role),)


def _foreign_result(fault: Fault) -> Iterator[Proposal]:
    """Rewrite a result that has the form of another protocol."""
    if fault.number is None:
        return
    message = fault.messages[fault.number]
    body = fault.value(message.pointer)
    blocks = [p for p in message.parts if isinstance(p, Opaque) and p.type == "tool_result"]
    if isinstance(body, dict) and body.get("role") in ("tool", "function"):
        found = shape.foreign_result(body, "tool_call_id")
        new = _results.result_message(fault, found) if found else None
        if new is not None:
            yield Proposal("rewrite the tool result in the form of this protocol", (Replace(message.pointer, new),))
    elif blocks and isinstance(blocks[0].value, Mapping) and len(message.parts) == len(blocks):
        results = [shape.foreign_result(b.value, "tool_use_id") for b in blocks]
        own = [w.value for r in results if r for w in shape.results(fault.adapter, _results.calls_of(fault, [r]), [r])]
        values = [Insert(message.pointer, value) for value in own]
        yield Proposal("rewrite the tool results in the form of this protocol", (*values, Remove(message.pointer)))


def duplicate_id(fault: Fault) -> Iterator[Proposal]:
    """Remove the repeated call if it is identical, else give it a new id."""
    line = fault.line(fault.ref)
    if line is None or line.call is None or line.twin is None or line.call.side != REQUEST:
        return
    call, twin = fault.part(line.call), fault.part(line.twin) if line.twin.side == REQUEST else None
    if not isinstance(call, ToolCallIR) or not isinstance(twin, ToolCallIR) or not call.id:
        return
    if (call.name, call.input, call.raw) == (twin.name, twin.input, twin.raw):
        yield Proposal(
            f"remove the duplicate tool call {quote(call.id)}", remove_parts(fault, [line.call]), RepairCost.NONE
        )
    new = _results.fresh_id(fault, call.id)
    results = [li.results for li in fault.case.closure.lines if li.id == call.id]
    refs = [ref for found in results for ref in found]
    own = list(line.results) or refs[1:2]
    for candidate in dict.fromkeys((tuple(own), tuple(refs[1:2]), ())):
        changes = [c for ref in (line.call, *candidate) for c in _results.set_id(fault, ref, new)]
        yield Proposal(f"rename the second tool call {quote(call.id)} and its result to {quote(new)}", tuple(changes))
    yield Proposal(
        f"remove the duplicate tool call {quote(call.id)}", remove_parts(fault, [line.call, *own]), RepairCost.DROPPED
    )


def id_format(fault: Fault) -> Iterator[Proposal]:
    """Rename ids to an accepted form, in calls and results, without collisions."""
    ref = fault.ref
    part = fault.part(ref) if ref else None
    if ref is None or not isinstance(part, ToolCallIR | ToolResultIR):
        return
    value = part.id if isinstance(part, ToolCallIR) else part.tool_call_id
    if value:
        new = _results.fitting_ids(fault)
        changes = tuple(
            change
            for n, message in enumerate(fault.messages)
            for k, other in enumerate(message.parts)
            if isinstance(other, ToolCallIR | ToolResultIR)
            for change in _results.set_id(fault, NodeRef(REQUEST, n, k), new.get(_id(other) or "", ""))
        )
        yield Proposal("rename the ids to an accepted form, in calls and results", changes)
        return
    yield from _without_id(fault, ref, part)


def _id(part: ToolCallIR | ToolResultIR) -> str | None:
    return part.id if isinstance(part, ToolCallIR) else part.tool_call_id


def _without_id(fault: Fault, ref: NodeRef, part: ToolCallIR | ToolResultIR) -> Iterator[Proposal]:
    line = fault.line(ref)
    if isinstance(part, ToolResultIR):
        call = line.call or line.stands_for if line else None
        own_call = fault.part(call) if call and call.side == REQUEST else None
        for candidate in [own_call] if own_call else _results.unanswered_calls_before(fault, ref):
            if isinstance(candidate, ToolCallIR) and candidate.id:
                title = f"set the tool result's id to {quote(candidate.id)}"
                yield Proposal(title, _results.set_id(fault, ref, candidate.id))
                break
        else:
            yield Proposal("remove the tool result without an id", remove_parts(fault, [ref]), RepairCost.DROPPED)
        return
    new = _results.fresh_id(fault, "call")
    refs = [ref, *(line.results if line else ())]
    changes = [change for r in refs for change in _results.set_id(fault, r, new)]
    yield Proposal(f"set the id of the tool call and its result to {quote(new)}", tuple(changes))


def _title(verb: str, fault: Fault, refs: Sequence[NodeRef]) -> str:
    calls = [p for p in map(fault.part, refs) if isinstance(p, ToolCallIR)]
    if len(calls) == 1:
        name = quote(calls[0].id) if calls[0].id else f"of {quote(calls[0].name)}"
        return f"{verb} tool call {name}"
    return f"{verb} {'both' if len(calls) == 2 else f'all {len(calls)}'} unanswered calls"


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "closure.missing-result": (missing_result,),
    "closure.orphan-result": (orphan_result,),
    "closure.duplicate-result": (duplicate_result,),
    "closure.duplicate-id": (duplicate_id,),
    "closure.id-mismatch": (mismatch,),
    "closure.id-format": (id_format,),
    "closure.not-adjacent": (not_adjacent,),
    "closure.result-not-first": (not_first,),
    "closure.wrong-role": (wrong_role,),
}
