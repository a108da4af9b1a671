"""Tests whether a value fits a schema, with bounded work and without fetching anything."""

from __future__ import annotations

from workbench.ir import JsonValue
from workbench.toolcalls.arguments._schema import NeedsChild, validate
from workbench.toolcalls.schemas.walk import MAPS

__all__ = ["UndecidableSchema", "fits_schema", "standard_schema"]


class UndecidableSchema(Exception):
    """Raised if the schema cannot be applied; the message has the reason."""


def fits_schema(value: JsonValue, schema: JsonValue, root: JsonValue = None) -> bool:
    """True if the value fits.

    Args:
        root: the schema with the definitions, if ``schema`` is a part of it.

    Raises:
        Undecided: the schema is invalid, has no target for a reference, or takes too long.
    """
    if isinstance(root, dict) and isinstance(schema, dict):
        schema = {**{k: root[k] for k in ("$defs", "definitions", "$schema") if k in root}, **schema}
    try:
        faults, problem = validate(value, standard_schema(schema))
    except NeedsChild as error:
        raise UndecidableSchema("matching the pattern may take too long") from error
    if problem:
        raise UndecidableSchema(problem)
    return not faults


def standard_schema(schema: JsonValue) -> JsonValue:
    """Replace ``nullable: true`` by standard JSON Schema: the schema, or null."""
    if isinstance(schema, list):
        return [standard_schema(inner_value) for inner_value in schema]
    if not isinstance(schema, dict):
        return schema
    result: dict[str, JsonValue] = {}
    for key, inner_value in schema.items():
        if key in MAPS and isinstance(inner_value, dict):
            result[key] = {name: standard_schema(inner) for name, inner in inner_value.items()}
        else:
            result[key] = (
                inner_value if key in ("enum", "const", "default", "required") else standard_schema(inner_value)
            )
    if result.pop("nullable", None) is True:
        return {"anyOf": [result, {"type": "null"}]}
    return result
