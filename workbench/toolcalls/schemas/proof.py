"""Proves by trial that local check plus down-levelled schema accept the values that the original accepts."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.toolcalls.schemas.fits import UndecidableSchema, fits_schema
from workbench.toolcalls.schemas.lint import dict_of
from workbench.toolcalls.schemas.lower import LoweredSchema
from workbench.toolcalls.schemas.mapping import Inexpressible, Undecodable
from workbench.toolcalls.schemas.merge import types_of
from workbench.toolcalls.schemas.walk import resolve

_SCALARS: tuple[JsonValue, ...] = (None, True, False, 0, 1, -1, 7, 2.5, 1e6, "", "a", "abc", "2026-01-01", "/a/b", "{}")
_MOST_DEPTH = 6


def make_instances(schema: JsonValue, count: int, seed: int = 0) -> Iterator[JsonValue]:
    """Objects made from a schema, then changed in one or two places, then random ones."""
    draw = _Draw(random.Random(seed), schema)
    for number in range(count):
        value = draw.fitting(schema, 0)
        for _ in range(number % 3):
            value = draw.mutate(value)
        if number % 10 == 9:
            value = draw.anything(0)
        if isinstance(value, dict):
            yield value
        else:
            yield {"a": value}


class _Draw:
    def __init__(self, dice: random.Random, root: JsonValue) -> None:
        self.dice = dice
        self.root = root

    def fitting(self, schema: JsonValue, depth: int) -> JsonValue:
        if not isinstance(schema, dict) or depth > _MOST_DEPTH:
            return self.anything(depth)
        if isinstance(schema.get("$ref"), str):
            return self.fitting(resolve(self.root, schema["$ref"]), depth + 1)
        if "const" in schema:
            return copy.deepcopy(schema["const"])
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return copy.deepcopy(self.dice.choice(schema["enum"]))
        if schema.get("nullable") is True and self.dice.random() < 0.2:
            return None
        value = self.value_of_type(schema, depth)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list) and schema[keyword]:
                value = self.both(value, self.fitting(self.dice.choice(schema[keyword]), depth + 1), schema)
        for inner in schema.get("allOf") or () if isinstance(schema.get("allOf"), list) else ():
            value = self.both(value, self.fitting(inner, depth + 1), schema)
        return value

    def both(self, one: JsonValue, other: JsonValue, schema: dict[str, JsonValue]) -> JsonValue:
        if isinstance(one, dict) and isinstance(other, dict):
            return {**one, **other}
        return other if "type" not in schema or type(one) is type(other) else one

    def value_of_type(self, schema: dict[str, JsonValue], depth: int) -> JsonValue:
        types = types_of(schema.get("type"))
        if "type" not in schema:
            types = (
                ["object"]
                if "properties" in schema or "required" in schema
                else ["array"]
                if "items" in schema
                else types
            )
        kind = self.dice.choice(types or ["null"])
        if kind == "object":
            return self.object(schema, depth)
        if kind == "array":
            low = _whole(schema.get("minItems"))
            items = schema.get("items", True)
            return [self.fitting(items, depth + 1) for _ in range(min(5, low + self.dice.randrange(3)))]
        if kind == "string":
            return self.string(schema)
        if kind in ("integer", "number"):
            return self.number(schema, kind)
        return None if kind == "null" else self.dice.random() < 0.5

    def object(self, schema: dict[str, JsonValue], depth: int) -> JsonValue:
        properties = dict_of(schema.get("properties"))
        required: list[JsonValue] = schema["required"] if isinstance(schema.get("required"), list) else []
        result = {}
        for name, inner in properties.items():
            if name in required or self.dice.random() < (0.6 if depth < 3 else 0.2):
                result[name] = self.fitting(inner, depth + 1)
        for name in required:
            if isinstance(name, str) and name not in result:
                result[name] = self.anything(depth + 1)
        additional = schema.get("additionalProperties", True)
        if additional is not False and self.dice.random() < 0.3:
            result[self.dice.choice(("x", "extra", "Key1"))] = self.fitting(additional, depth + 1)
        return result

    def string(self, schema: dict[str, JsonValue]) -> str:
        low = _whole(schema.get("minLength"))
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and self.dice.random() < 0.7:
            return pattern.strip("^$").replace("\\", "")[:40]
        text = self.dice.choice(("a", "abc", "x y", "/a/b", "2026-01-01", "5", "{}", "[1]", "é", "A1", "null"))
        return text + "z" * max(0, min(low, 500) - len(text))

    def number(self, schema: dict[str, JsonValue], kind: str) -> float:
        low, high = (
            schema.get("minimum", schema.get("exclusiveMinimum")),
            schema.get("maximum", schema.get("exclusiveMaximum")),
        )
        bounds = [b for b in (low, high) if isinstance(b, int | float) and not isinstance(b, bool)]
        near = self.dice.choice(bounds) if bounds else 0
        value = near + self.dice.choice((-1, 0, 1, 2, 10, 0.5))
        return int(value) if kind == "integer" else value

    def anything(self, depth: int) -> JsonValue:
        roll = self.dice.random()
        if depth > 3 or roll < 0.6:
            return self.dice.choice(_SCALARS)
        if roll < 0.8:
            return [self.anything(depth + 1) for _ in range(self.dice.randrange(3))]
        return {self.dice.choice("abcx"): self.anything(depth + 1) for _ in range(self.dice.randrange(3))}

    def mutate(self, value: JsonValue) -> JsonValue:
        """The value with a change at one place."""
        if isinstance(value, dict) and value and self.dice.random() < 0.85:
            name = self.dice.choice(sorted(value))
            roll = self.dice.random()
            if roll < 0.25:
                return {k: v for k, v in value.items() if k != name}
            if roll < 0.4:
                return {**value, self.dice.choice(("extra", "y")): self.anything(1)}
            return {**value, name: self.mutate(value[name])}
        if isinstance(value, list) and value and self.dice.random() < 0.7:
            at = self.dice.randrange(len(value))
            return [*value[:at], self.mutate(value[at]), *value[at + 1 :]]
        return self.anything(1)


def _whole(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A value that the two sides judge differently."""

    value: JsonValue
    original: bool
    lowered: bool
    check: bool


