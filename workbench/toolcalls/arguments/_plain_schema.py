"""Tells of most arguments that they are valid, without the library for all of JSON Schema, which takes far longer.

Nearly all tools use the same dozen keywords. What is not plainly valid by these is judged by the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from workbench.ir import JsonValue

_DEEPEST: Final = 16
_MOST_ITEMS: Final = 256
"""Members of an object or a list; arguments with more are rare."""

_NOTES: Final = frozenset(("title", "description", "default", "examples", "example", "format", "deprecated"))
"""Keywords that say nothing of validity; a format is not checked."""

_DIALECTS: Final = ("draft-07", "2019-09", "2020-12")
"""Dialects in which the keywords below mean the same."""

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def is_plainly_valid(value: JsonValue, schema: JsonValue) -> bool:
    """True if the value is valid by a schema that has these keywords alone; False says nothing."""
    return _fits(value, schema, 0)


def _fits(value: JsonValue, schema: JsonValue, depth: int) -> bool:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return False
    for keyword, rule in schema.items():
        if keyword in _NOTES:
            continue
        check = _CHECKS.get(keyword)
        if check is None or not check(value, rule, schema, depth):
            return False
    return True


def _has_type(value: JsonValue, rule: Any, schema: Mapping[str, JsonValue], depth: int) -> bool:
    if isinstance(rule, str):
        return type(value) in _TYPES.get(rule, ())
    kinds = rule if isinstance(rule, list) else [rule]
    if not all([isinstance(kind, str) and kind in _TYPES for kind in kinds]):
        return False
    return any([type(value) in _TYPES[kind] for kind in kinds])


def _has_properties(value: JsonValue, rule: Any, schema: Mapping[str, JsonValue], depth: int) -> bool:
    if not isinstance(rule, dict):
        return False
    if not isinstance(value, dict):
        return True
    is_small = len(value) <= _MOST_ITEMS
    return is_small and all(_fits(inner, rule[name], depth + 1) for name, inner in value.items() if name in rule)


def _has_required(value: JsonValue, rule: Any, schema: Mapping[str, JsonValue], depth: int) -> bool:
    if not (isinstance(rule, list) and all([isinstance(name, str) for name in rule])):
        return False
    return not isinstance(value, dict) or all(map(value.__contains__, rule))


def _has_no_others(value: JsonValue, rule: Any, schema: Mapping[str, JsonValue], depth: int) -> bool:
    known = schema.get("properties", {})
    if not isinstance(value, dict) or rule is True:
        return isinstance(rule, bool | dict)
    if not isinstance(known, dict) or len(value) > _MOST_ITEMS:
        return False
    others = [inner for name, inner in value.items() if name not in known]
    return not others or (isinstance(rule, dict) and all(_fits(inner, rule, depth + 1) for inner in others))


def _has_items(value: JsonValue, rule: Any, schema: Mapping[str, JsonValue], depth: int) -> bool:
    if not isinstance(rule, dict):
        return False
    if not isinstance(value, list):
        return True
    return len(value) <= _MOST_ITEMS and all(_fits(inner, rule, depth + 1) for inner in value)


def _is_listed(value: JsonValue, rule: Any, schema: Mapping[str, JsonValue], depth: int) -> bool:
    return isinstance(value, str) and isinstance(rule, list) and value in rule


def _is_dialect(value: JsonValue, rule: Any, schema: Mapping[str, JsonValue], depth: int) -> bool:
    return depth == 0 and isinstance(rule, str) and any(name in rule for name in _DIALECTS)


_CHECKS: Final[Mapping[str, Callable[[JsonValue, Any, Mapping[str, JsonValue], int], bool]]] = {
    "$schema": _is_dialect,
    "type": _has_type,
    "properties": _has_properties,
    "required": _has_required,
    "additionalProperties": _has_no_others,
    "items": _has_items,
    "enum": _is_listed,
}
