"""Repairs of tool schemas and declarations that the provider refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost, changes_between, read_at
from workbench.edits.repairs._search import Proposer
from workbench.ir import JsonValue, ModelRequest, ToolDef
from workbench.rules import of_contract, quote, schema_as_sent, schema_at
from workbench.toolcalls.schemas import EXACT, PLAIN, Dialect, down_level
from workbench.wire import Change, Insert, Remove, Replace

OPEN = {"type": "object", "properties": {}}
_OWN = ("/parametersJsonSchema", "/parameters_json_schema")
_PLACES = ("/function", "/toolSpec", "")


def lower_schema(fault: Fault) -> Iterator[Proposal]:
    """Rewrite the schema in the provider's dialect; or remove the keyword; or rewrite all tools."""
    tool = _tool(fault)
    changes = _lowered_schema(fault, tool) if tool else ()
    if tool and changes:
        yield Proposal(
            f"rewrite the schema of {quote(tool.name)} for this provider", changes, _lowering_cost(fault, tool)
        )
    every = tuple(change for t in fault.request.tools for change in _lowered_schema(fault, t))
    if every != changes:
        yield Proposal("rewrite all tool schemas for this provider", every, RepairCost.NONE)
    yield from _without_keyword(fault)


def _without_keyword(fault: Fault) -> Iterator[Proposal]:
    at = fault.finding.pointer
    step = at.rpartition("/")[2]
    if fault.finding.rule == "schema.unsupported-keyword" and fault.value(at) is not None and not step.isdecimal():
        yield Proposal(
            f"remove the keyword {quote(step)} (the tool must check the value itself)",
            (Remove(at),),
            RepairCost.DROPPED,
        )
    if fault.finding.rule == "schema.items-missing" and isinstance(fault.value(at), dict):
        yield Proposal("allow items of any type", (Insert(f"{at}/items", {}),))
        yield Proposal(
            "declare the items as strings", (Insert(f"{at}/items", {"type": "string"}),), RepairCost.STAND_IN
        )
    tool = _tool(fault)
    strict = tool and next((p for p in (f"{tool.pointer}{b}/strict" for b in _PLACES) if fault.value(p) is True), None)
    if strict:
        yield Proposal(
            f"switch off strict mode for {quote(tool.name if tool else '')}", (Remove(strict),), RepairCost.MODE
        )


def _tool(fault: Fault) -> ToolDef | None:
    at = f"{fault.finding.pointer}/"
    holding = [t for t in fault.request.tools if t.pointer and at.startswith(f"{t.pointer}/")]
    return max(holding, key=lambda t: len(t.pointer), default=None)


def _dialect(fault: Fault, tool: ToolDef, pointer: str) -> Dialect:
    known = of_contract(fault.contract)
    if pointer.endswith(_OWN) and "json-schema" in known:
        return known["json-schema"]
    return known["strict" if tool.strict and "strict" in known else PLAIN]


def _lowered_schema(fault: Fault, tool: ToolDef) -> tuple[Change, ...]:
    pointer = schema_at(fault.case.decoded, tool)
    if tool.kind != "client" or pointer is None or not isinstance(tool.schema, dict):
        return ()
    schema = schema_as_sent(fault.case.decoded, tool)
    lowering = down_level(schema, _dialect(fault, tool, pointer))
    return () if lowering.remaining else changes_between(schema, lowering.schema, pointer)


def _lowering_cost(fault: Fault, tool: ToolDef) -> RepairCost:
    pointer = schema_at(fault.case.decoded, tool) or ""
    lowering = down_level(schema_as_sent(fault.case.decoded, tool), _dialect(fault, tool, pointer))
    return RepairCost.NONE if all(step.effect == EXACT for step in lowering.steps) else RepairCost.STAND_IN


def no_parameters(fault: Fault) -> Iterator[Proposal]:
    """A tool without parameters says so."""
    key = fault.adapter.traits.schema_key
    bare = [t for t in fault.request.tools if t.kind == "client" and t.schema is None and t.pointer]
    here = [t for t in bare if f"{fault.finding.pointer}/".startswith(f"{t.pointer}/")]
    for tools in (here, bare):
        holders = [next(t.pointer + b for b in _PLACES if fault.value(t.pointer + b) is not None) for t in tools]
        yield Proposal(
            "declare that the tool has no arguments"
            if len(holders) == 1
            else "declare that these tools have no arguments",
            tuple(Insert(f"{holder}/{key}", OPEN) for holder in holders),
        )


def tools_missing(fault: Fault) -> Iterator[Proposal]:
    """Declare the tools that the history uses: as an earlier request did, else with any arguments."""
    names = {c.name for m in fault.messages for _, c in m.tool_calls() if c.name}
    for index in reversed(fault.case.earlier.exchanges):
        earlier = fault.case.peek(index)
        request = earlier.request if earlier else None
        if (
            earlier
            and request
            and names <= {t.name for t in request.tools}
            and earlier.protocol == fault.request.protocol
        ):
            key = request.tools[0].pointer.split("/")[1]
            declared = read_at(earlier.request_index, f"/{key}")
            title = f"declare the tools as in exchange {index + 1}"
            yield Proposal(title, (_set_member(fault, key, declared),))
            break
    key, declarations = _declared_schema(fault, sorted(names))
    title = "declare the tools that the history uses, with any arguments"
    yield Proposal(title, (_set_member(fault, key, declarations),), RepairCost.STAND_IN)


def _declared_schema(fault: Fault, names: list[str]) -> tuple[str, JsonValue]:
    tools = tuple(ToolDef(name, None, {"type": "object"}) for name in names)
    body = fault.adapter.write_request(ModelRequest(fault.adapter.name, None, (), tools=tools))
    key = next(k for k in ("tools", "toolConfig") if k in body)
    return key, body[key]


def _set_member(fault: Fault, key: str, value: JsonValue) -> Change:
    is_there = isinstance(fault.body, dict) and key in fault.body
    return Replace(f"/{key}", value) if is_there else Insert(f"/{key}", value)


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "schema.unsupported-keyword": (lower_schema,),
    "schema.items-missing": (lower_schema,),
    "schema.ref": (lower_schema,),
    "schema.strict": (lower_schema,),
    "schema.malformed": (lower_schema,),
    "schema.missing-parameters": (no_parameters,),
    "schema.tools-missing": (tools_missing,),
}
