"""Tests whether a value fits a schema, with bounded work and without fetching anything."""

from __future__ import annotations

from workbench.ir import JsonValue
from workbench.toolcalls.arguments._schema import NeedsChild, validate
from workbench.toolcalls.schemas.walk import MAPS

__all__ = ["UndecidableSchema", "fits_schema", "plain"]


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
        faults, problem = validate(value, plain(schema))
    except NeedsChild as error:
        raise UndecidableSchema("matching the pattern may take too long") from error
    if problem:
        raise UndecidableSchema(problem)
    return not faults


def plain(schema: JsonValue) -> JsonValue:
    """Replace ``nullable: true`` by standard JSON Schema: the schema, or null."""
    if isinstance(schema, list):
        return [plain(held) for held in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, JsonValue] = {}
    for key, held in schema.items():
        if key in MAPS and isinstance(held, dict):
            made[key] = {name: plain(inner) for name, inner in held.items()}
        else:
            made[key] = held if key in ("enum", "const", "default", "required") else plain(held)
    if made.pop("nullable", None) is True:
        return {"anyOf": [made, {"type": "null"}]}
    return made
