"""Tools: no parallel calls, and schemas at another level."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from workbench.edits.proposal import difference, value_at
from workbench.ir import JsonValue, ModelRequest, ToolChoice, ToolDef
from workbench.leaves import escape
from workbench.rules.schemas import schema_at, standing
from workbench.toolcalls.schemas.levels import LEVELS, SIMPLE, STRICT, TEXTS, lowered
from workbench.trials.whatif._subject import Subject, Variant
from workbench.wire.jsontext import dumps
from workbench.wire.patch import Change, Insert, Remove, Replace

NO_TOOLS = "the request declares no tools"

_TITLES = {
    STRICT: "every object is closed and every property required",
    SIMPLE: "schemas without references, alternatives and limits",
    TEXTS: "every argument is a text",
}


def serial(subject: Subject) -> Iterable[Variant]:
    """Parallel calls switched off by the request's own switch."""
    name, title = "parallel=off", "parallel calls are switched off"
    if not subject.request.tools:
        yield Variant(name, title, why_not=NO_TOOLS)
    elif not subject.adapter.capabilities.tools.parallel_switch:
        yield Variant(name, title, why_not=f"{subject.adapter.name} has no switch for it")
    else:
        yield subject.changed(name, title, _switched_off(subject), "they are switched off already")


def levels(subject: Subject) -> Iterable[Variant]:
    """The tools' schemas as strict ones, as simple objects, as texts alone."""
    for name in LEVELS:
        yield at_level(subject, name)


def at_level(subject: Subject, level: str) -> Variant:
    """The schemas of the tools brought down to a level (``schemas.levels``)."""
    tools = [t for t in subject.request.tools if t.kind == "client" and isinstance(t.schema, dict)]
    changes = [change for tool in tools for change in _at_level(subject, tool, level)]
    if level == STRICT:
        changes += [change for tool in tools for change in _strict(subject, tool)]
    why_not = "the schemas are of this level already" if tools else NO_TOOLS
    return subject.changed(f"schema={level}", _TITLES[level], changes, why_not)


def forbidden(subject: Subject) -> Variant:
    """No tool may be called: said by the tool choice, or by declaring none where that cannot be said."""
    name, title = "tools=off", "no tool may be called"
    request = subject.request
    if not request.tools:
        return Variant(name, title, why_not=NO_TOOLS)
    choice = request.tool_choice
    if choice and choice.mode == "none":
        return Variant(name, title, why_not="none may be called already")
    if "none" in subject.adapter.capabilities.tools.choices and not ignores(subject, "tool_choice"):
        return subject.changed(name, title, _choice(subject, "none"), "")
    lists = dict.fromkeys("/" + tool.pointer.split("/")[1] for tool in request.tools)
    return subject.changed(name, title, [Remove(pointer) for pointer in lists], "")


def ignores(subject: Subject, name: str) -> bool:
    """The contract of the request says that a parameter is taken, and not looked at."""
    ignored = subject.fault.contract.term("params.ignored")
    return isinstance(ignored, list) and name in ignored


def without(subject: Subject, names: Collection[str]) -> Variant:
    """Some of the tools are not declared."""
    name, title = "tools=fewer", f"{', '.join(sorted(names))} not declared"
    gone = [tool for tool in subject.request.tools if tool.name in names]
    if not gone:
        return Variant(name, title, why_not="none of them is declared")
    if len(gone) == len(subject.request.tools):
        return forbidden(subject)
    choice = subject.request.tool_choice
    changes: list[Change] = [Remove(tool.pointer) for tool in gone]
    if choice and choice.mode == "tool" and choice.name in names:
        changes += _choice(subject, "auto")
    return subject.changed(name, title, changes, "")


VARIANTS = (serial, levels)


def _switched_off(subject: Subject) -> list[Change]:
    """What the adapter writes more when parallel calls are off, put beside what is there."""
    if subject.request.parallel is False:
        return []
    choice = subject.request.tool_choice
    mode = choice if choice and choice.mode in ("auto", "any", "tool") else ToolChoice("auto")
    said = ModelRequest(subject.adapter.name, None, (), tools=(ToolDef("f", None, {"type": "object"}),))
    without = subject.adapter.write_request(replace(said, tool_choice=mode))
    with_it = subject.adapter.write_request(replace(said, tool_choice=mode, parallel=False))
    return [change for key in with_it for change in _added(subject, f"/{escape(key)}", without.get(key), with_it[key])]


def _choice(subject: Subject, mode: str) -> list[Change]:
    """Another tool choice, whatever stands there."""
    said = ModelRequest(subject.adapter.name, None, (), tools=(ToolDef("f", None, {"type": "object"}),))
    without = subject.adapter.write_request(said)
    with_it = subject.adapter.write_request(replace(said, tool_choice=ToolChoice(mode)))
    held = subject.fault.body
    return [
        Replace(f"/{escape(key)}", value) if key in held else Insert(f"/{escape(key)}", value)
        for key, value in with_it.items()
        if without.get(key) != value
    ]


def _added(subject: Subject, at: str, before: JsonValue, after: JsonValue) -> Iterable[Change]:
    """The changes of a body that say what one value says more than another."""
    held = value_at(subject.fault.body, at)
    if before == after:
        return
    if held is None:
        yield Insert(at, after)
    elif isinstance(after, dict) and isinstance(held, dict):
        for key, value in after.items():
            yield from _added(
                subject, f"{at}/{escape(key)}", before.get(key) if isinstance(before, dict) else None, value
            )
    else:
        yield Replace(at, after)


def _strict(subject: Subject, tool: ToolDef) -> Iterable[Change]:
    """The switch of a tool for strict decoding, where the protocol has one."""
    if tool.strict or not subject.adapter.capabilities.tools.strict or not tool.pointer:
        return
    written = [_declared(subject, strict) for strict in (None, True)]
    yield from _added(subject, tool.pointer, *written)


def _declared(subject: Subject, strict: bool | None) -> JsonValue:
    """One declaration as the adapter writes it."""
    tool = ToolDef("f", None, {"type": "object"}, strict=strict)
    body = subject.adapter.write_request(ModelRequest(subject.adapter.name, None, (), tools=(tool,)))
    declared = subject.adapter.decode_request(dumps(body)).tools[0]
    return value_at(body, declared.pointer)


def _at_level(subject: Subject, tool: ToolDef, level: str) -> Iterable[Change]:
    pointer = schema_at(subject.fault.case.decoded, tool)
    if pointer is None:
        return
    schema = standing(subject.fault.case.decoded, tool)
    yield from difference(pointer, schema, lowered(schema, level).schema)
