"""Ways to edit a value of a request: as plain text, as JSON, or as the bytes that are sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.edits import ElementKind, changes_between, complete, complete_text, operations
from workbench.errors import LocalProtocolError, WireError
from workbench.safetext import HIDDEN, from_bytes
from workbench.tui.models.edit import EditRow
from workbench.tui.models.tools import format_json
from workbench.wire import dumps, loads

if TYPE_CHECKING:
    from workbench.edits import Change, PlaceOffers, Splice
    from workbench.ir import JsonValue
    from workbench.tui.models.edit_study import EditStudy

ROOM = 60
"""Bytes of a value that is read on one line; a longer one is laid out."""


class WritingWay(NamedTuple):
    """A way to write a value.

    Attributes:
        written: the current value.
        make: returns the changes for other bytes in its place. Raises WorkbenchError if they are not valid there.
        word: name of the way, such as "raw bytes".
        suffix: suffix of its file in an editor.
        is_line: True if it is a single line, which enter ends.
    """

    written: bytes
    make: Callable[[bytes], Sequence[Change | Splice]]
    word: str
    suffix: str = ".json"
    is_line: bool = False

    @property
    def is_text(self) -> bool:
        """True if it is edited as plain text, not as JSON."""
        return self.suffix == ".txt"


def likeliest(study: EditStudy, row: EditRow) -> WritingWay:
    """Default way: text if the value has one, else JSON; raw bytes for the whole body."""
    return as_text(study, row) or as_json(study, row) if row.pointer else as_bytes(study, row)


def as_text(study: EditStudy, row: EditRow) -> WritingWay | None:
    """Way to write a string as its text; None if it has no text that can be written."""
    at = row.element.text_at
    text = study.text_of(row.element)
    if at is None or text is None:
        return None
    try:
        octets = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, which only JSON can spell
        return None
    is_line = row.element.kind is ElementKind.PARAMETER and "\n" not in text
    decoded = study.decoded_request
    return WritingWay(octets, lambda new: operations.set_text(decoded, at, from_bytes(new)), "text", ".txt", is_line)


def as_json(study: EditStudy, row: EditRow) -> WritingWay:
    """Way to write a value as JSON, laid out if it is one long line. An edit changes only what differs.

    The whole body, and what is no JSON, as its bytes.
    """
    raw, pointer, decoded = study.json(row.pointer), row.pointer, study.decoded_request
    if not raw:
        return as_bytes(study, row)
    is_line = len(raw) <= ROOM and b"\n" not in raw

    def retold(new: bytes) -> Sequence[Change | Splice]:
        typed = read(new)
        return operations.set_text(decoded, pointer, typed) if isinstance(typed, str) else put(new)

    def put(new: bytes) -> Sequence[Change | Splice]:
        return operations.set_value(decoded, pointer, new)

    value = read(raw)
    if isinstance(value, str):
        return WritingWay(escape_json(from_bytes(dumps(value))), retold, "JSON", is_line=True)
    if (isinstance(value, dict | list) and not (is_line or b"\n" in raw)) or not is_plain(from_bytes(raw)):
        return WritingWay(
            escape_json(format_json(value)), lambda new: changes_between(value, read(new), pointer), "JSON"
        )
    return WritingWay(raw, put, "JSON", is_line=is_line)


def completes(study: EditStudy, row: EditRow, way: WritingWay) -> Callable[[str, int], PlaceOffers] | None:
    """What completes a value while it is written: text and offset → offers; None if the request cannot be read."""
    if study.meant.trial is None:
        return None
    decoded, provider = study.meant.trial.decoded, study.provider
    if way.is_text:
        return lambda text, _: complete_text(decoded, provider, row.element.text_at or row.pointer, text)
    return lambda text, offset: complete(decoded, provider, row.pointer, text, offset)


def is_plain(text: str) -> bool:
    """True if an input field can hold the text: no control or hidden characters, and no line ends other than LF."""
    return HIDDEN.search(text.replace("\n", "")) is None


def escape_json(text: str) -> bytes:
    """JSON with every control or hidden character escaped."""
    return HIDDEN.sub(_escape, text).encode()


def _escape(found: re.Match[str]) -> str:
    if found[0] == "\n":
        return "\n"
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))


def read(text: bytes) -> JsonValue:
    """Parse JSON. Raises LocalProtocolError if it is invalid."""
    try:
        return loads(text)
    except WireError as error:
        raise LocalProtocolError(str(error)) from error


def as_bytes(study: EditStudy, row: EditRow) -> WritingWay:
    """Way to write the bytes as sent; they may be invalid JSON.

    Raises:
        LocalProtocolError: the value is not in the body.
    """
    span = study.span(row.pointer)
    if span is None:
        raise LocalProtocolError("the value is not in the body", where=row.pointer)
    text, (start, end) = study.text, span
    return WritingWay(text[start:end], lambda new: operations.replace_range(text, start, end, new), "raw bytes")
