"""Lowering of schemas without combinators: types, enums, objects, keyword after keyword."""

from __future__ import annotations

from workbench.ir import JsonValue
from workbench.toolcalls.schemas._shapes import (
    APART,
    CONTEXT,
    join,
    kept_only,
    nullable,
    sole_type,
    split_types,
    type_of_values,
)
from workbench.toolcalls.schemas._work import CHECKED, EXACT, NARROWER, Lower, LoweredNode, LoweringWork, SchemaPosition
from workbench.toolcalls.schemas.lint import describes_object, dict_of
from workbench.toolcalls.schemas.mapping import (
    SAME,
    ItemsMapping,
    JsonTextMapping,
    ObjectMapping,
    SameMapping,
    SingleTypeMapping,
    UnionMapping,
)
from workbench.toolcalls.schemas.merge import merge_schemas, types_of
from workbench.toolcalls.schemas.walk import ANNOTATIONS


def lower_union(
    work: LoweringWork,
    lower: Lower,
    branches: list[JsonValue],
    rest: dict[str, JsonValue],
    keyword: str,
    at: SchemaPosition,
) -> tuple[LoweredNode, bool]:
    """Alternatives as ``anyOf``, each together with what holds for all; False where the check has to know more."""
    nodes, exact = [], True
    for number, branch in enumerate(branches):
        merged, is_exact = merge_schemas([rest, branch]) if rest else (branch, True)
        found = lower(merged, at.down(keyword, str(number)))
        exact &= is_exact and not found.rest
        nodes.append(found)
    mapping: SameMapping = SAME
    if any(f.mapping is not SAME for f in nodes):
        mapping = UnionMapping(work.fits, tuple((f.schema, f.mapping) for f in nodes))
    if len(nodes) == 1:
        return LoweredNode(nodes[0].schema, (), nodes[0].mapping), exact
    return LoweredNode({"anyOf": [f.schema for f in nodes]}, (), mapping), exact


