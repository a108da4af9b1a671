"""Importer for recorded exchanges in JSON or YAML: cassettes, mocks, logs, batches, traces, message lists.

Restores bodies that a recorder stored in separate files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench import regex
from workbench.formats.importers._files import HEAD, BodyFiles, ImportDamage, is_json, is_written_call
from workbench.formats.importers._record import exchanges_of
from workbench.formats.importers._records import RecordFinder
from workbench.formats.importers._values import BODY, ELSEWHERE, fields, first, normalize_name
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.limits import MAX_RECORD_DEPTH, MAX_RECORD_NODES
from workbench.wire import loads
from workbench.wire.session import MemorySession

NAME = "records"
TITLE = "recorded exchanges"

_ASKED = regex.compile(rb"(?m)^[ \t-]*[\"']?(?:when|request|req|http_?[rR]equest)[\"']?:[ \t]*\r?$")
_ANSWERED = regex.compile(rb"(?m)^[ \t-]*[\"']?(?:then|response|resp|res|http_?[rR]esponse)[\"']?:[ \t]*\r?$")
_FLAT = regex.compile(rb"(?m)^(?:- |[ \t]+)?[\"']?(?:[rR]equest_?[bB]ody|[rR]esponse_?[bB]ody)[\"']?:[ \t|>'\"{]")


def sniff(head: bytes) -> float:
    """JSON, with a lower score than a single body; YAML with keys of both sides at the start of lines."""
    if is_json(head):
        return 0.35 if is_written_call(head) else 0.55
    return (
        0.85 if (_ASKED.search(head) and (_ANSWERED.search(head) or len(head) == HEAD)) or _FLAT.search(head) else 0.0
    )


def read(data: bytes, name: str) -> MemorySession:
    """All exchanges in file order. Raises UnreadableInput, WireError."""
    return _read(data, name, lambda value: value)


def read_with(data: bytes, name: str, beside: BodyFiles) -> MemorySession:
    """Read a file together with bodies stored in files next to it."""
    return _read(data, name, BodyRestorer(beside).put_back)


def _read(data: bytes, name: str, whole: Callable[[JsonValue], JsonValue]) -> MemorySession:
    damage = ImportDamage()
    finder = RecordFinder(damage)
    for number, value in enumerate(map(whole, _documents(data, name)), 1):
        count = len(finder.found)
        finder.look(value, f"document {number}" if number > 1 else "")
        if len(finder.found) == count:
            damage.add(f"document {number}: neither a request nor a response of a model API")
    if not finder.found:
        raise damage.refuse("no request or response of a model API")
    exchanges = exchanges_of(finder.found, damage)
    return MemorySession(name, tuple(exchanges), damage.as_lines(), format=TITLE)


def _documents(data: bytes, name: str) -> Iterable[JsonValue]:
    if is_json(data.removeprefix(b"\xef\xbb\xbf")):
        return [loads(data)]
    from workbench.config import safeyaml  # recordings are JSON more often

    return safeyaml.load_all(data, name=name)


@dataclass(slots=True)
class BodyRestorer:
    """Inserts bodies from files. A name without a file is kept; the reader of the record reports it."""

    beside: BodyFiles
    _nodes: int = MAX_RECORD_NODES

    def put_back(self, value: JsonValue, depth: int = 0) -> JsonValue:
        """A value with the bodies of all files that exist."""
        self._nodes -= 1
        if depth > MAX_RECORD_DEPTH or self._nodes < 0:
            return value
        if isinstance(value, list):
            return [self.put_back(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        members = {key: self.put_back(item, depth + 1) for key, item in value.items()}
        found = fields(members)
        name = first(found, ELSEWHERE)
        data = self.beside.read(name) if isinstance(name, str) and first(found, BODY) is None else None
        if data is None:
            return members
        others = {key: item for key, item in members.items() if normalize_name(key) not in ELSEWHERE}
        return {**others, **_body(data)}


def _body(data: bytes) -> dict[str, JsonValue]:
    """The fields that WireMock uses for an inline body: text, or base64 for binary data."""
    try:
        return {"body": data.decode("utf-8")}
    except UnicodeDecodeError:
        from base64 import b64encode

        return {"base64Body": b64encode(data).decode("ascii")}
