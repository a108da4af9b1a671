"""Finds the parts of a schema that a dialect refuses or ignores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.provenance import escape
from workbench.toolcalls.schemas.dialect import Dialect
from workbench.toolcalls.schemas.walk import SchemaNode, is_cyclic, nodes, resolve

__all__ = ["IGNORED", "REFUSED", "Issue", "lint_schema"]

REFUSED, IGNORED = "refused", "ignored"

KEYWORD, ITEMS, REF, STRICT, SHAPE, SIZE = "keyword", "items", "ref", "strict", "shape", "size"
"""Kinds of issues: what the rules call unsupported-keyword, items-missing, ref, strict, malformed, and limits."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A part of a schema that a dialect does not accept as it is.

    Attributes:
        pointer: JSON pointer from the root schema, to the faulty keyword if there is one, else to the schema.
        keyword: the keyword that is at fault or missing.
        effect: ``"refused"`` or ``"ignored"``.
        message: the fault, one sentence.
        kind: ``keyword``, ``items``, ``ref``, ``strict``, ``shape`` or ``size``.
        when: kind of fault, in the words of contracts.
        source: of the fact.
        property: name of the property concerned, if it is one of several.
        size: for a limit, the count and the maximum.
    """

    pointer: str
    keyword: str
    effect: str
    message: str
    kind: str = KEYWORD
    when: str = ""
    source: str = ""
    property: str = ""
    size: tuple[int, int] | None = None


def lint_schema(schema: JsonValue, dialect: Dialect) -> tuple[Issue, ...]:
    """All parts of a tool's schema that a dialect refuses or ignores, in text order."""
    if not isinstance(schema, dict):
        return (Issue("", "", REFUSED, "the schema is not an object", SHAPE),)
    found = list(_root(schema, dialect))
    for node in nodes(schema):
        if isinstance(node.schema, bool) and dialect.no_booleans and not node.pointer.endswith("Properties"):
            message = f"{str(node.schema).lower()} is not a schema here: it must be an object"
            found.append(_issue(dialect, node, "", message, "no_booleans", at="schema"))
        if isinstance(node.schema, dict):
            found += _keywords(node, node.schema, dialect)
            found += _values(node, node.schema, dialect)
            found += _reference(schema, node, node.schema, dialect)
            found += _types(node, node.schema, dialect)
            found += _strict(node, node.schema, dialect)
    found += _sizes(schema, dialect)
    return tuple(dict.fromkeys(found))


def _issue(dialect: Dialect, node: SchemaNode, keyword: str, message: str, fact: str, **more: Any) -> Issue:
    pointer = f"{node.pointer}/{escape(keyword)}" if more.pop("at", "keyword") == "keyword" else node.pointer
    return Issue(pointer, keyword, REFUSED, message, source=dialect.source(fact), **more)


def _root(schema: dict[str, JsonValue], dialect: Dialect) -> Iterator[Issue]:
    root = SchemaNode(schema)
    for keyword in schema:
        if keyword in dialect.root_refused:
            yield _issue(dialect, root, keyword, f"{keyword} is not allowed at the root", "root_refused")
    if dialect.root_object and schema.get("type") != "object":
        message = "the root has no 'type: object'"
        yield _issue(dialect, root, "type", message, "root_object", kind=SHAPE, when="root-type", at="schema")


def _keywords(node: SchemaNode, schema: dict[str, JsonValue], dialect: Dialect) -> Iterator[Issue]:
    for keyword in schema:
        if not dialect.accepts(keyword):
            fact = "refused_keywords" if keyword in dialect.refused_keywords else "accepted_keywords"
            yield _issue(dialect, node, keyword, f"the keyword {keyword} is not supported", fact)
        elif keyword in dialect.ignored_keywords:
            pointer = f"{node.pointer}/{escape(keyword)}"
            message = f"the keyword {keyword} is accepted but not enforced"
            yield Issue(pointer, keyword, IGNORED, message, source=dialect.source("ignored_keywords"))
    if dialect.no_empty_properties and schema.get("properties") == {}:
        message = "an object's properties must not be empty"
        yield _issue(dialect, node, "properties", message, "no_empty_properties", kind=SHAPE, when="empty-properties")


def _reference(root: JsonValue, node: SchemaNode, schema: dict[str, JsonValue], dialect: Dialect) -> Iterator[Issue]:
    ref = schema.get("$ref")
    if not isinstance(ref, str):
        return
    target = resolve(root, ref)
    if target is not None and not dialect.accepts("$ref"):
        return  # the keyword is the fault; without a target nothing can be written in its place either
    if dialect.ref_conflicts and isinstance(target, dict):
        for keyword in (k for k in schema if k != "$ref" and k in target and target[k] != schema[k]):
            message = f"{keyword} of a schema with $ref differs from {keyword} in its target"
            yield _issue(dialect, node, keyword, message, "ref_conflicts", kind=REF, when="beside")
    if dialect.ref_alone and len(schema) > 1 and target is not None:
        beside = ", ".join(key for key in schema if key != "$ref")
        yield _issue(
            dialect,
            node,
            "$ref",
            f"next to $ref, no other keyword is allowed: {beside}",
            "ref_alone",
            kind=REF,
            when="siblings",
        )
    if target is None:
        message = "the reference has no target in this schema"
        yield _issue(dialect, node, "$ref", message, "refs", kind=REF, when="unresolved")
    elif dialect.refs == "none":
        yield _issue(dialect, node, "$ref", "references are not supported", "refs", kind=REF)
    elif dialect.refs == "no-recursion" and is_cyclic(root, ref):
        message = "the reference is recursive"
        yield _issue(dialect, node, "$ref", message, "refs", kind=REF, when="recursion")


