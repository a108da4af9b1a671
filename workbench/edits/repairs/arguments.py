"""Repairs of replayed arguments: one JSON value in the form of the wire, if nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from workbench.edits.fault import Fault
from workbench.edits.message_parts import element_pointer, remove_parts
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs import _results
from workbench.edits.repairs._search import Proposer
from workbench.errors import WireError
from workbench.ir import JsonValue, NodeRef, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.rules import quote
from workbench.toolcalls.arguments import climb
from workbench.wire import Change, Insert, Replace, dumps, loads


def container(fault: Fault) -> Iterator[Proposal]:
    """Turn text into the object it contains, or an object into its text."""
    ref = fault.ref
    call = fault.part(ref) if ref else None
    if ref is None or not isinstance(call, ToolCallIR):
        return
    at = fault.messages[ref.message].absolute(call, "input")
    if fault.adapter.capabilities.tools.arguments == "string":
        text = dumps(call.input).decode("utf-8", "surrogatepass")
        yield Proposal(f"write the arguments of {quote(call.name)} as JSON text", (Replace(at, text),))
    elif isinstance(call.input, str):
        value = parse_arguments(fault, call, call.input) if call.input.strip() else {}
        if isinstance(value, dict):
            yield Proposal(f"write the arguments of {quote(call.name)} as an object", (Replace(at, value),))
    yield from remove_call(fault, ref, call)


def invalid_json(fault: Fault) -> Iterator[Proposal]:
    """Repair the argument text if nothing is provably lost; else remove the call."""
    ref = fault.ref
    call = fault.part(ref) if ref else None
    if ref is None or not isinstance(call, ToolCallIR):
        return
    value = parse_arguments(fault, call, call.raw or "")
    if isinstance(value, dict):
        at, text = fault.messages[ref.message].absolute(call, "raw"), dumps(value).decode("utf-8", "surrogatepass")
        yield Proposal(f"write the arguments of {quote(call.name)} as one JSON object", (Replace(at, text),))
    yield from _split_merged(fault, ref, call)
    yield from remove_call(fault, ref, call)


def _split_merged(fault: Fault, ref: NodeRef, call: ToolCallIR) -> Iterator[Proposal]:
    """Split a call with several argument objects: the first keeps the result, the others get error results."""
    values = _values(call.raw or "")
    message = fault.messages[ref.message]
    at = message.pointer + element_pointer(call)
    whole, own = fault.value(at), call.source.fields
    if len(values) < 2 or not isinstance(whole, dict) or not call.id or "id" not in own or not own.get("raw"):
        return
    texts = [dumps(value).decode("utf-8", "surrogatepass") for value in values]
    changes: list[Change] = [Replace(at + own["raw"], texts[0])]
    parent, _, step = at.rpartition("/")
    new: list[ToolCallIR] = []
    for text in texts[1:]:
        extra_call = replace(call, id=_results.fresh_id(fault, f"{call.id}_{len(new)}"), raw=text, input=loads(text))
        copy = with_value(with_value(whole, own["id"], extra_call.id), own["raw"], text)
        changes.append(Insert(f"{parent}/{int(step) + 1}", copy))
        new.append(extra_call)
    title = f"split tool call {quote(call.id)} into {len(texts)}, with error results for the new calls"
    yield Proposal(title, (*changes, *_results.add_results_for(fault, ref, new)), RepairCost.STAND_IN)


def _values(raw: str) -> list[JsonValue]:
    """The objects that follow one another in a text; empty if it is anything else."""
    pieces = re.split(r"(?<=\})\s*(?=\{)", raw.strip())
    found: list[JsonValue] = []
    buffer = ""
    for piece in pieces:
        buffer += piece
        try:
            found.append(loads(buffer))
            buffer = ""
        except WireError:
            continue
    return found if not buffer and all(isinstance(v, dict) for v in found) else []


def with_value(value: JsonValue, pointer: str, new: JsonValue) -> JsonValue:
    """A copy of an object with another value at a pointer."""
    step, _, rest = pointer[1:].partition("/")
    return {**value, step: with_value(value[step], f"/{rest}", new) if rest else new}


def parse_arguments(fault: Fault, call: ToolCallIR, raw: str) -> JsonValue:
    """Value of an argument text; None if it cannot be read without loss."""
    tool = fault.case.tools.get(call.name or "")
    ladder = climb(raw, None, tool.schema if tool else None)
    return None if ladder.problem and not ladder.rungs else ladder.value


def remove_call(fault: Fault, ref: NodeRef, call: ToolCallIR) -> Iterator[Proposal]:
    """Remove the call with its results."""
    line = fault.line(ref)
    refs = [ref, *(line.results if line else ())]
    yield Proposal(
        f"remove tool call {quote(call.id or call.name)} and its result", remove_parts(fault, refs), RepairCost.DROPPED
    )


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "args.not-object": (container,),
    "args.double-encoded": (container, invalid_json),
    "args.invalid-json": (invalid_json,),
}
