"""Validates arguments by their declared JSON Schema, with bounded work.

Schemas are hostile data: references may form loops, alternatives may multiply, patterns may run for ever, and a remote
reference must never be fetched. Work is counted and limited here; a pattern that could run away raises ``NeedsChild``,
and the caller repeats the validation in a process that it can kill.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from workbench import limits, regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.provenance import escape
from workbench.toolcalls.arguments._plain_schema import is_plainly_valid
from workbench.wire import JsonIndex, loads

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError


INVALID, DOUBLE_ENCODED, COERCIBLE = "invalid", "double-encoded", "coercible"


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """A violation of the schema by the arguments.

    Attributes:
        pointer: JSON pointer below the arguments.
        keyword: the schema keyword that fails ("required", "type" …).
        message: the fault, without the pointer.
        kind: ``"invalid"``; ``"double-encoded"``: the string parses to the declared array or object; ``"coercible"``: a
            scalar of the wrong type that reads as the declared one (or null for an optional key).
        replacement: the value that fits, for the last two kinds.
    """

    pointer: str
    keyword: str
    message: str
    kind: str = INVALID
    replacement: JsonValue = None


class NeedsChild(Exception):
    """Raised for a pattern that could run too long."""


class TooMuchWork(Exception):
    """Raised for a schema that needs more steps than any honest one."""


@dataclass(slots=True)
class _Budget:
    """Remaining work of one validation; ``patient`` in a process that can be killed.

    ``unread`` is a pattern that could not be tried; empty if all could.
    """

    patient: bool = False
    steps: float = field(default=limits.MAX_SCHEMA_STEPS)
    unread: str = ""
    depth: int = 0


_budget: ContextVar[_Budget] = ContextVar("budget")


def validate(value: JsonValue, schema: JsonValue, *, patient: bool = False) -> tuple[tuple[SchemaFault, ...], str]:
    """Return (faults, problem): all faults, and why the schema could not be applied, empty if it could.

    Faults are at most ``limits.MAX_SCHEMA_FAULTS``, one for each place and keyword; () for a problem with more than a
    single pattern.

    Raises:
        NeedsChild: not ``patient``, and a pattern may run for long.
    """
    if is_plainly_valid(value, schema):
        return (), ""
    try:
        return _faults(value, schema, patient)
    except NeedsChild:
        raise
    except Exception as error:  # a schema is hostile data: whatever it breaks is its own fault
        return (), _reason(error)


def _reason(error: Exception) -> str:
    from referencing.exceptions import Unresolvable

    if isinstance(error, TooMuchWork):
        return "the check takes too many steps"
    if isinstance(error, RecursionError):
        return "the schema refers to itself endlessly"
    if isinstance(error, Unresolvable):
        return f"reference {snippet(str(error.ref))} has no target in the request"
    return f"not a valid JSON Schema ({type(error).__name__})"


def _faults(value: JsonValue, schema: JsonValue, patient: bool) -> tuple[tuple[SchemaFault, ...], str]:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry

    budget = _Budget(patient)
    token = _budget.set(budget)
    try:
        base = validator_for(schema, default=Draft202012Validator)
        checker = _bounded_validator(base)(schema, registry=Registry())
        faults: dict[tuple[str, str], SchemaFault] = {}
        for error in checker.iter_errors(value):
            fault = _describe(checker, _innermost(error))
            faults.setdefault((fault.pointer, fault.keyword), fault)
            if len(faults) >= limits.MAX_SCHEMA_FAULTS:
                break
        return tuple(faults.values()), budget.unread and (f"pattern {snippet(budget.unread)} is not supported here")
    finally:
        _budget.reset(token)


@cache
def _bounded_validator(base: Any) -> Any:
    """A validator class that counts the work of every keyword and watches patterns."""
    from jsonschema.validators import extend

    own: dict[str, Callable[..., Any]] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
    }
    every = {name: own.get(name, check) for name, check in base.VALIDATORS.items()}
    extend_class: Callable[..., Any] = extend
    return extend_class(base, {name: _count_work(check) for name, check in every.items()})


def _count_work(check: Callable[..., Any]) -> Callable[..., Iterator[ValidationError]]:
    def check_counting(validator: Any, keyword: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        budget = _budget.get()
        budget.steps -= 1
        if budget.steps < 0:
            raise TooMuchWork
        budget.depth += 1
        if budget.depth > limits.MAX_SCHEMA_DEPTH:
            raise RecursionError
        try:
            yield from check(validator, keyword, instance, schema) or ()
        finally:
            budget.depth -= 1

    return check_counting


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not _matches(pattern, instance):
        yield ValidationError(f"does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, inner in patterns.items():
            for key in [k for k in instance if _matches(pattern, k)]:
                yield from validator.descend(instance[key], inner, path=key, schema_path=pattern)


def _unique_items(validator: Any, is_unique: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """In one pass: the library's own comparison is quadratic."""
    from jsonschema.exceptions import ValidationError

    if is_unique and isinstance(instance, list) and len({repr(_canonical(v)) for v in instance}) < len(instance):
        yield ValidationError("contains an item twice")


