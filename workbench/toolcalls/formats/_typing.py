"""Types an argument's text by the tool's schema, for formats that leave the type open.

The candidate types are collected from the schema (``type``, lists of types, ``anyOf``/``oneOf``/``allOf``, ``enum``,
``const``, local ``$ref``) and tried in one fixed order, as vLLM's ``coerce_to_schema_type`` does (0.33.0,
``tool_parsers/utils.py``): null, integer, number, boolean, object, array, string. The first that reads the text counts;
if none does, it stays text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from workbench.errors import WireError
from workbench.ir import JsonValue, ToolDef
from workbench.toolcalls.formats._python_literals import literal
from workbench.toolcalls.json_text import is_finite, per_tools
from workbench.wire import loads, schema_type

ORDER: Final = ("null", "integer", "number", "boolean", "object", "array", "string")

_TEXT: Final = ("string",)
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}
_ONE_TYPE: Final[dict[str, tuple[str, ...]]] = {name: (name,) for name in ORDER}
_MORE: Final = frozenset(("anyOf", "oneOf", "allOf", "enum", "const", "$ref"))

MAX_SCHEMA_HOPS: Final = 64
"""Limit of alternatives and references followed for the types of one argument."""

MAX_KNOWN_TYPES: Final = 10_000
"""Arguments whose types are kept: texts may name any number that no tool has."""

UNREAD: Final = object()
"""Marks a text that is not of the type."""


class ToolTypes:
    """The argument types of every declared tool.

    Args:
        tools: what was declared.
        undeclared: how a value without a declared type is read: ``"string"`` (text as it is), ``"container"`` (an
            array or object in JSON, else text) or ``"json"`` (JSON where it is JSON, else text).
        literals: Python literals are read too where an array or object is wanted (for models that were shown
            ``str(dict)``).
    """

    def __init__(self, tools: Sequence[ToolDef], *, undeclared: str = "string", literals: bool = False) -> None:
        self._schemas = {t.name: t.schema for t in tools if t.name is not None}
        self.names = frozenset(self._schemas)
        self._undeclared = undeclared
        self._literals = literals
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def is_known(self, tool: str) -> bool:
        """True if a tool of this name was declared."""
        return tool in self._schemas

    def schema(self, tool: str) -> Mapping[str, Any]:
        """Schema of a tool; empty if it has none."""
        found = self._schemas.get(tool)
        return found if type(found) is dict or isinstance(found, Mapping) else {}

    def types(self, tool: str, key: str) -> tuple[str, ...]:
        """Types the schema allows for an argument, in ``ORDER``; () if it does not say."""
        known = self._known.get((tool, key))
        if known is None:
            if len(self._known) >= MAX_KNOWN_TYPES:
                self._known.clear()
            schema = self.schema(tool)
            known = self._known[tool, key] = types_of(property_of(schema, key, schema), schema)
        return known

    def value(self, tool: str, key: str, text: str) -> JsonValue:
        """Value of an argument's text."""
        types = self._known.get((tool, key)) or self.types(tool, key)
        return text if types == _TEXT else self.read(text, types)

    def read(self, text: str, types: Sequence[str]) -> JsonValue:
        """Value of a text, given its possible types (from ``types_of``)."""
        if types == _TEXT:
            return text
        if not types:
            return _guess(text, self._undeclared)
        for name in types:
            value = _READERS[name](text)
            if value is UNREAD and self._literals and name in ("object", "array"):
                value = python_value(text)
            if value is not UNREAD:
                return value
        return text


@per_tools
def _types_by_terms(tools: Sequence[ToolDef]) -> dict[tuple[str, bool], ToolTypes]:
    return {}


def tool_types(tools: Sequence[ToolDef], *, undeclared: str = "string", literals: bool = False) -> ToolTypes:
    """``ToolTypes`` of the tools, the same object for every parser that is given the same tools."""
    shared, terms = _types_by_terms(tools), (undeclared, literals)
    if terms not in shared:
        shared[terms] = ToolTypes(tools, undeclared=undeclared, literals=literals)
    return shared[terms]


