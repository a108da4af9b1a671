"""Event streams that build one message from typed blocks.

    stream := message_start (block | ping)* message_delta+ message_stop  |  message_start (block | ping)* error
    block  := content_block_start content_block_delta* content_block_stop     one index each, never overlapping

(``types/raw_message_stream_event.py`` of the ``anthropic`` SDK; the provider's page on streaming says that unknown
events have to be tolerated.) Any other difference is an anomaly; its content is kept, and text, reasoning and
arguments are never mixed up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from workbench.errors import WireError
from workbench.ir import MILD, UNUSUAL, Anomaly, ApiError, JsonValue, Message, ModelResponse, Part
from workbench.protocols.common.error_body import read_error, read_error_text
from workbench.protocols.common.reading import Notes, contradicts_content
from workbench.protocols.shapes.blocks.response import envelope
from workbench.protocols.shapes.blocks.stream_parts import CALLS, DELTAS, StreamedBlock, Track
from workbench.wire import SseEvent, loads, type_words

_DELTA = "content_block_delta"
_WITHOUT_USAGE = "a message_delta without 'usage'"
_UNNAMED = "events have no name; this protocol requires one"


class BlockStreamDecoder:
    """Builds the response of one stream. Never raises; linear in the length of the stream."""

    is_named = True
    """The framing names each event by its type."""

    def __init__(self) -> None:
        self._handlers: Mapping[str, Callable[[int, dict[str, JsonValue]], None]] = {
            _DELTA: self._odd_delta,
            "content_block_start": self._block_start,
            "content_block_stop": self._block_stop,
            "message_start": self._message_start,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
            "error": self._error_event,
            "ping": lambda number, value: None,
        }
        self._body: dict[str, JsonValue] = {}
        self._blocks: list[StreamedBlock] = []
        self.growing: list[StreamedBlock] = []
        self._open: dict[JsonValue, StreamedBlock] = {}
        self._latest: dict[JsonValue, StreamedBlock] = {}  # by index, stopped or not
        self._strays: dict[tuple[JsonValue, str], StreamedBlock] = {}  # deltas without a block of their own
        self._reused: list[StreamedBlock] = []
        self._faults: dict[tuple[str, str], list[int]] = {}
        self._is_odd = False  # an index that does not count the blocks was noted
        self._unknown: list[JsonValue] = []
        self._abandoned: list[JsonValue] = []
        self._error: ApiError | None = None
        self._finish: tuple[int, ...] = ()
        self._last: int | None = None
        self._ended: int | None = None
        self._is_started = self._is_cut = self._is_complete = False

    def feed(self, event: SseEvent) -> None:
        """Read one event of the stream. Events with only comments are skipped."""
        number = self._last = event.number
        if not event.data:
            return
        try:
            value = loads(event.data)
            kind = value["type"]
            handle = self._handlers[kind]
        except (WireError, KeyError, TypeError):
            self._odd(event)
            return
        if event.name != kind and self.is_named:
            self._fault(
                "stream.framing",
                f"an event is named {event.name!r}, but its type is {kind!r}" if event.name else _UNNAMED,
                number,
            )
        if self._ended is not None and kind != "ping":
            self._fault("stream.framing", "events after the end of the stream", number)
        if kind == _DELTA:  # nearly every event is a plain one: a call saved is a tenth of its time
            try:
                delta = value["delta"]
                track = self._open[value["index"]].tracks[delta["type"]]
                piece = delta[track.key]
            except (KeyError, TypeError):
                piece = None
            if type(piece) is str:
                pieces = track.pieces
                pieces.texts.append(piece)
                pieces.events.append(number)
                pieces.pointers.append(track.pointer)
                return
        handle(number, value)

    def result(self) -> ModelResponse:
        """The response so far."""
        notes = Notes()
        parts = tuple(block.part(f"/content/{n}", notes) for n, block in enumerate(self._blocks))
        found = [*self._block_anomalies(), *notes.anomalies, *self._endings(parts)]
        found.sort(key=lambda anomaly: anomaly.events[:1])
        role = self._body.get("role")
        message = Message(role if isinstance(role, str) else "assistant", parts)
        extras = {"unknown_events": self._unknown, "abandoned_messages": self._abandoned}
        return ModelResponse(
            **envelope(self._body | {name: list(values) for name, values in extras.items() if values}),
            messages=(message,) if parts or self._is_started else (),
            error=self._error,
            is_stream=True,
            is_complete=self._is_complete,
            anomalies=tuple(found),
            finish_events=self._finish,
        )

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        return ModelResponse(**envelope(self._body), is_stream=True)

    def _message_start(self, number: int, value: dict[str, JsonValue]) -> None:
        message = self._object(number, value, "message")
        if self._is_started:
            self._abandon(number)
        elif self._blocks:
            self._fault("stream.block-order", "message_start arrives after the first block", number)
        self._is_started = True
        self._body = dict(message)
        content = message.get("content")
        if message and not isinstance(content, list):
            self._fault("stream.block-order", "the message in message_start has no 'content' list", number)
        for n, block in enumerate(content if isinstance(content, list) else ()):
            self._latest[n] = streamed_block = StreamedBlock(block, number, f"/message/content/{n}")
            self._blocks.append(streamed_block)
            self.growing.append(streamed_block)

    def _abandon(self, number: int) -> None:
        """A stream that starts again: earlier events belong to an abandoned attempt."""
        blocks = [block.value() for block in self._blocks]
        self._fault(
            "stream.block-order", f"a second message_start: the message starts again{_lost_calls(blocks)}", number
        )
        self._abandoned.append({**self._body, "content": blocks})
        self._is_odd = True
        for collection in (self._blocks, self._reused, self.growing):
            collection.clear()
        for by_index in (self._open, self._latest, self._strays):
            by_index.clear()

    def _block_start(self, number: int, value: dict[str, JsonValue]) -> None:
        began = self._object(number, value, "content_block")
        if began.get("type") in CALLS and "input" not in began:
            self._fault("content.shape", "a call begins without its input", number)
        block = StreamedBlock(value.get("content_block", {}), number)
        index = self._index(number, value, len(self._blocks))
        self._note_number(index, number)
        if index in self._latest:
            self._reused.append(block)
        elif self._open:
            before = next(iter(self._open))
            self._fault("stream.block-order", f"block {index} starts before block {before} has stopped", number)
        self._blocks.append(block)
        self.growing.append(block)
        self._open[index] = self._latest[index] = block

    def _note_number(self, index: JsonValue, number: int) -> None:
        """The indices count the blocks from zero, but nothing depends on that."""
        is_counted = index == len(self._blocks) or index in self._latest or type(index) is not int
        if not is_counted and not self._is_odd:
            self._is_odd = True
            message = f"the next block should have index {len(self._blocks)}, but has index {index}"
            self._fault(f"stream.index{UNUSUAL}", message, number)

    def _odd_delta(self, number: int, value: dict[str, JsonValue]) -> None:
        """The first delta of its type in a block, and every delta that carries no string or is out of place."""
        delta = self._object(number, value, "delta")
        index = self._index(number, value, next(reversed(self._open), None))
        block = self._open.get(index) or self._stopped_block(number, index)
        kind = delta.get("type")
        if not isinstance(kind, str):
            self._fault("content.shape", f"a delta of block {index} without a type", number)
            self._unknown.append(value)
            return
        if kind not in DELTAS:
            if block is None or not block.take(delta, number):
                self._note_misplaced(number, index, block, kind)
                self._unknown.append(value)
            return
        track = (block.tracks.get(kind) or block.open_track(kind)) if block else None
        if track is None:
            self._note_misplaced(number, index, block, kind)
            track = self._stray(number, index, kind)
        piece = delta.get(track.key)
        if isinstance(piece, str):
            track.pieces.add(piece, number, track.pointer)
        else:
            self._fault("content.shape", f"a {kind} whose {track.key!r} is {type_words(piece)}", number)
            self._unknown.append(value)

    def _stopped_block(self, number: int, index: JsonValue) -> StreamedBlock | None:
        """The block of this index although it has stopped."""
        block = self._latest.get(index)
        what = "never opened" if block is None else "already stopped"
        self._fault("stream.block-order", f"a delta for block {index}, which was {what}", number)
        return block

    def _note_misplaced(self, number: int, index: JsonValue, block: StreamedBlock | None, kind: JsonValue) -> None:
        if block is not None:
            self._fault("stream.block-order", f"{kind!r} in block {index}, which is of type {block.kind!r}", number)

    def _stray(self, number: int, index: JsonValue, delta: str) -> Track:
        """A string for deltas that belong to no block: they are kept separately."""
        kind = DELTAS[delta][1]
        block = self._strays.get((index, kind))
        if block is None:
            block = self._strays[index, kind] = StreamedBlock({"type": kind}, number)
            self._blocks.append(block)
        track = block.tracks.get(delta) or block.open_track(delta)
        assert track is not None  # a block takes the deltas of its own type
        return track

    def _block_stop(self, number: int, value: dict[str, JsonValue]) -> None:
        index = self._index(number, value, next(reversed(self._open), None))
        block = self._open.pop(index, None)
        if block is None:
            self._fault("stream.block-order", f"a stop event for block {index}, which is not open", number)
        else:
            if block.is_call_without_deltas:
                self._fault("stream.client-misses", _INPUT_AT_START, block.events[0])
            block.events.append(number)
            block.is_over = True

    def _message_delta(self, number: int, value: dict[str, JsonValue]) -> None:
        delta = self._object(number, value, "delta")
        reason = delta.get("stop_reason")
        if reason is not None:
            if not isinstance(reason, str) or not reason:
                what = f"is {type_words(reason)}, not a string" if not isinstance(reason, str) else "is empty"
                self._fault("content.shape", f"the stop reason {what}", number)
            if self._finish and self._ended is None:
                message = "a second message_delta with a stop reason: clients may end the message at the first"
                self._fault(f"stream.block-order{MILD}", message, number)
            self._finish = (number,)
        old_usage = self._body.get("usage")
        counts = value.get("usage")
        usage = dict(old_usage) if isinstance(old_usage, dict) else {}
        if not isinstance(counts, dict):  # both official SDKs read usage.output_tokens of every message_delta
            what = f"a message_delta whose 'usage' is {type_words(counts)}" if "usage" in value else _WITHOUT_USAGE
            self._fault(f"answer.reshaped{MILD}", f"{what}: clients read its output_tokens unasked", number)
        else:  # totals so far: what is left out keeps its value
            usage.update({k: v for k, v in counts.items() if v is not None})
        self._body.update({k: v for k, v in value.items() if k not in ("type", "delta")})
        self._body.update({k: v for k, v in delta.items() if v is not None or k not in self._body})
        self._body["usage"] = usage

    def _message_stop(self, number: int, value: dict[str, JsonValue]) -> None:
        self._ended = number
        self._is_complete = True

    def _error_event(self, number: int, value: dict[str, JsonValue]) -> None:
        self._fail(number, read_error(value) or ApiError("", raw=value))

    def _fail(self, number: int, error: ApiError) -> None:
        self._fault("stream.error-event", "the stream contains an error", number)
        self._error = error
        self._ended = number

    def _odd(self, event: SseEvent) -> None:
        """An event of an unknown type, or whose data is no object."""
        try:
            value = loads(event.data or b"")
        except WireError:
            self._unreadable(event)
            return
        if isinstance(value, dict) and "error" in value:
            self._error_event(event.number, value)
            return
        if not isinstance(value, dict):
            self._fault("stream.framing", f"the data is {type_words(value)}, not an object", event.number)
        self._unknown.append(value)

    def _unreadable(self, event: SseEvent) -> None:
        data = event.data or b""
        if data.strip() == b"[DONE]":
            self._fault("stream.framing", "[DONE], which belongs to another protocol", event.number)
        elif event.name == "error":
            self._fail(event.number, read_error_text(data))
        elif not event.terminated:
            self._is_cut = True
        else:
            self._fault("stream.framing", "data that is not JSON", event.number)
            self._unknown.append(data.decode("utf-8", "replace"))

    # -- what is wrong

    def _fault(self, slug: str, message: str, number: int) -> None:
        self._faults.setdefault((slug, message), []).append(number)

    def _object(self, number: int, value: dict[str, JsonValue], key: str) -> dict[str, JsonValue]:
        found = value.get(key)
        if isinstance(found, dict):
            return found
        self._fault("content.shape", f"an event whose {key!r} is {type_words(found)}, not an object", number)
        return {}

    def _index(self, number: int, value: dict[str, JsonValue], instead: JsonValue) -> JsonValue:
        index = value.get("index")
        if isinstance(index, int):
            return index
        self._fault("stream.index", "an event of a block has no block index", number)
        return instead

    def _block_anomalies(self) -> Iterator[Anomaly]:
        for (slug, message), events in self._faults.items():
            yield Anomaly(slug, message, events=tuple(events))

    def _endings(self, parts: tuple[Part, ...]) -> Iterator[Anomaly]:
        """Anomalies that only the end shows."""
        places = {id(block): f"/content/{n}" for n, block in enumerate(self._blocks)}
        for block in self._reused:
            message = f"the index of a block is used again for a block of type {block.kind!r}"
            yield Anomaly("stream.block-order", message, places[id(block)], block.all_events())
        contradiction = contradicts_content("stop_reason", self._body.get("stop_reason"), parts)
        if contradiction:
            yield Anomaly("stream.finish-reason", contradiction, "/stop_reason", self._finish)
        elif self._is_complete and self._blocks and self._body.get("stop_reason") is None:
            yield Anomaly(
                "stream.finish-reason", "no stop reason before message_stop", "/stop_reason", (self._ended or 0,)
            )
        if self._blocks and not self._is_started:
            events = self._blocks[0].all_events()[:1]
            yield Anomaly("stream.block-order", "the blocks begin without message_start", events=events)
        if self._error is None and self._last is not None:
            yield from self._missing_ends(self._last, places)

    def _is_unreadable(self) -> bool:
        """True if no event could be read, so that the end of the stream is unknown."""
        return not self._is_started and any(slug == "stream.framing" for slug, _ in self._faults)

    def _missing_ends(self, last: int, places: Mapping[int, str]) -> Iterator[Anomaly]:
        for index, block in self._open.items():
            events = block.all_events()
            if self._is_complete:
                yield Anomaly("stream.block-order", f"block {index} has no stop event", places[id(block)], events)
            else:
                message = f"the stream ends inside block {index}"
                yield Anomaly("stream.truncated", message, places[id(block)], tuple(sorted({*events, last})))
        if self._is_cut and not self._open:
            yield Anomaly("stream.truncated", "the stream ends inside an event", events=(last,))
        elif not self._is_complete and not self._open and not self._is_unreadable():
            yield Anomaly("stream.no-terminator", "the stream ends without message_stop", events=(last,))


MOST_LOST = 3
"""Calls of a message that was given up that are named."""


_INPUT_AT_START = (
    "the whole input of a call is in content_block_start, without a delta: clients that read it from deltas alone, "
    "such as Claude Code, get an empty input"
)


def _lost_calls(blocks: Sequence[JsonValue]) -> str:
    """The calls among blocks that were given up, in words; "" where there are none."""
    calls = [b for b in blocks if isinstance(b, dict) and b.get("type") in CALLS]
    named = [f"{call.get('id')!r:.80} of {call.get('name')!r:.80}" for call in calls[:MOST_LOST]]
    more = f" and {len(calls) - MOST_LOST} more" if len(calls) > MOST_LOST else ""
    return f", and the calls of the first attempt are lost: {', '.join(named)}{more}" if named else ""
