"""Event streams that build a response from items.

    stream := created (queued | in_progress)* item* (completed | incomplete | failed)  |  … error
    item   := output_item.added (part | text)* output_item.done      one output_index each

(``types/responses/response_stream_event.py`` of the official ``openai`` SDK 3.54; recordings of the dialects.) Every
event names its type, and numbers itself with ``sequence_number`` where the server follows the original. Unknown events
are tolerated and kept. Any other difference is an anomaly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.ir import MILD, NOTHING, Anomaly, ApiError, JsonValue, Message, ModelResponse
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.protocols import StreamingPart
from workbench.protocols.common.error_body import error_under_key, read_error, verbatim
from workbench.protocols.common.pieces import Pieces, WholePart
from workbench.protocols.common.reading import string_or_none
from workbench.protocols.common.stream_notes import StreamNotes, Value
from workbench.protocols.shapes.items.response import describe
from workbench.protocols.shapes.items.stream_parts import (
    StreamedItem,
    StreamedItemString,
    WholeValue,
    changed_names,
    order,
)
from workbench.wire import SseEvent, type_words


class InPieces(NamedTuple):
    """A string that arrives in pieces: ``….delta`` events, then one ``….done``.

    Attributes:
        kind: type of the item that it belongs to.
        at: its place in the item; ``*`` is the index of an entry.
        whole: key of the complete string in the ``done`` event.
        position: key of the entry's index.
        entry: type of the entry.
    """

    kind: str
    at: str
    whole: str
    position: str = ""
    entry: str = ""


TEXTS: Mapping[str, InPieces] = {
    "response.output_text": InPieces("message", "/content/*/text", "text", "content_index", "output_text"),
    "response.refusal": InPieces("message", "/content/*/refusal", "refusal", "content_index", "refusal"),
    "response.function_call_arguments": InPieces("function_call", "/arguments", "arguments"),
    "response.custom_tool_call_input": InPieces("custom_tool_call", "/input", "input"),
    "response.mcp_call_arguments": InPieces("mcp_call", "/arguments", "arguments"),
    "response.code_interpreter_call_code": InPieces("code_interpreter_call", "/code", "code"),
    "response.reasoning_summary_text": InPieces(
        "reasoning", "/summary/*/text", "text", "summary_index", "summary_text"
    ),
    "response.reasoning_text": InPieces("reasoning", "/content/*/text", "text", "content_index", "reasoning_text"),
    "response.apply_patch_call_operation_diff": InPieces("apply_patch_call", "/operation/diff", "diff"),
    "response.shell_call_command": InPieces("shell_call", "/action/commands/*", "command", "command_index"),
}
PARTS: Mapping[str, tuple[str, str]] = {
    "response.content_part": ("/content", "content_index"),
    "response.reasoning_summary_part": ("/summary", "summary_index"),
}
"""Events with a complete entry of a list: where the list is, and the key of the entry's index."""


@dataclass(frozen=True, slots=True)
class EventNames:
    """Names of the events of a protocol.

    Attributes:
        texts: strings that arrive in pieces.
        parts: events with a complete entry of a list.
        begins, ends: events with the whole response.
        beside: events without content of the response.
        missing_end: words for a stream without any of ``ends``: what it lacks.
        index_keys: name of an event with a piece → the key of its entry's index.
    """

    texts: Mapping[str, InPieces]
    parts: Mapping[str, tuple[str, str]]
    begins: frozenset[str]
    ends: frozenset[str]
    beside: frozenset[str] = frozenset()
    missing_end: str = ""
    index_keys: Mapping[str, str] = NOTHING


def names_of_events(
    texts: Mapping[str, InPieces],
    parts: Mapping[str, tuple[str, str]],
    begins: Iterable[str],
    ends: Iterable[str],
    beside: Iterable[str] = (),
    missing_end: str = "",
) -> EventNames:
    """The names of the events of a protocol, by their meaning."""
    keys = {f"{stem}.delta": text.position for stem, text in texts.items()}
    return EventNames(texts, parts, frozenset(begins), frozenset(ends), frozenset(beside), missing_end, keys)


