"""Importer for logs that carry records of another format as the text of their events.

CloudWatch (``FilterLogEvents``, subscriptions, exports with a time before each event), Docker's ``json-file``, and
servers that log as JSON Lines: each event has its text in a member such as ``message``. The texts, one a line, are read
by the importer that knows their format.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench import regex
from workbench.errors import UnreadableInput, WireError
from workbench.formats import importers
from workbench.formats.importers._files import HEAD, ImportDamage, is_json, objects
from workbench.formats.importers._values import mapping
from workbench.ir import JsonValue
from workbench.wire import loads
from workbench.wire.session import Session

NAME = "log-carrier"
TITLE = "structured log"
TEXTS = ("message", "@message", "Message", "log")
"""Members with the text of an event."""

LISTS = ("logEvents", "events", "records", "results")
_TEXT = regex.compile(rb'"(?:@?message|Message|log)"\s*:\s*("(?:[^"\\]|\\.)*+"?)')
_TIMED = regex.compile(rb"\d{4}-\d\d-\d\dT[\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)?[ \t]{1,4}(?=\{)")
_MOST_TRIED = 4


def sniff(head: bytes) -> float:
    """Events whose texts another importer is certain of."""
    inner = b"\n".join(_first_texts(head))
    if not inner:
        return 0.0
    ranked = [(score, name) for score, name in importers.candidates(inner[:HEAD]) if name != _OWN]
    return 0.97 if ranked and ranked[0][0] >= importers.CERTAIN else 0.0


_OWN = __name__.rpartition(".")[2]


def read(data: bytes, name: str) -> Session:
    """The session of the texts of all events. Raises WorkbenchError."""
    damage = ImportDamage()
    inner = b"\n".join(_texts(data, damage))
    if not inner:
        raise UnreadableInput("no event of this log contains text", where=name)
    return importers.inside(inner, name)


def _first_texts(head: bytes) -> Iterator[bytes]:
    """Texts of the first events; the head may end inside one."""
    if timed := _TIMED.match(head):
        yield head[timed.end() :].partition(b"\n")[0]
        return
    for number, found in enumerate(_TEXT.finditer(head)):
        if number >= _MOST_TRIED:
            return
        literal = found[1] if found[1].endswith(b'"') and len(found[1]) > 1 else _close(found[1])
        try:
            text = loads(literal)
        except WireError:
            continue
        if isinstance(text, str):
            yield text.encode("utf-8", "replace")


def _close(literal: bytes) -> bytes:
    """A truncated JSON text, without an incomplete escape or character at its end."""
    head = literal[: max(1, len(literal) - 12)]
    while head.endswith(b"\\"):
        head = head[:-1]
    return head + b'"'


def _texts(data: bytes, damage: ImportDamage) -> Iterator[bytes]:
    if _TIMED.match(data):
        yield from (_TIMED.sub(b"", line) for line in data.splitlines() if line.strip())
        return
    for event in _events(data, damage):
        text = next((event[name] for name in TEXTS if isinstance(event.get(name), str)), None)
        if isinstance(text, str) and text.strip():
            yield text.strip().encode("utf-8", "surrogatepass")


def _events(data: bytes, damage: ImportDamage) -> Iterator[dict[str, JsonValue]]:
    try:
        value = loads(data) if is_json(data) else None
    except WireError:
        value = None
    documents = [value] if value is not None else [line.value for line in objects(data, damage)]
    for document in documents:
        listed: JsonValue = document
        if isinstance(document, dict):
            listed = next((document[name] for name in LISTS if isinstance(document.get(name), list)), [document])
        yield from (mapping(event) for event in (listed if isinstance(listed, list) else []))
