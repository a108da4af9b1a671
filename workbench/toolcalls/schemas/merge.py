"""Merges several schemas that must all hold into one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from workbench.ir import JsonValue
from workbench.toolcalls.schemas.walk import ANNOTATIONS

__all__ = ["merge_schemas", "types_of"]

EVERY_TYPE = ("object", "array", "string", "number", "boolean", "null")


def merge_schemas(schemas: Iterable[JsonValue]) -> tuple[dict[str, JsonValue], bool]:
    """(merged, exact). Not exact: the merged schema accepts more than all of them together."""
    result: dict[str, JsonValue] = {}
    exact = True
    for schema in schemas:
        if schema is True:
            continue
        if not isinstance(schema, dict):
            return result, False
        exact &= _is_apart(result, schema)
        for keyword, value in schema.items():
            if keyword not in result:
                result[keyword] = value
            elif result[keyword] != value and keyword not in ANNOTATIONS:
                result[keyword], is_exact = _both(keyword, result[keyword], value)
                exact &= is_exact
    if "additionalProperties" in result and not exact:
        result.pop("additionalProperties")
    return result, exact


def _is_apart(first: Mapping[str, JsonValue], schema: Mapping[str, JsonValue]) -> bool:
    """True if neither affects the other's content: undeclared keys of one may be declared in the other."""
    looks_around = ("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items", "additionalItems")
    names = ("properties", "patternProperties", "prefixItems")
    for one, other in ((first, schema), (schema, first)):
        if any(one.get(k, True) is not True for k in looks_around if k != "items") and any(k in other for k in names):
            return False
        if "items" in one and "prefixItems" in other:
            return False
    return True


def _both(keyword: str, one: JsonValue, other: JsonValue) -> tuple[JsonValue, bool]:
    """(value of a keyword that both have, is equivalent to both)."""
    if keyword == "type":
        return _both_types(one, other)
    if keyword == "required" and isinstance(one, list) and isinstance(other, list):
        return [*one, *(name for name in other if name not in one)], True
    if keyword == "properties" and isinstance(one, dict) and isinstance(other, dict):
        shared = {n: {"allOf": [one[n], other[n]]} if one[n] != other[n] else one[n] for n in one if n in other}
        return {**one, **other, **shared}, True
    if keyword == "enum" and isinstance(one, list) and isinstance(other, list):
        both = [value for value in one if any(_same(value, v) for v in other)]
        return (both, True) if both else (one, False)
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if keyword in _BOUNDS and numbers and not isinstance(one, bool) and not isinstance(other, bool):
        return _BOUNDS[keyword](one, other), True
    return one, False


_BOUNDS: Mapping[str, Callable[..., float]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def _both_types(one: JsonValue, other: JsonValue) -> tuple[JsonValue, bool]:
    first, second = types_of(one), types_of(other)
    both = [t for t in first if t in second or (t == "integer" and "number" in second)]
    both += [t for t in second if t == "integer" and "number" in first and t not in both]
    if not both:
        return one, False
    return both[0] if len(both) == 1 else both, True


def types_of(declared: JsonValue) -> list[str]:
    """Types that a ``type`` names; all types if absent."""
    if isinstance(declared, str):
        return [declared]
    return [str(t) for t in declared] if isinstance(declared, list) else list(EVERY_TYPE)


def _same(one: JsonValue, other: JsonValue) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)
