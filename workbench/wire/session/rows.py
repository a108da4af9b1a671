"""Rows of a recorded session: queried columns and validation of their values.

All functions raise SessionFormatError for a row that Workbench did not write, WireError for invalid JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from workbench.errors import SessionFormatError
from workbench.ir import NOTHING, JsonValue
from workbench.named_tuple import NamedTuple
from workbench.wire.exchange import Headers, Redaction
from workbench.wire.json_scan import encode
from workbench.wire.jsontext import loads
from workbench.wire.session import values


def to_sqlite(row: Sequence[object]) -> tuple[object, ...]:
    """A row for SQLite; ``plain`` reverses it."""
    return tuple(_bytes_of(value) if isinstance(value, str) and not value.isascii() else value for value in row)


def from_sqlite(row: Sequence[JsonValue]) -> Sequence[JsonValue]:
    """A row as it was before ``bound``, for columns without bytes."""
    return tuple(_text_of(v) if isinstance(v, bytes) else v for v in row) if bytes in map(type, row) else row


def _bytes_of(text: str) -> str | bytes:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _text_of(raw: bytes) -> str:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # of a damaged page
        return raw.decode("utf-8", "replace")


Row = Sequence[Any]
Check = Callable[[JsonValue], object]


class _CheckedColumn(NamedTuple):
    """What a column may have.

    Attributes:
        check: returns the value as it is used. Raises SessionFormatError.
        plain: types of which every value is valid and used as it is: most values need no check.
        number, most: a type of which every value from zero to ``most`` is, too.
    """

    check: Check
    plain: tuple[type, ...] = ()
    number: type | None = None
    most: float = 0


_TEXT = _CheckedColumn(values.text, (str,))
_BYTES = _CheckedColumn(values.raw, (bytes,))
_COUNT = _CheckedColumn(values.count, (), int, values.LARGEST)
_TEXT_OR_NONE = _CheckedColumn(values.optional(values.text), (str, type(None)))
_COUNT_OR_NONE = _CheckedColumn(values.optional(values.count), (type(None),), int, values.LARGEST)
_SECONDS = _CheckedColumn(values.optional(values.seconds), (type(None),), float, values.LAST_SECOND)

_SUMMARY: Mapping[str, _CheckedColumn] = {
    "seq": _COUNT,
    "id": _TEXT,
    "method": _TEXT,
    "url": _TEXT,
    "status": _COUNT_OR_NONE,
    "state": _CheckedColumn(cache(values.state)),
    "kind": _CheckedColumn(cache(values.kind)),
    "origin": _CheckedColumn(cache(values.origin)),
    "request_bytes": _COUNT,
    "response_bytes": _COUNT,
    "started_at": _SECONDS,
    "duration": _SECONDS,
    "hop": _TEXT,
    "parent": _TEXT_OR_NONE,
    "branch": _TEXT,
    "model": _TEXT_OR_NONE,
    "content_type": _TEXT,
    "note": _TEXT,
}
_MORE: Mapping[str, _CheckedColumn] = {"client": _TEXT, "meta": _TEXT_OR_NONE}
_SIDE: Mapping[str, _CheckedColumn] = {
    "head": _COUNT,
    "body": _COUNT,
    "encoding": _TEXT,
    "is_raw": _CheckedColumn(values.flag),
    "note": _TEXT,
    "original_length": _COUNT_OR_NONE,
    "original_digest": _TEXT_OR_NONE,
    "redactions": _TEXT_OR_NONE,
    "chunks": _BYTES,
}
_FRAME: Mapping[str, _CheckedColumn] = {"direction": _TEXT, "opcode": _TEXT, "data": _COUNT, "at": _SECONDS}

SUMMARY = ", ".join(_SUMMARY)
_EXCHANGE: Mapping[str, _CheckedColumn] = {**_SUMMARY, **_MORE}
EXCHANGE = f"SELECT {', '.join(_EXCHANGE)} FROM exchange WHERE seq = ?"
EXCHANGES = f"SELECT seq, {', '.join(_EXCHANGE)} FROM exchange WHERE seq >= ? ORDER BY seq"
"""All exchanges from one on, each with its number before it."""
_OF_SIDE = f"{', '.join(f'side.{name}' for name in _SIDE)}, body.size, body.pieces"
_SIDES = "FROM side LEFT JOIN body ON body.id = side.body WHERE"
SIDE = f"SELECT {_OF_SIDE} {_SIDES} side.exchange = ? AND side.side = ?"
"""A side, with the size and the pieces of its body."""
SIDES = f"SELECT side.exchange, side.side, {_OF_SIDE} {_SIDES} side.exchange >= ? ORDER BY side.exchange, side.side"
"""The sides of all exchanges from one on, each with its key before it."""
FRAMES = f"SELECT {', '.join(_FRAME)} FROM frame WHERE exchange = ? ORDER BY seq LIMIT -1 OFFSET ?"
"""Messages of an exchange behind the first ones."""


class SideRow(NamedTuple):
    """Row of a request or a response; ``head`` and ``body`` are ids of their content."""

    head: int
    body: int
    encoding: str
    is_raw: bool
    note: str
    length: int | None
    digest: str | None
    redactions: tuple[Redaction, ...]
    chunks: bytes


class HeadRow(NamedTuple):
    """Start of a request or response."""

    version: str
    reason: str
    headers: Headers


def summary(row: Row) -> Row:
    """Read a row of ``SUMMARY``."""
    return _check(_SUMMARY, from_sqlite(row))


def exchange(row: Row) -> tuple[Row, str, Mapping[str, JsonValue]]:
    """Read a row of ``EXCHANGE``: the columns of ``SUMMARY``, client and importer data."""
    *shown_in_lists, client, meta = _check(_EXCHANGE, from_sqlite(row))
    return shown_in_lists, client, values.members(loads(encode(meta))) if meta else NOTHING


def side(row: Row) -> SideRow:
    """Read a row of ``SIDE``, without its last two columns."""
    *plain, marks, chunks = _check(_SIDE, (*from_sqlite(row[:-1]), row[-1]))
    return SideRow._make((*plain, values.redactions(loads(encode(marks))) if marks else (), chunks))


def head(data: bytes) -> HeadRow:
    """Read the start of a request or response."""
    members = values.members(loads(data))
    return HeadRow(
        values.text(members.get("version")),
        values.text(members.get("reason", "")),
        values.headers(members.get("headers")),
    )


def frame(row: Row) -> Row:
    """Read a row of ``FRAMES``."""
    return _check(_FRAME, from_sqlite(row))


def _check(columns: Mapping[str, _CheckedColumn], row: Row) -> Row:
    wanted = columns.values()
    try:
        return [
            v if type(v) in plain or (type(v) is number and 0 <= v <= most) else check(v)  # type: ignore[operator]
            for (check, plain, number, most), v in zip(wanted, row, strict=True)
        ]
    except SessionFormatError as error:
        pairs = zip(columns.items(), row, strict=True)
        wrong = next(name for (name, column), value in pairs if not _holds(column.check, value))
        raise SessionFormatError(f"{wrong} of the exchange: {error.what}") from error


def _holds(check: Check, value: JsonValue) -> bool:
    try:
        check(value)
    except SessionFormatError:
        return False
    return True
