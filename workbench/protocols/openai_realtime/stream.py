"""Events of a Realtime response: those of a stream of items under other names, and audio.

The names changed when the API left beta (2026-05-07); both are read. Audio comes as base64 in events and is in no item:
its length is kept, and how long it lasts where the format is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.ir import MILD, Anomaly, ApiError, JsonValue, Message, ModelResponse, Opaque, Source
from workbench.lazy_dataclass import replace
from workbench.protocols.common.reading import Notes
from workbench.protocols.common.stream_notes import StreamNotes, Value
from workbench.protocols.openai_realtime import audio
from workbench.protocols.openai_realtime.event_members import EventFaults
from workbench.protocols.openai_realtime.reading import describe, failure_of, read_output_item
from workbench.protocols.shapes.items.stream import PARTS, TEXTS, InPieces, ItemStreamDecoder, names_of_events
from workbench.protocols.shapes.items.stream_parts import StreamedItem, order
from workbench.wire import SseEvent

_TRANSCRIPT = InPieces("message", "/content/*/transcript", "transcript", "content_index", "output_audio")

REALTIME = names_of_events(
    {
        "response.output_text": TEXTS["response.output_text"],
        "response.text": InPieces("message", "/content/*/text", "text", "content_index", "text"),
        "response.output_audio_transcript": _TRANSCRIPT,
        "response.audio_transcript": _TRANSCRIPT._replace(entry="audio"),
        "response.function_call_arguments": TEXTS["response.function_call_arguments"],
        "response.mcp_call_arguments": TEXTS["response.mcp_call_arguments"],
    },
    {"response.content_part": PARTS["response.content_part"]},
    ("response.created",),
    ("response.done",),
    (
        *("conversation.item.added", "conversation.item.created", "conversation.item.done"),
        *(*audio.ENDS, "rate_limits.updated"),
        *("conversation.item.truncated", "input_audio_buffer.speech_started"),
    ),
    "response.done",
)


class _SpokenItem(StreamedItem):
    """An item whose contents may be spoken."""

    needs_one_whole = True  # Azure's Voice Live and xAI end parts and items without their text

    def __init__(self, index: int | None, kind: str | None) -> None:
        super().__init__(index, kind)
        self.audio_bytes = 0
        self.audio_events: list[int] = []

    def _read(self, value: JsonValue, pointer: str, notes: Notes) -> Message:
        return read_output_item(value, pointer, notes)

    def hear(self, piece: JsonValue, number: int) -> None:
        """Count a piece of audio."""
        self.audio_bytes += audio.size_of(piece)
        self.audio_events.append(number)


class RealtimeStreamDecoder(ItemStreamDecoder):
    """Builds the response of one stream. Never raises; linear in the stream."""

    names = REALTIME
    is_by_id = True

    def __init__(self) -> None:
        super().__init__()
        self._faults = EventFaults()

    def result(self) -> ModelResponse:
        """The response so far, each spoken item with a part that tells the length of its audio."""
        result = super().result()
        spoken_items = (item if isinstance(item, _SpokenItem) else None for item in order(self.items))
        pairs = zip(result.messages, spoken_items, strict=True)
        response = self.responses[-1][0] if self.responses else {}
        return replace(result, messages=tuple(_with_audio(message, item, response) for message, item in pairs))

    def _describe(self, body: Value, messages: tuple[Message, ...], **fields: Any) -> ModelResponse:
        return describe(body, messages, **fields)

    def _failure(self, response: Value) -> ApiError | None:
        return failure_of(response)

    def _new_item(self, index: int | None, kind: str | None) -> StreamedItem:
        return _SpokenItem(index, kind)

    def _take(self, value: Value, event: SseEvent) -> None:
        if value.get("type") not in audio.PIECES:
            _note(self._notes, self._faults.of(value), event.number)
            super()._take(value, event)
        elif isinstance(item := self._find(value, "message", event.number), _SpokenItem):
            item.hear(value.get("delta"), event.number)
            _note(self._notes, self._faults.of_audio(value), event.number)

    def _ending(self, messages: tuple[Message, ...]) -> Any:
        """A response that was cancelled or cut leaves its items as they are: that is how it ends."""
        response = self.responses[-1][0] if self.responses else {}
        is_cut = response.get("status") not in (None, "completed", "in_progress")
        return _unexplained_end(response, self._ended) if is_cut else super()._ending(messages)


def _note(notes: StreamNotes, faults: Iterable[tuple[str, str]], event: int) -> None:
    for rule, text in faults:
        notes.add(rule, text, event)


def _unexplained_end(response: Value, ended: int | None) -> Iterator[Anomaly]:
    """A response that is incomplete and does not say why: clients cannot tell whether to ask for more."""
    details = response.get("status_details")
    has_reason = isinstance(details, dict) and bool(details.get("reason"))
    if response.get("status") == "incomplete" and not has_reason and ended is not None:
        text = "the response is incomplete and gives no reason (status_details.reason)"
        yield Anomaly(f"stream.finish-reason{MILD}", text, "/status_details", (ended,))


def _with_audio(message: Message, item: _SpokenItem | None, response: Value) -> Message:
    """A message with a part that tells how much of it was spoken."""
    if item is None or not item.audio_events:
        return message
    measures: dict[str, JsonValue] = {"bytes": item.audio_bytes, "events": len(item.audio_events)}
    seconds = audio.seconds_of(response, item.audio_bytes)
    if seconds is not None:
        measures["seconds"] = seconds
    part = Opaque("audio", measures, Source("/audio", {}, {}, tuple(item.audio_events)))
    return replace(message, parts=(*message.parts, part))
