"""Schemas in the dialect of ``parameters`` and ``responseSchema`` as JSON Schema.

Facts: ``Schema`` and ``Type`` in ``types.py`` of the ``google-genai`` SDK 3.4: OpenAPI 3.0, types in capitals,
``nullable`` in place of the type "null", 64-bit counts as strings (proto3 JSON). Keys stay where they stand, so that a
pointer into the one is a pointer into the other.
"""

from __future__ import annotations

from workbench.ir import JsonValue

_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_BELOW = ("items", "additionalProperties", "additional_properties")
_LISTS = ("anyOf", "any_of", "prefixItems", "prefix_items")
_TABLES = ("properties", "defs", "$defs")
_DEEPEST = 64
"""Schemas inside each other that are read. Real ones stay under 10."""


def json_schema(value: JsonValue, depth: int = _DEEPEST) -> JsonValue:
    """The same schema with its types, and the counts among its keywords, as JSON Schema writes them."""
    if not isinstance(value, dict) or not depth:
        return value
    return {key: _keyword(key, inner, value, depth - 1) for key, inner in value.items()}


def _keyword(key: str, value: JsonValue, schema: dict[str, JsonValue], depth: int) -> JsonValue:
    if key == "type":
        return _type(value, is_nullable=schema.get("nullable") is True)
    if key in _BELOW:
        return json_schema(value, depth)
    if key in _LISTS and isinstance(value, list):
        return [json_schema(branch, depth) for branch in value]
    if key in _TABLES and isinstance(value, dict):
        return {name: json_schema(inner, depth) for name, inner in value.items()}
    is_count = key in _COUNTS and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20
    return int(value) if is_count else value


def _type(value: JsonValue, *, is_nullable: bool) -> JsonValue:
    if not isinstance(value, str):
        return value
    name = value.lower() if value in _TYPES else value
    return [name, "null"] if is_nullable and name != "null" else name
