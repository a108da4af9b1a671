"""Tests of relations: keys of a contract that decide which values at a place are at fault."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from workbench.contracts.pointer_patterns import Place, PlacedValue
from workbench.fronts import late
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.wire import dumps

image_type, longest_side = late("workbench.contracts.pictures", "image_type", "longest_side")


def same(one: JsonValue, other: JsonValue) -> bool:
    """Equality as in JSON: true is not 1."""
    return bool(one == other) and isinstance(one, bool) is isinstance(other, bool)


def json_type(value: JsonValue) -> str:
    """Name of a value's type in JSON Schema; a whole number is an ``integer``."""
    known = _TYPES.get(type(value))
    if known is None:
        known = next((name for kind, name in _KINDS if isinstance(value, kind)), "null")
    return known


_KINDS = ((str, "string"), (int, "integer"), (float, "number"), (list, "array"), (Mapping, "object"))
_TYPES = {bool: "boolean", dict: "object", type(None): "null", **dict(_KINDS)}


def _has_type(value: JsonValue, types: Any) -> bool:
    names = types if isinstance(types, list) else [types]
    found = json_type(value)
    return found in names or (found == "integer" and "number" in names)


def _differs_from_type(value: JsonValue, other: JsonValue) -> bool:
    """An image is of another type than a media type (``image/png``), or a format (``png``), says."""
    found = image_type(value)
    return found != "" and other not in (found, found.partition("/")[2])


def _number(value: JsonValue) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _size(value: JsonValue) -> int:
    return len(value) if isinstance(value, str | list | Mapping) else -1


def _is_among(value: JsonValue, known: Sequence[JsonValue]) -> bool:
    for one in known:  # noqa: SIM110 (asked of each value of each request)
        if value == one and (type(value) is bool) is (type(one) is bool):  # as ``same``
            return True
    return False


_pattern = lru_cache(maxsize=1024)(re.compile)


def _fits(pattern: str, value: JsonValue) -> bool:
    return isinstance(value, str) and _pattern(pattern).search(value) is not None


def _each(keys: str | list[str]) -> list[str]:
    return [keys] if isinstance(keys, str) else keys


_ON_NULL = ("is", "in", "type")
"""Tests that null can pass; for all others null counts as absent."""

SINGLE: Mapping[str, Callable[[Any, Any], bool]] = {
    "is": same,
    "in": _is_among,
    "not-in": lambda value, known: not _is_among(value, known),
    "type": _has_type,
    "not-type": lambda value, types: not _has_type(value, types),
    "above": lambda value, limit: (found := _number(value)) is not None and found > limit,
    "below": lambda value, limit: (found := _number(value)) is not None and found < limit,
    "longer": lambda value, limit: _size(value) > limit,
    "bytes-above": lambda value, limit: isinstance(value, str) and len(value.encode("utf-8", "replace")) > limit,
    "shorter": lambda value, limit: 0 <= _size(value) < limit,
    "matches": lambda value, pattern: _fits(pattern, value),
    "not-matches": lambda value, pattern: isinstance(value, str) and not _fits(pattern, value),
    "blank": lambda value, wanted: isinstance(value, str) and (not value.strip()) is wanted,
    "has": lambda value, key: isinstance(value, Mapping) and value.get(key) is not None,
    "key-not-matches": lambda value, pattern: isinstance(value, Mapping) and any(not _fits(pattern, k) for k in value),
    "side-above": lambda value, limit: longest_side(value) > limit,
    "lacks": lambda value, key: isinstance(value, Mapping) and all(value.get(k) is None for k in _each(key)),
}
"""Tests on one value: word → (value, argument) → the value passes."""

_TYPES_THAT_PASS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("above", "below"), ("integer", "number")),
    **dict.fromkeys(("longer", "shorter"), ("string", "array", "object")),
    **dict.fromkeys(("matches", "not-matches", "blank", "bytes-above"), ("string",)),
    **dict.fromkeys(("has", "lacks", "key-not-matches"), ("object",)),
}
"""Test → the types of the values that can pass it; other tests accept values of every type."""

_TYPE_ONLY_TESTS = ("type", "not-type", "has", "lacks")
"""Tests that read only the type of a value, or the types of its members."""


def _may_pass(word: str, argument: Any, like: JsonValue, kind: str) -> bool:
    """A value of the same type may pass a test."""
    if kind not in _TYPES_THAT_PASS.get(word, (kind,)):
        return False
    if word in _TYPE_ONLY_TESTS:
        return SINGLE[word](like, argument)
    accepted = [argument] if word == "is" else argument if word == "in" else [like]
    return any(_may_be_same(like, kind, each) for each in accepted)


def _may_be_same(like: JsonValue, kind: str, other: JsonValue) -> bool:
    """A value like this one, of which it is known whether it is empty, may equal another one."""
    if kind in ("array", "object") and bool(like) is not bool(other):
        return False
    return {"integer": "number"}.get(kind, kind) == {"integer": "number"}.get(json_type(other), json_type(other))


COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "same-as": same,
    "differs-from": lambda value, other: not same(value, other),
    "image-type-differs-from": lambda value, other: _differs_from_type(value, other),
    "above-at": lambda value, other: None not in (_number(value), _number(other)) and value > other,
    "not-below-at": lambda value, other: None not in (_number(value), _number(other)) and value >= other,
    "in-at": lambda value, other: isinstance(other, list) and any(same(value, one) for one in other),
    "not-in-at": lambda value, other: isinstance(other, list) and not any(same(value, one) for one in other),
    "not-among": lambda value, other: not same(value, other),
}
"""Tests on a value and the one at another place."""

_OF_ALL = ("not-among",)
"""Tests that all values of the other place have to pass; for other tests one of them is enough."""


def _find_repeats(found: Sequence[PlacedValue], wanted: bool) -> list[PlacedValue]:
    counts = Counter(dumps(each.value) for each in found)
    seen: set[bytes] = set()
    again = []
    for each in found:
        key = dumps(each.value)
        if wanted and counts[key] > 1 and key in seen:
            again.append(each)
        seen.add(key)
    return again


def _find_deviation(found: Sequence[PlacedValue], wanted: bool) -> list[PlacedValue]:
    first = found[0].value if found else None
    return [each for each in found if wanted and not same(each.value, first)][:1]


def _find_excess(found: Sequence[PlacedValue], limit: int) -> list[PlacedValue]:
    return list(found[limit : limit + 1])


def _find_overdraft(found: Sequence[PlacedValue], limit: float) -> list[PlacedValue]:
    """The value with which the sum of the numbers exceeds the limit."""
    total = 0.0
    for each in found:
        if isinstance(each.value, int | float) and not isinstance(each.value, bool):
            total += each.value
        if total > limit:
            return [each]
    return []


def _find_disorder(found: Sequence[PlacedValue], order: list[JsonValue]) -> list[PlacedValue]:
    most = -1
    for each in found:
        rank = next((n for n, one in enumerate(order) if same(each.value, one)), most)
        if rank < most:
            return [each]
        most = rank
    return []


TOGETHER: Mapping[str, Callable[[Sequence[PlacedValue], Any], list[PlacedValue]]] = {
    "repeated": _find_repeats,
    "mixed": _find_deviation,
    "count-above": _find_excess,
    "sum-above": _find_overdraft,
    "order": _find_disorder,
}
"""Tests on all values of a place together: word → (values, argument) → those at fault."""

ABSENT, PRESENT, NONE = "absent", "present", "none"
TESTS = (ABSENT, PRESENT, NONE, *SINGLE, *COMPARED, *TOGETHER)


@dataclass(frozen=True, slots=True)
class Test:
    """Tests on the values of one place; all of them have to be passed.

    Attributes:
        is_absent: the place has to be missing.
        is_none: (of a condition) no value at the place passes the tests.
        single: (word, argument) of tests on one value.
        compared: (word, place) of tests on a value and another one.
        together: (word, argument) of tests on all values.
    """

    is_absent: bool = False
    is_none: bool = False
    single: tuple[tuple[str, Any], ...] = ()
    compared: tuple[tuple[str, Place], ...] = ()
    together: tuple[tuple[str, Any], ...] = ()

    def passes(self, value: JsonValue) -> bool:
        """True if one value passes the tests on single values."""
        if value is None and not any(word in _ON_NULL for word, _ in self.single):
            return False
        for word, argument in self.single:  # noqa: SIM110 (asked of each value of each request)
            if not SINGLE[word](value, argument):
                return False
        return True

    def may_pass(self, like: JsonValue) -> bool:
        """False if no value of the same type passes; of lists and objects, none with values of the same types."""
        if like is None or isinstance(like, bool):
            return self.passes(like)
        kind = json_type(like)
        if kind == "null":  # nothing of JSON: it stands for anything
            return True
        return all(_may_pass(word, argument, like, kind) for word, argument in self.single)

    def find_faults(self, found: Iterable[PlacedValue]) -> list[PlacedValue]:
        """The values of a place that pass the tests which need only this place."""
        return self.find_joint_faults([each for each in found if self.passes(each.value)])

    def find_joint_faults(self, found: list[PlacedValue]) -> list[PlacedValue]:
        """The values that are at fault because of the others; all of them if there is no such test."""
        for word, argument in self.together:
            found = TOGETHER[word](found, argument)
        return found

    def resolved_for(self, wire: Mapping[str, str]) -> Test:
        """The same tests with the named places resolved for a protocol. Raises KeyError if it lacks one."""
        if not self.compared:
            return self
        return replace(self, compared=tuple((word, place.resolved_for(wire)) for word, place in self.compared))

    @staticmethod
    def compares(word: str, value: JsonValue, others: Iterable[JsonValue]) -> bool:
        """True if a value and the values at another place pass a test."""
        passed = (COMPARED[word](value, other) for other in others)
        return all(passed) if word in _OF_ALL else any(passed)