def _types(node: SchemaNode, schema: dict[str, JsonValue], dialect: Dialect) -> Iterator[Issue]:
    declared = schema.get("type")
    if isinstance(declared, list) and not dialect.type_lists:
        yield _issue(dialect, node, "type", "type must not be a list", "type_lists")
    if dialect.nullable and declared == "null":
        yield _issue(dialect, node, "type", "type null is not supported; use nullable", "nullable")
    if dialect.enum_strings and any(not isinstance(v, str) for v in _list(schema.get("enum"))):
        yield _issue(dialect, node, "enum", "an enum must contain only strings", "enum_strings")
    types = declared if isinstance(declared, list) else [declared]
    if dialect.items_required and "array" in types and "items" not in schema:
        yield _issue(dialect, node, "items", "an array without items", "items_required", kind=ITEMS, at="schema")
    has_shape = declared or any(k in schema for k in ("anyOf", "any_of", "oneOf", "allOf", "$ref", "enum", "const"))
    if dialect.typed and not has_shape:
        yield _issue(dialect, node, "type", "a schema without a type", "typed", kind=SHAPE, when="untyped", at="schema")


def _values(node: SchemaNode, schema: dict[str, JsonValue], dialect: Dialect) -> Iterator[Issue]:
    """Keywords that are supported, with a value or beside another keyword that is not."""
    is_string, form = schema.get("type") in ("string", "STRING"), schema.get("format")
    if dialect.formats is not None and is_string and isinstance(form, str) and form not in dialect.formats:
        yield _issue(dialect, node, "format", f"the format {form!r} is not supported", "formats", when="format")
    if dialect.no_tuples and isinstance(schema.get("items"), list):
        yield _issue(dialect, node, "items", "items must be one schema", "no_tuples", when="tuple")
    if dialect.no_typed_unions and node.pointer and "anyOf" in schema and "type" in schema:
        message = "type and anyOf are in the same schema; move type into each schema of anyOf"
        yield _issue(dialect, node, "anyOf", message, "no_typed_unions", when="typed-union")
    if dialect.enum_typed and "enum" in schema and "type" not in schema:
        yield _issue(dialect, node, "enum", "an enum without type: string", "enum_typed", kind=SHAPE, when="enum")


def _strict(node: SchemaNode, schema: dict[str, JsonValue], dialect: Dialect) -> Iterator[Issue]:
    if not describes_object(schema):
        return
    if dialect.closed_objects and schema.get("additionalProperties") is not False:
        message = "additionalProperties must be false"
        yield _issue(
            dialect, node, "additionalProperties", message, "closed_objects",
            kind=STRICT, when="additional-properties", at="schema",
        )  # fmt: skip
    if dialect.all_required:
        known, required = dict_of(schema.get("properties")), _list(schema.get("required"))
        more = {"kind": STRICT, "at": "schema"}
        for name in [n for n in known if n not in required]:
            message = f"the property {name!r} is not required"
            yield _issue(dialect, node, "required", message, "all_required", when="required", property=name, **more)
        for name in [n for n in required if isinstance(n, str) and n not in known]:
            message = f"required contains {name!r}, which is not a property"
            yield _issue(
                dialect, node, "required", message, "all_required", when="extra-required", property=name, **more
            )


def describes_object(schema: dict[str, JsonValue]) -> bool:
    """True if the schema describes an object."""
    declared = schema.get("type")
    if declared is None:
        return "properties" in schema
    return declared == "object" or (isinstance(declared, list) and "object" in declared)


def dict_of(value: JsonValue) -> dict[str, JsonValue]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _is_union(schema: JsonValue) -> bool:
    return isinstance(schema, dict) and ("anyOf" in schema or isinstance(schema.get("type"), list))


def measure(schema: JsonValue) -> dict[str, int]:
    """``depth``, ``properties``, ``optional``, ``unions``, ``enum_values`` and ``text`` of a schema."""
    size = {"depth": 0, "properties": 0, "optional": 0, "unions": 0, "enum_values": 0, "text": 0}
    for node in nodes(schema):
        if not isinstance(node.schema, dict):
            continue
        names, values = list(dict_of(node.schema.get("properties"))), _list(node.schema.get("enum"))
        required = _list(node.schema.get("required"))
        is_deeper = describes_object(node.schema) or "items" in node.schema
        size["depth"] = max(size["depth"], node.depth + is_deeper)
        size["properties"] += len(names)
        size["optional"] += sum(name not in required for name in names)
        size["unions"] += sum(_is_union(each) for each in dict_of(node.schema.get("properties")).values())
        size["enum_values"] += len(values)
        size["text"] += sum(map(len, names)) + sum(len(v) for v in values if isinstance(v, str))
    return size


def _sizes(schema: JsonValue, dialect: Dialect) -> Iterator[Issue]:
    size = measure(schema)
    for what, words in (
        ("depth", "levels of nesting"),
        ("properties", "properties"),
        ("optional", "optional properties"),
        ("enum_values", "enum values"),
        ("text", "characters in names and enum values"),
    ):
        most = getattr(dialect, f"max_{what}")
        if most is not None and size[what] > most:
            message = f"{size[what]:,} {words}, at most {most:,}"
            yield Issue("", what, REFUSED, message, SIZE, what, dialect.source(f"max_{what}"), size=(size[what], most))
