"""Our own reading of a stream in the form in which clients' are compared with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.ir import Carrier, JsonValue, ModelResponse, Part, Reasoning, Segment, Text, ToolCallIR
from workbench.protocols.clients._chat import REASONINGS
from workbench.protocols.clients.buffers import CALL, REASONING, TEXT, BuiltAnswer, DataBlock, EventText, PartBuffer

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
    return BuiltAnswer((tuple(made for made in found if made),))


def declared_calls(response: ModelResponse) -> list[ToolCallIR]:
    """Calls of functions and custom tools: what is called in another way has an item of its own type for it."""
    calls = (part for message in response.messages for part in message.parts if isinstance(part, ToolCallIR))
    return [call for call in calls if call.format != ITEM]


def _parts(
    parts: Sequence[Part], values: Mapping[int, JsonValue], *, is_chat: bool, is_alone: bool
) -> list[PartBuffer]:
    made: list[PartBuffer] = []
    sliced: dict[Segment, None] = {}
    for part in parts:
        if "text" in part.source.slices:
            sliced |= dict.fromkeys(part.source.segments.get("text", ()))
        else:
            found = _part(part, values)
            if found is not None:
                made.append(found)
    if sliced:
        text = PartBuffer(TEXT)
        segments = _with_tags(sliced, values) if is_alone else sorted(sliced)
        text.strings["text"] = _pieces(segments, values)
        made.append(text)
    order = (REASONING, TEXT, CALL)
    return sorted(made, key=lambda p: order.index(p.kind)) if is_chat else made


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
            held = {"id": call.id, "name": call.name, "arguments": call.raw}
            made = _buffer(CALL, "", part, {k: v for k, v in held.items() if v is not None}, values)
            if call.error is None and (call.raw is None or call.format == "anthropic"):
                made.value = (call.input,)
            return made
    return None


def _buffer(kind: str, name: str, part: Part, fields: Mapping[str, str], values: Mapping[int, JsonValue]) -> PartBuffer:
    made = PartBuffer(kind, name)
    for field, text in fields.items():
        segments = part.source.segments.get("raw" if field == "arguments" else field, ())
        pieces = _pieces(segments, values)
        if "".join(p.text for p in pieces) != text:  # a value that stands otherwise on the wire
            events = part.source.events
            pieces = [EventText(events[0] if events else -1, text)]
        made.strings[field] = pieces
    return made


def _pieces(segments: Sequence[Segment], values: Mapping[int, JsonValue]) -> list[EventText]:
    found = ((s.event, value_at(values.get(s.event), s.pointer)) for s in segments)
    return [EventText(event, text) for event, text in found if isinstance(text, str)]


def value_at(value: JsonValue, pointer: str) -> JsonValue:
    """The value at a pointer; None where nothing is."""
    for step in pointer.split("/")[1:]:
        if isinstance(value, dict):
            value = value.get(step.replace("~1", "/").replace("~0", "~"))
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
