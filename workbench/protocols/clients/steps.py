"""Our own accumulation, event by event, and its result in the form in which clients' messages are compared with it.

A decoder is copied every so many blocks on the way; a step back starts from the copy before it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy

from workbench.ir import (
    Carrier,
    JsonValue,
    Message,
    ModelResponse,
    Part,
    Reasoning,
    Segment,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.lazy_dataclass import dataclass
from workbench.protocols import Adapter, StreamDecoder
from workbench.protocols.clients._chat import REASONINGS
from workbench.protocols.clients.buffers import CALL, REASONING, TEXT, BuiltAnswer, DataBlock, EventText, PartBuffer
from workbench.wire import SseEvent, dumps, value_at

COPIES = 32
"""Copies of the decoder over a whole stream: each holds the pieces up to it, so that many would cost memory."""
LEAST_BETWEEN = 128
"""Blocks between two copies at least: to read so many takes under a millisecond."""
REMEMBERED = 8
"""Answers kept: stepping asks for the message before and after an event, again and again."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """Characters ``start`` to ``end`` of a part's text that an event carried (or changed)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StreamStep:
    """The answer after one event.

    Attributes:
        event: number of the block, from zero.
        after: the answer as decoded so far.
        lit: (message, part) → what the event added to the part's text; an empty range where it began the part, or
            changed something else of it.
    """

    event: int
    after: ModelResponse
    lit: dict[tuple[int, int], Highlight]


