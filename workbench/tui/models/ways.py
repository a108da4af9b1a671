"""Ways to write a value of a request: as the text it stands for, as JSON, or as the bytes that are sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.editing import operations
from workbench.editing.elements import Kind
from workbench.errors import LocalProtocolError, WireError
from workbench.repairs._between import between
from workbench.tui.models.edit import Entry
from workbench.tui.models.tools import laid_out
from workbench.tui.safetext import from_bytes
from workbench.wire.jsontext import loads

if TYPE_CHECKING:
    from workbench.editing import Change, Splice
    from workbench.tui.models.studied import Studied

ROOM = 60
"""Bytes of a value that is read on one line; a longer one is laid out."""


class Way(NamedTuple):
    """How a value is written.

    Attributes:
        written: the value as it is now.
        make: what other bytes in its place change. Raises WorkbenchError where they cannot stand there.
        word: what it is written as.
        suffix: of its file in an editor.
        is_line: it is one line, which enter ends.
    """

    written: bytes
    make: Callable[[bytes], Sequence[Change | Splice]]
    word: str
    suffix: str = ".json"
    is_line: bool = False


def likeliest(studied: Studied, row: Entry) -> Way:
    """As its text where it has one, as JSON else; the whole body as its bytes."""
    return as_text(studied, row) or as_json(studied, row) if row.pointer else as_bytes(studied, row)


def as_text(studied: Studied, row: Entry) -> Way | None:
    """As the text that its string stands for; None where it has none that can be written."""
    at = row.element.text_at
    text = studied.text_of(row.element)
    if at is None or text is None:
        return None
    try:
        written = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, which only JSON can spell
        return None
    is_line = row.element.kind is Kind.PARAMETER and "\n" not in text
    decoded = studied.decoded
    return Way(written, lambda made: operations.set_text(decoded, at, from_bytes(made)), "text", ".txt", is_line)


def as_json(studied: Studied, row: Entry) -> Way:
    """As JSON: laid out where it stands on one long line, and then only what differs is changed."""
    raw, pointer, decoded = studied.json(row.pointer), row.pointer, studied.decoded
    is_short = len(raw) <= ROOM and b"\n" not in raw
    try:
        value = loads(raw)
    except WireError:
        is_short = True
    if is_short or not isinstance(value, dict | list) or b"\n" in raw:
        return Way(raw, lambda made: operations.set_value(decoded, pointer, made), "JSON", is_line=is_short)
    written = laid_out(value).encode("utf-8", "surrogateescape")
    return Way(written, lambda made: between(value, _read(made), pointer), "JSON")


def as_bytes(studied: Studied, row: Entry) -> Way:
    """As the bytes that are sent; they need be no JSON.

    Raises:
        LocalProtocolError: it stands nowhere in the body.
    """
    span = studied.span(row.pointer)
    if span is None:
        raise LocalProtocolError("it stands nowhere in the body", where=row.pointer)
    text, (start, end) = studied.text, span
    return Way(text[start:end], lambda made: operations.raw(text, start, end, made), "raw bytes")


def _read(made: bytes) -> object:
    try:
        return loads(made)
    except WireError as error:
        raise LocalProtocolError(str(error)) from error
