"""Importer for JSON Lines of bodies, or of stream payloads (``*.chunks.txt``: ``data:`` lines without ``data:``)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from workbench import regex
from workbench.formats.importers._files import ImportDamage, Line, first_objects, objects
from workbench.formats.importers._record import exchanges_of
from workbench.formats.importers._records import NEITHER, RecordFinder, is_record
from workbench.formats.importers._several_streams import next_streams
from workbench.formats.importers._side_of_value import (
    EVENT,
    NDJSON,
    REQUEST,
    RESPONSE,
    SYNTHESISED,
    SYNTHESISED_NOTE,
    frame_events,
    is_unframed_stream,
    response_only,
    side_of,
    stream_of,
)
from workbench.wire import Exchange
from workbench.wire.session import MemorySession

NAME = "json-lines"
TITLE = "JSON Lines"

_NEXT_OBJECT = regex.compile(rb"\n[ \t]*\{")


def sniff(head: bytes) -> float:
    """Several lines, each an object; a first line longer than the head may be one."""
    if not head.lstrip().startswith(b"{"):
        return 0.0
    if first_objects(head):
        return 0.7 if _NEXT_OBJECT.search(head) else 0.3
    return 0.2


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each stream, else one per line. Raises UnreadableInput if no line is usable."""
    damage = ImportDamage()
    lines = list(objects(data, damage))
    if any(is_unframed_stream(line.value) and line.value["done"] is False for line in lines):
        exchanges = [response_only(1, data, "only a stream of JSON lines", content_type=NDJSON)]
    elif _is_stream(lines):
        exchanges = _streams(lines)
    elif stream := stream_of([line.value for line in lines]):
        kind = stream.content_type
        exchanges = [response_only(1, stream.raw, SYNTHESISED_NOTE, content_type=kind, meta=SYNTHESISED)]
    else:
        exchanges = _bodies(lines, damage)
    if not exchanges:
        raise damage.refuse("no line is a request, a response or a stream event of a model API")
    return MemorySession(name, tuple(exchanges), damage.as_lines(), format=TITLE)


def _streams(lines: Sequence[Line]) -> list[Exchange]:
    """One exchange for each whole stream."""
    begins = [0, *next_streams(line.value for line in lines), len(lines)]
    framed = [frame_events((line.value, line.raw) for line in lines[a:b]) for a, b in pairwise(begins)]
    return [response_only(n, b"".join(one), SYNTHESISED_NOTE, meta=SYNTHESISED) for n, one in enumerate(framed, 1)]


def _is_stream(lines: Sequence[Line]) -> bool:
    if any(side_of(line.value) == EVENT for line in lines[:4]):
        return True
    answers = {str(line.value.get("responseId")) for line in lines if "candidates" in line.value}
    return len(lines) > 1 and len(answers) == 1  # Gemini: a chunk has the shape of a whole answer


def _bodies(lines: Sequence[Line], damage: ImportDamage) -> list[Exchange]:
    finder = RecordFinder(damage)
    for line in lines:
        count = len(finder.found)
        side = None if is_record(line.value) else side_of(line.value)
        if side in (REQUEST, RESPONSE):
            finder.add_body(side, line.raw, line.value, f"line {line.number}")
        elif side is None:
            finder.look(line.value, f"line {line.number}")
        if len(finder.found) == count:
            damage.add(f"line {line.number}: {NEITHER}")
    return exchanges_of(finder.found, damage)
