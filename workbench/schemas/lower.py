"""The smallest change that makes a dialect accept a schema, and the check that remains.

Nothing is lost: whatever the changed schema no longer says is in the local check, so that both together accept exactly
what the original accepts. Where a value cannot be written at all any more (an undeclared key under strict mode), the
step says ``narrower``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench import limits
from workbench.ir import JsonValue
from workbench.leaves import escape
from workbench.schemas import _fits
from workbench.schemas._merge import merge, types_of
from workbench.schemas._shapes import (
    APART,
    CONTEXT,
    disjoint,
    holds_ref,
    join,
    kept_only,
    nullable,
    split_types,
    type_of_values,
    type_told,
)
from workbench.schemas.dialect import Dialect
from workbench.schemas.lint import IGNORED, Issue, describes_object, dict_of, lint
from workbench.schemas.mapping import SAME, Items, Named, Object, Only, Same, Text, Union
from workbench.schemas.walk import ANNOTATIONS, is_cyclic, resolve

__all__ = ["CHECKED", "EXACT", "NARROWER", "Lowered", "Step", "down_level"]

EXACT, CHECKED, NARROWER = "exact", "local check", "narrower"


@dataclass(frozen=True, slots=True)
class Step:
    """One change.

    Attributes:
        pointer: place in the original schema.
        what: what stood there.
        instead: what is done instead.
        effect: ``"exact"``: it says the same; ``"local check"``: the rest is checked locally; ``"narrower"``: some
            values that the original accepts cannot be written any more.
    """

    pointer: str
    what: str
    instead: str
    effect: str = EXACT


@dataclass(frozen=True, slots=True)
class Lowered:
    """A schema that a dialect accepts.

    Attributes:
        schema: what to declare.
        check: JSON Schema of what remains to be checked, on the decoded value; True where nothing remains.
        mapping: the way between original values and those of ``schema``.
        steps: every change, in order; () where the original is accepted as it stands.
        remaining: what the dialect still refuses.
        parts: simpler tools in place of this one, (suffix, result), where ``remaining`` is not empty and the root has
            alternatives.
    """

    schema: JsonValue
    check: JsonValue = True
    mapping: Same = SAME
    steps: tuple[Step, ...] = ()
    remaining: tuple[Issue, ...] = ()
    parts: tuple[tuple[str, Lowered], ...] = ()


def down_level(schema: JsonValue, dialect: Dialect) -> Lowered:
    """The smallest change of a tool's schema that a dialect accepts."""
    if not isinstance(schema, dict) or not [i for i in lint(schema, dialect) if i.effect != IGNORED]:
        return Lowered(schema, remaining=() if isinstance(schema, dict) else lint(schema, dialect))
    work = _Lowering(schema, dialect)
    try:
        found = work.root_schema()
        check: JsonValue = schema if work.is_whole else work.check(found.rest)
        lowered = Lowered(found.schema, check, found.mapping, tuple(dict.fromkeys(work.steps)))
    except (RecursionError, TypeError, ValueError, AttributeError, KeyError):  # hostile, or no schema at all
        step = Step("", "the schema, which is none or nested too deep", "an object of any kind", CHECKED)
        lowered = Lowered({"type": "object"}, schema, SAME, (step,))
    remaining = tuple(i for i in lint(lowered.schema, dialect) if i.effect != IGNORED)
    parts = _parts(schema, dialect) if remaining else ()
    return Lowered(lowered.schema, lowered.check, lowered.mapping, lowered.steps, remaining, parts)


def _parts(schema: Mapping[str, JsonValue], dialect: Dialect) -> tuple[tuple[str, Lowered], ...]:
    """One tool for each alternative of the root."""
    keyword = next((k for k in ("oneOf", "anyOf") if isinstance(schema.get(k), list)), None)
    if keyword is None:
        return ()
    rest = {k: v for k, v in schema.items() if k != keyword}
    made = []
    for number, branch in enumerate(schema[keyword], 1):
        target = resolve(schema, branch["$ref"]) if isinstance(branch, dict) and "$ref" in branch else branch
        if not isinstance(target, dict) or any(k in target for k in ("oneOf", "anyOf")):
            return ()
        merged, exact = merge([rest, target])
        if not exact:
            return ()
        name = target.get("title") if isinstance(target.get("title"), str) else str(number)
        made.append((str(name), down_level(merged, dialect)))
    return tuple(made) if not any(part.remaining for _, part in made) else ()


