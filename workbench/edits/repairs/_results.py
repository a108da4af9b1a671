"""Tool results: added, moved and renamed, wherever a protocol has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.convert import name_check, rewrite_words
from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.edits.message_parts import element_pointer, list_position
from workbench.ir import JsonValue, Message, NodeRef, Text, ToolCallIR, ToolResultIR
from workbench.protocols import REQUEST
from workbench.wire import Change, Insert, Move, Remove, Replace


def add(fault: Fault, refs: Sequence[NodeRef]) -> tuple[Change, ...]:
    """Add stand-ins for the results of calls of one turn, where results are expected."""
    return add_results_for(fault, refs[-1], [part for part in map(fault.part, refs) if isinstance(part, ToolCallIR)])


def add_results_for(fault: Fault, behind: NodeRef, calls: Sequence[ToolCallIR]) -> tuple[Change, ...]:
    """The same for calls that may be new, in the turn of an existing call."""
    stand_ins = [shape.stand_in(fault.adapter, call) for call in calls]
    nodes = shape.results(fault.adapter, calls, stand_ins)
    place = _place(fault, behind, is_element=any(n.is_element for n in nodes))
    if isinstance(place, str):
        values = [n.value for n in nodes] if not any(n.is_element for n in nodes) else None
        messages = values or [shape.result_message(fault.adapter, calls, stand_ins)]
        return tuple(Insert(place, value) for value in messages)
    return _insert_into(fault, place, [n.value for n in nodes])


def _place(fault: Fault, call: NodeRef, *, is_element: bool) -> str | Message:
    """Place for results of a call: a message that contains results, else the pointer to insert messages at."""
    at = fault.turn(call.message).stop if fault.request.itemized else call.message + 1
    while at < len(fault.messages) and _is_results(fault.messages[at]) and not is_element:
        at += 1
    if is_element and at < len(fault.messages) and fault.messages[at].role == (_result_role(fault)):
        return fault.messages[at]
    return f"{fault.list_pointer}/{at}"


def _result_role(fault: Fault) -> str:
    return fault.contract.closure.result_role or "user"


def _is_results(message: Message) -> bool:
    return bool(message.parts) and all(isinstance(p, ToolResultIR) for p in message.parts)


def _insert_into(fault: Fault, message: Message, values: Sequence[JsonValue]) -> tuple[Change, ...]:
    """Insert elements after the results at the front of a message."""
    places = [list_position(part) for part in message.parts]
    if all(places) and places:
        first = next((k for k, p in enumerate(message.parts) if not isinstance(p, ToolResultIR)), len(places))
        parent = places[0][0] if places[0] else ""
        index = places[first][1] if first < len(places) and places[first] else len(places)  # type: ignore[index]
        return tuple(Insert(f"{message.pointer}{parent}/{index}", value) for value in values)
    if len(message.parts) == 1 and isinstance(message.parts[0], Text):
        text = message.parts[0]
        value = [*values, shape.block(fault.adapter, text)] if text.text else list(values)
        return (Replace(message.pointer + text.source.pointer, value),)
    return ()


def insert_in_front(fault: Fault, number: int, calls: Sequence[ToolCallIR]) -> tuple[Change, ...]:
    """Insert stand-ins at the front of a message, or in separate messages before it."""
    stand_ins = [shape.stand_in(fault.adapter, call) for call in calls]
    nodes = shape.results(fault.adapter, calls, stand_ins)
    message = fault.messages[number]
    if any(n.is_element for n in nodes):
        return _insert_into(fault, message, [n.value for n in nodes])
    return tuple(Insert(message.pointer, n.value) for n in nodes)


def move_messages(fault: Fault, call: NodeRef, refs: Sequence[NodeRef]) -> tuple[Change, ...]:
    """Move messages that contain only these results right after the call."""
    whole = _messages_of_only(fault, refs)
    if len(whole) != len({r.message for r in refs}):
        return ()
    at = fault.turn(call.message).stop if fault.request.itemized else call.message + 1
    return tuple(Move(m.pointer, f"{fault.list_pointer}/{at}") for m in whole)


def move(fault: Fault, call: NodeRef, refs: Sequence[NodeRef]) -> tuple[Change, ...]:
    """Move results unchanged to the place of the call's results."""
    parts = [fault.part(ref) for ref in refs]
    is_element = any(list_position(part) for part in parts)
    sources = [fault.messages[r.message].pointer + element_pointer(p) for r, p in zip(refs, parts, strict=True)]
    place = _place(fault, call, is_element=is_element)
    removals = [Remove(m.pointer) for m in _messages_of_only(fault, refs)] if is_element else []
    if isinstance(place, str) and not is_element:
        return tuple(Move(source, place) for source in sources)
    if isinstance(place, str):  # a message of their own, with the same bytes
        whole = _messages_of_only(fault, refs)
        if len({r.message for r in refs}) == 1 and whole:
            return (Move(whole[0].pointer, place),)
        return (*(_new_message(fault, place, refs)), *(Remove(s) for s in sources if not removals), *removals)
    if place.pointer in {fault.messages[r.message].pointer for r in refs}:
        return ()
    places = [list_position(part) for part in place.parts]
    if all(places) and places and places[0]:
        values = [Insert(c.pointer, None) for c in _insert_into(fault, place, [None]) if isinstance(c, Insert)]
        return (*(Move(source, values[0].pointer) for source in sources), *removals) if values else ()
    insertions = _insert_into(fault, place, [fault.value(source) for source in sources])
    return (*insertions, *removals, *(() if removals else [Remove(s) for s in sources])) if insertions else ()