def _canonical(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return sorted((k, _canonical(v)) for k, v in value.items())
    if isinstance(value, list):
        return [_canonical(v) for v in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else value


_ESCAPES_AND_CLASSES = regex.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_REPEATED = regex.compile(r"[*+]|\{\d*,?\d*\}")


def _matches(pattern: str, text: str) -> bool:
    budget = _budget.get()
    if not budget.patient:
        cost = _cost(pattern, len(text))
        if cost > limits.MAX_PATTERN_STEPS:
            raise NeedsChild
        budget.steps -= cost // 100
    try:
        return re.search(pattern, text) is not None
    except re.error:  # a dialect this program does not read: it cannot be held against the arguments
        budget.unread = budget.unread or pattern
        return True


def _cost(pattern: str, length: int) -> float:
    """Worst-case backtracking steps; infinite if the form does not show it."""
    plain = _ESCAPES_AND_CLASSES.sub("x", pattern)
    if re.search(r"\\[1-9]|\(\?(?!:)", pattern) or re.search(r"\)\s*(?:[*+]|\{)", plain):
        return math.inf
    return float(length + 1) ** (len(_REPEATED.findall(plain)) + 1)


def _innermost(error: ValidationError) -> ValidationError:
    """The alternative that validated furthest, if all of them failed."""
    from jsonschema.exceptions import relevance

    while error.context and not _may_convert(error.instance):
        deepest = max(len(e.absolute_path) for e in error.context)
        if deepest == len(error.absolute_path):
            break
        error = max((e for e in error.context if len(e.absolute_path) == deepest), key=relevance)
    return error


def _may_convert(instance: JsonValue) -> bool:
    return instance is None or isinstance(instance, str | int | float)


def _describe(checker: Any, error: ValidationError) -> SchemaFault:
    pointer = "".join(f"/{escape(str(step))}" for step in error.absolute_path)
    keyword = str(error.validator)
    message = _MESSAGES.get(keyword, _plain)(error)
    for kind, candidate in _candidates(error.instance):
        if _accepts(checker, error, candidate):
            return SchemaFault(pointer, keyword, message, kind, candidate)
    if error.instance is None and _is_optional(checker, error):
        return SchemaFault(pointer, keyword, message, COERCIBLE)
    return SchemaFault(pointer, keyword, message)


def _candidates(instance: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Values that a value may have been intended as."""
    if isinstance(instance, str):
        try:
            parsed = loads(instance.strip().encode("utf-8", "surrogatepass"))
        except WireError:
            parsed = {"True": True, "False": False, "None": None}.get(instance.strip(), instance)
        if isinstance(parsed, dict | list):
            yield DOUBLE_ENCODED, parsed
        elif not isinstance(parsed, str):
            yield COERCIBLE, parsed
    elif isinstance(instance, int | float) and not isinstance(instance, bool):
        yield COERCIBLE, str(instance)


def _accepts(checker: Any, error: ValidationError, candidate: JsonValue) -> bool:
    return bool(checker.evolve(schema=error.schema).is_valid(candidate))


def _is_optional(checker: Any, error: ValidationError) -> bool:
    """True for null at an optional key: leaving it out would fix it."""
    path = list(error.absolute_schema_path)
    if len(path) < 3 or path[-3] != "properties":
        return False
    holder = checker.schema
    for step in path[:-3]:
        try:
            holder = holder[step]
        except (KeyError, IndexError, TypeError):  # the path went through a reference
            return False
    return path[-2] not in holder.get("required", ())


def _declared_values(error: ValidationError) -> list[Any]:
    value: Any = error.validator_value
    return value if isinstance(value, list) else [value]


def _plain(error: ValidationError) -> str:
    return _shorten(error.message)


def _missing(error: ValidationError) -> str:
    instance = error.instance if isinstance(error.instance, dict) else {}
    names = [name for name in _declared_values(error) if name not in instance]
    return f"lacks the required key {', '.join(map(repr, names))}"


def _wrong_type(error: ValidationError) -> str:
    declared = " or ".join(map(str, _declared_values(error)))
    return f"is {_type_noun(error.instance)} {snippet(error.instance)}, but the schema declares {declared}"


def _not_listed(error: ValidationError) -> str:
    return _shorten(
        f"is {snippet(error.instance)}, but the schema declares {', '.join(map(snippet, _declared_values(error)))}"
    )


def _no_shape(error: ValidationError) -> str:
    found = f"{_type_noun(error.instance)} {snippet(error.instance)}"
    return f"is {found}, which does not match any of the declared alternatives"


def _undeclared_keys(error: ValidationError) -> str:
    schema: Any = error.schema
    instance: Any = error.instance
    names = [name for name in instance if name not in schema.get("properties", {})]
    return _shorten(f"contains the undeclared key {', '.join(map(repr, names))}")


_MESSAGES: dict[str, Callable[[ValidationError], str]] = {
    "required": _missing,
    "type": _wrong_type,
    "enum": _not_listed,
    "anyOf": _no_shape,
    "oneOf": _no_shape,
    "additionalProperties": _undeclared_keys,
}


def _type_noun(value: JsonValue) -> str:
    """The type of a value in front of the value: ``"the string"``, ``"the literal"`` for null."""
    if value is None or isinstance(value, bool):
        return "the literal"
    names = {str: "the string", int: "the number", float: "the number", list: "the array", dict: "the object"}
    return names.get(type(value), "the value")


def snippet(value: JsonValue) -> str:
    """A value as shortened JSON-like text for a message."""
    literal = {None: "null", True: "true", False: "false"}
    text = literal[value] if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= limits.SNIPPET // 3 else text[: limits.SNIPPET // 3] + "…"


def _shorten(text: str) -> str:
    return text if len(text) <= limits.SNIPPET else text[: limits.SNIPPET] + "…"


MOST_NAMED = 4
"""Limit of repeated keys named in one note."""


def repeated_keys(text: str) -> str:
    """Describe keys of a JSON text repeated in one object, so that a value is lost; empty if none."""
    pointers = JsonIndex(text.encode("utf-8", "surrogatepass")).duplicates()
    notes = []
    for pointer in pointers[:MOST_NAMED]:
        holder, _, step = pointer.rpartition("/")
        key = snippet(step.replace("~1", "/").replace("~0", "~"))
        notes.append(f"key {key}{f' of {snippet(holder)}' if holder else ''} is repeated; the last one is used")
    more = len(pointers) - MOST_NAMED
    return "; ".join([*notes, *([f"and {more} more keys"] if more > 0 else [])])
