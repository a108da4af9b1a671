"""Tools: no parallel calls, and schemas at another level."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from workbench.ir import JsonValue, ModelRequest, ToolChoice, ToolDef
from workbench.leaves import escape
from workbench.repairs._proposal import difference, value_at
from workbench.rules.schemas import schema_at, standing
from workbench.schemas.dialect import PLAIN, Dialect
from workbench.schemas.lower import down_level
from workbench.whatif._subject import Subject, Variant
from workbench.wire.jsontext import dumps
from workbench.wire.patch import Change, Insert, Replace

Make = Callable[[JsonValue], JsonValue]

NO_TOOLS = "the request declares no tools"

STRICT = Dialect("strict-json-schema", "strict", root_object=True, closed_objects=True, all_required=True)
SIMPLE = Dialect(
    "simple-object",
    PLAIN,
    frozenset(("type", "description", "properties", "required", "items", "enum", "additionalProperties")),
    root_object=True,
    refs="none",
    type_lists=False,
)
"""Schema levels of capability profiles, as what a provider of that level takes."""


def serial(subject: Subject) -> Iterable[Variant]:
    """Parallel calls switched off by the request's own switch."""
    name, title = "parallel=off", "parallel calls are switched off"
    if not subject.request.tools:
        yield Variant(name, title, why_not=NO_TOOLS)
    elif not subject.adapter.capabilities.parallel_switch:
        yield Variant(name, title, why_not=f"{subject.adapter.name} has no switch for it")
    else:
        yield subject.changed(name, title, _switched_off(subject), "they are switched off already")


def levels(subject: Subject) -> Iterable[Variant]:
    """The tools' schemas as strict ones, as simple objects, as texts alone."""
    tools = [t for t in subject.request.tools if t.kind == "client" and isinstance(t.schema, dict)]
    for name, title, make in (
        ("strict-json-schema", "every object is closed and every property required", partial(_as, STRICT)),
        ("simple-object", "schemas without references, alternatives and limits", partial(_as, SIMPLE)),
        ("string-only", "every argument is a text", _texts),
    ):
        changes = [change for tool in tools for change in _at_level(subject, tool, make)]
        if name == STRICT.name:
            changes += [change for tool in tools for change in _strict(subject, tool)]
        why_not = "the schemas are of this level already" if tools else NO_TOOLS
        yield subject.changed(f"schema={name}", title, changes, why_not)


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
    if tool.strict or not subject.adapter.capabilities.strict or not tool.pointer:
        return
    written = [_declared(subject, strict) for strict in (None, True)]
    yield from _added(subject, tool.pointer, *written)


def _declared(subject: Subject, strict: bool | None) -> JsonValue:
    """One declaration as the adapter writes it."""
    tool = ToolDef("f", None, {"type": "object"}, strict=strict)
    body = subject.adapter.write_request(ModelRequest(subject.adapter.name, None, (), tools=(tool,)))
    declared = subject.adapter.decode_request(dumps(body)).tools[0]
    return value_at(body, declared.pointer)


def _as(dialect: Dialect, schema: JsonValue) -> JsonValue:
    return down_level(schema, dialect).schema


def _texts(schema: JsonValue) -> JsonValue:
    """A schema whose properties are all texts."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return {"type": "object", "properties": {}}
    described = {k: v.get("description") if isinstance(v, dict) else None for k, v in properties.items()}
    made = {k: {"type": "string", **({"description": text} if text else {})} for k, text in described.items()}
    kept = {k: v for k, v in schema.items() if k in ("type", "required", "description", "additionalProperties")}
    return {**kept, "type": "object", "properties": made}


def _at_level(subject: Subject, tool: ToolDef, make: Make) -> Iterable[Change]:
    pointer = schema_at(subject.fault.case.decoded, tool)
    if pointer is None:
        return
    schema = standing(subject.fault.case.decoded, tool)
    yield from difference(pointer, schema, make(schema))
