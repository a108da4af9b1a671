"""JSON Lines of bodies, or of the payloads of one stream (``*.chunks.txt``: the ``data:`` lines without ``data:``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.importers._bare import SYNTHESISED, body_only, response_only
from workbench.importers._lines import Damage, Line, first_objects, objects
from workbench.importers._sides import EVENT, is_unframed_stream, side_of
from workbench.wire.exchange import Exchange
from workbench.wire.session import MemorySession

NAME = "json-lines"
TITLE = "JSON Lines"

_PAYLOADS = "the payloads of one stream: the file has no framing and no terminator, the framing is synthesised"
_NEXT_OBJECT = re.compile(rb"\n[ \t]*\{")
_EVENT_NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)


def sniff(head: bytes) -> float:
    """Several lines, each an object; a first line that is longer than the head may be one."""
    if not head.lstrip().startswith(b"{"):
        return 0.0
    if first_objects(head):
        return 0.7 if _NEXT_OBJECT.search(head) else 0.3
    return 0.2


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for a stream, else one for each line. Raises UnreadableInput when no line is usable."""
    damage = Damage()
    lines = list(objects(data, damage))
    if any(is_unframed_stream(line.value) and line.value["done"] is False for line in lines):
        exchanges = [response_only(1, data, "a stream of JSON lines by itself", content_type="application/x-ndjson")]
    elif _is_stream(lines):
        note = "the payloads of one stream: the file has no framing and no terminator, the framing is synthesised"
        exchanges = [response_only(1, b"".join(_framed(lines)), note, meta=SYNTHESISED)]
    else:
        exchanges = list(_bodies(lines, damage))
    if not exchanges:
        raise damage.refuse("no line is a request, an answer or a stream event of a model API")
    return MemorySession(name, tuple(exchanges), damage.told(), format=TITLE)


def _is_stream(lines: Sequence[Line]) -> bool:
    if any(side_of(line.value) == EVENT for line in lines[:4]):
        return True
    answers = {str(line.value.get("responseId")) for line in lines if "candidates" in line.value}
    return len(lines) > 1 and len(answers) == 1  # Gemini: a chunk has the shape of a whole answer


def _framed(lines: Sequence[Line]) -> Iterator[bytes]:
    """The stream these payloads came in, as far as they tell: named events where the payload names its type."""
    for line in lines:
        kind = line.value.get("type") or line.value.get("event_type")
        if isinstance(kind, str) and _EVENT_NAME.fullmatch(kind):
            yield b"event: " + kind.encode() + b"\n"
        yield b"data: " + line.raw.replace(b"\r", b" ") + b"\n\n"


def _bodies(lines: Sequence[Line], damage: Damage) -> Iterator[Exchange]:
    count = 0
    for line in lines:
        side = side_of(line.value)
        if side is None or side == EVENT:
            damage.add(f"line {line.number}: neither a request nor an answer of a model API")
            continue
        count += 1
        yield body_only(count, side, line.raw, line.value)
