"""Lowering of objects: their properties, undeclared keys, and what strict mode adds."""

from __future__ import annotations

from workbench.ir import JsonValue
from workbench.toolcalls.schemas._shapes import CONTEXT, join, nullable
from workbench.toolcalls.schemas._work import CHECKED, EXACT, NARROWER, Lower, LoweringWork, SchemaPosition
from workbench.toolcalls.schemas.lint import describes_object, dict_of
from workbench.toolcalls.schemas.mapping import SAME, ObjectMapping, SameMapping


class ObjectLowering:
    """Lowers the keywords of an object.

    Args:
        lower: for the schemas of its properties.
    """

    def __init__(self, work: LoweringWork, lower: Lower) -> None:
        self._work = work
        self._dialect = work.dialect
        self._lower = lower

    def properties(
        self, properties: dict[str, JsonValue], at: SchemaPosition
    ) -> tuple[dict[str, JsonValue], dict[str, JsonValue], dict[str, SameMapping]]:
        schemas, rest, maps = {}, {}, {}
        for name, inner in properties.items():
            found = self._lower(inner, at.down("properties", name, deeper=True))
            schemas[name] = found.schema
            if found.rest:
                rest[name] = join(found.rest)
            if found.mapping is not SAME:
                maps[name] = found.mapping
        return schemas, rest, maps

    def additional(
        self,
        schema: dict[str, JsonValue],
        value: dict[str, JsonValue],
        form: dict[str, JsonValue],
        rest: list[JsonValue],
        at: SchemaPosition,
    ) -> None:
        """Keep a schema of undeclared keys if it is accepted unchanged."""
        if self._work.is_clean(value):
            form["additionalProperties"] = value
            return
        self._work.note(at, "additionalProperties", "undeclared keys are allowed", CHECKED)
        rest.append({k: schema[k] for k in (*CONTEXT["additionalProperties"], "additionalProperties") if k in schema})

    def object_mapping(
        self, schema: dict[str, JsonValue], form: dict[str, JsonValue], maps: dict[str, SameMapping], at: SchemaPosition
    ) -> SameMapping:
        """Additions of strict mode to an object, and the mapping of its properties."""
        dialect = self._dialect
        is_object = describes_object(form)
        absent: list[str] = []
        closed = False
        if is_object and dialect.closed_objects:
            if schema.get("additionalProperties") is not False:
                self._work.note(
                    at, "an open object", "additionalProperties false: undeclared keys cannot be written", NARROWER
                )
                closed = True
            form["additionalProperties"] = False
        if is_object and dialect.all_required:
            form.setdefault("properties", {})
            absent = self.require_all(schema, form, maps, at)
        if not maps and not absent and not closed:
            return SAME
        known = {name: maps.get(name, SAME) for name in dict_of(form.get("properties"))}
        return ObjectMapping(known, frozenset(absent), closed)

    def require_all(
        self, schema: dict[str, JsonValue], form: dict[str, JsonValue], maps: dict[str, SameMapping], at: SchemaPosition
    ) -> list[str]:
        """Turn optional properties into required ones that allow null; return their names."""
        required = [n for n in schema.get("required") or () if isinstance(n, str)]
        properties = dict(form["properties"])
        for name in [n for n in required if n not in properties]:
            found = self._work.anything(
                at.down("properties", name), f"the required key {name!r}, which is not declared"
            )
            properties[name] = found.schema
            maps[name] = found.mapping
        optional = [n for n in properties if n not in required]
        for name in optional:
            original = dict_of(schema.get("properties")).get(name, True)
            takes_null = self._work.takes_null(original)
            effect = NARROWER if takes_null else EXACT
            text = "required; null means absent" + ("; null itself cannot be written" if takes_null else "")
            self._work.note(at.down("properties", name), "an optional property", text, effect)
            properties[name] = nullable(properties[name], self._dialect)
        form["properties"] = properties
        if properties or "required" in form:
            form["required"] = list(properties)
        return optional
