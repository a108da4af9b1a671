"""Finds the schemas inside a schema, and resolves references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench import limits
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.provenance import escape

__all__ = ["ANNOTATIONS", "LISTS", "MAPS", "SINGLE", "SchemaNode", "children", "is_cyclic", "nodes", "resolve"]

MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE = (
    *("items", "additionalProperties", "contains", "propertyNames", "if", "then", "else", "not"),
    *("unevaluatedProperties", "unevaluatedItems", "additionalItems", "contentSchema"),
)
ANNOTATIONS = frozenset(
    (
        *("$schema", "$id", "id", "$comment", "$anchor", "$vocabulary", "title", "description", "default", "examples"),
        *("example", "deprecated", "readOnly", "writeOnly", "format", "contentEncoding", "contentMediaType"),
        *("contentSchema", "$defs", "definitions"),
    )
)
"""Keywords that refuse no value. ``format`` is one of them since draft 2019-09, unless a vocabulary differs."""


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """A schema inside a schema.

    Attributes:
        pointer: JSON pointer from the root schema.
        depth: objects and arrays around it.
    """

    schema: JsonValue
    pointer: str = ""
    depth: int = 0


def children(schema: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    """(pointer below, schema) of every schema directly inside one."""
    for keyword, value in schema.items():
        if keyword in MAPS and isinstance(value, dict):
            yield from ((f"/{escape(keyword)}/{escape(name)}", inner) for name, inner in value.items())
        elif keyword in LISTS or (keyword == "items" and isinstance(value, list)):
            if isinstance(value, list):
                yield from ((f"/{keyword}/{n}", inner) for n, inner in enumerate(value))
        elif keyword in SINGLE and isinstance(value, dict | bool):
            yield f"/{keyword}", value


def nodes(schema: JsonValue) -> Iterator[SchemaNode]:
    """The schema and every schema inside it, outer ones first, in the order of the text.

    At most ``limits.MAX_SCHEMA_NODES`` are given.
    """
    waiting = [SchemaNode(schema)]
    budget = limits.MAX_SCHEMA_NODES
    while waiting and budget:
        node = waiting.pop()
        budget -= 1
        yield node
        if isinstance(node.schema, dict):
            inner = []
            for below, schema_below in children(node.schema):
                deeper = below.startswith(("/properties/", "/items", "/additionalProperties", "/prefixItems/"))
                inner.append(SchemaNode(schema_below, node.pointer + below, node.depth + deeper))
            waiting += reversed(inner)


def resolve(root: JsonValue, ref: str) -> JsonValue | None:
    """Target of a reference inside the schema; None for any other target."""
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        return _find_anchor(root, ref)
    here = root
    for step in ref[2:].split("/"):
        name = _unquote(step)
        if isinstance(here, dict) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(here):
            here = here[int(name)]
        else:
            return None
    return here


def _find_anchor(root: JsonValue, ref: str) -> JsonValue | None:
    name = ref.removeprefix("#")
    found = (n.schema for n in nodes(root) if isinstance(n.schema, dict) and n.schema.get("$anchor") == name)
    return next(found, None) if ref.startswith("#") and name else None


def _unquote(step: str) -> str:
    from urllib.parse import unquote

    return unquote(step).replace("~1", "/").replace("~0", "~")


def is_cyclic(root: JsonValue, ref: str) -> bool:
    """True if following the reference leads back to it."""
    seen: set[str] = set()
    waiting = [ref]
    while waiting:
        target = resolve(root, waiting.pop())
        for node in nodes(target):
            inner = node.schema.get("$ref") if isinstance(node.schema, dict) else None
            if isinstance(inner, str):
                if inner == ref:
                    return True
                if inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
    return False
