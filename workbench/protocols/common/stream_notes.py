"""Notes of a stream decoder: anomalies and their events, the error of the stream, and whether it is cut off."""

from __future__ import annotations

from workbench.errors import WireError
from workbench.ir import Anomaly, ApiError, JsonValue
from workbench.protocols.common.error_body import read_error_text
from workbench.wire import SseEvent, loads, type_words

Value = dict[str, JsonValue]


class StreamNotes:
    """Notes of one stream whose events are JSON objects.

    Attributes:
        is_cut: it stops inside an event.
        is_over: so does it, or its last event arrived and could not be read: no event is missing behind it.
    """

    def __init__(self) -> None:
        self.error: ApiError | None = None
        self.is_cut = False
        self.is_over = False
        self._noted: dict[tuple[str, str, str], list[int]] = {}

    def add(self, slug: str, message: str, event: int, pointer: str = "") -> None:
        """Note an anomaly that an event shows."""
        self._noted.setdefault((slug, message, pointer), []).append(event)

    def fail(self, error: ApiError | None, event: int) -> None:
        """Note an error; the first one counts."""
        self.error = self.error or error
        self.add("stream.error-event", "the stream contains an error", event)

    def anomalies(self) -> list[Anomaly]:
        """Each anomaly once, in the order in which they were first seen."""
        return [Anomaly(*key, tuple(events)) for key, events in self._noted.items()]

    def object_of(self, event: SseEvent) -> Value | None:
        """The object that an event is; None for anything else, which is noted.

        Comments alone and ``[DONE]``, which some servers add, say nothing.
        """
        data = event.data
        if data is None or data.strip() == b"[DONE]":
            return None
        try:
            value = loads(data)
        except WireError as error:
            self._unreadable(event, error)
            return None
        if type(value) is not dict:
            self.add("stream.framing", f"a block contains {type_words(value)}, not an object", event.number)
            return None
        return value

    def object_at(self, key: str, value: Value, event: int) -> Value:
        """An object in an event; empty for anything else, which is noted."""
        found = value.get(key)
        if isinstance(found, dict):
            return found
        self.add("content.shape", f"an event whose {key!r} is {type_words(found)}, not an object", event)
        return {}

    def _unreadable(self, event: SseEvent, error: WireError) -> None:
        if event.name == "error":
            self.fail(read_error_text(event.data or b""), event.number)
        elif event.terminated:
            self.add("stream.framing", f"the data of a block is {error.what}", event.number)
        else:
            self.is_cut = self.is_over = True
            self.add("stream.truncated", "the stream ends inside an event", event.number)
