"""Edits of a streamed answer: a value is replaced everywhere the stream says it.

What is said in deltas, in ``done`` events and in the last event has to stay the same thing: clients read either. A
place that said something else before (the beginning of an item, with its string still empty) continues saying that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue, ModelResponse, Segment
from workbench.protocols.common import leaves
from workbench.protocols.common.changes import LeafChange, changes
from workbench.protocols.families.items.nodes import READ_OF_ANSWERS, response_nodes
from workbench.protocols.families.items.stream import ItemStreamDecoder
from workbench.protocols.families.items.stream_parts import StreamedItem, look, order
from workbench.wire import SseEvent, loads, read_untyped


def encode_stream(response: ModelResponse, original: bytes) -> bytes:
    """The stream ``original``, saying ``response``. Raises LocalProtocolError."""
    events = read_untyped(original).events
    decoder = _decode(events)
    before = decoder.result()
    items = order(decoder.items)
    found = [
        place
        for change in changes(response_nodes(before), response_nodes(response))
        for place in _everywhere(change, decoder, items, events)
    ]
    encoded = leaves.write_changes(found, original)
    written = _decode(read_untyped(encoded).events).result() if found else before
    leaves.agree(written, response, READ_OF_ANSWERS)
    return encoded


def _decode(events: Sequence[SseEvent]) -> ItemStreamDecoder:
    decoder = ItemStreamDecoder()
    for event in events:
        decoder.feed(event)
    return decoder


def _everywhere(
    change: LeafChange, decoder: ItemStreamDecoder, items: Sequence[StreamedItem], events: Sequence[SseEvent]
) -> Iterator[LeafChange]:
    """The change at each place that says the old value."""
    pointer = change.pointer + change.below
    places = list(_places(pointer, change.old, decoder, items, events))
    if not places:
        raise LocalProtocolError("this value cannot be changed in a stream", where=pointer)
    for segments in places:
        if isinstance(change.new, str) or segments[0].pointer == "/delta":
            yield LeafChange(pointer, "", change.old, change.new, segments)
            continue
        event, place = segments[0]  # a value of another type is put below the object that holds it
        holder, _, key = place.rpartition("/")
        yield LeafChange(pointer, f"/{key}", change.old, change.new, (Segment(event, holder),))


def _places(
    pointer: str, old: JsonValue, decoder: ItemStreamDecoder, items: Sequence[StreamedItem], events: Sequence[SseEvent]
) -> Iterator[tuple[Segment, ...]]:
    _, first, *rest = pointer.split("/")
    if first != "output" or not rest:
        for value, event in decoder.responses:
            found = look(value, pointer)
            if type(found) is type(old) and found == old:
                yield (Segment(event, f"/response{pointer}"),)
        return
    item, at = items[int(rest[0])], "".join(f"/{step}" for step in rest[1:])
    yield from item.places(at, old)
    if at == "/id":
        yield from ((Segment(number, "/item_id"),) for number in _mentions(events, item.index, old))


def _mentions(events: Sequence[SseEvent], index: int | None, item_id: JsonValue) -> Iterator[int]:
    """Events that name the item they belong to."""
    for event in events:
        try:
            value = loads(event.data or b"null")
        except WireError:
            continue
        if isinstance(value, dict) and value.get("item_id") == item_id and value.get("output_index") == index:
            yield event.number
