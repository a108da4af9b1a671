"""Finds where a schema is no JSON Schema: keywords with a value of the wrong type, by the meta-schema of 2020-12.

Older drafts are accepted too: ``items`` may be a list, ``exclusiveMinimum`` a boolean, and names of types in capitals,
as in OpenAPI. A flag ``required`` inside a property (draft 3) is not: validators of later drafts refuse it.

``jsonschema`` would need 80 ms to be imported for what is one table; a test compares both on random schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.toolcalls.schemas.lint import REFUSED, SHAPE, Issue
from workbench.toolcalls.schemas.walk import LISTS, MAPS, SINGLE, nodes, resolve
from workbench.wire import type_words

__all__ = ["find_meta_faults"]

META = "meta"
"""Kind of these faults, in the words of contracts."""

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


def find_meta_faults(schema: JsonValue, *, is_mapped: bool = False) -> tuple[Issue, ...]:
    """Every keyword whose value the meta-schema refuses, in text order; the schema itself if it is no object.

    Args:
        is_mapped: the schema is a message of protocol buffers, whose JSON writes whole numbers of 64 bits as text.
    """
    if isinstance(schema, bool):
        return ()
    if not isinstance(schema, dict):
        return (_issue("", "", f"the schema is {type_words(schema)}, not an object"),)
    found = (
        fault for node in nodes(schema) if isinstance(node.schema, dict) for fault in _faults(node.pointer, node.schema)
    )
    return tuple(fault for fault in found if not (is_mapped and _is_number_as_text(schema, fault)))


def _is_number_as_text(schema: JsonValue, fault: Issue) -> bool:
    if fault.keyword not in _COUNTS:
        return False
    holder = resolve(schema, f"#{fault.pointer.rpartition('/')[0]}")
    value = holder.get(fault.keyword) if isinstance(holder, dict) else None
    return isinstance(value, str) and value.isdecimal()


def _faults(at: str, schema: Mapping[str, JsonValue]) -> Iterator[Issue]:
    for keyword, value in schema.items():
        pointer = f"{at}/{escape(keyword)}"
        if keyword in MAPS:
            yield from _subschemas(pointer, keyword, value)
        elif keyword in LISTS:
            yield from _list_of_schemas(pointer, keyword, value)
        elif keyword in SINGLE:
            is_list = keyword == "items" and isinstance(value, list)
            if not is_list and not isinstance(value, dict | bool):
                yield _issue(pointer, keyword, f"{keyword} is {type_words(value)}, not a schema")
        elif keyword == "type":
            yield from _types(pointer, value)
        elif keyword in _VALUES:
            is_right, expected = _VALUES[keyword]
            if not is_right(value):
                yield _issue(pointer, keyword, f"{keyword} is {type_words(value)}, not {expected}")


def _subschemas(pointer: str, keyword: str, value: JsonValue) -> Iterator[Issue]:
    if not isinstance(value, dict):
        yield _issue(pointer, keyword, f"{keyword} is {type_words(value)}, not an object")
        return
    for name, inner in value.items():
        if not isinstance(inner, dict | bool):
            message = f"{name!r} in {keyword} is {type_words(inner)}, not a schema"
            yield _issue(f"{pointer}/{escape(name)}", keyword, message)


def _list_of_schemas(pointer: str, keyword: str, value: JsonValue) -> Iterator[Issue]:
    if not isinstance(value, list) or not value:
        found = "empty" if value == [] else type_words(value)
        yield _issue(pointer, keyword, f"{keyword} is {found}, not a list of schemas")
        return
    for n, inner in enumerate(value):
        if not isinstance(inner, dict | bool):
            yield _issue(f"{pointer}/{n}", keyword, f"{keyword} contains {type_words(inner)}, not a schema")


def _types(pointer: str, value: JsonValue) -> Iterator[Issue]:
    names = value if isinstance(value, list) else [value]
    unknown = [name for name in names if not isinstance(name, str) or name.lower() not in TYPES]
    if unknown or not names:
        first = unknown[0] if unknown else []
        found = repr(first) if isinstance(first, str) else type_words(first)
        yield _issue(pointer, "type", f"type is {found}, which is not one of {', '.join(TYPES)}")


def _issue(pointer: str, keyword: str, message: str) -> Issue:
    return Issue(pointer, keyword, REFUSED, message, SHAPE, META)


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str)


def _is_list(value: JsonValue) -> bool:
    return isinstance(value, list)


def _is_flag(value: JsonValue) -> bool:
    return isinstance(value, bool)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_limit(value: JsonValue) -> bool:
    return _is_number(value) or isinstance(value, bool)


def _is_count(value: JsonValue) -> bool:
    """A whole number that is not negative."""
    return _is_number(value) and float(str(value)) >= 0 and float(str(value)).is_integer()


def _is_names(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains")

_VALUES: Mapping[str, tuple[Callable[[JsonValue], bool], str]] = {
    "required": (_is_names, "a list of names"),
    "enum": (_is_list, "a list"),
    "pattern": (_is_text, "text"),
    "format": (_is_text, "text"),
    "description": (_is_text, "text"),
    "title": (_is_text, "text"),
    "$ref": (_is_text, "text"),
    "$schema": (_is_text, "text"),
    "examples": (_is_list, "a list"),
    "uniqueItems": (_is_flag, "true or false"),
    "nullable": (_is_flag, "true or false"),
    "minimum": (_is_number, "a number"),
    "maximum": (_is_number, "a number"),
    "multipleOf": (_is_number, "a number"),
    "exclusiveMinimum": (_is_limit, "a number"),
    "exclusiveMaximum": (_is_limit, "a number"),
    **dict.fromkeys(_COUNTS, (_is_count, "a non-negative integer")),
}
"""Keyword → (test, what its value has to be)."""
