"""What the values of a stored exchange may be. A file may come from anybody: no value is taken for what it should be.

Everything raises SessionFormatError for a value that no exchange has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from workbench.errors import SessionFormatError
from workbench.ir import JsonValue
from workbench.wire.exchange import Chunk, Headers, Kind, Origin, Redaction, State

LARGEST: Final = 2**63 - 1
LAST_SECOND: Final = 253_402_300_799.0
"""Of the year 9999: no calendar goes on from there."""

_Value = TypeVar("_Value")


def text(value: JsonValue) -> str:
    """A text."""
    if not isinstance(value, str):
        raise _refused(value, "a text")
    return value


def count(value: JsonValue) -> int:
    """A whole number from zero on."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise _refused(value, "a count below 2**63")
    return value


def seconds(value: JsonValue) -> float:
    """A time or a duration that a calendar and a clock can show."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= LAST_SECOND:
        raise _refused(value, "a number of seconds")
    return float(value)


def flag(value: JsonValue) -> bool:
    """True or false; a table holds them as 1 and 0."""
    if not isinstance(value, int) or value not in (0, 1):
        raise _refused(value, "true or false")
    return bool(value)


def raw(value: object) -> bytes:
    """Bytes."""
    if not isinstance(value, bytes):
        raise _refused(value, "bytes")
    return value


def members(value: JsonValue) -> Mapping[str, JsonValue]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise _refused(value, "an object")
    return value


def state(value: JsonValue) -> State:
    """A state of an exchange."""
    return _one_of(State, value)


def kind(value: JsonValue) -> Kind:
    """A kind of exchange."""
    return _one_of(Kind, value)


def origin(value: JsonValue) -> Origin:
    """Where an exchange is from."""
    return _one_of(Origin, value)


def optional(check: Callable[[JsonValue], _Value]) -> Callable[[JsonValue], _Value | None]:
    """The same check of a value that need not be there."""
    return lambda value: None if value is None else check(value)


def several(value: JsonValue) -> Sequence[JsonValue]:
    """A list."""
    if not isinstance(value, list):
        raise _refused(value, "a list")
    return value


def headers(value: JsonValue) -> Headers:
    """Pairs of texts."""
    return Headers(tuple((text(name), text(said)) for name, said in _rows(value, 2, "headers")))


def redactions(value: JsonValue) -> tuple[Redaction, ...]:
    """Where stand-ins are."""
    rows = _rows(value, 4, "redactions")
    return tuple(Redaction(text(where), count(start), count(end), text(what)) for where, start, end, what in rows)


def chunks(value: JsonValue) -> tuple[Chunk, ...]:
    """Ends and times of the pieces in which a body came."""
    return tuple(Chunk(count(end), seconds(at)) for end, at in _rows(value, 2, "chunks"))


def newer(version: str, own: int) -> str:
    """What is wrong with a file of a later version."""
    return f"written by a newer version (format {version[:20]}, this one reads {own})"


def _rows(value: JsonValue, width: int, what: str) -> Sequence[Sequence[JsonValue]]:
    if not isinstance(value, list) or not all(isinstance(row, list) and len(row) == width for row in value):
        raise SessionFormatError(f"its {what} are no list of lists of {width}")
    return value


def _one_of(kinds: Callable[[JsonValue], _Value], value: JsonValue) -> _Value:
    try:
        return kinds(text(value))
    except ValueError as error:
        raise _refused(value, "one of the words for it") from error


def _refused(value: object, wanted: str) -> SessionFormatError:
    said = str(value)[:20] if isinstance(value, float | bool) else type(value).__name__
    return SessionFormatError(f"{wanted} expected, not {said}")
