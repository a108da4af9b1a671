"""Lowering of schemas that are made of others: references and combinators."""

from __future__ import annotations

from workbench.ir import JsonValue
from workbench.toolcalls.schemas._shapes import disjoint, kept_only
from workbench.toolcalls.schemas._values import lower_union
from workbench.toolcalls.schemas._work import CHECKED, EXACT, Lower, LoweredNode, LoweringWork, SchemaPosition
from workbench.toolcalls.schemas.lint import dict_of
from workbench.toolcalls.schemas.mapping import SAME, DefinitionMapping
from workbench.toolcalls.schemas.merge import merge_schemas
from workbench.toolcalls.schemas.walk import ANNOTATIONS, is_cyclic, resolve


class CompositeLowering:
    """Lowers references and combinators.

    Args:
        lower: for their targets and branches.
    """

    def __init__(self, work: LoweringWork, lower: Lower) -> None:
        self._work = work
        self._dialect = work.dialect
        self._lower = lower

    def is_kept(self, schema: dict[str, JsonValue], keyword: str, at: SchemaPosition) -> bool:
        """True if the combinator can be kept: the dialect accepts it and its content."""
        refused = at.is_root and keyword in self._dialect.root_refused
        if refused or not self._dialect.accepts(keyword) or self._dialect.closed_objects or self._dialect.typed:
            return False
        return self._work.is_clean({keyword: schema[keyword]})

    def reference(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        ref = str(schema["$ref"])
        beside = {k: v for k, v in schema.items() if k != "$ref"}
        old = any(f"draft-0{n}" in str(self._work.root.get("$schema", "")) for n in (3, 4, 6, 7))
        constraints = {} if old else {k: v for k, v in beside.items() if k not in ANNOTATIONS}
        target = resolve(self._work.root, ref)
        if target is None:
            self._work.is_whole = True
            self._work.note(at, f"$ref {ref[:80]}, which has no target", "any value is accepted here", CHECKED)
            return self._work.anything(at)
        name = ref.rpartition("/")[2]
        must_go = at.is_root and self._dialect.root_object  # the root names its type itself
        if self.may_keep(ref) and not constraints and not must_go:
            return self.definition(ref, name, target, beside, at)
        if ref in at.refs or len(at.refs) > 32:
            self._work.is_whole = True
            self._work.note(at, f"the recursion of {ref[:80]}", "the recursion ends here", CHECKED)
            return self._work.anything(at, "a schema that contains itself")
        self._work.note(at, f"$ref {ref[:80]}", "replaced with its target")
        below = SchemaPosition(at.pointer, at.depth, (*at.refs, ref))
        if constraints or not isinstance(target, dict):
            return self.all_of({"allOf": [target, constraints]}, below)
        notes = {k: v for k, v in beside.items() if k in ("title", "description", "default")}
        return self._lower({**target, **notes}, below)

    def may_keep(self, ref: str) -> bool:
        parts = ref.split("/")
        in_place = len(parts) == 3 and parts[:2] in (["#", "$defs"], ["#", "definitions"])
        if not in_place or not self._dialect.accepts("$ref") or self._dialect.refs == "none":
            return False
        if not self._dialect.accepts(parts[1]):
            return False
        return self._dialect.refs == "all" or not is_cyclic(self._work.root, ref)

    def definition(
        self, ref: str, name: str, target: JsonValue, beside: dict[str, JsonValue], at: SchemaPosition
    ) -> LoweredNode:
        """A reference that is kept; its target is lowered once."""
        if name not in self._work.table:
            self._work.table[name] = SAME
            found = self._lower(target, SchemaPosition("/" + "/".join(ref.split("/")[1:])))
            self._work.made[name], self._work.table[name] = found.schema, found.mapping
            self._work.is_whole |= bool(found.rest)
        notes = {k: v for k, v in beside.items() if k in ANNOTATIONS and self._dialect.accepts(k)}
        return LoweredNode({"$ref": ref, **notes}, (), DefinitionMapping(name, self._work.table))

    def all_of(self, schema: dict[str, JsonValue], at: SchemaPosition) -> LoweredNode:
        rest = {k: v for k, v in schema.items() if k != "allOf"}
        branches = [self.follow(b, at) for b in schema["allOf"]]
        at = SchemaPosition(at.pointer, at.depth, (*at.refs, *_refs(schema["allOf"])))
        merged, exact = merge_schemas([rest, *branches])
        self._work.note(at, "allOf", "the schemas are merged", EXACT if exact else CHECKED)
        found = self._lower(merged, at)
        return found if exact else found.and_rest({"allOf": schema["allOf"]}, rest)

    def follow(self, schema: JsonValue, at: SchemaPosition) -> JsonValue:
        """A branch with its reference resolved; any value if it is recursive."""
        seen = list(at.refs)
        while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            ref = str(schema["$ref"])
            target = resolve(self._work.root, ref)
            if target is None or ref in seen:
                self._work.is_whole = True
                return True
            seen.append(ref)
            beside = {k: v for k, v in schema.items() if k != "$ref"}
            schema = merge_schemas([target, beside])[0] if beside else target
        return schema

    def alternatives(self, schema: dict[str, JsonValue], keyword: str, at: SchemaPosition) -> LoweredNode:
        branches = [self.follow(b, at) for b in schema[keyword]]
        rest = {k: v for k, v in schema.items() if k != keyword}
        at = SchemaPosition(at.pointer, at.depth, (*at.refs, *_refs(schema[keyword])))
        is_refused = keyword in self._dialect.root_refused or "anyOf" in self._dialect.root_refused
        if at.is_root and (is_refused or (self._dialect.root_object and self._dialect.typed)):
            return self.flatten(schema, rest, branches, keyword, at)
        if self.is_kept(schema, keyword, at):
            found = self._lower(rest, at) if kept_only(rest) else LoweredNode(rest)
            return LoweredNode({**found.schema, keyword: schema[keyword]}, found.rest, found.mapping)
        if not self._dialect.accepts("anyOf"):
            self._work.note(at, keyword, "any value is accepted here", CHECKED)
            return self._lower(rest, at).and_rest({keyword: schema[keyword]})
        notes = {k: v for k, v in rest.items() if k in ANNOTATIONS and self._dialect.accepts(k)}
        is_apart = keyword == "anyOf" or disjoint(branches)
        if keyword == "oneOf":
            self._work.note(at, "oneOf", "anyOf", EXACT if is_apart else CHECKED)
        found, exact = lower_union(self._work, self._lower, branches, kept_only(rest), keyword, at)
        fragments: tuple[JsonValue, ...] = () if is_apart and exact else ({keyword: schema[keyword]}, kept_only(rest))
        return LoweredNode({**notes, **found.schema}, tuple(f for f in fragments if f), found.mapping)

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
            variants = [dict_of(b["properties"])[name] for b in inner if name in dict_of(b.get("properties"))]
            different = [s for n, s in enumerate(variants) if s not in variants[:n]]
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
        self._work.note(at, f"{keyword} at the root", "one object with all properties", CHECKED)
        dropped = {k: v for k, v in rest.items() if k not in flat}
        context = {k: rest[k] for k in ("properties", "patternProperties") if k in rest and dropped}
        return self._lower(flat, at).and_rest({keyword: schema[keyword]}, {**context, **dropped})

    def follow_deep(self, branch: dict[str, JsonValue], at: SchemaPosition) -> dict[str, JsonValue]:
        """A branch without combinators, as far as possible."""
        if isinstance(branch.get("allOf"), list):
            rest = {k: v for k, v in branch.items() if k != "allOf"}
            return merge_schemas([rest, *(self.follow(b, at) for b in branch["allOf"])])[0]
        return branch


def _refs(branches: list[JsonValue]) -> list[str]:
    """References that are branches: their content must not follow the same ones again."""
    return [str(b["$ref"]) for b in branches if isinstance(b, dict) and isinstance(b.get("$ref"), str)]
