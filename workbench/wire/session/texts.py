"""Any text in a recording: SQLite holds UTF-8 alone, so that text with half a surrogate pair stands there as bytes."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ir import JsonValue


def bound(row: Sequence[object]) -> tuple[object, ...]:
    """A row as SQLite takes it; ``plain`` gives it back."""
    return tuple(_bytes_of(value) if isinstance(value, str) and not value.isascii() else value for value in row)


def plain(row: Sequence[JsonValue]) -> Sequence[JsonValue]:
    """A row as it was before ``bound``. For columns that hold no bytes of their own."""
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
