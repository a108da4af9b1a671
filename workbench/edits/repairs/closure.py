"""Every call is answered once, in its place: results are added, moved, renamed or dropped, or calls go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.chain.closure import CallLine, NodeRef
from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.edits.places import array_of, drop, element
from workbench.edits.proposal import Loss, Proposal
from workbench.edits.repairs import _results
from workbench.edits.repairs._history import cut_back
from workbench.edits.repairs._search import Propose
from workbench.ir import Message, Opaque, ToolCallIR, ToolResultIR
from workbench.protocols.decode import REQUEST
from workbench.rules.wording import quote
from workbench.wire.patch import Insert, Remove, Replace


def missing_result(fault: Fault) -> Iterator[Proposal]:
    """Say that there is no result; or the call goes; or all from it on."""
    ref = fault.ref
    if ref is None or not isinstance(fault.part(ref), ToolCallIR):
        return
    turn = fault.turn(ref.message)
    open_calls = [li.call for li in fault.case.closure.lines if li.call and not li.results and not li.is_server]
    calls = [call for call in open_calls if call.side == REQUEST and call.message in turn] or [ref]
    for wanted in dict.fromkeys(((ref,), tuple(calls))):
        yield Proposal(_named("add an error result for", fault, wanted), _results.add(fault, wanted), Loss.STAND_IN)
        yield Proposal(_named("drop", fault, wanted), drop(fault, wanted), Loss.DROPPED)
    yield from cut_back(fault, turn.start)


def orphan_result(fault: Fault) -> Iterator[Proposal]:
    """The result goes, or becomes a text; or it is given the id of the call it stands for."""
    ref = fault.ref
    part = fault.part(ref) if ref else None
    if ref is None or not isinstance(part, ToolResultIR):
        return
    yield from mismatch(fault)
    line = fault.line(ref)
    if line and line.call and line.call.message > ref.message:  # it stands before its call
        yield from _to_calls(fault, line, (ref,))
    yield Proposal(f"drop the result of {quote(part.tool_call_id)}", drop(fault, [ref]), Loss.DROPPED)
    if array_of(part) and part.content:
        at = fault.messages[ref.message].pointer + element(part)
        texts = [shape.block(fault.adapter, inner) for inner in part.content]
        if len(texts) == 1 and texts[0]:
            title = f"keep what the result of {quote(part.tool_call_id)} says as plain text"
            yield Proposal(title, (Replace(at, texts[0]),), Loss.DROPPED)


def duplicate_result(fault: Fault) -> Iterator[Proposal]:
    """The later result goes."""
    ref = fault.ref
    part = fault.part(ref) if ref else None
    if ref and isinstance(part, ToolResultIR):
        title = f"drop the second result of {quote(part.tool_call_id)}"
        yield Proposal(title, drop(fault, [ref]), Loss.DROPPED)


def mismatch(fault: Fault) -> Iterator[Proposal]:
    """The result is given the id of the call that it answers by its place."""
    line = fault.line(fault.ref)
    if line is None or line.stands_for is None or line.stands_for.side != REQUEST:
        return
    call = fault.part(line.stands_for)
    if isinstance(call, ToolCallIR) and call.id:
        changes = [c for ref in line.results for c in _results.set_id(fault, ref, call.id)]
        yield Proposal(f"give the result the id of its call, {quote(call.id)}", tuple(changes))


def not_adjacent(fault: Fault) -> Iterator[Proposal]:
    """The results are moved to their calls."""
    for line in fault.case.closure.lines:
        if line.between is not None and line.call and line.call.side == REQUEST:
            if fault.number is not None and line.between != fault.number and fault.ref not in line.results:
                continue
            yield from _to_calls(fault, line, line.results)
            yield from missing_behind(fault, line)


def missing_behind(fault: Fault, line: CallLine) -> Iterator[Proposal]:
    """The call and its late results go together."""
    refs = [ref for ref in (line.call, *line.results) if ref]
    yield Proposal(f"drop the call {quote(line.id)} with its result", drop(fault, refs), Loss.DROPPED)


def _to_calls(fault: Fault, line: CallLine, refs: Sequence[NodeRef]) -> Iterator[Proposal]:
    if line.call is not None:
        together = [r for li in fault.case.closure.lines if _is_beside(fault, line, li) for r in li.results]
        for moved in dict.fromkeys((tuple(refs), tuple(dict.fromkeys((*refs, *together))))):
            what = "result" if len(moved) == 1 else "results"
            for changes in (_results.move_messages(fault, line.call, moved), _results.move(fault, line.call, moved)):
                if changes:
                    yield Proposal(f"move the {what} of {quote(line.id)} to the call", changes)


def _is_beside(fault: Fault, line: CallLine, other: CallLine) -> bool:
    """A call of the same turn whose result does not stand where it should either."""
    is_astray = other.between is not None or other.before is not None
    if not (line.call and other.call and is_astray and other.call.side == REQUEST):
        return False
    return other.call.message in fault.turn(line.call.message)


def not_first(fault: Fault) -> Iterator[Proposal]:
    """The results of the message are moved to its front."""
    if fault.number is None:
        return
    message = fault.messages[fault.number]
    places = [array_of(part) for part in message.parts]
    results = [k for k, part in enumerate(message.parts) if isinstance(part, ToolResultIR)]
    first = next((k for k, part in enumerate(message.parts) if not isinstance(part, ToolResultIR)), None)
    moved = [k for k in results if first is not None and k > first]
    if moved and all(places):
        changes = _results.to_front(fault, message, moved, first or 0)
        yield Proposal("move the results to the front of their message", changes)
    elif results == list(range(len(results))) or not results:  # the results stand in a later message of the turn
        line = next((li for li in fault.case.closure.lines if li.before and li.before.message == fault.number), None)
        if line and line.call:
            yield from _to_calls(fault, line, line.results)


def wrong_role(fault: Fault) -> Iterator[Proposal]:
    """The message gets the right role, or what stands in it the right form."""
    yield from _foreign(fault)
    ref = fault.ref
    part = fault.part(ref) if ref else None
    if ref is None or fault.number is None:
        return
    message, terms = fault.messages[fault.number], fault.contract.closure
    kinds = {type(p) for p in message.parts}
    if isinstance(part, ToolCallIR):
        if kinds == {ToolCallIR} and terms.call_role:
            yield Proposal(f"give the message the role {quote(terms.call_role)}", _role(message, terms.call_role))
        yield from _own_turn(fault, ref, part)
        yield Proposal(f"drop the call {quote(part.id)}", drop(fault, [ref]), Loss.DROPPED)
    elif isinstance(part, ToolResultIR):
        if kinds == {ToolResultIR} and terms.result_role:
            yield Proposal(f"give the message the role {quote(terms.result_role)}", _role(message, terms.result_role))
        line = fault.line(ref)
        if line and line.call:
            yield from _to_calls(fault, line, (ref,))
        yield Proposal(f"drop the result of {quote(part.tool_call_id)}", drop(fault, [ref]), Loss.DROPPED)


def _own_turn(fault: Fault, ref: NodeRef, call: ToolCallIR) -> Iterator[Proposal]:
    """A call in somebody else's message: a turn of its own before it, with a stand-in where it has no result."""
    message = fault.messages[ref.message]
    asked = shape.message(fault.adapter, "assistant", [shape.normal_call(fault.adapter, call)])
    line = fault.line(ref)
    if asked is None or (line and line.results):
        return
    changes = [Insert(message.pointer, asked), *_results.in_front(fault, ref.message, [call])]
    title = f"give the call {quote(call.id)} a turn of its own, with an error result"
    yield Proposal(title, (*changes, *drop(fault, [ref])), Loss.STAND_IN)


