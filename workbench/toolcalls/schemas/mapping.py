"""Maps values of the original schema to values of the down-levelled schema and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.errors import WireError
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.wire import dumps, loads

__all__ = [
    "SAME",
    "DefinitionMapping",
    "Inexpressible",
    "ItemsMapping",
    "JsonTextMapping",
    "ObjectMapping",
    "SameMapping",
    "SingleTypeMapping",
    "Undecodable",
    "UnionMapping",
]


class Inexpressible(Exception):
    """Raised if the down-levelled schema has no place for a part of the value; the message names it."""


class Undecodable(Exception):
    """Raised if a text that should contain JSON does not."""


class SameMapping:
    """The value is unchanged."""

    def encode(self, value: JsonValue) -> JsonValue:
        """The value as the down-levelled schema has it. Raises Inexpressible."""
        return value

    def decode(self, value: JsonValue) -> JsonValue:
        """The original value. Raises Undecodable."""
        return value


SAME = SameMapping()


class JsonTextMapping(SameMapping):
    """A mapping to JSON text."""

    def encode(self, value: JsonValue) -> JsonValue:
        return dumps(value).decode()

    def decode(self, value: JsonValue) -> JsonValue:
        try:
            return loads(value) if isinstance(value, str) else value
        except WireError as error:
            raise Undecodable(str(error)) from error


@dataclass(frozen=True, slots=True)
class SingleTypeMapping(SameMapping):
    """A mapping of values of one type, if the original schema named no type."""

    type: str
    inner: SameMapping = SAME

    def encode(self, value: JsonValue) -> JsonValue:
        if not _is(value, self.type):
            raise Inexpressible(f"a value that is not of type {self.type}")
        return self.inner.encode(value)

    def decode(self, value: JsonValue) -> JsonValue:
        return self.inner.decode(value)


@dataclass(frozen=True, slots=True)
class ObjectMapping(SameMapping):
    """Properties with mappings of their own.

    Attributes:
        properties: name → mapping.
        absent_as_null: properties that are null if the original leaves them out.
        closed: no other key has a place.
    """

    properties: Mapping[str, SameMapping] = NOTHING
    absent_as_null: frozenset[str] = frozenset()
    closed: bool = False

    def encode(self, value: JsonValue) -> JsonValue:
        if not isinstance(value, dict):
            return value
        result: dict[str, JsonValue] = {}
        for name, inner in value.items():
            if name not in self.properties and self.closed:
                raise Inexpressible("an undeclared key")
            if inner is None and name in self.absent_as_null:
                raise Inexpressible("null instead of an absent key")
            result[name] = self.properties.get(name, SAME).encode(inner)
        return result | {name: None for name in self.absent_as_null if name not in value}

    def decode(self, value: JsonValue) -> JsonValue:
        if not isinstance(value, dict):
            return value
        return {
            name: self.properties.get(name, SAME).decode(inner)
            for name, inner in value.items()
            if inner is not None or name not in self.absent_as_null
        }


@dataclass(frozen=True, slots=True)
class ItemsMapping(SameMapping):
    """Every item of an array is mapped."""

    inner: SameMapping

    def encode(self, value: JsonValue) -> JsonValue:
        return [self.inner.encode(v) for v in value] if isinstance(value, list) else value

    def decode(self, value: JsonValue) -> JsonValue:
        return [self.inner.decode(v) for v in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class UnionMapping(SameMapping):
    """Alternatives: the first that accepts the value.

    Attributes:
        fits: predicate: a value fits the down-levelled schema of a branch.
        branches: (schema, mapping).
    """

    fits: Callable[[JsonValue, JsonValue], bool]
    branches: tuple[tuple[JsonValue, SameMapping], ...]

    def encode(self, value: JsonValue) -> JsonValue:
        failed: Inexpressible | None = None
        for schema, inner in self.branches:
            try:
                form = inner.encode(value)
                if self.fits(form, schema) and inner.decode(form) == value:
                    return form
            except (Inexpressible, Undecodable) as error:
                failed = error if isinstance(error, Inexpressible) else failed
        if failed:
            raise failed
        return value

    def decode(self, value: JsonValue) -> JsonValue:
        for schema, inner in self.branches:
            if self.fits(value, schema):
                return inner.decode(value)
        return value


@dataclass(frozen=True, slots=True)
class DefinitionMapping(SameMapping):
    """The mapping of a definition, which may contain itself."""

    name: str
    table: Mapping[str, SameMapping]

    def encode(self, value: JsonValue) -> JsonValue:
        return self.table.get(self.name, SAME).encode(value)

    def decode(self, value: JsonValue) -> JsonValue:
        return self.table.get(self.name, SAME).decode(value)


def _is(value: JsonValue, name: str) -> bool:
    if isinstance(value, bool) or value is None:
        return name == ("null" if value is None else "boolean")
    if isinstance(value, int | float):
        return name == "number" or (name == "integer" and float(value).is_integer())
    return isinstance(value, {"string": str, "array": list, "object": dict}.get(name, ()))