RESPONSES = names_of_events(
    TEXTS,
    PARTS,
    ("response.created", "response.queued", "response.in_progress"),
    ("response.completed", "response.incomplete", "response.failed", "response.cancelled"),
    ("keepalive",),
    "response.completed, response.incomplete or response.failed",
)
_PROGRESS = frozenset({"in_progress", "searching", "interpreting", "generating", "completed", "failed", "compacting"})
"""Endings of the names of events that only report that a tool is still running."""

_FOR_THE_CLIENT = ("message", "reasoning", "function_call", "custom_tool_call")
"""Types of items that a client builds from their events."""

_GAP = "the sequence numbers are not consecutive: events were lost, repeated or moved"


class ItemStreamDecoder:
    """Builds the response of one stream. Never raises; linear in the length of the stream."""

    names = RESPONSES
    is_by_id = False
    """True if clients use only ids: missing or reused indexes, and ends without content, are no faults."""

    def __init__(self) -> None:
        self.items: list[StreamedItem] = []
        self.growing: list[StreamingPart] = []
        self.responses: list[tuple[Value, int]] = []  # every object of the whole answer, and its event
        self._by_index: dict[int, StreamedItem] = {}
        self._by_id: dict[str, StreamedItem] = {}
        self._growing: dict[int, dict[tuple[JsonValue, JsonValue, str | None], Pieces]] = {}  # by output_index
        self._pointer = "/delta"
        self._notes = StreamNotes()
        self._unknown: list[JsonValue] = []
        self._abandoned: list[JsonValue] = []
        self._sequence: int | None = None
        self._first: int | None = None  # sequence number of the first event
        self._headless: int | None = None  # event of the first item, if no response had begun
        self._lacks = ""  # key that the response does not have because that item had not begun either
        self._last = 0
        self._ended: int | None = None

    def feed(self, event: SseEvent) -> None:
        """Read one event. Comments, and the ``[DONE]`` that some servers add, are skipped."""
        self._last = event.number
        value = self._notes.object_of(event)
        if value is None:
            return
        self._count(value, event.number)
        if self._ended is not None or not self._grow(value, event.number):
            self._take(value, event)

    def result(self) -> ModelResponse:
        """The response so far."""
        read = [item.message(f"/output/{n}") for n, item in enumerate(order(self.items))]
        messages = tuple(message for message, _ in read)
        top = dict(self.responses[-1][0]) if self.responses else {}
        if self._ended is None:
            top.pop("status", None)  # that of the beginning
        extras = {"unknown_events": self._unknown, "abandoned_responses": self._abandoned}
        found = self._notes.anomalies()
        found += [anomaly for _, anomalies in read for anomaly in anomalies]
        return self._describe(
            top | {name: list(values) for name, values in extras.items() if values},
            messages,
            error=self._notes.error,
            is_stream=True,
            is_complete=self._ended is not None,
            anomalies=(*found, *self._ending(messages)),
            finish_events=() if self._ended is None else (self._ended,),
        )

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        top = {k: v for k, v in self.responses[-1][0].items() if k != "status"} if self.responses else {}
        return self._describe(top, (), is_stream=True)

    def _describe(self, body: Value, messages: tuple[Message, ...], **fields: Any) -> ModelResponse:
        """The response with its items."""
        return describe(body, messages, **fields)

    def _failure(self, response: Value) -> ApiError | None:
        """The error in the object of the whole response."""
        return error_under_key(response) if response.get("error") else None

    def _grow(self, value: Value, number: int) -> bool:
        """Take the next piece of a string that has begun: nearly every event."""
        try:
            kind = value["type"]
            pieces = self._growing[value["output_index"]][
                kind, value.get(self.names.index_keys[kind]), value.get("item_id")
            ]
            piece = value["delta"]
        except (KeyError, TypeError):
            return False
        if type(piece) is not str:
            return False
        pieces.texts.append(piece)
        pieces.events.append(number)
        pieces.pointers.append(self._pointer)
        return True

    def _take(self, value: Value, event: SseEvent) -> None:
        number, kind = event.number, value.get("type")
        if not isinstance(kind, str):
            if not self._fail(value, number):
                self._notes.add("stream.framing", "an event without a type", number)
                self._notes.is_over = event.name in self.names.ends  # what is missing is its type
                self._unknown.append(value)
            return
        if event.name is not None and event.name != kind:
            self._notes.add("stream.framing", f"an event named {event.name!r:.80} has type {kind!r:.80}", number)
        if self._ended is not None and kind not in self.names.begins:
            self._notes.add("stream.framing", "events after the end of the stream", number)
        stem, _, suffix = kind.rpartition(".")
        if kind == "error":
            self._fail(value, number)
        elif kind in self.names.ends or kind in self.names.begins:
            self._response(value, kind, number)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._item_event(value, number, is_done=suffix == "done")
        elif stem in self.names.parts and suffix in ("added", "done"):
            self._part(value, *self.names.parts[stem], number, is_done=suffix == "done")
        elif kind == "response.output_text.annotation.added":
            self._annotation(value, number)
        elif stem in self.names.texts and suffix in ("delta", "done", "added"):
            self._text(value, self.names.texts[stem], suffix, number)
        elif not self._is_progress(value, suffix, number) and kind not in self.names.beside:
            self._unknown.append(value)

    def _is_progress(self, value: Value, suffix: str, number: int) -> bool:
        """The event says that an item which has begun is being worked on."""
        index = value.get("output_index")
        item = self._by_index.get(index) if type(index) is int else None
        if suffix in _PROGRESS and item is not None:
            item.mark("", number)
            return True
        return False

    # -- the whole answer

    def _response(self, value: Value, kind: str, number: int) -> None:
        response = self._notes.object_at("response", value, number)
        if kind == "response.created" and (self._ended is not None or self.items):
            self._abandon(number)
        self.responses.append((response, number))
        if failure := self._failure(response):
            self._notes.fail(failure, number)
        if kind in self.names.ends:
            self._ended = number
            self._growing.clear()
            output = response.get("output")
            for n, item in enumerate(output if isinstance(output, list) else ()):
                self._final(item, n, number)

    def _abandon(self, number: int) -> None:
        """A stream that starts again: earlier events belong to another response."""
        self._notes.add("stream.block-order", "a second response.created: the response starts again", number)
        first = self.responses[-1][0] if self.responses else {}
        self._abandoned.append({**first, "output": [item.value() for item in order(self.items)]})
        for collection in (self.items, self.growing, self.responses, self._by_index, self._by_id, self._growing):
            collection.clear()
        self._ended = self._notes.error = self._sequence = None

    def _final(self, value: JsonValue, n: int, number: int) -> None:
        """An item as the last event has it."""
        found = string_or_none(value.get("id")) if isinstance(value, dict) else None
        item = self._by_id.get(found) if found else None
        if item is None or item.final is not None:
            item = self._by_index.get(n)
        if item is None or item.final is not None:
            item = self._open(n, None)
            item.mark("", number)
        elif fault := _fault_at_end(item, value):
            self._notes.add(*fault, number, f"/output/{n}")
        item.final = n
        item.is_done = True
        item.say(WholeValue("", value, number, f"/response/output/{n}", is_last=True))

    # -- items

    def _open(self, index: int | None, kind: str | None) -> StreamedItem:
        if not self.responses and self._headless is None:
            self._headless = self._last
        item = self._new_item(index, kind)
        self.items.append(item)
        if index is not None:
            self._by_index[index] = item
            self._growing.pop(index, None)
        return item

    def _new_item(self, index: int | None, kind: str | None) -> StreamedItem:
        return StreamedItem(index, kind)

    def _find(self, value: Value, kind: str, number: int) -> StreamedItem:
        """The item that an event belongs to: by its index, without one by its id; a new one where it never began."""
        index, item_id = value.get("output_index"), value.get("item_id")
        item = self._by_index.get(index) if type(index) is int else None
        if isinstance(item_id, str) and (item is None or item.name("id") not in (None, item_id)):
            item = self._item_of_id(item_id, item, number, index)
        if type(index) is not int and not (self.is_by_id and item):
            self._notes.add("stream.index", "an event of an item has no item index", number)
            item = item or (self.items[-1] if self.items else None)
        if item is None:
            if self.responses or self.items or (self._first or 0) > 1:
                message = f"an event of item {index!r:.20}, which was not started"
                self._notes.add("stream.block-order", message, number)
            else:
                self._lacks = "id"
            item = self._open(index if type(index) is int else None, kind)
        elif item.is_done:
            self._notes.add("stream.block-order", f"an event of item {item.index}, which has already ended", number)
        return item

    def _item_of_id(
        self, item_id: str, there: StreamedItem | None, number: int, index: JsonValue
    ) -> StreamedItem | None:
        """The item of an id that the item at the event's index does not have."""
        holder = self._by_id.get(item_id)
        if there is None:
            if holder is not None and type(index) is int:
                message = f"an event of item {item_id!r:.80} has index {index!r:.20}, but no item has this index"
                self._notes.add("stream.index", message, number, f"/output/{holder.index}")
            return holder
        if holder is None:
            message = f"item {there.index} has a different id in its events"  # with Copilot, in each a new one
            self._notes.add("stream.id", message, number, f"/output/{there.index}/id")
            return there
        message = f"an event of item {item_id!r:.80} has a different index, {there.index}"
        self._notes.add("stream.index", message, number, f"/output/{holder.index}")
        return holder

    def _item_event(self, value: Value, number: int, *, is_done: bool) -> None:
        found = self._notes.object_at("item", value, number)
        index = value.get("output_index")
        if type(index) is not int:
            self._notes.add("stream.index", "an event of an item has no item index", number)
            index = self._begun_index(found) if is_done else len(self.items)
        item = self._by_index.get(index)
        if item is not None and (item.is_done or not is_done):
            is_apart = self.is_by_id and item.is_done and found.get("id") not in (None, item.name("id"))
            if not is_apart:
                self._notes.add(
                    "stream.index", f"output_index {index} is used again", number, f"/output/{len(self.items)}"
                )
            item = None
        elif item is None and is_done:
            self._notes.add("stream.block-order", f"item {index} has a done event but was not started", number)
        if item is None:
            item = self._open(index, None)
        elif is_done:
            for slug, message, key in changed_names(item, found):
                self._notes.add(slug, message, number, f"/output/{item.index}/{key}")
            if item.kind == "function_call" and not item.is_told("/arguments"):
                self._notes.add("stream.block-order", "a call ends without function_call_arguments.done", number)
        if isinstance(found.get("id"), str):
            self._by_id[found["id"]] = item
        item.mark("", number)
        if found:
            item.say(WholeValue("", found, number, "/item", is_last=is_done))
        if item.kind == "function_call":
            self._show(item, "/arguments")
        if is_done:
            if not item.is_shown:
                item.is_shown = True
                self.growing.append(WholePart(*item.message("")[0].parts))
            item.is_done = True
            self._growing.pop(index, None)

    def _begun_index(self, final_item: Value) -> int:
        """The index of the item that an event without one ends: told by its id; a new one where none of it began."""
        item = self._by_id.get(string_or_none(final_item.get("id")) or "")
        return len(self.items) if item is None or item.index is None else item.index

    # -- what is in them

    def _text(self, value: Value, text: InPieces, suffix: str, number: int) -> None:
        item = self._find(value, text.kind, number)
        at, key = self._place(item, text, value, number), "delta" if suffix == "delta" else text.whole
        piece = value.get(key)
        if not isinstance(piece, str):
            self._notes.add("content.shape", f"an event whose {key!r} is {type_words(piece)}, not a string", number)
            self._unknown.append(value)
            return
        if suffix != "delta":
            item.say_string(WholeValue(at, piece, number, f"/{key}", is_last=suffix == "done"), value)
            return
        if at not in item.tracks:
            self._show(item, at)
        pieces = item.grow(at)
        pieces.add(piece, number, self._pointer)
        index, entry = value.get("output_index"), value.get(text.position)
        is_placed = type(index) is int and self._by_index.get(index) is item and type(entry) in (int, type(None))
        if is_placed and not item.is_done and isinstance(index, int):
            item_id = string_or_none(value.get("item_id"))
            if item_id in (None, item.name("id")):
                self._growing.setdefault(index, {})[value["type"], entry, item_id] = pieces

    def _show(self, item: StreamedItem, at: str) -> None:
        """A string of an item begins; of other items, the complete item arrives at once."""
        is_text = item.kind in ("message", "reasoning") and at.endswith("/text")
        if is_text or (item.kind == "function_call" and not item.is_shown):
            item.is_shown = True
            self.growing.append(StreamedItemString(item, at))

    def _place(self, item: StreamedItem, text: InPieces, value: Value, number: int) -> str:
        before, star, after = text.at.partition("/*")
        if not star:
            return before
        place = item.place(before, self._number(value, text.position, number))
        if text.entry:
            item.kinds.setdefault(place, text.entry)
        return place + after

    def _number(self, value: Value, key: str, number: int) -> int:
        found = value.get(key)
        if type(found) is int:
            return found
        self._notes.add("stream.index", f"an event without its {key}", number)
        return 0

    def _part(self, value: Value, at: str, key: str, number: int, *, is_done: bool) -> None:
        is_silent = self.is_by_id and is_done and "part" not in value
        part = {} if is_silent else self._notes.object_at("part", value, number)
        is_thought = at == "/summary" or part.get("type") == "reasoning_text"
        item = self._find(value, "reasoning" if is_thought else "message", number)
        place = item.place(at, self._number(value, key, number))
        item.mark(place, number)
        if not is_silent:
            item.say(WholeValue(place, part, number, "/part", is_last=is_done))

    def _annotation(self, value: Value, number: int) -> None:
        item = self._find(value, "message", number)
        content = item.place("/content", self._number(value, "content_index", number))
        place = item.place(f"{content}/annotations", self._number(value, "annotation_index", number))
        item.mark(content, number)
        item.say(WholeValue(place, value.get("annotation"), number, "/annotation", is_last=False))

    # -- what is wrong

    def _count(self, value: Value, number: int) -> None:
        sequence = value.get("sequence_number")
        if type(sequence) is not int:
            return
        if self._sequence is not None and sequence != self._sequence + 1 and value.get("type") != "response.created":
            self._notes.add("stream.framing", _GAP, number)
        self._sequence = sequence
        self._first = sequence if self._first is None else self._first

    def _fail(self, value: Value, number: int) -> bool:
        """Take an error event; False where it holds no error."""
        error = read_error(value)
        if error is None and value.get("type") != "error":
            return False
        self._notes.fail(error or verbatim(value), number)
        return True

    def _ending(self, messages: tuple[Message, ...]) -> Iterator[Anomaly]:
        """Anomalies that only the end shows. After an error event no other end is expected."""
        if self._headless is not None and (self._first or 0) <= 1:  # a later one: the stream was resumed there
            mild, what = ("", "content begins") if self._lacks else (MILD, "items begin")
            text = f"the {what} without response.created"
            yield Anomaly(f"stream.framing{mild}", text, "", (self._headless,), self._lacks)
        if self._notes.error is not None:
            return
        for n, item in enumerate(order(self.items)):
            if item.is_done:
                continue
            events = messages[n].parts[0].source.events if messages[n].parts else ()
            if self._ended is not None:
                yield Anomaly("stream.block-order", f"item {item.index} has no done event", f"/output/{n}", events)
            else:
                message, events = f"the stream ends inside item {item.index}", tuple(sorted({*events, self._last}))
                yield Anomaly("stream.truncated", message, f"/output/{n}", events)
        if self._ended is None and not self._notes.is_over and all(item.is_done for item in self.items):
            message = f"the stream ends without {self.names.missing_end}"
            yield Anomaly("stream.no-terminator", message, "", (self._last,))


def _fault_at_end(item: StreamedItem, value: JsonValue) -> tuple[str, str] | None:
    """Slug and message of an item that is not done before the end of the response, or has another type there."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not item.is_done:
        mild = "" if item.kind in _FOR_THE_CLIENT else MILD  # OpenAI leaves out the end of lists of MCP tools
        return f"stream.block-order{mild}", f"item {item.index} has no done event"
    if kind is None or item.kind in (None, kind):
        return None
    return (
        "stream.block-order",
        f"item {item.index} ends as {kind!r:.40}, but its events are those of {item.kind!r:.40}",
    )
