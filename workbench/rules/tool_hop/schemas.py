"""What became of a tool's schema on its way: every keyword of every node, references followed on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench.contracts import Severity
from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import INFO, WARNING, member
from workbench.toolcalls.schemas import resolve
from workbench.wire import dumps

_ALTERNATIVES = ("$ref", "anyOf", "oneOf", "allOf")
"""Keywords under which properties may be declared instead."""

_UNIONS = ("anyOf", "oneOf", "allOf")
_SPOKEN = ("title", "examples", "example", "deprecated", "readOnly", "writeOnly", "$comment", "contentEncoding")
_OF_DOCUMENT = ("$schema", "$id", "$anchor", "$defs", "definitions", "id", "$vocabulary", "additionalItems")
"""Keywords whose loss changes nothing that the model may write."""

_OWN = ("type", "required", "properties", "additionalProperties", "default", "enum", "description", "nullable")
"""Keywords that are compared in their own way."""

_MOST_DEPTH = 8
"""Schemas within schemas that are compared; a reference may lead back to where it is."""

_SHOWN = 60


class SchemaChange(NamedTuple):
    """A place where a declared schema differs from the listed one.

    Attributes:
        pointer: in the declared schema.
        text: what is different, in words.
        severity: a note where the model may still write the same.
        keyword: that is missing, or has another value; empty for others.
    """

    pointer: str
    text: str
    severity: Severity = WARNING
    keyword: str = ""


def schema_changes(listed: JsonValue, declared: JsonValue) -> list[SchemaChange]:
    """What a declared schema lost or gained; those that change what the model may write are first."""
    if not isinstance(listed, dict) or not isinstance(declared, dict):
        return []
    for name in ("$defs", "definitions"):
        if name in listed and name not in declared and f"#/{name}/" in repr(declared):
            return [SchemaChange("", f"{name} is missing, but a $ref still points to it", keyword=name)]
    found = list(_Nodes(listed, declared).compare(listed, declared, "", 0))
    return sorted(found, key=lambda change: change.severity is INFO)


class _Nodes:
    """Compares nodes of two schemas.

    Args:
        listed, declared: the whole of each, in which references are followed.
    """

    def __init__(self, listed: JsonValue, declared: JsonValue) -> None:
        self._listed, self._declared = listed, declared

    def compare(self, listed: JsonValue, declared: JsonValue, at: str, depth: int) -> Iterator[SchemaChange]:
        """Changes of a node and of all below it."""
        one, other = _target(self._listed, listed), _target(self._declared, declared)
        if depth > _MOST_DEPTH or not isinstance(one, dict) or not isinstance(other, dict):
            return
        is_same = "$ref" not in other or declared is not other
        yield from _of_type(one, other, at)
        yield from _of_object(one, other, at)
        if is_same:
            yield from _of_keywords(one, other, at)
            yield from _of_values(one, other, at)
        for where, before, now in _inner(one, other):
            yield from self.compare(before, now, f"{at}{where}", depth + 1)


def _target(root: JsonValue, schema: JsonValue) -> JsonValue:
    """The schema that a reference points to; any other schema, and a reference that leads nowhere, as it is."""
    ref = member(schema, "$ref")
    found = resolve(root, ref) if isinstance(ref, str) else None
    return schema if found is None else found


def _inner(one: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """Pairs of schemas below a node, with the pointer from it."""
    properties, left_over = one.get("properties"), other.get("properties")
    if isinstance(properties, dict) and isinstance(left_over, dict):
        yield from (
            (f"/properties/{escape(name)}", properties[name], left_over[name])
            for name in properties
            if name in left_over
        )
    for word in ("items", "additionalProperties"):
        if isinstance(one.get(word), dict) and isinstance(other.get(word), dict):
            yield f"/{word}", one[word], other[word]
    for word in _UNIONS:
        arms, others = one.get(word), other.get(word)
        if isinstance(arms, list) and isinstance(others, list) and len(arms) == len(others):
            for number, arm in enumerate(arms):
                yield f"/{word}/{number}", arm, others[number]


def _of_type(one: Mapping[str, JsonValue], other: Mapping[str, JsonValue], at: str) -> Iterator[SchemaChange]:
    before, now = _types(one.get("type")), _types(other.get("type"))
    if not before or not now or "const" in one or before == now:
        return
    severity = INFO if before - {"null"} == now - {"null"} else WARNING
    text = f"the type is {quote(_text_of(other['type']))} instead of {quote(_text_of(one['type']))}"
    if not (severity is INFO and other.get("nullable")):
        yield SchemaChange(f"{at}/type", text, severity)


def _types(type_value: JsonValue) -> frozenset[str]:
    names = type_value if isinstance(type_value, list) else [type_value]
    return frozenset(name.lower() for name in names if isinstance(name, str))


def _of_object(one: Mapping[str, JsonValue], other: Mapping[str, JsonValue], at: str) -> Iterator[SchemaChange]:
    known, other_properties = one.get("properties"), other.get("properties")
    if (
        isinstance(known, dict)
        and known
        and other_properties is None
        and not any(name in other for name in _ALTERNATIVES)
    ):
        yield SchemaChange(at, f"its properties are missing, for example {quote(next(iter(known)))}")
        return
    if isinstance(known, dict) and isinstance(other_properties, dict):
        for name in (name for name in known if name not in other_properties):
            yield SchemaChange(f"{at}/properties", f"the property {quote(name)} is missing")
        for name in (name for name in other_properties if name not in known):
            yield SchemaChange(f"{at}/properties/{escape(name)}", f"the property {quote(name)} was added", INFO)
    before, now = _names(one.get("required")), _names(other.get("required"))
    for name in sorted(now - before):
        severity = WARNING if isinstance(known, dict) and name in known else INFO
        yield SchemaChange(f"{at}/required", f"{quote(name)} is required", severity)
    for name in sorted(before - now):
        yield SchemaChange(f"{at}/required" if "required" in other else at, f"{quote(name)} is no longer required")
    if one.get("additionalProperties", False) is not False and other.get("additionalProperties") is False:
        text = "the schema no longer allows additional properties (additionalProperties is false)"
        yield SchemaChange(f"{at}/additionalProperties", text, keyword="additionalProperties")


def _names(value: JsonValue) -> set[str]:
    return {name for name in value if isinstance(name, str)} if isinstance(value, list) else set()


def _of_keywords(one: Mapping[str, JsonValue], other: Mapping[str, JsonValue], at: str) -> Iterator[SchemaChange]:
    """Limits and alternatives that are missing, or have another value."""
    for word, value in one.items():
        if word in (*_SPOKEN, *_OF_DOCUMENT, *_OWN) or word.startswith(("x-", "_")) or word == "$ref":
            continue
        if word not in other:
            if not _may_be_written_otherwise(word, one, other):
                yield SchemaChange(at, f"{word} is missing", keyword=word)
        elif word in _UNIONS and isinstance(value, list) and isinstance(other[word], list):
            if len(_arms(value)) > len(_arms(other[word])):
                yield SchemaChange(f"{at}/{word}", f"{word} has fewer alternatives")
        elif not isinstance(value, dict | list) and value != other[word]:
            text = f"{word} is {quote(_text_of(other[word]))} instead of {quote(_text_of(value))}"
            yield SchemaChange(f"{at}/{word}", text)


def _arms(value: list[JsonValue]) -> list[JsonValue]:
    """Alternatives without the one for null, which some providers have as a flag."""
    return [arm for arm in value if member(arm, "type") != "null"]


def _may_be_written_otherwise(word: str, one: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> bool:
    """A constant may be an enum of one; alternatives that alone say the type may be a type list or nullable."""
    is_type = word in ("anyOf", "oneOf") and "type" not in one
    return (word == "const" and "enum" in other) or (
        is_type and any(word in other for word in ("nullable", "type", "anyOf"))
    )


def _of_values(one: Mapping[str, JsonValue], other: Mapping[str, JsonValue], at: str) -> Iterator[SchemaChange]:
    """Values that are listed, the default, and what is said of them."""
    known, other_values = one.get("enum"), other.get("enum", [other["const"]] if "const" in other else None)
    if isinstance(known, list) and other_values is None:
        yield SchemaChange(at, "enum is missing")
    elif isinstance(known, list) and isinstance(other_values, list):
        missing = [
            value
            for value in known
            if value not in other_values and value is not None and str(value) not in other_values
        ]
        more = [value for value in other_values if value not in known and not _is_spelled(value, known)]
        for value, word in (*((each, "lacks") for each in missing), *((each, "has") for each in more)):
            yield SchemaChange(f"{at}/enum", f"enum {word} {quote(_text_of(value))}")
    if "default" in one and "default" not in other:
        yield SchemaChange(at, f"the default {quote(_text_of(one['default']))} is missing", INFO)
    elif "default" in one and other["default"] != one["default"]:
        text = f"the default is {quote(_text_of(other['default']))} instead of {quote(_text_of(one['default']))}"
        yield SchemaChange(f"{at}/default", text)
    yield from _of_description(one.get("description"), other.get("description"), at)


def _is_spelled(value: JsonValue, known: list[JsonValue]) -> bool:
    return isinstance(value, str) and any(str(each) == value for each in known)


def _of_description(before: JsonValue, now: JsonValue, at: str) -> Iterator[SchemaChange]:
    """A description that is missing or cut; clients may add to it."""
    if at and isinstance(before, str) and before.strip() and not isinstance(now, str):
        yield SchemaChange(at, "its description is missing", INFO)
    elif at and isinstance(before, str) and isinstance(now, str) and before.strip() not in now:
        yield SchemaChange(f"{at}/description", "its description was truncated or replaced", INFO)


def _text_of(value: JsonValue) -> str:
    return value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")[:_SHOWN]