def _role(message: Message, role: str) -> tuple[Replace, ...]:
    return (Replace(f"{message.pointer}/role", role),)


def _foreign(fault: Fault) -> Iterator[Proposal]:
    """A result in the form of another protocol is written in the form of this one."""
    if fault.number is None:
        return
    message = fault.messages[fault.number]
    held = fault.value(message.pointer)
    blocks = [p for p in message.parts if isinstance(p, Opaque) and p.type == "tool_result"]
    if isinstance(held, dict) and held.get("role") in ("tool", "function"):
        found = shape.foreign_result(held, "tool_call_id")
        made = _results.as_written(fault, found) if found else None
        if made is not None:
            yield Proposal("write the result in the form of this protocol", (Replace(message.pointer, made),))
    elif blocks and isinstance(blocks[0].value, Mapping) and len(message.parts) == len(blocks):
        results = [shape.foreign_result(b.value, "tool_use_id") for b in blocks]
        own = [w.value for r in results if r for w in shape.results(fault.adapter, _results.calls_of(fault, [r]), [r])]
        values = [Insert(message.pointer, value) for value in own]
        yield Proposal("write the results in the form of this protocol", (*values, Remove(message.pointer)))


def duplicate_id(fault: Fault) -> Iterator[Proposal]:
    """The repeated call goes where it says the same, else it gets an id of its own."""
    line = fault.line(fault.ref)
    if line is None or line.call is None or line.twin is None or line.call.side != REQUEST:
        return
    call, twin = fault.part(line.call), fault.part(line.twin) if line.twin.side == REQUEST else None
    if not isinstance(call, ToolCallIR) or not isinstance(twin, ToolCallIR) or not call.id:
        return
    if (call.name, call.input, call.raw) == (twin.name, twin.input, twin.raw):
        yield Proposal(f"drop the repeated call {quote(call.id)}", drop(fault, [line.call]), Loss.NONE)
    new = _results.fresh_id(fault, call.id)
    results = [li.results for li in fault.case.closure.lines if li.id == call.id]
    refs = [ref for found in results for ref in found]
    own = list(line.results) or refs[1:2]
    for chosen in dict.fromkeys((tuple(own), tuple(refs[1:2]), ())):
        changes = [c for ref in (line.call, *chosen) for c in _results.set_id(fault, ref, new)]
        yield Proposal(f"give the second call {quote(call.id)} the id {quote(new)}, and its result too", tuple(changes))
    yield Proposal(f"drop the repeated call {quote(call.id)}", drop(fault, [line.call, *own]), Loss.DROPPED)


