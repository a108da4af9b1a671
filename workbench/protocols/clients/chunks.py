"""The blocks of a stream as clients get them: parsed once, for every policy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire import SseEvent, loads


class Chunk(NamedTuple):
    """One block that holds data.

    Attributes:
        event: number of the block.
        name: of its ``event`` field.
        value: its data parsed; None with ``is_json`` False where it does not parse.
    """

    event: int
    name: str | None
    value: JsonValue
    is_json: bool
    data: bytes


def chunks(events: Iterable[SseEvent]) -> tuple[Chunk, ...]:
    """Every block with data. A last block without its blank line is none: every usual client drops it."""
    return tuple(_chunk(e) for e in events if e.data and e.terminated)


def _chunk(event: SseEvent) -> Chunk:
    data = event.data or b""
    try:
        return Chunk(event.number, event.name, loads(data), True, data)
    except WireError:
        return Chunk(event.number, event.name, None, False, data)