class Steps:
    """Every step of one stream.

    Args:
        adapter: of the stream's protocol; its decoders can be copied with ``copy.deepcopy``.
        events: every block.
    """

    def __init__(self, adapter: Adapter, events: Sequence[SseEvent]) -> None:
        self._events = events
        self._between = max(LEAST_BETWEEN, len(events) // COPIES)
        self._copies: list[StreamDecoder] = [adapter.stream_decoder()]  # before block 0, _between, 2 * _between …
        self._decoder, self._at = deepcopy(self._copies[0]), 0
        self._known: OrderedDict[int, ModelResponse] = OrderedDict()

    def __len__(self) -> int:
        return len(self._events)

    def grow(self, events: Sequence[SseEvent]) -> None:
        """More blocks came after those there were; what was read of these is kept."""
        self._events = events
        while len(events) // COPIES >= 2 * self._between:
            self._between *= 2
            del self._copies[1::2]

    def step(self, event: int) -> StreamStep:
        """The answer after a block, and what that block did to it."""
        before, after = self.after(event - 1), self.after(event)
        return StreamStep(event, after, dict(text_growth(before, after)))

    def after(self, event: int) -> ModelResponse:
        """The answer once a block was read; -1 for before the first."""
        known = self._known.get(event)
        if known is None:
            self._go(event + 1)
            known = self._known[event] = self._decoder.result()
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return known

    def _go(self, count: int) -> None:
        """Have the decoder hold so many blocks and no more."""
        nearest = min(count // self._between, len(self._copies) - 1) * self._between
        if not nearest <= self._at <= count:
            self._decoder, self._at = deepcopy(self._copies[nearest // self._between]), nearest
        for event in self._events[self._at : count]:
            self._decoder.feed(event)
            self._at += 1
            if self._at == len(self._copies) * self._between:
                self._copies.append(deepcopy(self._decoder))


def text_growth(before: ModelResponse, after: ModelResponse) -> Iterator[tuple[tuple[int, int], Highlight]]:
    """Text that is in ``after`` and was not in ``before``, part by part."""
    for m, p, old, part in pairs(before, after):
        yield (m, p), Highlight(0, len(text_of(part))) if old is None else _highlight(text_of(old), text_of(part))


def pairs(before: ModelResponse, after: ModelResponse) -> Iterator[tuple[int, int, Part | None, Part]]:
    """(message, part, part before, part after) for every part that an event changed."""
    for m, message in enumerate(after.messages):
        old_parts = dict(_keyed_parts(before.messages[m])) if m < len(before.messages) else {}
        for p, (place, part) in enumerate(_keyed_parts(message)):
            old = old_parts.get(place)
            if old is None or (old is not part and (old != part or old.source.events != part.source.events)):
                yield m, p, old, part


def _keyed_parts(message: Message) -> Iterator[tuple[tuple[str, type[Part], int], Part]]:
    """The parts of a message, each with what is its own as long as the message grows: several may share a pointer."""
    counts: dict[tuple[str, type[Part]], int] = {}
    for part in message.parts:
        of = part.source.pointer, type(part)
        counts[of] = counts.get(of, -1) + 1
        yield (*of, counts[of]), part


def _highlight(old: str, new: str) -> Highlight:
    if new.startswith(old):
        return Highlight(len(old), len(new))
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return Highlight(same, len(new))


def text_of(part: Part) -> str:
    """The string of a part that grows: text, reasoning, argument text; of other parts their value as JSON."""
    match part:
        case Text(text=text):
            return text
        case Reasoning(text=text):
            return text or ""
        case ToolCallIR(raw=raw, input=value):
            return (
                raw if raw is not None else value if isinstance(value, str) else "" if value is None else _json(value)
            )
        case ToolResultIR():
            return "".join(text_of(p) for p in part.content if isinstance(p, Text))
    return _json(getattr(part, "value", None))


def _json(value: object) -> str:
    return dumps(value).decode("utf-8", "replace")


ITEM = "openai-item"
"""Format of a call that is an item of a type of its own."""


def our_answer(response: ModelResponse, chunks: Sequence[DataBlock]) -> BuiltAnswer:
    """The response as our decoder reads it.

    Reasoning that is inside the text counts as text, as on the wire; reasoning in lists is left out: no two
    clients hold it alike.
    """
    values = {chunk.event: chunk.value for chunk in chunks}
    is_alone = len(response.messages) == 1
    messages = (
        _parts(message.parts, values, is_chat="chat" in response.protocol, is_alone=is_alone)
        for message in response.messages
    )
    return BuiltAnswer(tuple(tuple(p for p in parts if not p.is_empty) for parts in messages))


def calls_of(response: ModelResponse, chunks: Sequence[DataBlock]) -> BuiltAnswer:
    """The calls that we read, in one list, whichever messages they are in; without those that have types of items."""
    values = {chunk.event: chunk.value for chunk in chunks}
    found = (_part(call, values) for call in declared_calls(response))
    return BuiltAnswer((tuple(built_call for built_call in found if built_call),))


def declared_calls(response: ModelResponse) -> list[ToolCallIR]:
    """Calls of functions and custom tools: what is called in another way has an item of its own type for it."""
    calls = (part for message in response.messages for part in message.parts if isinstance(part, ToolCallIR))
    return [call for call in calls if call.format != ITEM]


def _parts(
    parts: Sequence[Part], values: Mapping[int, JsonValue], *, is_chat: bool, is_alone: bool
) -> list[PartBuffer]:
    part_buffers: list[PartBuffer] = []
    sliced: dict[Segment, None] = {}
    for part in parts:
        if "text" in part.source.slices:
            sliced |= dict.fromkeys(part.source.segments.get("text", ()))
        else:
            found = _part(part, values)
            if found is not None:
                part_buffers.append(found)
    if sliced:
        text = PartBuffer(TEXT)
        segments = _with_tags(sliced, values) if is_alone else sorted(sliced)
        text.strings["text"] = _pieces(segments, values)
        part_buffers.append(text)
    order = (REASONING, TEXT, CALL)
    return sorted(part_buffers, key=lambda p: order.index(p.kind)) if is_chat else part_buffers


def _with_tags(sliced: Mapping[Segment, None], values: Mapping[int, JsonValue]) -> list[Segment]:
    """Every piece of a text, also those that hold nothing but a tag, of which no part is made."""
    pointers = {segment.pointer for segment in sliced}
    return [Segment(event, pointer) for event in sorted(values) for pointer in sorted(pointers)]


def _part(part: Part, values: Mapping[int, JsonValue]) -> PartBuffer | None:
    match part:
        case Text() if part.source.pointer != "/refusal":
            return _buffer(TEXT, "", part, {"text": part.text}, values)
        case Reasoning(carrier=Carrier.REDACTED_THINKING, data=data):
            return _buffer(
                REASONING, "redacted_thinking", part, {"data": data if isinstance(data, str) else ""}, values
            )
        case Reasoning(carrier=Carrier.THINKING) as said:
            fields = {"text": said.text or "", "signature": said.signature or ""}
            return _buffer(REASONING, "thinking", part, fields, values)
        case Reasoning(carrier=carrier, text=text) if carrier.value in REASONINGS:
            return _buffer(REASONING, carrier.value, part, {"text": text or ""}, values)
        case ToolCallIR(is_server=False) as call:
            members = {"id": call.id, "name": call.name, "arguments": call.raw}
            buffer = _buffer(CALL, "", part, {k: v for k, v in members.items() if v is not None}, values)
            if call.error is None and (call.raw is None or call.format == "anthropic"):
                buffer.value = (call.input,)
            return buffer
    return None


def _buffer(kind: str, name: str, part: Part, fields: Mapping[str, str], values: Mapping[int, JsonValue]) -> PartBuffer:
    part_buffer = PartBuffer(kind, name)
    for field, text in fields.items():
        segments = part.source.segments.get("raw" if field == "arguments" else field, ())
        pieces = _pieces(segments, values)
        if "".join(p.text for p in pieces) != text:  # a value that stands otherwise on the wire
            events = part.source.events
            pieces = [EventText(events[0] if events else -1, text)]
        part_buffer.strings[field] = pieces
    return part_buffer


def _pieces(segments: Sequence[Segment], values: Mapping[int, JsonValue]) -> list[EventText]:
    found = ((s.event, value_at(values.get(s.event), s.pointer)) for s in segments)
    return [EventText(event, text) for event, text in found if isinstance(text, str)]