def id_format(fault: Fault) -> Iterator[Proposal]:
    """Ids in a form that is taken, the same on both sides, and no two of them alike."""
    ref = fault.ref
    part = fault.part(ref) if ref else None
    if ref is None or not isinstance(part, ToolCallIR | ToolResultIR):
        return
    value = part.id if isinstance(part, ToolCallIR) else part.tool_call_id
    if value:
        new = _results.renamed(fault)
        changes = tuple(
            change
            for n, message in enumerate(fault.messages)
            for k, held in enumerate(message.parts)
            if isinstance(held, ToolCallIR | ToolResultIR)
            for change in _results.set_id(fault, NodeRef(REQUEST, n, k), new.get(_id(held) or "", ""))
        )
        yield Proposal("rename the ids to a form that is taken, in calls and results alike", changes)
        return
    yield from _without_id(fault, ref, part)


def _id(part: ToolCallIR | ToolResultIR) -> str | None:
    return part.id if isinstance(part, ToolCallIR) else part.tool_call_id


def _without_id(fault: Fault, ref: NodeRef, part: ToolCallIR | ToolResultIR) -> Iterator[Proposal]:
    line = fault.line(ref)
    if isinstance(part, ToolResultIR):
        call = line.call or line.stands_for if line else None
        made = fault.part(call) if call and call.side == REQUEST else None
        for candidate in [made] if made else _results.open_before(fault, ref):
            if isinstance(candidate, ToolCallIR) and candidate.id:
                title = f"give the result the id of its call, {quote(candidate.id)}"
                yield Proposal(title, _results.set_id(fault, ref, candidate.id))
                break
        else:
            yield Proposal("drop the result without an id", drop(fault, [ref]), Loss.DROPPED)
        return
    new = _results.fresh_id(fault, "call")
    refs = [ref, *(line.results if line else ())]
    changes = [change for r in refs for change in _results.set_id(fault, r, new)]
    yield Proposal(f"give the call the id {quote(new)}, and its result too", tuple(changes))


def _named(verb: str, fault: Fault, refs: Sequence[NodeRef]) -> str:
    calls = [p for p in map(fault.part, refs) if isinstance(p, ToolCallIR)]
    if len(calls) == 1:
        name = quote(calls[0].id) if calls[0].id else f"of {quote(calls[0].name)}"
        return f"{verb} the call {name}"
    return (
        f"{verb} each of the {len(calls)} open calls of the turn"
        if "add" in verb
        else f"{verb} the {len(calls)} open calls"
    )


REPAIRS: Mapping[str, tuple[Propose, ...]] = {
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
