"""Edits of a streamed answer: a value is replaced everywhere the stream says it, in deltas and in the last event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, ModelResponse, Segment
from workbench.protocols.common.changes import LeafChange
from workbench.protocols.common.codec import edit_stream
from workbench.protocols.families.items.stream_parts import look, order
from workbench.protocols.gemini_interactions.request import READ_OF_ANSWERS, response_nodes
from workbench.protocols.gemini_interactions.stream import StepStreamDecoder
from workbench.wire import SseEvent


def encode_stream(response: ModelResponse, original: bytes) -> bytes:
    """The stream ``original``, saying ``response``. Raises LocalProtocolError."""
    return edit_stream(StepStreamDecoder, _everywhere, response_nodes, response, original, READ_OF_ANSWERS)


def _everywhere(change: LeafChange, decoder: StepStreamDecoder, events: Sequence[SseEvent]) -> Iterator[LeafChange]:
    """The change at each place that says the old value."""
    pointer = change.pointer + change.below
    if change.segments and not change.below and isinstance(change.old, str):
        places = [change.segments, *_places(pointer, change.old, decoder)]
        places = list(dict.fromkeys(places))
    else:
        places = list(_places(pointer, change.old, decoder))
    if not places:
        raise LocalProtocolError("this value cannot be changed in a stream", where=pointer)
    for segments in places:
        if isinstance(change.old, str) and isinstance(change.new, str):
            yield LeafChange(pointer, "", change.old, change.new, segments)
            continue
        event, place = segments[0]  # a value of another type is put below the object that holds it
        holder, _, key = place.rpartition("/")
        yield LeafChange(pointer, f"/{key}", change.old, change.new, (Segment(event, holder),))


def _places(pointer: str, old: JsonValue, decoder: StepStreamDecoder) -> Iterator[tuple[Segment, ...]]:
    _, first, *rest = pointer.split("/")
    if first != decoder.key or not rest:
        for value, event in decoder.interactions:
            found = look(value, pointer)
            if type(found) is type(old) and found == old:
                yield (Segment(event, f"/interaction{pointer}"),)
        if pointer == "/id":
            yield from ((Segment(number, "/interaction_id"),) for number in decoder.mentions)
        return
    yield from order(decoder.steps)[int(rest[0])].places("".join(f"/{step}" for step in rest[1:]), old)
