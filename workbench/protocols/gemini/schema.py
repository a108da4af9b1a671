"""Schemas in the dialect of ``parameters`` and ``responseSchema`` as JSON Schema.

Facts: ``Schema`` and ``Type`` in ``types.py`` of the ``google-genai`` SDK 3.4: OpenAPI 3.0, types in capitals,
``nullable`` in place of the type "null", 64-bit counts as strings (proto3 JSON), and ``propertyOrdering``, which is the
order of the properties here. Every other key stays in place, so that a pointer into the one is a pointer into
the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import JsonValue

_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
"""In the order of the enumeration ``Type``, whose first number is 1: clients of its protobuf form write the numbers."""
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_BELOW = ("items", "additionalProperties", "additional_properties")
_LISTS = ("anyOf", "any_of", "prefixItems", "prefix_items")
_ORDERS = ("propertyOrdering", "property_ordering")
_TABLES = ("properties", "defs", "$defs")
_DEEPEST = 64
"""Schemas inside each other that are read. Real ones stay under 10."""


def json_schema(value: JsonValue, depth: int = _DEEPEST) -> JsonValue:
    """The same schema with its types, null, and the counts among its keywords, as JSON Schema writes them."""
    if not isinstance(value, dict) or not depth:
        return value
    made = {key: _keyword(key, inner, depth - 1) for key, inner in value.items()}
    if isinstance(value.get("nullable"), bool) and made.pop("nullable"):
        made |= _with_null(made)
    for key in _ORDERS:
        if isinstance(made.get("properties"), dict) and isinstance(made.get(key), list):
            made["properties"] = _order(made["properties"], made.pop(key))
    return made


def _keyword(key: str, value: JsonValue, depth: int) -> JsonValue:
    if key == "type":
        if type(value) is int and 0 < value <= len(_TYPES):
            return _TYPES[value - 1].lower()
        return value.lower() if isinstance(value, str) and value in _TYPES else value
    if key in _BELOW:
        return json_schema(value, depth)
    if key in _LISTS and isinstance(value, list):
        return [json_schema(branch, depth) for branch in value]
    if key in _TABLES and isinstance(value, dict):
        return {name: json_schema(inner, depth) for name, inner in value.items()}
    is_count = key in _COUNTS and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20
    return int(value) if is_count else value


def _with_null(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The keywords of a schema that refuse null, with null among what they take, behind everything else."""
    made: dict[str, JsonValue] = {}
    declared = schema.get("type")
    if isinstance(declared, str) and declared != "null":
        made["type"] = [declared, "null"]
    for key in ("anyOf", "any_of"):
        branches = schema.get(key)
        if isinstance(branches, list) and {"type": "null"} not in branches:
            made[key] = [*branches, {"type": "null"}]
    values = schema.get("enum")
    if isinstance(values, list) and None not in values:
        made["enum"] = [*values, None]
    return made


def _order(properties: Mapping[str, JsonValue], order: list[JsonValue]) -> dict[str, JsonValue]:
    named = dict.fromkeys(name for name in order if isinstance(name, str) and name in properties)
    return {name: properties[name] for name in [*named, *(name for name in properties if name not in named)]}