def _new_message(fault: Fault, place: str, refs: Sequence[NodeRef]) -> tuple[Change, ...]:
    first = fault.messages[refs[0].message]
    template, where = fault.value(first.pointer), list_position(fault.part(refs[0]))
    if not isinstance(template, dict) or where is None:
        return ()
    values = [fault.value(fault.messages[r.message].pointer + element_pointer(fault.part(r))) for r in refs]
    return (Insert(place, {**template, where[0][1:]: values}),)


def _messages_of_only(fault: Fault, refs: Sequence[NodeRef]) -> list[Message]:
    """Messages that contain only these parts."""
    places = {(r.message, r.part) for r in refs}
    numbers = dict.fromkeys(r.message for r in refs)
    return [fault.messages[n] for n in numbers if all((n, k) in places for k in range(len(fault.messages[n].parts)))]


def to_front(fault: Fault, message: Message, moved: Sequence[int], first: int) -> tuple[Change, ...]:
    """Move parts of a message, by index, before another one of it."""
    target = message.pointer + element_pointer(message.parts[first])
    return tuple(Move(message.pointer + element_pointer(message.parts[k]), target) for k in moved)


def set_id(fault: Fault, ref: NodeRef, new: str) -> tuple[Change, ...]:
    """Set the id of a call or result; empty if it is set already, or the protocol has no field for it."""
    part = fault.part(ref)
    name = "id" if isinstance(part, ToolCallIR) else "tool_call_id"
    if not new or getattr(part, name, None) == new:
        return ()
    message = fault.messages[ref.message]
    if name in part.source.fields:
        return (Replace(message.absolute(part, name), new),)
    suffix = _id_suffix(fault, name)
    return (Insert(message.pointer + element_pointer(part) + suffix, new),) if suffix else ()


def _id_suffix(fault: Fault, name: str) -> str:
    """Pointer, below a call or result, of its id in this protocol; empty if there is none."""
    call = ToolCallIR("id", "name", {}, "function")
    result = ToolResultIR("id", (Text("-"),), name="name")
    call_message = Message("assistant", (shape.normal_call(fault.adapter, call),))
    _, decoded = shape.round_trip(fault.adapter, (call_message, Message("tool", (result,))))
    for message in decoded.messages:
        for part in message.parts:
            if name in part.source.fields and isinstance(part, ToolCallIR if name == "id" else ToolResultIR):
                return part.source.fields[name]
    return ""


def ids(fault: Fault) -> list[str]:
    """Every id of the history, in order."""
    found = (
        part.id if isinstance(part, ToolCallIR) else part.tool_call_id if isinstance(part, ToolResultIR) else None
        for message in fault.messages
        for part in message.parts
    )
    return [value for value in found if value]


def fitting_ids(fault: Fault) -> dict[str, str]:
    """Every id → an id that the provider accepts; valid ones stay, and no two become equal."""
    terms = fault.contract.closure
    return rewrite_words(ids(fault), name_check(terms.id_pattern, terms.id_max_length), terms.id_max_length)


def fresh_id(fault: Fault, like: str) -> str:
    """An unused id that the provider accepts."""
    terms, in_use = fault.contract.closure, set(ids(fault))
    fits = name_check(terms.id_pattern, terms.id_max_length)
    plain = next((w for n in range(2, 1000) if (w := f"{like}_{n}") not in in_use and fits(w)), None)
    if plain:
        return plain
    numbered = f"{like}_{len(in_use)}"
    return rewrite_words([*in_use, numbered], fits, terms.id_max_length)[numbered]


def unanswered_calls_before(fault: Fault, result: NodeRef) -> Iterator[ToolCallIR]:
    """Unanswered calls before a result, the nearest turn first, in order."""
    lines = [li for li in fault.case.closure.lines if li.call and not li.results and li.call.side == REQUEST]
    before = [li.call for li in lines if li.call and li.call.message < result.message]
    for ref in sorted(before, key=lambda r: (-r.message, r.part)):
        part = fault.part(ref)
        if isinstance(part, ToolCallIR):
            yield part


def calls_of(fault: Fault, results: Sequence[ToolResultIR]) -> list[ToolCallIR]:
    """The calls that results refer to."""
    call_ids = {r.tool_call_id for r in results}
    return [c for m in fault.messages for _, c in m.tool_calls() if c.id in call_ids]


def result_message(fault: Fault, result: ToolResultIR) -> JsonValue:
    """The message that contains a result, in the form of this protocol; None if its call is unknown."""
    calls = calls_of(fault, [result])
    if not calls:
        return None
    nodes = shape.results(fault.adapter, calls, [result])
    if any(n.is_element for n in nodes):
        return shape.result_message(fault.adapter, calls, [result])
    return nodes[0].value if nodes else None
