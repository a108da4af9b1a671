"""Lowering of schemas without combinators: types, enums, keyword after keyword; what all lowering shares."""

from __future__ import annotations

from dataclasses import field

from workbench import limits
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.provenance import escape
from workbench.toolcalls.schemas import fits as _fits
from workbench.toolcalls.schemas._shapes import (
    APART,
    CONTEXT,
    holds_ref,
    join,
    kept_only,
    nullable,
    sole_type,
    split_types,
    type_of_values,
)
from workbench.toolcalls.schemas.dialect import Dialect
from workbench.toolcalls.schemas.lint import IGNORED, describes_object, dict_of, lint_schema
from workbench.toolcalls.schemas.mapping import (
    SAME,
    ItemsMapping,
    JsonTextMapping,
    ObjectMapping,
    SameMapping,
    SingleTypeMapping,
    UnionMapping,
)
from workbench.toolcalls.schemas.merge import merge, types_of
from workbench.toolcalls.schemas.walk import ANNOTATIONS

EXACT, CHECKED, NARROWER = "exact", "local check", "narrower"


@dataclass(frozen=True, slots=True)
class LoweringStep:
    """One change.

    Attributes:
        pointer: position in the original schema.
        what: the original content.
        instead: the replacement.
        effect: ``"exact"``: same meaning; ``"local check"``: the rest is checked locally; ``"narrower"``: some values
            that the original accepts can no longer be written.
    """

    pointer: str
    what: str
    instead: str
    effect: str = EXACT


@dataclass(frozen=True, slots=True)
class LoweredNode:
    """A lowered node; ``rest`` has the fragments that remain to be checked at its position."""

    schema: dict[str, JsonValue]
    rest: tuple[JsonValue, ...] = ()
    mapping: SameMapping = SAME

    def and_rest(self, *fragments: JsonValue) -> LoweredNode:
        return LoweredNode(self.schema, (*self.rest, *fragments), self.mapping)


@dataclass(frozen=True, slots=True)
class SchemaPosition:
    """Position of a node: its pointer, its depth, and the references followed to it."""

    pointer: str = ""
    depth: int = 0
    refs: tuple[str, ...] = ()

    def down(self, *steps: str, deeper: bool = False) -> SchemaPosition:
        return SchemaPosition(self.pointer + "".join(f"/{escape(s)}" for s in steps), self.depth + deeper, self.refs)

    @property
    def is_root(self) -> bool:
        return not self.pointer


@dataclass(slots=True)
class LoweringWork:
    """The work on one schema.

    Attributes:
        is_whole: a remainder cannot be cut out of the original: the check is the whole of it.
        table: definition → mapping, for references that are kept.
    """

    root: dict[str, JsonValue]
    dialect: Dialect
    steps: list[LoweringStep] = field(default_factory=list)
    is_whole: bool = False
    table: dict[str, SameMapping] = field(default_factory=dict)
    made: dict[str, JsonValue] = field(default_factory=dict)
    left: int = limits.MAX_SCHEMA_NODES

    def node(self, schema: JsonValue, at: SchemaPosition) -> LoweredNode:
        """Lower one schema."""
        raise NotImplementedError

    def note(self, at: SchemaPosition, what: str, instead: str, effect: str = EXACT) -> None:
        self.steps.append(LoweringStep(at.pointer, what, instead, effect))

    def is_clean(self, schema: JsonValue) -> bool:
        """True if a fragment below the root is accepted unchanged."""
        holder = {"type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": False}
        defs = {k: self.root[k] for k in ("$defs", "definitions") if k in self.root and self.dialect.accepts(k)}
        found = lint_schema({**holder, **defs}, self.dialect)
        return not any(i.effect != IGNORED and i.pointer.startswith("/properties/x") for i in found)

    def anything(self, at: SchemaPosition, what: str = "a schema that accepts anything") -> LoweredNode:
        if not self.dialect.typed:
            return LoweredNode({})
        self.note(at, what, "a string that contains JSON", EXACT)
        return LoweredNode({"type": "string", "description": "JSON text of any value"}, (), JsonTextMapping())

    def fits(self, value: JsonValue, schema: JsonValue) -> bool:
        return _fits.fits_schema(value, schema, {"$defs": self.made, "definitions": self.made})

    def check(self, rest: tuple[JsonValue, ...]) -> JsonValue:
        if any(holds_ref(fragment) for fragment in rest):
            return self.root
        joined = join(rest)
        if isinstance(joined, dict) and joined and "$schema" in self.root:
            return {"$schema": self.root["$schema"], **joined}
        return joined

    def or_null(self, found: LoweredNode, what: str) -> LoweredNode:
        """The schema, or null."""
        rest = tuple({"anyOf": [{"type": "null"}, fragment]} for fragment in found.rest)
        made = nullable(found.schema, self.dialect)
        if found.mapping is SAME:
            return LoweredNode(made, rest)
        branches = (({"type": "null"}, SAME), (found.schema, found.mapping))
        return LoweredNode(made, rest, UnionMapping(self.fits, branches))

    def takes_null(self, schema: JsonValue) -> bool:
        try:
            return _fits.fits_schema(None, schema, self.root)
        except _fits.UndecidableSchema:
            return True