@dataclass(frozen=True, slots=True)
class _Found:
    """A lowered node: ``rest`` holds the fragments that remain to be checked at its place."""

    schema: dict[str, JsonValue]
    rest: tuple[JsonValue, ...] = ()
    mapping: Same = SAME

    def and_rest(self, *fragments: JsonValue) -> _Found:
        return _Found(self.schema, (*self.rest, *fragments), self.mapping)


@dataclass(frozen=True, slots=True)
class _At:
    """Where a node stands: its pointer, how deep, and the references that were followed to it."""

    pointer: str = ""
    depth: int = 0
    refs: tuple[str, ...] = ()

    def down(self, *steps: str, deeper: bool = False) -> _At:
        return _At(self.pointer + "".join(f"/{escape(s)}" for s in steps), self.depth + deeper, self.refs)

    @property
    def is_root(self) -> bool:
        return not self.pointer


@dataclass(slots=True)
class _Lowering:
    """The work on one schema.

    Attributes:
        is_whole: a remainder cannot be cut out of the original: the check is the whole of it.
        table: definition → mapping, for references that are kept.
    """

    root: dict[str, JsonValue]
    dialect: Dialect
    steps: list[Step] = field(default_factory=list)
    is_whole: bool = False
    table: dict[str, Same] = field(default_factory=dict)
    made: dict[str, JsonValue] = field(default_factory=dict)
    left: int = limits.MAX_SCHEMA_NODES

    def note(self, at: _At, what: str, instead: str, effect: str = EXACT) -> None:
        self.steps.append(Step(at.pointer, what, instead, effect))

    def check(self, rest: tuple[JsonValue, ...]) -> JsonValue:
        if any(holds_ref(fragment) for fragment in rest):
            return self.root
        joined = join(rest)
        if isinstance(joined, dict) and joined and "$schema" in self.root:
            return {"$schema": self.root["$schema"], **joined}
        return joined

    def root_schema(self) -> _Found:
        root = self.root
        is_other = root.get("type") != "object" and "object" in types_of(root.get("type"))
        if is_other and "$ref" not in root and (self.dialect.root_object or self.dialect.typed):
            self.note(_At(), "a root without type: object", "type: object; arguments are always an object")
            root = {**root, "type": "object"}
        found = self.node(root, _At())
        if self.table:
            keyword = "$defs" if "$defs" in self.root else "definitions"
            return _Found({**found.schema, keyword: dict(self.made)}, found.rest, found.mapping)
        return found

    def node(self, schema: JsonValue, at: _At) -> _Found:
        """Lower one schema."""
        self.left -= 1
        if schema is True or schema == {}:
            return self.anything(at)
        if not isinstance(schema, dict) or self.left < 0:
            self.is_whole = True
            return self.anything(at, "a schema that takes nothing" if schema is False else "a schema too large")
        if isinstance(schema.get("$ref"), str):
            return self.reference(schema, at)
        if "allOf" in schema and not self.is_kept(schema, "allOf", at):
            return self.all_of(schema, at)
        for keyword in ("oneOf", "anyOf"):
            if isinstance(schema.get(keyword), list):
                return self.alternatives(schema, keyword, at)
        return self.typed(schema, at)

    def is_kept(self, schema: dict[str, JsonValue], keyword: str, at: _At) -> bool:
        """The combinator may stand where it is: the dialect takes it, and what is in it."""
        refused = at.is_root and keyword in self.dialect.root_refused
        if refused or not self.dialect.accepts(keyword) or self.dialect.closed_objects or self.dialect.typed:
            return False
        return self.is_clean({keyword: schema[keyword]})

    def is_clean(self, schema: JsonValue) -> bool:
        """A fragment is taken as it stands, below the root."""
        holder = {"type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": False}
        defs = {k: self.root[k] for k in ("$defs", "definitions") if k in self.root and self.dialect.accepts(k)}
        found = lint({**holder, **defs}, self.dialect)
        return not any(i.effect != IGNORED and i.pointer.startswith("/properties/x") for i in found)

    def anything(self, at: _At, what: str = "a schema that takes anything") -> _Found:
        if not self.dialect.typed:
            return _Found({})
        self.note(at, what, "a string that holds JSON text", EXACT)
        return _Found({"type": "string", "description": "JSON text of any value"}, (), Text())

    # references

    def reference(self, schema: dict[str, JsonValue], at: _At) -> _Found:
        ref = str(schema["$ref"])
        beside = {k: v for k, v in schema.items() if k != "$ref"}
        old = any(f"draft-0{n}" in str(self.root.get("$schema", "")) for n in (3, 4, 6, 7))
        constraints = {} if old else {k: v for k, v in beside.items() if k not in ANNOTATIONS}
        target = resolve(self.root, ref)
        if target is None:
            self.is_whole = True
            self.note(at, f"$ref {ref[:80]}, which leads nowhere", "nothing is demanded here", CHECKED)
            return self.anything(at)
        name = ref.rpartition("/")[2]
        if self.may_keep(ref) and not constraints:
            return self.definition(ref, name, target, beside, at)
        if ref in at.refs or len(at.refs) > 32:
            self.is_whole = True
            self.note(at, f"the recursion of {ref[:80]}", "it is cut here", CHECKED)
            return self.anything(at, "a schema that contains itself")
        self.note(at, f"$ref {ref[:80]}", "its target stands here")
        below = _At(at.pointer, at.depth, (*at.refs, ref))
        if constraints or not isinstance(target, dict):
            return self.all_of({"allOf": [target, constraints]}, below)
        said = {k: v for k, v in beside.items() if k in ("title", "description", "default")}
        return self.node({**target, **said}, below)

    def may_keep(self, ref: str) -> bool:
        parts = ref.split("/")
        in_place = len(parts) == 3 and parts[:2] in (["#", "$defs"], ["#", "definitions"])
        if not in_place or not self.dialect.accepts("$ref") or self.dialect.refs == "none":
            return False
        if not self.dialect.accepts(parts[1]):
            return False
        return self.dialect.refs == "all" or not is_cyclic(self.root, ref)

    def definition(self, ref: str, name: str, target: JsonValue, beside: dict[str, JsonValue], at: _At) -> _Found:
        """A reference that is kept; its target is lowered once."""
        if name not in self.table:
            self.table[name] = SAME
            found = self.node(target, _At("/" + "/".join(ref.split("/")[1:])))
            self.made[name], self.table[name] = found.schema, found.mapping
            self.is_whole |= bool(found.rest)
        said = {k: v for k, v in beside.items() if k in ANNOTATIONS and self.dialect.accepts(k)}
        return _Found({"$ref": ref, **said}, (), Named(name, self.table))

    # combinators

    def all_of(self, schema: dict[str, JsonValue], at: _At) -> _Found:
        rest = {k: v for k, v in schema.items() if k != "allOf"}
        branches = [self.followed(b, at) for b in schema["allOf"]]
        merged, exact = merge([rest, *branches])
        self.note(at, "allOf", "its schemas are merged", EXACT if exact else CHECKED)
        found = self.node(merged, at)
        return found if exact else found.and_rest({"allOf": schema["allOf"]}, rest)

    def followed(self, schema: JsonValue, at: _At) -> JsonValue:
        """A branch with its reference resolved; anything where it leads back."""
        seen = list(at.refs)
        while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            ref = str(schema["$ref"])
            target = resolve(self.root, ref)
            if target is None or ref in seen:
                self.is_whole = True
                return True
            seen.append(ref)
            beside = {k: v for k, v in schema.items() if k != "$ref"}
            schema = merge([target, beside])[0] if beside else target
        return schema

    def alternatives(self, schema: dict[str, JsonValue], keyword: str, at: _At) -> _Found:
        branches = [self.followed(b, at) for b in schema[keyword]]
        rest = {k: v for k, v in schema.items() if k != keyword}
        is_refused = keyword in self.dialect.root_refused or "anyOf" in self.dialect.root_refused
        if at.is_root and (is_refused or (self.dialect.root_object and self.dialect.typed)):
            return self.flattened(schema, rest, branches, keyword, at)
        if self.is_kept(schema, keyword, at):
            found = self.node(rest, at) if kept_only(rest) else _Found(rest)
            return _Found({**found.schema, keyword: schema[keyword]}, found.rest, found.mapping)
        if not self.dialect.accepts("anyOf"):
            self.note(at, keyword, "nothing is demanded here", CHECKED)
            return self.node(rest, at).and_rest({keyword: schema[keyword]})
        said = {k: v for k, v in rest.items() if k in ANNOTATIONS and self.dialect.accepts(k)}
        is_apart = keyword == "anyOf" or disjoint(branches)
        if keyword == "oneOf":
            self.note(at, "oneOf", "anyOf", EXACT if is_apart else CHECKED)
        found, exact = self.any_of(branches, kept_only(rest), keyword, at)
        fragments: tuple[JsonValue, ...] = () if is_apart and exact else ({keyword: schema[keyword]}, kept_only(rest))
        return _Found({**said, **found.schema}, tuple(f for f in fragments if f), found.mapping)

    def any_of(
        self, branches: list[JsonValue], rest: dict[str, JsonValue], keyword: str, at: _At
    ) -> tuple[_Found, bool]:
        made, exact = [], True
        for number, branch in enumerate(branches):
            merged, is_exact = merge([rest, branch]) if rest else (branch, True)
            found = self.node(merged, at.down(keyword, str(number)))
            exact &= is_exact and not found.rest
            made.append(found)
        mapping: Same = SAME
        if any(f.mapping is not SAME for f in made):
            mapping = Union(self.fits, tuple((f.schema, f.mapping) for f in made))
        if len(made) == 1:
            return _Found(made[0].schema, (), made[0].mapping), exact
        return _Found({"anyOf": [f.schema for f in made]}, (), mapping), exact

    def fits(self, value: JsonValue, schema: JsonValue) -> bool:
        return _fits.fits(value, schema, {"$defs": self.made, "definitions": self.made})

    def flattened(
        self,
        schema: dict[str, JsonValue],
        rest: dict[str, JsonValue],
        branches: list[JsonValue],
        keyword: str,
        at: _At,
    ) -> _Found:
        """Alternatives at the root: one object with the properties of all, and what only the check can tell."""
        objects = [b for b in branches if isinstance(b, dict)]
        inner = [self.followed_deep(b, at) for b in objects]
        properties: dict[str, JsonValue] = dict(dict_of(rest.get("properties")))
        for name in dict.fromkeys(n for b in inner for n in dict_of(b.get("properties"))):
            said = [dict_of(b["properties"])[name] for b in inner if name in dict_of(b.get("properties"))]
            different = [s for n, s in enumerate(said) if s not in said[:n]]
            if name not in properties:
                properties[name] = different[0] if len(different) == 1 else {"anyOf": different}
        needed = [set(map(str, b.get("required") or ())) for b in inner]
        required = [n for n in rest.get("required") or ()]
        common = set.intersection(*needed) if needed and len(inner) == len(branches) else set()
        required += [n for n in properties if n in common and n not in required]
        flat = {k: v for k, v in rest.items() if k not in ("additionalProperties", "unevaluatedProperties")}
        flat |= {"type": "object", "properties": properties}
        if required:
            flat["required"] = required
        if not properties:
            flat.pop("properties")
        self.note(at, f"{keyword} at the root", "one object with the properties of all", CHECKED)
        dropped = {k: v for k, v in rest.items() if k not in flat}
        context = {k: rest[k] for k in ("properties", "patternProperties") if k in rest and dropped}
        return self.node(flat, at).and_rest({keyword: schema[keyword]}, {**context, **dropped})

    def followed_deep(self, branch: dict[str, JsonValue], at: _At) -> dict[str, JsonValue]:
        """A branch without combinators of its own, as far as that can be."""
        if isinstance(branch.get("allOf"), list):
            rest = {k: v for k, v in branch.items() if k != "allOf"}
            return merge([rest, *(self.followed(b, at) for b in branch["allOf"])])[0]
        return branch

    # values

    def typed(self, schema: dict[str, JsonValue], at: _At) -> _Found:
        """A schema without combinators to be changed: its type, and then its keywords."""
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
            self.note(at, "type null", "nullable, and an enum that has no text", CHECKED)
            return _Found({"type": "string", "nullable": True}, ({"type": "null"},))
        if dialect.enum_strings and not all(isinstance(v, str) for v in schema.get("enum", ())):
            return self.other_enum(schema, at)
        if declared is None and dialect.typed:
            return self.untyped(schema, at)
        return self.keywords(schema, at)

    def type_list(self, schema: dict[str, JsonValue], types: list[str], at: _At) -> _Found:
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
        found = _Found({**said, **found.schema}, found.rest, found.mapping)
        return self.or_null(found, "null") if with_null and self.dialect.nullable else found

    def or_null(self, found: _Found, what: str) -> _Found:
        """The schema, or null."""
        rest = tuple({"anyOf": [{"type": "null"}, fragment]} for fragment in found.rest)
        made = nullable(found.schema, self.dialect)
        if found.mapping is SAME:
            return _Found(made, rest)
        branches = (({"type": "null"}, SAME), (found.schema, found.mapping))
        return _Found(made, rest, Union(self.fits, branches))

    def other_enum(self, schema: dict[str, JsonValue], at: _At) -> _Found:
        values = schema["enum"]
        texts = [v for v in values if isinstance(v, str)]
        rest = {k: v for k, v in schema.items() if k != "enum"}
        if texts and all(isinstance(v, str) or v is None for v in values):
            self.note(at, "an enum with null", "nullable")
            return self.or_null(self.keywords({**rest, "type": "string", "enum": texts}, at), "null")
        self.note(at, "an enum of other values than texts", "their type", CHECKED)
        types = [schema["type"]] if isinstance(schema.get("type"), str) else type_of_values(values)
        return self.node({**rest, "type": types[0] if len(types) == 1 else types}, at).and_rest({"enum": values})

    def untyped(self, schema: dict[str, JsonValue], at: _At) -> _Found:
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            types = type_of_values(schema["enum"])
            return self.node({**schema, "type": types[0] if len(types) == 1 else types}, at)
        told = type_told(schema)
        if told is None:
            found = self.anything(at)
            fragment = kept_only(schema)
            if fragment:
                self.note(at, ", ".join(fragment), "nothing is demanded here", CHECKED)
            return found.and_rest(fragment) if fragment else found
        as_text = self.dialect.closed_objects and told == "object" and not at.is_root and _is_map(schema)
        too_deep = self.dialect.max_depth and at.depth >= self.dialect.max_depth and told in ("object", "array")
        if as_text or too_deep:
            return self.anything(at, "a schema without a type").and_rest(kept_only(schema))
        self.note(at, "no type", f"type {told}; the original takes every other type too", NARROWER)
        found = self.node({**schema, "type": told}, at)
        return _Found(found.schema, found.rest, Only(told, found.mapping))

    def keywords(self, schema: dict[str, JsonValue], at: _At) -> _Found:
        """Keyword by keyword: kept, lowered inside, or moved to the check."""
        dialect, kind = self.dialect, schema.get("type")
        if dialect.max_depth and at.depth >= dialect.max_depth and kind in ("object", "array"):
            self.note(at, "an object or array nested too deep", "a string that holds its JSON text", CHECKED)
            return _Found({"type": "string", "description": f"JSON text of an {kind}"}, (kept_only(schema),), Text())
        if dialect.closed_objects and kind == "object" and not at.is_root and _is_map(schema):
            self.note(at, "an object with keys that are not declared", "a string that holds its JSON text", CHECKED)
            return _Found({"type": "string", "description": "JSON text of an object"}, (kept_only(schema),), Text())
        made: dict[str, JsonValue] = {}
        schema, rest = self.without_old_words(schema, at)
        maps: dict[str, Same] = {}
        items: Same = SAME
        for keyword, value in schema.items():
            if keyword in ANNOTATIONS:
                self.annotation(keyword, value, made, at)
            elif not dialect.accepts(keyword) or (keyword in APART and not self.is_clean({keyword: value})):
                if keyword != "additionalProperties" or value is not True:
                    self.note(at, keyword, "it is left out", CHECKED)
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
            self.note(at, "an array without items", "items that take anything")
            made["items"], items = found.schema, found.mapping
        mapping = self.object_mapping(schema, made, maps, at) if "object" in types_of(kind) else SAME
        return _Found(made, tuple(rest), mapping if mapping is not SAME or items is SAME else Items(items))

    def without_old_words(self, schema: dict[str, JsonValue], at: _At) -> tuple[dict[str, JsonValue], list[JsonValue]]:
        """(schema, fragments): tuples that are not taken as they stand, and bounds of draft 4, go to the check."""
        rest: list[JsonValue] = []
        tuples = {k: schema[k] for k in ("prefixItems", "items", "additionalItems") if k in schema}
        is_old = isinstance(schema.get("items"), list)
        if is_old or ("prefixItems" in tuples and not self.is_clean(tuples)):
            self.note(at, "items by their place", "it is left out", CHECKED)
            schema = {k: v for k, v in schema.items() if k not in tuples}
            rest.append(tuples)
        for keyword in ("exclusiveMinimum", "exclusiveMaximum"):
            if isinstance(schema.get(keyword), bool):
                self.note(at, keyword, "it is left out", CHECKED)
                rest.append({k: schema[k] for k in (*CONTEXT[keyword], keyword) if k in schema})
                schema = {k: v for k, v in schema.items() if k != keyword}
        return schema, rest

    def annotation(self, keyword: str, value: JsonValue, made: dict[str, JsonValue], at: _At) -> None:
        if keyword in ("$defs", "definitions"):
            if not at.is_root or not self.dialect.accepts(keyword):
                return
        elif self.dialect.accepts(keyword):
            made[keyword] = value
        else:
            self.note(at, keyword, "it is left out; it demands nothing")

    def properties(
        self, properties: dict[str, JsonValue], at: _At
    ) -> tuple[dict[str, JsonValue], dict[str, JsonValue], dict[str, Same]]:
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
        at: _At,
    ) -> None:
        """A schema of undeclared keys is kept where it is taken as it stands."""
        if self.is_clean(value):
            made["additionalProperties"] = value
            return
        self.note(at, "additionalProperties", "they are open", CHECKED)
        rest.append({k: schema[k] for k in (*CONTEXT["additionalProperties"], "additionalProperties") if k in schema})

    def object_mapping(
        self, schema: dict[str, JsonValue], made: dict[str, JsonValue], maps: dict[str, Same], at: _At
    ) -> Same:
        """What strict mode adds to an object, and the mapping of its properties."""
        dialect = self.dialect
        is_object = describes_object(made)
        absent: list[str] = []
        closed = False
        if is_object and dialect.closed_objects:
            if schema.get("additionalProperties") is not False:
                self.note(
                    at, "an open object", "additionalProperties false: undeclared keys can't be written", NARROWER
                )
                closed = True
            made["additionalProperties"] = False
        if is_object and dialect.all_required:
            made.setdefault("properties", {})
            absent = self.require_all(schema, made, maps, at)
        if dialect.no_empty_properties and made.get("properties") == {}:
            self.note(at, "empty properties", "they are left out")
            made.pop("properties")
        if not maps and not absent and not closed:
            return SAME
        known = {name: maps.get(name, SAME) for name in dict_of(made.get("properties"))}
        return Object(known, frozenset(absent), closed)

    def require_all(
        self, schema: dict[str, JsonValue], made: dict[str, JsonValue], maps: dict[str, Same], at: _At
    ) -> list[str]:
        """Optional properties become required ones that allow null; which they are."""
        required = [n for n in schema.get("required") or () if isinstance(n, str)]
        properties = dict(made["properties"])
        for name in [n for n in required if n not in properties]:
            found = self.anything(at.down("properties", name), f"the required {name!r}, which is not declared")
            properties[name] = found.schema
            maps[name] = found.mapping
        optional = [n for n in properties if n not in required]
        for name in optional:
            original = dict_of(schema.get("properties")).get(name, True)
            takes_null = self.takes_null(original)
            effect = NARROWER if takes_null else EXACT
            said = "required, null for absent" + ("; null itself can't be written" if takes_null else "")
            self.note(at.down("properties", name), "an optional property", said, effect)
            properties[name] = nullable(properties[name], self.dialect)
        made["properties"] = properties
        if properties or "required" in made:
            made["required"] = list(properties)
        return optional

    def takes_null(self, schema: JsonValue) -> bool:
        try:
            return _fits.fits(None, schema, self.root)
        except _fits.Undecided:
            return True


def _is_map(schema: dict[str, JsonValue]) -> bool:
    """Its keys are not all declared: a map, or an object of any kind."""
    if schema.get("patternProperties"):
        return True
    additional = schema.get("additionalProperties", True)
    return isinstance(additional, dict) or (additional is True and not schema.get("properties"))
