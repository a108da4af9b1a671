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
from workbench.toolcalls.schemas._composites import CompositeLowering
from workbench.toolcalls.schemas._values import ValueLowering
from workbench.toolcalls.schemas._work import (
    CHECKED,
    EXACT,
    NARROWER,
    LoweredNode,
    LoweringStep,
    LoweringWork,
    SchemaPosition,
)
from workbench.toolcalls.schemas.dialect import PLAIN, Dialect
from workbench.toolcalls.schemas.lint import IGNORED, Issue, lint_schema
from workbench.toolcalls.schemas.mapping import (
    SAME,
    JsonTextMapping,
    ObjectMapping,
    SameMapping,
    Undecodable,
)
from workbench.toolcalls.schemas.merge import merge_schemas, types_of
from workbench.toolcalls.schemas.walk import resolve
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
    lowering = _SchemaLowering(schema, dialect)
    work = lowering.work
    try:
        found = lowering.root_schema()
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
    parts = []
    for number, branch in enumerate(schema[keyword], 1):
        target = resolve(schema, branch["$ref"]) if isinstance(branch, dict) and "$ref" in branch else branch
        if not isinstance(target, dict) or any(k in target for k in ("oneOf", "anyOf")):
            return ()
        merged, exact = merge_schemas([rest, target])
        if not exact:
            return ()
        name = target.get("title") if isinstance(target.get("title"), str) else str(number)
        parts.append((str(name), down_level(merged, dialect)))
    return tuple(parts) if not any(part.remaining for _, part in parts) else ()


class _SchemaLowering:
    """Lowers a schema: each node by what it is made of."""

    def __init__(self, root: dict[str, JsonValue], dialect: Dialect) -> None:
        self.work = LoweringWork(root, dialect)
        self._values = ValueLowering(self.work, self.lower)
        self._composites = CompositeLowering(self.work, self.lower)

    def root_schema(self) -> LoweredNode:
        root = self.work.root
        is_other = root.get("type") != "object" and "object" in types_of(root.get("type"))
        if is_other and "$ref" not in root and (self.work.dialect.root_object or self.work.dialect.typed):
            self.work.note(
                SchemaPosition(),
                "a root without 'type: object'",
                "'type: object', because arguments are always an object",
            )
            root = {**root, "type": "object"}
        found = self.lower(root, SchemaPosition())
        if self.work.table:
            keyword = "$defs" if "$defs" in self.work.root else "definitions"
            return LoweredNode({**found.schema, keyword: dict(self.work.made)}, found.rest, found.mapping)
        return found

    def lower(self, schema: JsonValue, at: SchemaPosition) -> LoweredNode:
        """Lower one schema."""
        self.work.left -= 1
        if schema is True or schema == {}:
            return self.work.anything(at)
        if not isinstance(schema, dict) or self.work.left < 0:
            self.work.is_whole = True
            return self.work.anything(
                at, "a schema that accepts nothing" if schema is False else "a schema that is too large"
            )
        if isinstance(schema.get("$ref"), str):
            return self._composites.reference(schema, at)
        if "allOf" in schema and not self._composites.is_kept(schema, "allOf", at):
            return self._composites.all_of(schema, at)
        for keyword in ("oneOf", "anyOf"):
            if isinstance(schema.get(keyword), list):
                return self._composites.alternatives(schema, keyword, at)
        return self._values.lower_typed(schema, at)


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
    texts = {name: _text(value) for name, value in properties.items()}
    keywords = {k: v for k, v in schema.items() if k in ("required", "description", "additionalProperties")}
    mapping = ObjectMapping({name: JsonTextMapping() for name, value in properties.items() if not _is_text(value)})
    return LoweredSchema({**keywords, "type": "object", "properties": texts}, schema, mapping)


def _text(schema: JsonValue) -> JsonValue:
    """A property as a string; its description states what to write."""
    description = schema.get("description") if isinstance(schema, dict) else None
    if isinstance(schema, dict) and isinstance(schema.get("enum"), list):
        instruction = f"one of {dumps(schema['enum']).decode('utf-8', 'replace')}"
    else:
        rest = {k: v for k, v in schema.items() if k != "description"} if isinstance(schema, dict) else schema
        instruction = "" if _is_text(schema) else f"JSON text that matches {dumps(rest).decode('utf-8', 'replace')}"
    words = "; ".join(filter(None, (description if isinstance(description, str) else "", instruction)))
    return {"type": "string", **({"description": words} if words else {})}


def _is_text(schema: JsonValue) -> bool:
    if not isinstance(schema, dict):
        return False
    values = schema.get("enum")
    return schema.get("type") == "string" or (isinstance(values, list) and all(isinstance(v, str) for v in values))