class ValueLowering:
    """Lowers schemas of values.

    Args:
        lower: for schemas inside, and for the same one once it is simpler.
    """

    def __init__(self, work: LoweringWork, lower: Lower) -> None:
        self._work = work
        self._dialect = work.dialect
        self._lower = lower
        self._objects = ObjectLowering(work, lower)

    def lower_typed(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        """Lower a schema without combinators: its type, then its keywords."""
        dialect = self._dialect
        if "const" in schema and not dialect.accepts("const"):
            self._work.note(at, "const", "an enum of one value")
            value = schema["const"]
            schema = {k: v for k, v in schema.items() if k != "const"}
            both, exact = merge_schemas([schema, {"enum": [value]}])
            return self._lower(both, at) if exact else self._lower(both, at).and_rest({"enum": [value]})
        declared = schema.get("type")
        if isinstance(declared, list) and (not dialect.type_lists or (dialect.closed_objects and len(declared) > 1)):
            return self.type_list(schema, [str(t) for t in declared], at)
        if dialect.nullable and declared == "null":
            self._work.note(at, "type null", "nullable, and an enum without strings", CHECKED)
            return LoweredNode({"type": "string", "nullable": True}, (kept_only(schema),))
        if dialect.enum_strings and not all(isinstance(v, str) for v in schema.get("enum", ())):
            return self.other_enum(schema, at)
        if declared is None and dialect.typed:
            return self.lower_untyped(schema, at)
        return self.keywords(schema, at)

    def type_list(self, schema: dict[str, JsonValue], types: list[str], at: SchemaPosition) -> LoweredNode:
        rest = {k: v for k, v in schema.items() if k != "type"}
        with_null = "null" in types
        others = [t for t in types if t != "null"]
        if with_null and len(others) == 1:
            self._work.note(at, "a type list with null", "nullable" if self._dialect.nullable else "anyOf with null")
            single = {**rest, "type": others[0]}
            if isinstance(rest.get("enum"), list):
                single["enum"] = [v for v in rest["enum"] if v is not None]
                if len(single["enum"]) == len(rest["enum"]):  # null is listed as a type and not as a value
                    return self._lower(single, at)
            found = self._lower(single, at)
            return self._work.or_null(found, "null")
        self._work.note(at, "a type list", "anyOf")
        branches = split_types(rest, types)
        notes = {k: v for k, v in rest.items() if k in ANNOTATIONS and self._dialect.accepts(k)}
        if self._dialect.nullable:
            branches = [b for b in branches if b.get("type") != "null"]
        found, exact = lower_union(self._work, self._lower, branches, {}, "type", at)
        found = found if exact else found.and_rest(schema)
        found = LoweredNode({**notes, **found.schema}, found.rest, found.mapping)
        return self._work.or_null(found, "null") if with_null and self._dialect.nullable else found

    def other_enum(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        values = schema["enum"]
        texts = [v for v in values if isinstance(v, str)]
        rest = {k: v for k, v in schema.items() if k != "enum"}
        if texts and all(isinstance(v, str) or v is None for v in values):
            self._work.note(at, "an enum with null", "nullable")
            return self._work.or_null(self.keywords({**rest, "type": "string", "enum": texts}, at), "null")
        self._work.note(at, "an enum with values that are not strings", "the type of the values", CHECKED)
        types = [schema["type"]] if isinstance(schema.get("type"), str) else type_of_values(values)
        return self._lower({**rest, "type": types[0] if len(types) == 1 else types}, at).and_rest({"enum": values})

    def lower_untyped(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            types = type_of_values(schema["enum"])
            return self._lower({**schema, "type": types[0] if len(types) == 1 else types}, at)
        kind = sole_type(schema)
        if kind is None:
            found = self._work.anything(at)
            fragment = kept_only(schema)
            if fragment:
                self._work.note(at, ", ".join(fragment), "not constrained here", CHECKED)
            return found.and_rest(fragment) if fragment else found
        as_text = self._dialect.closed_objects and kind == "object" and not at.is_root and _is_map(schema)
        too_deep = self._dialect.max_depth and at.depth >= self._dialect.max_depth and kind in ("object", "array")
        if as_text or too_deep:
            return self._work.anything(at, "a schema without a type").and_rest(kept_only(schema))
        self._work.note(at, "no type", f"type {kind}; the original also accepts all other types", NARROWER)
        found = self._lower({**schema, "type": kind}, at)
        return LoweredNode(found.schema, found.rest, SingleTypeMapping(kind, found.mapping))

    def keywords(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        """Keyword by keyword: kept, lowered inside, or moved to the check."""
        dialect, kind = self._dialect, schema.get("type")
        if dialect.max_depth and at.depth >= dialect.max_depth and kind in ("object", "array"):
            self._work.note(at, "an object or array nested too deeply", "a string that contains JSON", CHECKED)
            return LoweredNode(
                {"type": "string", "description": f"JSON text of an {kind}"}, (kept_only(schema),), JsonTextMapping()
            )
        if dialect.closed_objects and kind == "object" and not at.is_root and _is_map(schema):
            self._work.note(at, "an object with undeclared keys", "a string that contains JSON", CHECKED)
            return LoweredNode(
                {"type": "string", "description": "JSON text of an object"}, (kept_only(schema),), JsonTextMapping()
            )
        form: dict[str, JsonValue] = {}
        schema, rest = self.without_old_words(schema, at)
        maps: dict[str, SameMapping] = {}
        items: SameMapping = SAME
        for keyword, value in schema.items():
            if keyword in ANNOTATIONS:
                self.annotation(keyword, value, form, at)
            elif not dialect.accepts(keyword) or (keyword in APART and not self._work.is_clean({keyword: value})):
                if keyword != "additionalProperties" or value is not True:
                    self._work.note(at, keyword, "left out", CHECKED)
                    rest.append({k: schema[k] for k in (*CONTEXT.get(keyword, ()), keyword) if k in schema})
                self._work.is_whole |= keyword.startswith("unevaluated")
            elif keyword == "properties" and isinstance(value, dict):
                form[keyword], inner, maps = self._objects.properties(value, at)
                rest += [{"properties": inner}] if inner else []
            elif keyword == "items" and isinstance(value, dict | bool) and "prefixItems" not in schema:
                found = self._lower(value, at.down("items", deeper=True))
                form[keyword], items = found.schema, found.mapping
                rest += [{"items": join(found.rest)}] if found.rest else []
            elif keyword == "additionalProperties" and isinstance(value, dict):
                self._objects.additional(schema, value, form, rest, at)
            else:
                form[keyword] = value
        if dialect.items_required and kind and "array" in types_of(kind) and "items" not in form:
            found = self._lower(True, at.down("items", deeper=True))
            self._work.note(at, "an array without items", "items that accept anything")
            form["items"], items = found.schema, found.mapping
        mapping = self._objects.object_mapping(schema, form, maps, at) if "object" in types_of(kind) else SAME
        if mapping is not SAME or items is not SAME:
            rest += self.own_values(form, at)
        added = set(dict_of(form.get("properties"))) - set(dict_of(schema.get("properties")))
        if added and schema.get("additionalProperties", True) is not True:
            around = (*CONTEXT["additionalProperties"], "additionalProperties")
            rest.append({k: schema[k] for k in around if k in schema})
        if dialect.no_empty_properties and form.get("properties") == {}:
            self._work.note(at, "empty properties", "left out")
            form.pop("properties")
        return LoweredNode(form, tuple(rest), mapping if mapping is not SAME or items is SAME else ItemsMapping(items))

    def own_values(self, form: dict[str, JsonValue], at: SchemaPosition) -> list[JsonValue]:
        """Fixed values of an object or array that is written differently now: the check has them."""
        fixed = {k: form.pop(k) for k in ("enum", "const") if k in form}
        for keyword in fixed:
            self._work.note(at, keyword, "left out", CHECKED)
        return [fixed] if fixed else []

    def without_old_words(
        self, schema: dict[str, JsonValue], at: SchemaPosition
    ) -> tuple[dict[str, JsonValue], list[JsonValue]]:
        """(schema, fragments): unsupported tuples and draft 4 bounds move to the check."""
        rest: list[JsonValue] = []
        tuples = {k: schema[k] for k in ("prefixItems", "items", "additionalItems") if k in schema}
        is_old = isinstance(schema.get("items"), list)
        if is_old or ("prefixItems" in tuples and not self._work.is_clean(tuples)):
            self._work.note(at, "positional items", "left out", CHECKED)
            schema = {k: v for k, v in schema.items() if k not in tuples}
            rest.append(tuples)
        for keyword in ("exclusiveMinimum", "exclusiveMaximum"):
            if isinstance(schema.get(keyword), bool):
                self._work.note(at, keyword, "left out", CHECKED)
                rest.append({k: schema[k] for k in (*CONTEXT[keyword], keyword) if k in schema})
                schema = {k: v for k, v in schema.items() if k != keyword}
        return schema, rest

    def annotation(self, keyword: str, value: JsonValue, form: dict[str, JsonValue], at: SchemaPosition) -> None:
        if keyword in ("$defs", "definitions"):
            if not at.is_root or not self._dialect.accepts(keyword):
                return
        elif self._dialect.accepts(keyword):
            form[keyword] = value
        else:
            self._work.note(at, keyword, "left out: this keyword is not a constraint")


def _is_map(schema: dict[str, JsonValue]) -> bool:
    """True if not all keys are declared: a map, or an object of any kind."""
    if schema.get("patternProperties"):
        return True
    additional = schema.get("additionalProperties", True)
    return isinstance(additional, dict) or (additional is True and not schema.get("properties"))


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