class ValueLowering(LoweringWork):
    """Schemas of values."""

    def any_of(
        self, branches: list[JsonValue], rest: dict[str, JsonValue], keyword: str, at: SchemaPosition
    ) -> tuple[LoweredNode, bool]:
        made, exact = [], True
        for number, branch in enumerate(branches):
            merged, is_exact = merge([rest, branch]) if rest else (branch, True)
            found = self.node(merged, at.down(keyword, str(number)))
            exact &= is_exact and not found.rest
            made.append(found)
        mapping: SameMapping = SAME
        if any(f.mapping is not SAME for f in made):
            mapping = UnionMapping(self.fits, tuple((f.schema, f.mapping) for f in made))
        if len(made) == 1:
            return LoweredNode(made[0].schema, (), made[0].mapping), exact
        return LoweredNode({"anyOf": [f.schema for f in made]}, (), mapping), exact

    def lower_typed(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        """Lower a schema without combinators: its type, then its keywords."""
        dialect = self.dialect
        if "const" in schema and not dialect.accepts("const"):
            self.note(at, "const", "an enum of one value")
            value = schema["const"]
            schema = {k: v for k, v in schema.items() if k != "const"}
            both, exact = merge([schema, {"enum": [value]}])
            return self.node(both, at) if exact else self.node(both, at).and_rest({"enum": [value]})
        declared = schema.get("type")
        if isinstance(declared, list) and (not dialect.type_lists or (dialect.closed_objects and len(declared) > 1)):
            return self.type_list(schema, [str(t) for t in declared], at)
        if dialect.nullable and declared == "null":
            self.note(at, "type null", "nullable, and an enum without strings", CHECKED)
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
            self.note(at, "a type list with null", "nullable" if self.dialect.nullable else "anyOf with null")
            single = {**rest, "type": others[0]}
            if isinstance(rest.get("enum"), list):
                single["enum"] = [v for v in rest["enum"] if v is not None]
                if len(single["enum"]) == len(rest["enum"]):  # null is listed as a type and not as a value
                    return self.node(single, at)
            found = self.node(single, at)
            return self.or_null(found, "null")
        self.note(at, "a type list", "anyOf")
        branches = split_types(rest, types)
        said = {k: v for k, v in rest.items() if k in ANNOTATIONS and self.dialect.accepts(k)}
        if self.dialect.nullable:
            branches = [b for b in branches if b.get("type") != "null"]
        found, exact = self.any_of(branches, {}, "type", at)
        found = found if exact else found.and_rest(schema)
        found = LoweredNode({**said, **found.schema}, found.rest, found.mapping)
        return self.or_null(found, "null") if with_null and self.dialect.nullable else found

    def other_enum(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        values = schema["enum"]
        texts = [v for v in values if isinstance(v, str)]
        rest = {k: v for k, v in schema.items() if k != "enum"}
        if texts and all(isinstance(v, str) or v is None for v in values):
            self.note(at, "an enum with null", "nullable")
            return self.or_null(self.keywords({**rest, "type": "string", "enum": texts}, at), "null")
        self.note(at, "an enum with non-string values", "the type of the values", CHECKED)
        types = [schema["type"]] if isinstance(schema.get("type"), str) else type_of_values(values)
        return self.node({**rest, "type": types[0] if len(types) == 1 else types}, at).and_rest({"enum": values})

    def lower_untyped(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            types = type_of_values(schema["enum"])
            return self.node({**schema, "type": types[0] if len(types) == 1 else types}, at)
        told = sole_type(schema)
        if told is None:
            found = self.anything(at)
            fragment = kept_only(schema)
            if fragment:
                self.note(at, ", ".join(fragment), "not constrained here", CHECKED)
            return found.and_rest(fragment) if fragment else found
        as_text = self.dialect.closed_objects and told == "object" and not at.is_root and _is_map(schema)
        too_deep = self.dialect.max_depth and at.depth >= self.dialect.max_depth and told in ("object", "array")
        if as_text or too_deep:
            return self.anything(at, "a schema without a type").and_rest(kept_only(schema))
        self.note(at, "no type", f"type {told}; the original also accepts all other types", NARROWER)
        found = self.node({**schema, "type": told}, at)
        return LoweredNode(found.schema, found.rest, SingleTypeMapping(told, found.mapping))

    def keywords(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        """Keyword by keyword: kept, lowered inside, or moved to the check."""
        dialect, kind = self.dialect, schema.get("type")
        if dialect.max_depth and at.depth >= dialect.max_depth and kind in ("object", "array"):
            self.note(at, "an object or array nested too deeply", "a string that contains JSON", CHECKED)
            return LoweredNode(
                {"type": "string", "description": f"JSON text of an {kind}"}, (kept_only(schema),), JsonTextMapping()
            )
        if dialect.closed_objects and kind == "object" and not at.is_root and _is_map(schema):
            self.note(at, "an object with undeclared keys", "a string that contains JSON", CHECKED)
            return LoweredNode(
                {"type": "string", "description": "JSON text of an object"}, (kept_only(schema),), JsonTextMapping()
            )
        made: dict[str, JsonValue] = {}
        schema, rest = self.without_old_words(schema, at)
        maps: dict[str, SameMapping] = {}
        items: SameMapping = SAME
        for keyword, value in schema.items():
            if keyword in ANNOTATIONS:
                self.annotation(keyword, value, made, at)
            elif not dialect.accepts(keyword) or (keyword in APART and not self.is_clean({keyword: value})):
                if keyword != "additionalProperties" or value is not True:
                    self.note(at, keyword, "left out", CHECKED)
                    rest.append({k: schema[k] for k in (*CONTEXT.get(keyword, ()), keyword) if k in schema})
                self.is_whole |= keyword.startswith("unevaluated")
            elif keyword == "properties" and isinstance(value, dict):
                made[keyword], inner, maps = self.properties(value, at)
                rest += [{"properties": inner}] if inner else []
            elif keyword == "items" and isinstance(value, dict | bool) and "prefixItems" not in schema:
                found = self.node(value, at.down("items", deeper=True))
                made[keyword], items = found.schema, found.mapping
                rest += [{"items": join(found.rest)}] if found.rest else []
            elif keyword == "additionalProperties" and isinstance(value, dict):
                self.additional(schema, value, made, rest, at)
            else:
                made[keyword] = value
        if dialect.items_required and kind and "array" in types_of(kind) and "items" not in made:
            found = self.node(True, at.down("items", deeper=True))
            self.note(at, "an array without items", "items that accept anything")
            made["items"], items = found.schema, found.mapping
        mapping = self.object_mapping(schema, made, maps, at) if "object" in types_of(kind) else SAME
        if mapping is not SAME or items is not SAME:
            rest += self.own_values(made, at)
        added = set(dict_of(made.get("properties"))) - set(dict_of(schema.get("properties")))
        if added and schema.get("additionalProperties", True) is not True:
            around = (*CONTEXT["additionalProperties"], "additionalProperties")
            rest.append({k: schema[k] for k in around if k in schema})
        if dialect.no_empty_properties and made.get("properties") == {}:
            self.note(at, "empty properties", "left out")
            made.pop("properties")
        return LoweredNode(made, tuple(rest), mapping if mapping is not SAME or items is SAME else ItemsMapping(items))

    def own_values(self, made: dict[str, JsonValue], at: SchemaPosition) -> list[JsonValue]:
        """Fixed values of an object or array that is written differently now: the check has them."""
        fixed = {k: made.pop(k) for k in ("enum", "const") if k in made}
        for keyword in fixed:
            self.note(at, keyword, "left out", CHECKED)
        return [fixed] if fixed else []

    def without_old_words(
        self, schema: dict[str, JsonValue], at: SchemaPosition
    ) -> tuple[dict[str, JsonValue], list[JsonValue]]:
        """(schema, fragments): unsupported tuples and draft 4 bounds move to the check."""
        rest: list[JsonValue] = []
        tuples = {k: schema[k] for k in ("prefixItems", "items", "additionalItems") if k in schema}
        is_old = isinstance(schema.get("items"), list)
        if is_old or ("prefixItems" in tuples and not self.is_clean(tuples)):
            self.note(at, "positional items", "left out", CHECKED)
            schema = {k: v for k, v in schema.items() if k not in tuples}
            rest.append(tuples)
        for keyword in ("exclusiveMinimum", "exclusiveMaximum"):
            if isinstance(schema.get(keyword), bool):
                self.note(at, keyword, "left out", CHECKED)
                rest.append({k: schema[k] for k in (*CONTEXT[keyword], keyword) if k in schema})
                schema = {k: v for k, v in schema.items() if k != keyword}
        return schema, rest

    def annotation(self, keyword: str, value: JsonValue, made: dict[str, JsonValue], at: SchemaPosition) -> None:
        if keyword in ("$defs", "definitions"):
            if not at.is_root or not self.dialect.accepts(keyword):
                return
        elif self.dialect.accepts(keyword):
            made[keyword] = value
        else:
            self.note(at, keyword, "left out: it is not a constraint")

    def properties(
        self, properties: dict[str, JsonValue], at: SchemaPosition
    ) -> tuple[dict[str, JsonValue], dict[str, JsonValue], dict[str, SameMapping]]:
        made, rest, maps = {}, {}, {}
        for name, inner in properties.items():
            found = self.node(inner, at.down("properties", name, deeper=True))
            made[name] = found.schema
            if found.rest:
                rest[name] = join(found.rest)
            if found.mapping is not SAME:
                maps[name] = found.mapping
        return made, rest, maps

    def additional(
        self,
        schema: dict[str, JsonValue],
        value: dict[str, JsonValue],
        made: dict[str, JsonValue],
        rest: list[JsonValue],
        at: SchemaPosition,
    ) -> None:
        """Keep a schema of undeclared keys if it is accepted unchanged."""
        if self.is_clean(value):
            made["additionalProperties"] = value
            return
        self.note(at, "additionalProperties", "undeclared keys are allowed", CHECKED)
        rest.append({k: schema[k] for k in (*CONTEXT["additionalProperties"], "additionalProperties") if k in schema})

    def object_mapping(
        self, schema: dict[str, JsonValue], made: dict[str, JsonValue], maps: dict[str, SameMapping], at: SchemaPosition
    ) -> SameMapping:
        """Additions of strict mode to an object, and the mapping of its properties."""
        dialect = self.dialect
        is_object = describes_object(made)
        absent: list[str] = []
        closed = False
        if is_object and dialect.closed_objects:
            if schema.get("additionalProperties") is not False:
                self.note(
                    at, "an open object", "additionalProperties false: undeclared keys cannot be written", NARROWER
                )
                closed = True
            made["additionalProperties"] = False
        if is_object and dialect.all_required:
            made.setdefault("properties", {})
            absent = self.require_all(schema, made, maps, at)
        if not maps and not absent and not closed:
            return SAME
        known = {name: maps.get(name, SAME) for name in dict_of(made.get("properties"))}
        return ObjectMapping(known, frozenset(absent), closed)

    def require_all(
        self, schema: dict[str, JsonValue], made: dict[str, JsonValue], maps: dict[str, SameMapping], at: SchemaPosition
    ) -> list[str]:
        """Turn optional properties into required ones that allow null; return their names."""
        required = [n for n in schema.get("required") or () if isinstance(n, str)]
        properties = dict(made["properties"])
        for name in [n for n in required if n not in properties]:
            found = self.anything(at.down("properties", name), f"the required key {name!r}, which is not declared")
            properties[name] = found.schema
            maps[name] = found.mapping
        optional = [n for n in properties if n not in required]
        for name in optional:
            original = dict_of(schema.get("properties")).get(name, True)
            takes_null = self.takes_null(original)
            effect = NARROWER if takes_null else EXACT
            said = "required; null means absent" + ("; null itself cannot be written" if takes_null else "")
            self.note(at.down("properties", name), "an optional property", said, effect)
            properties[name] = nullable(properties[name], self.dialect)
        made["properties"] = properties
        if properties or "required" in made:
            made["required"] = list(properties)
        return optional


def _is_map(schema: dict[str, JsonValue]) -> bool:
    """True if not all keys are declared: a map, or an object of any kind."""
    if schema.get("patternProperties"):
        return True
    additional = schema.get("additionalProperties", True)
    return isinstance(additional, dict) or (additional is True and not schema.get("properties"))
