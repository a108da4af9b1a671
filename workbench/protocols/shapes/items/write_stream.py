"""New event streams that build an answer out of items, from answers in normal form.

Facts: ``types/responses/response_stream_event.py`` of the official ``openai`` SDK 3.54, and the order of recorded
streams.

What is said in deltas, in ``done`` events and in the last event has to stay the same thing: clients read either. A
place that said something else before (the beginning of an item, with its string still empty) continues saying that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue, ModelResponse, Part, Reasoning, Segment, Text, ToolCallIR
from workbench.protocols.common.changes import LeafChange
from workbench.protocols.common.codec import ResponseNodes, edit_stream
from workbench.protocols.shapes.items.request import READ_OF_ANSWERS, response_nodes
from workbench.protocols.shapes.items.stream import ItemStreamDecoder
from workbench.protocols.shapes.items.stream_parts import order, value_or_missing
from workbench.protocols.shapes.items.write import (
    Item,
    envelope,
    message_item,
    reasoning_item,
    said_call,
    said_text,
    with_id,
)
from workbench.wire import SseEvent, dumps, loads

_ENDS = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}
_OUTPUT_TEXT = "response.output_text"
_SUMMED = "response.reasoning_summary_text"
_STEMS = {
    "function_call": ("response.function_call_arguments", "arguments"),
    "custom_tool_call": ("response.custom_tool_call_input", "input"),
}


class ItemWriter:
    """Writes the events of one stream. Texts that follow one another are parts of one item, and so are thoughts."""

    content_type = "text/event-stream"
    text_extras: Mapping[str, JsonValue] = {"logprobs": []}
    """Members of the events of a text beside the text."""

    def __init__(self) -> None:
        self._number = -1  # of the last event
        self._items: list[Item] = []
        self._answer: str | None = None  # its id
        self._item: Item | None = None  # the open one
        self._texts: list[Text] = []  # what is in it
        self._thoughts: list[Reasoning] = []
        self._text = ""  # the stem of the events of the string that grows
        self._place: Item = {}
        self._is_open = False

    def start(self, response: ModelResponse) -> bytes:
        self._answer = response.id
        whole = envelope(response, [])
        ends = {"usage": None, "error": None, "incomplete_details": None}
        opening = whole | {"status": "in_progress", "output": [], **ends}
        return self._event("response.created", response=opening) + self._event("response.in_progress", response=opening)

    def choice(self, number: int) -> bytes:
        return b""

    def open(self, part: Part) -> bytes:
        self._is_open = True
        if isinstance(part, Text):
            return self._open_text(part)
        if isinstance(part, Reasoning):
            return self._open_thought(part)
        closed = self._close_item()
        assert isinstance(part, ToolCallIR)  # normal form has nothing else here
        item = self._with_id(said_call(part))
        self._text, key = _STEMS[item["type"]]
        return closed + self._open_item({**item, key: ""})

    def grow(self, text: str) -> bytes:
        more = self.text_extras if self._text == _OUTPUT_TEXT else {}
        return self._event(f"{self._text}.delta", **self._place, **more, delta=text) if self._text else b""

    def close(self, part: Part) -> bytes:
        self._is_open = False
        if isinstance(part, Text):
            self._texts.append(part)
            part_json = self._text_part(part)
            event = self._event(f"{_OUTPUT_TEXT}.done", **self._place, **self.text_extras, text=part.text)
            return event + self._event("response.content_part.done", **self._place, part=part_json)
        if isinstance(part, Reasoning):
            self._thoughts.append(part)
            if not self._text:
                return b""
            event = self._event(f"{_SUMMED}.done", **self._place, text=part.text)
            return event + self._event(
                "response.reasoning_summary_part.done", **self._place, part=_summary(part.text or "")
            )
        assert isinstance(part, ToolCallIR)
        item = self._with_id(said_call(part))
        key = _STEMS[item["type"]][1]
        event = self._event(f"{self._text}.done", **self._place, **{key: item[key]})
        return event + self._end_item(item)

    def end(self, response: ModelResponse) -> bytes:
        """The last event holds the whole answer; without it the answer is not complete."""
        encoded = self.start(response) if self._number < 0 else b""
        encoded += b"" if self._is_open and not response.is_complete else self._close_item()
        if response.is_complete or response.error:
            whole = envelope(response, self._items)
            encoded += self._event(_ENDS[whole["status"]], response=whole)
        return encoded

    def _message(self, texts: Sequence[Text]) -> Item:
        """The item of a message."""
        return message_item(texts)

    def _text_part(self, text: Text) -> Item:
        """A text in a message."""
        return said_text(text)

    def _open_text(self, part: Text) -> bytes:
        encoded = b""
        if not self._texts:
            encoded = self._close_item()
            encoded += self._open_item({**self._with_id(self._message([part])), "content": []})
        self._text = _OUTPUT_TEXT
        self._place = {**self._own(), "content_index": len(self._texts)}
        return encoded + self._event("response.content_part.added", **self._place, part=self._text_part(Text("")))

    def _open_thought(self, part: Reasoning) -> bytes:
        """Only the first part of an item has anything beside its text; what has its lists of old comes whole."""
        encoded = b""
        if not self._thoughts or part.extra or part.data is not None:
            encoded = self._close_item()
            if part.extra:
                self._text = ""
                self._item = {}
                return encoded
            encoded += self._open_item(self._with_id({"type": "reasoning", "summary": []}))
        elif not self._item:
            return encoded
        if part.text is None:
            self._text = ""
            return encoded
        self._text = _SUMMED
        self._place = {**self._own(), "summary_index": len(self._thoughts)}
        return encoded + self._event("response.reasoning_summary_part.added", **self._place, part=_summary(""))

    def _with_id(self, item: Item) -> Item:
        return with_id(item, self._answer, len(self._items))

    def _own(self) -> Item:
        assert self._item is not None
        return {"output_index": len(self._items), "item_id": self._item.get("id", "")}

    def _open_item(self, item: Item) -> bytes:
        self._item = item | {"status": "in_progress"} if "status" in item else item
        self._place = self._own()
        return self._event("response.output_item.added", output_index=len(self._items), item=self._item)

    def _close_item(self) -> bytes:
        """The end of an item that holds several parts."""
        if self._texts:
            item = self._with_id(self._message(self._texts))
        elif self._thoughts:
            item = self._with_id(reasoning_item(self._thoughts))
        else:
            return b""
        encoded = b"" if self._item else self._whole(item)
        return encoded + self._end_item(item)

    def _end_item(self, item: Item) -> bytes:
        encoded = self._event("response.output_item.done", output_index=len(self._items), item=item)
        self._items.append(item)
        self._item, self._texts, self._thoughts = None, [], []
        return encoded

    def _whole(self, item: Item) -> bytes:
        """Everything of a reasoning item but its end."""
        opening = {key: [] if key in _LISTS and isinstance(value, list) else value for key, value in item.items()}
        pieces = [self._open_item(opening)]
        for key, (part_of, stem, number) in _LISTS.items():
            for n, part in enumerate(item[key] if isinstance(item.get(key), list) else ()):
                at, text = {**self._own(), number: n}, part.get("text", "")
                pieces.append(self._event(f"{part_of}.added", **at, part={**part, "text": ""}))
                pieces += [self._event(f"{stem}.delta", **at, delta=text)] if text else []
                pieces.append(self._event(f"{stem}.done", **at, text=text))
                pieces.append(self._event(f"{part_of}.done", **at, part=part))
        return b"".join(pieces)

    def _event(self, kind: str, **value: JsonValue) -> bytes:
        self._number += 1
        event = {"type": kind, **value, "sequence_number": self._number}
        return b"event: %s\ndata: %s\n\n" % (kind.encode(), dumps(event))


_LISTS = {
    "summary": ("response.reasoning_summary_part", _SUMMED, "summary_index"),
    "content": ("response.content_part", "response.reasoning_text", "content_index"),
}
"""Lists of a reasoning item: the stems of the events of their entries and of the texts in them, and their index."""


def _summary(text: str) -> Item:
    return {"type": "summary_text", "text": text}


def encode_stream(response: ModelResponse, original: bytes) -> bytes:
    """The stream ``original``, saying ``response``. Raises LocalProtocolError."""
    return encode_items_stream(ItemStreamDecoder, response_nodes, response, original)


def encode_items_stream(
    decoder: Callable[[], ItemStreamDecoder], nodes: ResponseNodes, response: ModelResponse, original: bytes
) -> bytes:
    """The same for any protocol whose streams are read by such a decoder."""
    return edit_stream(decoder, _everywhere, nodes, response, original, READ_OF_ANSWERS)


def _everywhere(change: LeafChange, decoder: ItemStreamDecoder, events: Sequence[SseEvent]) -> Iterator[LeafChange]:
    """The change at each place that says the old value."""
    pointer = change.pointer + change.below
    places = list(_places(pointer, change.old, decoder, events))
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
    pointer: str, old: JsonValue, decoder: ItemStreamDecoder, events: Sequence[SseEvent]
) -> Iterator[tuple[Segment, ...]]:
    _, first, *rest = pointer.split("/")
    if first != "output" or not rest:
        for value, event in decoder.responses:
            found = value_or_missing(value, pointer)
            if type(found) is type(old) and found == old:
                yield (Segment(event, f"/response{pointer}"),)
        return
    item, at = order(decoder.items)[int(rest[0])], "".join(f"/{step}" for step in rest[1:])
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
