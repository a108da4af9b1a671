"""Replayed arguments: one JSON value in the container of the wire, where nothing is lost by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.arguments.ladder import climb
from workbench.chain.closure import NodeRef
from workbench.ir import JsonValue, ToolCallIR
from workbench.repairs._fault import Fault
from workbench.repairs._places import drop
from workbench.repairs._proposal import Loss, Proposal
from workbench.repairs._search import Propose
from workbench.rules._words import quote
from workbench.wire.jsontext import dumps
from workbench.wire.patch import Replace


def container(fault: Fault) -> Iterator[Proposal]:
    """Text becomes the object it says, an object becomes its text."""
    ref = fault.ref
    call = fault.part(ref) if ref else None
    if ref is None or not isinstance(call, ToolCallIR):
        return
    at = fault.messages[ref.message].absolute(call, "input")
    if fault.adapter.capabilities.arguments == "string":
        text = dumps(call.input).decode("utf-8", "surrogatepass")
        yield Proposal(f"write the arguments of {quote(call.name)} as JSON text", (Replace(at, text),))
    elif isinstance(call.input, str):
        value = read(fault, call, call.input) if call.input.strip() else {}
        if isinstance(value, dict):
            yield Proposal(f"write the arguments of {quote(call.name)} as an object", (Replace(at, value),))
    yield from without(fault, ref, call)


def invalid_json(fault: Fault) -> Iterator[Proposal]:
    """The argument text is mended, where that is proved to lose nothing; else the call goes."""
    ref = fault.ref
    call = fault.part(ref) if ref else None
    if ref is None or not isinstance(call, ToolCallIR):
        return
    value = read(fault, call, call.raw or "")
    if isinstance(value, dict):
        at, text = fault.messages[ref.message].absolute(call, "raw"), dumps(value).decode("utf-8", "surrogatepass")
        yield Proposal(f"write the arguments of {quote(call.name)} as one JSON object", (Replace(at, text),))
    yield from without(fault, ref, call)


def read(fault: Fault, call: ToolCallIR, raw: str) -> JsonValue:
    """What argument text says, None where it cannot be read without loss."""
    tool = fault.case.tools.get(call.name or "")
    ladder = climb(raw, None, tool.schema if tool else None)
    return None if ladder.problem and not ladder.rungs else ladder.value


def without(fault: Fault, ref: NodeRef, call: ToolCallIR) -> Iterator[Proposal]:
    """The call goes, with its results."""
    line = fault.line(ref)
    refs = [ref, *(line.results if line else ())]
    yield Proposal(f"drop the call {quote(call.id or call.name)} with its result", drop(fault, refs), Loss.DROPPED)


REPAIRS: Mapping[str, tuple[Propose, ...]] = {
    "args.not-object": (container,),
    "args.double-encoded": (container, invalid_json),
    "args.invalid-json": (invalid_json,),
}
