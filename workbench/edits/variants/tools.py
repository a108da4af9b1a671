"""Other tools in a request: schemas of another level, no parallel calls, fewer tools or none."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from workbench.edits.json_changes import changes_between
from workbench.edits.proposal import value_at
from workbench.edits.variants.varied_request import RequestVariant, VariedRequest
from workbench.ir import JsonValue, ModelRequest, ToolChoice, ToolDef
from workbench.provenance import escape
from workbench.rules import schema_as_sent, schema_at
from workbench.toolcalls.schemas import SIMPLE, STRICT, TEXTS, lower_to_level
from workbench.wire import Change, Insert, Remove, Replace, dumps

NO_TOOLS = "the request declares no tools"

_TITLES = {
    STRICT: "strict schemas: closed objects, all properties required",
    SIMPLE: "simple schemas: no references, alternatives or limits",
    TEXTS: "all arguments as strings",
}


def switch_off_parallel(subject: VariedRequest) -> Iterable[RequestVariant]:
    """Switch parallel calls off with the request's own switch."""
    name, title = "parallel=off", "parallel tool calls switched off"
    if not subject.request.tools:
        yield RequestVariant(name, title, why_not=NO_TOOLS)
    elif not subject.adapter.capabilities.tools.parallel_switch:
        yield RequestVariant(name, title, why_not=f"{subject.adapter.name} has no parameter for it")
    else:
        yield subject.variant_by_changes(
            name, title, _parallel_off_changes(subject), "parallel calls are already switched off"
        )


def at_level(subject: VariedRequest, level: str) -> RequestVariant:
    """Tool schemas reduced to a level (``schemas.levels``)."""
    tools = [t for t in subject.request.tools if t.kind == "client" and isinstance(t.schema, dict)]
    changes = [change for tool in tools for change in _at_level(subject, tool, level)]
    if level == STRICT:
        changes += [change for tool in tools for change in _strict(subject, tool)]
    why_not = "the schemas already have this level" if tools else NO_TOOLS
    return subject.variant_by_changes(f"schema={level}", _TITLES[level], changes, why_not)


def forbid_tools(subject: VariedRequest) -> RequestVariant:
    """Forbid tool calls: by the tool choice, or by removing the tools if there is no such choice."""
    name, title = "tools=off", "tool calls forbidden"
    request = subject.request
    if not request.tools:
        return RequestVariant(name, title, why_not=NO_TOOLS)
    choice = request.tool_choice
    if choice and choice.mode == "none":
        return RequestVariant(name, title, why_not="tool calls are already forbidden")
    if "none" in subject.adapter.capabilities.tools.choices and not ignores(subject, "tool_choice"):
        return subject.variant_by_changes(name, title, _choice(subject, "none"), "")
    lists = dict.fromkeys("/" + tool.pointer.split("/")[1] for tool in request.tools)
    return subject.variant_by_changes(name, title, [Remove(pointer) for pointer in lists], "")


def ignores(subject: VariedRequest, name: str) -> bool:
    """The contract accepts a parameter but ignores it."""
    ignored = subject.fault.contract.term("params.ignored")
    return isinstance(ignored, list) and name in ignored


def remove_tools(subject: VariedRequest, names: Collection[str]) -> RequestVariant:
    """Remove some of the declared tools."""
    name, title = "tools=fewer", f"{', '.join(sorted(names))} not declared"
    gone = [tool for tool in subject.request.tools if tool.name in names]
    if not gone:
        return RequestVariant(name, title, why_not="none of these tools is declared")
    if len(gone) == len(subject.request.tools):
        return forbid_tools(subject)
    choice = subject.request.tool_choice
    changes: list[Change] = [Remove(tool.pointer) for tool in gone]
    if choice and choice.mode == "tool" and choice.name in names:
        changes += _choice(subject, "auto")
    return subject.variant_by_changes(name, title, changes, "")


def _parallel_off_changes(subject: VariedRequest) -> list[Change]:
    """The members that the adapter adds to switch parallel calls off."""
    if subject.request.parallel is False:
        return []
    choice = subject.request.tool_choice
    mode = choice if choice and choice.mode in ("auto", "any", "tool") else ToolChoice("auto")
    said = ModelRequest(subject.adapter.name, None, (), tools=(ToolDef("f", None, {"type": "object"}),))
    without = subject.adapter.write_request(replace(said, tool_choice=mode))
    with_it = subject.adapter.write_request(replace(said, tool_choice=mode, parallel=False))
    return [
        change for key in with_it for change in _additions(subject, f"/{escape(key)}", without.get(key), with_it[key])
    ]


def _choice(subject: VariedRequest, mode: str) -> list[Change]:
    """Replace the tool choice."""
    said = ModelRequest(subject.adapter.name, None, (), tools=(ToolDef("f", None, {"type": "object"}),))
    without = subject.adapter.write_request(said)
    with_it = subject.adapter.write_request(replace(said, tool_choice=ToolChoice(mode)))
    held = subject.fault.body
    return [
        Replace(f"/{escape(key)}", value) if key in held else Insert(f"/{escape(key)}", value)
        for key, value in with_it.items()
        if without.get(key) != value
    ]


def _additions(subject: VariedRequest, at: str, before: JsonValue, after: JsonValue) -> Iterable[Change]:
    """Changes that add to a body what one value has more than another."""
    held = value_at(subject.fault.body, at)
    if before == after:
        return
    if held is None:
        yield Insert(at, after)
    elif isinstance(after, dict) and isinstance(held, dict):
        for key, value in after.items():
            yield from _additions(
                subject, f"{at}/{escape(key)}", before.get(key) if isinstance(before, dict) else None, value
            )
    else:
        yield Replace(at, after)


def _strict(subject: VariedRequest, tool: ToolDef) -> Iterable[Change]:
    """Set a tool's switch for strict decoding, if the protocol has one."""
    if tool.strict or not subject.adapter.capabilities.tools.strict or not tool.pointer:
        return
    written = [_encoded_declaration(subject, strict) for strict in (None, True)]
    yield from _additions(subject, tool.pointer, *written)


def _encoded_declaration(subject: VariedRequest, strict: bool | None) -> JsonValue:
    """One declaration as the adapter writes it."""
    tool = ToolDef("f", None, {"type": "object"}, strict=strict)
    body = subject.adapter.write_request(ModelRequest(subject.adapter.name, None, (), tools=(tool,)))
    declared = subject.adapter.decode_request(dumps(body)).tools[0]
    return value_at(body, declared.pointer)


def _at_level(subject: VariedRequest, tool: ToolDef, level: str) -> Iterable[Change]:
    pointer = schema_at(subject.fault.case.decoded, tool)
    if pointer is None:
        return
    schema = schema_as_sent(subject.fault.case.decoded, tool)
    yield from changes_between(schema, lower_to_level(schema, level).schema, pointer)
