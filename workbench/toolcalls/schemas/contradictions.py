"""Finds where a valid schema contradicts itself: no value can satisfy it, or a required name is none of its properties.

Such schemas pass the meta-schema. Many providers compile them into a grammar, and refuse what cannot be compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from workbench import regex
from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.toolcalls.schemas.lint import REFUSED, SHAPE, Issue
from workbench.toolcalls.schemas.walk import nodes
from workbench.wire import type_name

__all__ = ["find_contradictions"]

CONTRADICTION = "contradiction"
"""Kind of these faults, in the words of contracts."""

_PAIRS = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minimum", "maximum"),
    ("minProperties", "maxProperties"),
)
_OTHER_PROPERTIES = ("allOf", "anyOf", "oneOf", "$ref", "patternProperties", "if", "dependentSchemas")
"""Keywords through which a schema may get properties that are not under its own ``properties``."""
_BRANCH = regex.compile(r"/(?:allOf|anyOf|oneOf)/\d+$|/(?:if|then|else|not)$")
_BROKEN = ("unterminated", "unbalanced", "nothing to repeat", "missing )", "bad escape (end")
"""Beginnings of what Python says of a pattern that no dialect of regular expressions can read."""


def find_contradictions(schema: JsonValue) -> tuple[Issue, ...]:
    """Every contradiction in a schema, in the order of its nodes."""
    return tuple(
        issue
        for node in nodes(schema)
        if isinstance(node.schema, dict)
        for issue in (*_check_enum(node.pointer, node.schema), *_check_required(node.pointer, node.schema),
                      *_check_limits(node.pointer, node.schema), *_check_pattern(node.pointer, node.schema))
    )  # fmt: skip


def _check_enum(at: str, schema: Mapping[str, JsonValue]) -> Iterator[Issue]:
    values, declared = schema.get("enum"), schema.get("type")
    if not isinstance(values, list):
        return
    if not values:
        yield _issue(at, "enum", "the enum is empty: no value is allowed")
    types = [name.lower() for name in (declared if isinstance(declared, list) else [declared]) if isinstance(name, str)]
    if values and types and schema.get("nullable") is not True and not any(_fits(each, types) for each in values):
        yield _issue(at, "enum", f"no value of the enum has the type {' or '.join(types)}")


def _check_required(at: str, schema: Mapping[str, JsonValue]) -> Iterator[Issue]:
    required, known = schema.get("required"), schema.get("properties")
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return
    again = next((name for n, name in enumerate(required) if name in required[:n]), None)
    if again is not None:
        yield _issue(at, "required", f"required has {again!r} twice")
    if isinstance(known, dict) and not any(word in schema for word in _OTHER_PROPERTIES) and not _BRANCH.search(at):
        missing = next((name for name in required if name not in known), None)
        if missing is not None:
            yield _issue(at, "required", f"required has {missing!r}, which is not among the properties")


def _check_limits(at: str, schema: Mapping[str, JsonValue]) -> Iterator[Issue]:
    for low, high in _PAIRS:
        least, most = schema.get(low), schema.get(high)
        if _is_number(least) and _is_number(most) and float(str(least)) > float(str(most)):
            yield _issue(at, low, f"{low} {least} is above {high} {most}")


def _check_pattern(at: str, schema: Mapping[str, JsonValue]) -> Iterator[Issue]:
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        if str(error).startswith(_BROKEN):
            yield _issue(at, "pattern", f"the pattern is not a regular expression: {error}")


def _issue(at: str, keyword: str, message: str) -> Issue:
    return Issue(f"{at}/{escape(keyword)}", keyword, REFUSED, message, SHAPE, CONTRADICTION)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _fits(value: JsonValue, types: list[str]) -> bool:
    if _is_number(value):
        is_whole = float(value).is_integer()
        return "number" in types or ("integer" in types and is_whole)
    return type_name(value) in types
