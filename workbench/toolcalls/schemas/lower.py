"""Computes the smallest change that makes a dialect accept a schema, and the check that remains.

Nothing is lost: constraints removed from the schema are in the local check, so that both together accept exactly the
values of the original. If a value can no longer be written (an undeclared key under strict mode), the step says
``narrower``.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.toolcalls.schemas._shapes import disjoint, kept_only
from workbench.toolcalls.schemas._values import (
    CHECKED,
    EXACT,
    NARROWER,
    LoweredNode,
    LoweringStep,
    SchemaPosition,
    ValueLowering,
)
from workbench.toolcalls.schemas.dialect import PLAIN, Dialect
from workbench.toolcalls.schemas.lint import IGNORED, Issue, dict_of, lint_schema
from workbench.toolcalls.schemas.mapping import (
    SAME,
    DefinitionMapping,
    JsonTextMapping,
    ObjectMapping,
    SameMapping,
    Undecodable,
)
from workbench.toolcalls.schemas.merge import merge, types_of
from workbench.toolcalls.schemas.walk import ANNOTATIONS, is_cyclic, resolve
from workbench.wire import dumps

__all__ = ["CHECKED", "EXACT", "NARROWER", "LoweredSchema", "LoweringStep", "down_level"]


@dataclass(frozen=True, slots=True)
class LoweredSchema:
    """A schema that a dialect accepts.

    Attributes:
        schema: the schema to declare.
        check: JSON Schema of the remaining constraints, for the decoded value; True if there are none.
        mapping: between original values and those of ``schema``.
        steps: every change, in order; () if the original is accepted unchanged.
        remaining: issues that the dialect still refuses.
        parts: simpler tools instead of this one, (suffix, result), if ``remaining`` is not empty and the root has
            alternatives.
    """

    schema: JsonValue
    check: JsonValue = True
    mapping: SameMapping = SAME
    steps: tuple[LoweringStep, ...] = ()
    remaining: tuple[Issue, ...] = ()
    parts: tuple[tuple[str, LoweredSchema], ...] = ()


def down_level(schema: JsonValue, dialect: Dialect) -> LoweredSchema:
    """Change a tool's schema as little as possible so that a dialect accepts it."""
    if not isinstance(schema, dict) or not [i for i in lint_schema(schema, dialect) if i.effect != IGNORED]:
        return LoweredSchema(schema, remaining=() if isinstance(schema, dict) else lint_schema(schema, dialect))
    work = _Lowering(schema, dialect)
    try:
        found = work.root_schema()
        check: JsonValue = schema if work.is_whole else work.check(found.rest)
        lowered = LoweredSchema(found.schema, check, found.mapping, tuple(dict.fromkeys(work.steps)))
    except (RecursionError, TypeError, ValueError, AttributeError, KeyError):  # hostile, or no schema at all
        step = LoweringStep("", "a schema that is invalid or nested too deeply", "an object of any kind", CHECKED)
        lowered = LoweredSchema({"type": "object"}, schema, SAME, (step,))
    remaining = tuple(i for i in lint_schema(lowered.schema, dialect) if i.effect != IGNORED)
    parts = _parts(schema, dialect) if remaining else ()
    return LoweredSchema(lowered.schema, lowered.check, lowered.mapping, lowered.steps, remaining, parts)


def _parts(schema: Mapping[str, JsonValue], dialect: Dialect) -> tuple[tuple[str, LoweredSchema], ...]:
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