@dataclass(frozen=True, slots=True)
class SchemaProof:
    """Result of the trial.

    Attributes:
        judged_values: values that could be judged.
        accepted: number of them that the original accepts.
        inexpressible: values of the original that have no form in the down-levelled schema (its narrower steps).
        undecided: values that no schema here could be applied to.
        problem: reason for the last of them.
        against: a few counterexamples.
    """

    judged_values: int
    accepted: int
    inexpressible: int
    undecided: int
    problem: str
    against: tuple[Counterexample, ...]

    @property
    def holds(self) -> bool:
        """True if something was tried without a counterexample."""
        return self.judged_values > 0 and not self.against


def prove(original: JsonValue, lowered: LoweredSchema, count: int, seed: int = 0) -> SchemaProof:
    """Try ``count`` values made from the original and as many made from the down-levelled schema."""
    trial = _SchemaTrial(original, lowered)
    for value in make_instances(original, count, seed):
        trial.forward(value)
    for value in make_instances(lowered.schema, count, seed + 1):
        trial.backward(value)
    return SchemaProof(
        trial.tried,
        trial.accepted,
        trial.inexpressible,
        trial.undecided,
        trial.problem,
        tuple(trial.against[:MOST_SHOWN]),
    )


class _SchemaTrial:
    def __init__(self, original: JsonValue, lowered: LoweredSchema) -> None:
        self.original = original
        self.lowered = lowered
        self.tried = self.accepted = self.inexpressible = self.undecided = 0
        self.problem = ""
        self.against: list[Counterexample] = []

    def forward(self, value: JsonValue) -> None:
        """Check a value of the original: it is accepted exactly if its form is, and the check passes."""
        mapping = self.lowered.mapping
        try:
            form = mapping.encode(value)
            if mapping.decode(form) != value:
                raise Inexpressible("the value is decoded to a different value")
        except (Inexpressible, Undecodable):
            self.inexpressible += _is_true(value, self.original)
            return
        except UndecidableSchema as error:
            self.undecided, self.problem = self.undecided + 1, str(error)
            return
        self.judge(value, form)

    def backward(self, form: JsonValue) -> None:
        """Check a value of the down-levelled schema: its original is accepted exactly if the check passes."""
        try:
            if not fits_schema(form, self.lowered.schema):
                return
            value = self.lowered.mapping.decode(form)
        except Undecodable:
            return
        except UndecidableSchema as error:
            self.undecided, self.problem = self.undecided + 1, str(error)
            return
        self.judge(value, form)

    def judge(self, value: JsonValue, form: JsonValue) -> None:
        try:
            original = fits_schema(value, self.original)
            lowered = fits_schema(form, self.lowered.schema)
            check = fits_schema(value, self.lowered.check)
        except UndecidableSchema as error:
            self.undecided, self.problem = self.undecided + 1, str(error)
            return
        self.tried += 1
        self.accepted += original
        if original != (lowered and check):
            self.against.append(Counterexample(value, original, lowered, check))


def _is_true(value: JsonValue, schema: JsonValue) -> bool:
    try:
        return fits_schema(value, schema)
    except UndecidableSchema:
        return False
