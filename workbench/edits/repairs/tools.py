"""Repairs of the list of tools: accepted names, no duplicates, no more tools than the provider accepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.convert import name_check, rewrite_words
from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs._search import Proposer
from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.provenance import scalars
from workbench.rules import quote
from workbench.wire import Change, Remove, Replace

_NAMES = ("/name", "/function/name", "/toolSpec/name", "/custom/name")
_CHOICES = ("/tool_choice", "/function_call", "/toolConfig")
_PATTERN = "[a-zA-Z0-9_-]+"


def names(fault: Fault) -> Iterator[Proposal]:
    """Rename tools everywhere to names that the provider accepts, without collisions."""
    pattern = fault.contract.term("schema.name-pattern")
    fits = name_check(pattern if isinstance(pattern, str) else _PATTERN, None)
    declared = [t.name for t in fault.request.tools if t.name]
    new = {old: name for old, name in rewrite_words(declared, fits, None).items() if old != name}
    here = fault.value(fault.finding.pointer)
    for candidate in (*([{here: new[here]}] if here in new else []), new):
        renamings = ", ".join(f"{quote(old)} to {quote(name)}" for old, name in list(candidate.items())[:3])
        title = f"rename tool {renamings} everywhere (the client must map calls back)"
        yield Proposal(title, tuple(c for old, name in candidate.items() for c in _rename_everywhere(fault, old, name)))


def _rename_everywhere(fault: Fault, old: str, new: str) -> Iterator[Change]:
    for tool in fault.request.tools:
        if tool.name == old:
            yield from (Replace(at, new) for at in _name_at(fault, tool))
    for message in fault.messages:
        for part in message.parts:
            if isinstance(part, ToolCallIR | ToolResultIR) and part.name == old and part.source.fields.get("name"):
                yield Replace(message.absolute(part, "name"), new)
    for place in _CHOICES:
        choice = fault.value(place)
        for suffix, value in scalars(choice):
            if value == old and suffix and not suffix.startswith("/tools/"):
                yield Replace(place + suffix, new)


def _name_at(fault: Fault, tool: ToolDef) -> list[str]:
    places = (tool.pointer + path for path in _NAMES)
    return [at for at in places if fault.value(at) == tool.name][:1]


def duplicate_names(fault: Fault) -> Iterator[Proposal]:
    """Remove the second of two tools with one name if they are identical; else rename or remove it."""
    by_name, changes, removals = dict[str, ToolDef](), list[Change](), list[Change]()
    pattern = fault.contract.term("schema.name-pattern")
    fits = name_check(pattern if isinstance(pattern, str) else _PATTERN, None)
    everyone = {t.name for t in fault.request.tools}
    is_same = True
    for tool in fault.request.tools:
        first = by_name.setdefault(tool.name or "", tool)
        if first is tool or not tool.name:
            continue
        is_same = is_same and (first.schema, first.description) == (tool.schema, tool.description)
        new = next((n for k in range(2, 1000) if fits(n := f"{tool.name[:60]}_{k}") and n not in everyone), None)
        removals.append(Remove(tool.pointer))
        if new:
            everyone.add(new)
            changes += [Replace(at, new) for at in _name_at(fault, tool)]
    if is_same:
        yield Proposal("remove the duplicate declaration", tuple(removals))
    yield Proposal("rename the second tool (the client must map calls back)", tuple(changes))
    yield Proposal("remove the second tool with this name", tuple(removals), RepairCost.DROPPED)


def too_many(fault: Fault) -> Iterator[Proposal]:
    """Remove the last tools that the history does not use."""
    most = fault.contract.term("schema.max-tools")
    if not isinstance(most, int):
        return
    used = {c.name for m in fault.messages for _, c in m.tool_calls()}
    name = fault.request.tool_choice.name if fault.request.tool_choice else None
    spare = [t for t in fault.request.tools if t.name not in used and t.name != name]
    surplus = len(fault.request.tools) - most
    if 0 < surplus <= len(spare):
        changes = tuple(Remove(t.pointer) for t in spare[-surplus:])
        yield Proposal(f"remove {surplus:,} tools that the history does not use", changes, RepairCost.DROPPED)


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "schema.name": (names,),
    "schema.duplicate-name": (duplicate_names,),
    "schema.too-many-tools": (too_many,),
}