class _Lowering(ValueLowering):
    """References and combinators."""

    def root_schema(self) -> LoweredNode:
        root = self.root
        is_other = root.get("type") != "object" and "object" in types_of(root.get("type"))
        if is_other and "$ref" not in root and (self.dialect.root_object or self.dialect.typed):
            self.note(
                SchemaPosition(),
                "a root without 'type: object'",
                "'type: object', because arguments are always an object",
            )
            root = {**root, "type": "object"}
        found = self.node(root, SchemaPosition())
        if self.table:
            keyword = "$defs" if "$defs" in self.root else "definitions"
            return LoweredNode({**found.schema, keyword: dict(self.made)}, found.rest, found.mapping)
        return found

    def node(self, schema: JsonValue, at: SchemaPosition) -> LoweredNode:
        """Lower one schema."""
        self.left -= 1
        if schema is True or schema == {}:
            return self.anything(at)
        if not isinstance(schema, dict) or self.left < 0:
            self.is_whole = True
            return self.anything(
                at, "a schema that accepts nothing" if schema is False else "a schema that is too large"
            )
        if isinstance(schema.get("$ref"), str):
            return self.reference(schema, at)
        if "allOf" in schema and not self.is_kept(schema, "allOf", at):
            return self.all_of(schema, at)
        for keyword in ("oneOf", "anyOf"):
            if isinstance(schema.get(keyword), list):
                return self.alternatives(schema, keyword, at)
        return self.lower_typed(schema, at)

    def is_kept(self, schema: dict[str, JsonValue], keyword: str, at: SchemaPosition) -> bool:
        """True if the combinator can be kept: the dialect accepts it and its content."""
        refused = at.is_root and keyword in self.dialect.root_refused
        if refused or not self.dialect.accepts(keyword) or self.dialect.closed_objects or self.dialect.typed:
            return False
        return self.is_clean({keyword: schema[keyword]})

    # references

    def reference(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        ref = str(schema["$ref"])
        beside = {k: v for k, v in schema.items() if k != "$ref"}
        old = any(f"draft-0{n}" in str(self.root.get("$schema", "")) for n in (3, 4, 6, 7))
        constraints = {} if old else {k: v for k, v in beside.items() if k not in ANNOTATIONS}
        target = resolve(self.root, ref)
        if target is None:
            self.is_whole = True
            self.note(at, f"$ref {ref[:80]}, which has no target", "any value is accepted here", CHECKED)
            return self.anything(at)
        name = ref.rpartition("/")[2]
        must_go = at.is_root and self.dialect.root_object  # the root names its type itself
        if self.may_keep(ref) and not constraints and not must_go:
            return self.definition(ref, name, target, beside, at)
        if ref in at.refs or len(at.refs) > 32:
            self.is_whole = True
            self.note(at, f"the recursion of {ref[:80]}", "the recursion ends here", CHECKED)
            return self.anything(at, "a schema that contains itself")
        self.note(at, f"$ref {ref[:80]}", "replaced with its target")
        below = SchemaPosition(at.pointer, at.depth, (*at.refs, ref))
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

    def definition(
        self, ref: str, name: str, target: JsonValue, beside: dict[str, JsonValue], at: SchemaPosition
    ) -> LoweredNode:
        """A reference that is kept; its target is lowered once."""
        if name not in self.table:
            self.table[name] = SAME
            found = self.node(target, SchemaPosition("/" + "/".join(ref.split("/")[1:])))
            self.made[name], self.table[name] = found.schema, found.mapping
            self.is_whole |= bool(found.rest)
        said = {k: v for k, v in beside.items() if k in ANNOTATIONS and self.dialect.accepts(k)}
        return LoweredNode({"$ref": ref, **said}, (), DefinitionMapping(name, self.table))

    # combinators

    def all_of(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        rest = {k: v for k, v in schema.items() if k != "allOf"}
        branches = [self.follow(b, at) for b in schema["allOf"]]
        at = SchemaPosition(at.pointer, at.depth, (*at.refs, *_refs(schema["allOf"])))
        merged, exact = merge([rest, *branches])
        self.note(at, "allOf", "its schemas are merged", EXACT if exact else CHECKED)
        found = self.node(merged, at)
        return found if exact else found.and_rest({"allOf": schema["allOf"]}, rest)

    def follow(self, schema: JsonValue, at: SchemaPosition) -> JsonValue:
        """A branch with its reference resolved; any value if it is recursive."""
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

    def alternatives(self, schema: dict[str, JsonValue], keyword: str, at: SchemaPosition) -> LoweredNode:
        branches = [self.follow(b, at) for b in schema[keyword]]
        rest = {k: v for k, v in schema.items() if k != keyword}
        at = SchemaPosition(at.pointer, at.depth, (*at.refs, *_refs(schema[keyword])))
        is_refused = keyword in self.dialect.root_refused or "anyOf" in self.dialect.root_refused
        if at.is_root and (is_refused or (self.dialect.root_object and self.dialect.typed)):
            return self.flatten(schema, rest, branches, keyword, at)
        if self.is_kept(schema, keyword, at):
            found = self.node(rest, at) if kept_only(rest) else LoweredNode(rest)
            return LoweredNode({**found.schema, keyword: schema[keyword]}, found.rest, found.mapping)
        if not self.dialect.accepts("anyOf"):
            self.note(at, keyword, "any value is accepted here", CHECKED)
            return self.node(rest, at).and_rest({keyword: schema[keyword]})
        said = {k: v for k, v in rest.items() if k in ANNOTATIONS and self.dialect.accepts(k)}
        is_apart = keyword == "anyOf" or disjoint(branches)
        if keyword == "oneOf":
            self.note(at, "oneOf", "anyOf", EXACT if is_apart else CHECKED)
        found, exact = self.any_of(branches, kept_only(rest), keyword, at)
        fragments: tuple[JsonValue, ...] = () if is_apart and exact else ({keyword: schema[keyword]}, kept_only(rest))
        return LoweredNode({**said, **found.schema}, tuple(f for f in fragments if f), found.mapping)

    def flatten(
        self,
        schema: dict[str, JsonValue],
        rest: dict[str, JsonValue],
        branches: list[JsonValue],
        keyword: str,
        at: SchemaPosition,
    ) -> LoweredNode:
        """Alternatives at the root: one object with all properties; the check does the rest."""
        objects = [b for b in branches if isinstance(b, dict)]
        inner = [self.follow_deep(b, at) for b in objects]
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
        self.note(at, f"{keyword} at the root", "one object with all properties", CHECKED)
        dropped = {k: v for k, v in rest.items() if k not in flat}
        context = {k: rest[k] for k in ("properties", "patternProperties") if k in rest and dropped}
        return self.node(flat, at).and_rest({keyword: schema[keyword]}, {**context, **dropped})

    def follow_deep(self, branch: dict[str, JsonValue], at: SchemaPosition) -> dict[str, JsonValue]:
        """A branch without combinators, as far as possible."""
        if isinstance(branch.get("allOf"), list):
            rest = {k: v for k, v in branch.items() if k != "allOf"}
            return merge([rest, *(self.follow(b, at) for b in branch["allOf"])])[0]
        return branch


def _refs(branches: list[JsonValue]) -> list[str]:
    """References that are branches: their content must not follow the same ones again."""
    return [str(b["$ref"]) for b in branches if isinstance(b, dict) and isinstance(b.get("$ref"), str)]


STRICT, SIMPLE, TEXTS = "strict-json-schema", "simple-object", "string-only"

LEVELS = (STRICT, SIMPLE, TEXTS)
"""Schema levels, highest first."""

_DIALECTS: Mapping[str, Dialect] = {
    STRICT: Dialect(STRICT, "strict", root_object=True, closed_objects=True, all_required=True),
    SIMPLE: Dialect(
        SIMPLE,
        PLAIN,
        frozenset(("type", "description", "properties", "required", "items", "enum", "additionalProperties")),
        root_object=True,
        refs="none",
        type_lists=False,
    ),
}


def lower_to_level(schema: JsonValue, level: str) -> LoweredSchema:
    """A tool's schema as a model of a level can fill it in, and the constraints that remain to be checked.

    Args:
        level: one of ``LEVELS``.
    """
    return _texts(schema) if level == TEXTS else down_level(schema, _DIALECTS[level])


def original(value: JsonValue, schema: JsonValue, level: str) -> JsonValue:
    """Arguments of a lowered schema in the form of the original; unchanged if they cannot be converted."""
    try:
        return lower_to_level(schema, level).mapping.decode(value)
    except (Undecodable, WireError, TypeError, KeyError, RecursionError):
        return value


def _texts(schema: JsonValue) -> LoweredSchema:
    """A schema with only string properties; other types are written as JSON text."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return LoweredSchema({"type": "object", "properties": {}}, schema)
    made = {name: _text(held) for name, held in properties.items()}
    kept = {k: v for k, v in schema.items() if k in ("required", "description", "additionalProperties")}
    mapping = ObjectMapping({name: JsonTextMapping() for name, held in properties.items() if not _is_text(held)})
    return LoweredSchema({**kept, "type": "object", "properties": made}, schema, mapping)


def _text(schema: JsonValue) -> JsonValue:
    """A property as a string; its description states what to write."""
    said = schema.get("description") if isinstance(schema, dict) else None
    if isinstance(schema, dict) and isinstance(schema.get("enum"), list):
        written = f"one of {dumps(schema['enum']).decode('utf-8', 'replace')}"
    else:
        rest = {k: v for k, v in schema.items() if k != "description"} if isinstance(schema, dict) else schema
        written = "" if _is_text(schema) else f"JSON text that matches {dumps(rest).decode('utf-8', 'replace')}"
    words = "; ".join(filter(None, (said if isinstance(said, str) else "", written)))
    return {"type": "string", **({"description": words} if words else {})}


def _is_text(schema: JsonValue) -> bool:
    if not isinstance(schema, dict):
        return False
    values = schema.get("enum")
    return schema.get("type") == "string" or (isinstance(values, list) and all(isinstance(v, str) for v in values))