def property_of(schema: JsonValue, key: str, root: JsonValue) -> JsonValue:
    """Schema of one key of an object; None if there is none. Follows alternatives and references."""
    own = schema.get("properties") if type(schema) is dict else None
    if type(own) is dict and key in own:
        return own[key]
    for part in _parts(schema, root):
        properties = part.get("properties")
        if isinstance(properties, Mapping) and key in properties:
            return properties[key]
    for part in _parts(schema, root):
        extra = part.get("additionalProperties")
        if isinstance(extra, Mapping):
            return extra
    return None


def items_of(schema: JsonValue, root: JsonValue) -> JsonValue:
    """Schema of an array's elements; None if there is none."""
    return next((p["items"] for p in _parts(schema, root) if isinstance(p.get("items"), Mapping)), None)


def types_of(schema: JsonValue, root: JsonValue) -> tuple[str, ...]:
    """Types that a schema allows, in ``ORDER``; () if open. ``root`` is the target schema of ``#/…`` references."""
    if type(schema) is dict and _MORE.isdisjoint(schema) and type(schema.get("type")) is str:
        return _ONE_TYPE.get(schema["type"], ())
    found: set[str] = set()
    for part in _parts(schema, root):
        named = part.get("type")
        found.update(n for n in (named if isinstance(named, list) else [named]) if isinstance(n, str))
        values = part.get("enum")
        if isinstance(values, list):
            found.update(schema_type(v) for v in values[:MAX_SCHEMA_HOPS])
        if "const" in part:
            found.add(schema_type(part["const"]))
    return tuple(n for n in ORDER if n in found)


def _parts(schema: JsonValue, root: JsonValue) -> list[Mapping[str, Any]]:
    """A schema with the schemas that it refers to and combines, each once."""
    found: list[Mapping[str, Any]] = []
    waiting = [schema]
    while waiting and len(found) < MAX_SCHEMA_HOPS:
        part = waiting.pop(0)
        if not isinstance(part, Mapping) or any(part is f for f in found):
            continue
        found.append(part)
        for key in ("anyOf", "oneOf", "allOf"):
            if isinstance(part.get(key), list):
                waiting += part[key][:MAX_SCHEMA_HOPS]
        if isinstance(part.get("$ref"), str):
            waiting.append(_resolve(part["$ref"], root))
    return found


def _resolve(reference: str, root: JsonValue) -> JsonValue:
    if not reference.startswith("#"):
        return None
    here = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(here, Mapping) or name not in here:
            return None
        here = here[name]
    return here


def json_value(text: str) -> JsonValue:
    """Value of a JSON text; ``UNREAD`` if it is none, or has a number that JSON cannot express."""
    try:
        value = loads(text)
    except WireError:
        return UNREAD
    return value if is_finite(value) else UNREAD


def python_value(text: str) -> JsonValue:
    """Value of a Python list or dict of plain values; ``UNREAD`` if it is none."""
    value = literal(text) if text.lstrip()[:1] in ("{", "[") else None
    return UNREAD if value is None else value


def _guess(text: str, undeclared: str) -> JsonValue:
    if undeclared == "string" or (undeclared == "container" and text.lstrip()[:1] not in ("{", "[")):
        return text
    value = json_value(text)
    return text if value is UNREAD else value


def _null(text: str) -> JsonValue:
    return None if text.strip().lower() == "null" else UNREAD


def _integer(text: str) -> JsonValue:
    try:
        return int(text)
    except ValueError:
        return UNREAD


def _number(text: str) -> JsonValue:
    whole = _integer(text)
    if whole is not UNREAD:
        return whole
    try:
        value = float(text)
    except ValueError:
        return UNREAD
    if not math.isfinite(value):
        return UNREAD
    return int(value) if value.is_integer() else value


def _boolean(text: str) -> JsonValue:
    return _BOOLEANS.get(text.strip().lower(), UNREAD)


_READERS: Final[dict[str, Callable[[str], JsonValue]]] = {
    "null": _null,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "object": json_value,
    "array": json_value,
    "string": lambda text: text,
}
