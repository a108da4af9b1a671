"""Validates values of a stored exchange. A file is untrusted: every value is checked for its type.

All functions raise SessionFormatError for a value that no exchange has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from workbench.errors import SessionFormatError
from workbench.ir import JsonValue
from workbench.wire.exchange import Chunk, ExchangeKind, Headers, Origin, Redaction, State

LARGEST: Final = 2**63 - 1
LAST_SECOND: Final = 253_402_300_799.0
"""End of the year 9999, the last that ``datetime`` supports."""

_STATES: Final = {each.value: each for each in State}
_KINDS: Final = {each.value: each for each in ExchangeKind}
_ORIGINS: Final = {each.value: each for each in Origin}

_Value = TypeVar("_Value")


def text(value: JsonValue) -> str:
    """Check a text."""
    if not isinstance(value, str):
        raise _refuse(value, "a text")
    return value


def count(value: JsonValue) -> int:
    """Check a non-negative integer."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise _refuse(value, "a non-negative integer below 2**63")
    return value


def seconds(value: JsonValue) -> float:
    """Check a time or duration that ``datetime`` can represent."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= LAST_SECOND:
        raise _refuse(value, "a number of seconds")
    return float(value)


def flag(value: JsonValue) -> bool:
    """Check a boolean; tables have 1 and 0."""
    if not isinstance(value, int) or value not in (0, 1):
        raise _refuse(value, "true or false")
    return bool(value)


def raw(value: object) -> bytes:
    """Check bytes."""
    if not isinstance(value, bytes):
        raise _refuse(value, "bytes")
    return value


def members(value: JsonValue) -> Mapping[str, JsonValue]:
    """Check a JSON object."""
    if not isinstance(value, dict):
        raise _refuse(value, "an object")
    return value


def state(value: JsonValue) -> State:
    """Check a state of an exchange."""
    return _one_of(_STATES, value)


def kind(value: JsonValue) -> ExchangeKind:
    """Check a kind of exchange."""
    return _one_of(_KINDS, value)


def origin(value: JsonValue) -> Origin:
    """Check the origin of an exchange."""
    return _one_of(_ORIGINS, value)


def optional(check: Callable[[JsonValue], _Value]) -> Callable[[JsonValue], _Value | None]:
    """The same check for an optional value."""
    return lambda value: None if value is None else check(value)


def several(value: JsonValue) -> Sequence[JsonValue]:
    """Check a list."""
    if not isinstance(value, list):
        raise _refuse(value, "a list")
    return value


def headers(value: JsonValue) -> Headers:
    """Check pairs of texts."""
    return Headers(tuple((text(name), text(field_value)) for name, field_value in _rows(value, 2, "headers")))


def redactions(value: JsonValue) -> tuple[Redaction, ...]:
    """Check positions of stand-ins."""
    rows = _rows(value, 4, "redactions")
    return tuple(Redaction(text(where), count(start), count(end), text(what)) for where, start, end, what in rows)


def chunks(value: JsonValue) -> tuple[Chunk, ...]:
    """Check ends and times of chunks."""
    return tuple(Chunk(count(end), seconds(at)) for end, at in _rows(value, 2, "chunks"))


def newer(version: str, own: int) -> str:
    """Message for a file of a later version."""
    return f"written by a newer version of Workbench (format {version[:20]}; this version reads {own})"


def _rows(value: JsonValue, width: int, what: str) -> Sequence[Sequence[JsonValue]]:
    if not isinstance(value, list) or not all(isinstance(row, list) and len(row) == width for row in value):
        raise SessionFormatError(f"the {what} are not a list of rows of {width} values")
    return value


def _one_of(words: Mapping[str, _Value], value: JsonValue) -> _Value:
    found = words.get(text(value))
    if found is None:
        raise _refuse(value, "one of the allowed words")
    return found


def _refuse(value: object, wanted: str) -> SessionFormatError:
    shown_value = str(value)[:20] if isinstance(value, float | bool) else type(value).__name__
    return SessionFormatError(f"{wanted} expected, not {shown_value}")
