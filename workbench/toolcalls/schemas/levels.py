"""Schema levels of capability profiles, and schemas lowered to them."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.toolcalls.schemas.dialect import PLAIN, Dialect
from workbench.toolcalls.schemas.lower import LoweredSchema, down_level
from workbench.toolcalls.schemas.mapping import JsonTextMapping, ObjectMapping, Undecodable
from workbench.wire import dumps

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
        written = "" if _is_text(schema) else f"as JSON text, of {dumps(rest).decode('utf-8', 'replace')}"
    words = "; ".join(filter(None, (said if isinstance(said, str) else "", written)))
    return {"type": "string", **({"description": words} if words else {})}


def _is_text(schema: JsonValue) -> bool:
    if not isinstance(schema, dict):
        return False
    values = schema.get("enum")
    return schema.get("type") == "string" or (isinstance(values, list) and all(isinstance(v, str) for v in values))
