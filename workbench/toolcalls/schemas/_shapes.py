"""Predicates about schemas, and small changes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.ir import JsonValue
from workbench.toolcalls.schemas.dialect import Dialect
from workbench.toolcalls.schemas.lint import dict_of
from workbench.toolcalls.schemas.merge import types_of
from workbench.toolcalls.schemas.walk import ANNOTATIONS
from workbench.wire import schema_type

__all__ = [
    "APART",
    "CONTEXT",
    "disjoint",
    "holds_ref",
    "join",
    "kept_only",
    "nullable",
    "sole_type",
    "split_types",
    "type_of_values",
]

APART = (
    *("not", "if", "then", "else", "contains", "propertyNames", "dependentSchemas", "patternProperties"),
    *("prefixItems", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "allOf", "dependencies"),
)
"""Keywords with schemas that are kept unchanged or not at all: wider inside may be narrower outside."""

CONTEXT: Mapping[str, tuple[str, ...]] = {
    "additionalProperties": ("properties", "patternProperties"),
    "unevaluatedProperties": ("properties", "patternProperties", "additionalProperties"),
    "contains": ("minContains", "maxContains"),
    "minContains": ("contains",),
    "maxContains": ("contains",),
    "if": ("then", "else"),
    "then": ("if", "else"),
    "else": ("if", "then"),
    "items": ("prefixItems",),
    "prefixItems": (),
    "additionalItems": ("items",),
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
}
"""Keywords that determine the meaning of another one: a check with the one has the others."""

_BY_TYPE: Mapping[str, tuple[str, ...]] = {
    "object": (
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"),
        *("maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "propertyOrdering"),
    ),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"),
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


def kept_only(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The schema without keywords that are no constraints."""
    return {k: v for k, v in schema.items() if k not in ANNOTATIONS}


def join(fragments: Iterable[JsonValue]) -> JsonValue:
    """One schema that requires all of them; True if there is none."""
    parts = [f for f in fragments if f is not True and f != {}]
    keys = [k for p in parts if isinstance(p, dict) for k in p]
    if all(isinstance(p, dict) for p in parts) and len(set(keys)) == len(keys):
        return {k: v for p in parts for k, v in p.items()} or True
    return {"allOf": parts}


def holds_ref(fragment: JsonValue) -> bool:
    """True if it contains a reference, which needs its root."""
    waiting = [fragment]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "$ref" in node or "$dynamicRef" in node:
                return True
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return False


def nullable(schema: dict[str, JsonValue], dialect: Dialect) -> dict[str, JsonValue]:
    """The schema, or null, in the terms of a dialect."""
    if dialect.nullable:
        return {**schema, "nullable": True}
    declared = schema.get("type")
    if isinstance(declared, str) and dialect.type_lists and "enum" not in schema and "const" not in schema:
        return schema if declared == "null" else {**schema, "type": [declared, "null"]}
    if isinstance(declared, list) and "enum" not in schema and "const" not in schema:
        return schema if "null" in declared else {**schema, "type": [*declared, "null"]}
    if set(schema) == {"anyOf"}:
        return {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def split_types(schema: Mapping[str, JsonValue], types: list[str]) -> list[dict[str, JsonValue]]:
    """One schema for each type, with the keywords that are about it."""
    others = {k: v for k, v in schema.items() if k not in ANNOTATIONS}
    every = {keyword for keywords in _BY_TYPE.values() for keyword in keywords}
    branches = []
    for name in types:
        own = _BY_TYPE.get("number" if name == "integer" else name, ())
        branch = {"type": name, **{k: v for k, v in others.items() if k in own or k not in every}}
        values = branch.get("enum")
        if isinstance(values, list):  # a branch none of them fits keeps them all: an enum may not be empty
            branch["enum"] = [v for v in values if _is_one_of(v, name)] or values
        branches.append(branch)
    return branches


def _is_one_of(value: JsonValue, name: str) -> bool:
    """The value is of a type; whole numbers are of both types of numbers."""
    kind = type_of_values([value])[0]
    return kind == name or (name == "number" and kind == "integer") or (name == "integer" and kind == "number")


def sole_type(schema: Mapping[str, JsonValue]) -> str | None:
    """The type that the keywords of a schema apply to; None if none or several."""
    names = [name for name, keywords in _BY_TYPE.items() if any(k in schema for k in keywords if k != "format")]
    return names[0] if len(names) == 1 else None


def type_of_values(values: Iterable[JsonValue]) -> list[str]:
    """The types of some values, each once."""
    found = list(dict.fromkeys(map(schema_type, values)))
    return [t for t in found if t != "integer" or "number" not in found]


def disjoint(branches: list[JsonValue]) -> bool:
    """True if types or a property with fixed values show that no value fits two of them."""
    if not all(isinstance(b, dict) for b in branches):
        return False
    schemas: list[dict[str, JsonValue]] = [b for b in branches if isinstance(b, dict)]
    types = [set(types_of(b.get("type"))) for b in schemas]
    if _pairwise([t | ({"integer"} if "number" in t else set()) for t in types]):
        return True
    fixed = [
        {name: _fixed_values(s) for name, s in dict_of(b.get("properties")).items() if _fixed_values(s)}
        for b in schemas
    ]
    shared = set.intersection(*(set(f) for f in fixed)) if fixed else set()
    required = [set(map(str, b.get("required") or ())) for b in schemas]
    is_object = all(b.get("type") == "object" for b in schemas)
    return is_object and any(all(n in r for r in required) and _pairwise([f[n] for f in fixed]) for n in shared)


def _fixed_values(schema: JsonValue) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        return set()
    return {str(v) for v in values}


def _pairwise(sets: list[set[str]]) -> bool:
    return sum(map(len, sets)) == len(set().union(*sets))
