"""Importer for recorded exchanges in JSON or YAML: cassettes, mocks, logs, batches, traces, message lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench import regex
from workbench.config import safeyaml
from workbench.formats.importers._body_files import BodyRestorer
from workbench.formats.importers._files import HEAD, BodyFiles
from workbench.formats.importers._json_head import is_json, is_written_call
from workbench.formats.importers._lines import ImportDamage
from workbench.formats.importers._records import RecordFinder, exchanges_of
from workbench.ir import JsonValue
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
        raise damage.refuse("no request and no response of a model API")
    exchanges = exchanges_of(finder.found, damage)
    return MemorySession(name, tuple(exchanges), damage.as_lines(), format=TITLE)


def _documents(data: bytes, name: str) -> Iterable[JsonValue]:
    if is_json(data.removeprefix(b"\xef\xbb\xbf")):
        return [loads(data)]
    return safeyaml.load_all(data, name=name)
