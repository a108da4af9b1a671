"""Stores any text in SQLite, which accepts only UTF-8: text with lone surrogates is stored as bytes."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import JsonValue


def to_sqlite(row: Sequence[object]) -> tuple[object, ...]:
    """A row for SQLite; ``plain`` reverses it."""
    return tuple(_bytes_of(value) if isinstance(value, str) and not value.isascii() else value for value in row)


def from_sqlite(row: Sequence[JsonValue]) -> Sequence[JsonValue]:
    """A row as it was before ``bound``, for columns without bytes of their own."""
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
    except UnicodeDecodeError:  # of a torn page
        return raw.decode("utf-8", "replace")
