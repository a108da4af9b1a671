"""Chat Completions streams.

Facts: ``types/chat/chat_completion_chunk.py`` and ``_streaming.py`` of the official ``openai`` SDK 3.52; recordings of
the dialects. Every block is ``data:`` with one chunk; ``data: [DONE]`` ends the stream. What a stream does otherwise is
an anomaly, written down once for all the blocks that do it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from workbench.errors import WireError
from workbench.ir import Anomaly, ApiError, JsonValue, Message, ModelResponse, ToolCallIR
from workbench.protocols import StreamingPart
from workbench.protocols.common.error_body import read_error
from workbench.protocols.common.reading import kind_of
from workbench.protocols.families.chat.response import contradiction, describe, error_of, read_usage, text_of
from workbench.protocols.families.chat.stream_parts import StreamedChoice
from workbench.wire import SseEvent, loads, without_repeated_prefix

_DONE = b"[DONE]"
_CHUNK_KEYS = ("id", "object", "usage", "model")
_CHOICE_KEYS = frozenset({"index", "delta", "message", "finish_reason"})


class ChatStreamDecoder:
    """Builds the answer from the chunks of a stream."""

    def __init__(self) -> None:
        self._choices: dict[int, StreamedChoice] = {}
        self._top: dict[str, JsonValue] = {}
        self._id: str | None = None
        self._model: str | None = None
        self._usage: JsonValue = None
        self._error: ApiError | None = None
        self._noted: dict[tuple[str, str, str], list[int]] = {}
        self._last = -1
        self._is_done = False

    def feed(self, event: SseEvent) -> None:
        """Take one block."""
        number = self._last = event.number
        data = event.data
        if data is None:  # comments alone: keep-alive
            return
        if self._is_done or data.strip() == _DONE:
            self._end(number)
            return
        try:
            chunk = loads(data)
        except WireError as error:
            self._unreadable(event, error)
            return
        if type(chunk) is not dict:
            self._note("stream.framing", f"a block contains {kind_of(chunk)}, not an object", "", number)
            return
        self._feed_top(chunk, number)
        choices = chunk.get("choices")
        if type(choices) is not list or not choices:
            self._feed_rest(chunk, event)
            return
        for n, choice in enumerate(choices):
            self._feed_choice(choice, n, number)

    def result(self) -> ModelResponse:
        """The response so far."""
        choices = list(self._choices.values())
        read = [choice.result() for choice in choices]
        messages = tuple(message for message, _ in read)
        noted = [Anomaly(*key, tuple(events)) for key, events in self._noted.items()]
        noted += [anomaly for _, anomalies in read for anomaly in anomalies]
        noted += [
            a for choice, message in zip(choices, messages, strict=True) for a in self._contradictions(choice, message)
        ]
        beside = [choice.beside for choice in choices]
        usage = self._usage or (beside[0].get("usage") if beside else None)
        top = {**self._top, "id": self._id, "model": self._model, "choices": beside}
        return describe(
            top,
            choices[0].finish_reason if choices else None,
            messages=messages,
            usage=read_usage(usage),
            error=self._error,
            is_stream=True,
            is_complete=self._is_done,
            anomalies=(*noted, *self._ending(choices, messages)),
            finish_events=tuple(choices[0].finish_events) if choices else (),
        )

    @property
    def growing(self) -> Sequence[StreamingPart]:
        """Parts as they arrive."""
        return next((choice.growing for choice in self._choices.values()), ())

    def about(self) -> ModelResponse:
        """The answer without its content."""
        top = {**self._top, "id": self._id, "model": self._model}
        return describe(top, None, messages=(), usage=read_usage(self._usage), is_stream=True)

    def _note(self, slug: str, message: str, pointer: str, event: int) -> None:
        self._noted.setdefault((slug, message, pointer), []).append(event)

    def _end(self, number: int) -> None:
        if self._is_done:
            self._note("stream.framing", "data after [DONE]", "", number)
        self._is_done = True

    def _unreadable(self, event: SseEvent, error: WireError) -> None:
        if (event.data or b"").lstrip().startswith(b"data:"):
            self._note("stream.framing", "the prefix 'data:' is repeated", "", event.number)
            self._is_done |= without_repeated_prefix(event.data or b"") == _DONE
        elif event.terminated:
            self._note("stream.framing", f"the data of a block is {error.what}", "", event.number)
        else:
            self._note("stream.truncated", "the stream stops inside a chunk", "", event.number)

    def _feed_top(self, chunk: Mapping[str, JsonValue], number: int) -> None:
        """Take what is beside the choices. Of most keys, the last value counts."""
        self._top.update(chunk)
        found = chunk.get("id")
        if found != self._id and found and isinstance(found, str):
            if self._id is not None:
                self._note(
                    "stream.id", f"the id of the response changes; it was {self._id!r:.80} at first", "/id", number
                )
            self._id = self._id or found
        if self._model is None and chunk.get("model"):
            self._model = text_of(chunk["model"])
        if chunk.get("usage"):
            self._usage = chunk["usage"]
        if chunk.get("error"):
            self._fail(error_of(chunk), number)

    def _fail(self, error: ApiError, number: int) -> None:
        self._error = self._error or error
        self._note("stream.error-event", "the stream contains an error", "/error", number)

    def _feed_rest(self, chunk: Mapping[str, JsonValue], event: SseEvent) -> None:
        """Take a chunk that has no choices."""
        choices = chunk.get("choices")
        error = None
        if choices is None and (event.name == "error" or not any(key in chunk for key in _CHUNK_KEYS)):
            error = read_error(chunk)
        if chunk.get("error"):
            return
        if error:
            self._fail(error, event.number)
        elif choices is not None and choices != []:
            self._note("content.shape", f"'choices' is {kind_of(choices)}, not a list", "/choices", event.number)
        elif choices is None and not any(key in chunk for key in _CHUNK_KEYS):
            self._note("stream.framing", "a block contains an object that is not a chunk", "", event.number)
        else:
            self._note("stream.empty-choices", "a chunk without choices", "/choices", event.number)

    def _feed_choice(self, value: JsonValue, position: int, number: int) -> None:
        if type(value) is not dict:
            self._note("content.shape", f"a choice is {kind_of(value)}, not an object", "/choices", number)
            return
        index = value.get("index")
        if type(index) is not int:
            index = position
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = self._open()
        reason, delta = value.get("finish_reason"), value.get("delta")
        if reason is not None and reason != "":
            self._finish(choice, reason, number)
        if type(delta) is dict:
            choice.feed(delta, number, f"/choices/{position}/delta" if position else "/choices/0/delta")
        elif type(value.get("message")) is dict:
            self._note("content.shape", "a chunk with 'message' instead of 'delta'", choice.pointer, number)
            choice.feed(value["message"], number, f"/choices/{position}/message")
        elif delta is not None:
            self._note("content.shape", f"a delta is {kind_of(delta)}, not an object", choice.pointer, number)
        if reason is not None:
            choice.calls.leave()
        if not value.keys() <= _CHOICE_KEYS:
            choice.beside.update((k, v) for k, v in value.items() if k not in _CHOICE_KEYS and v is not None)

    def _open(self) -> StreamedChoice:
        pointer = f"/choices/{len(self._choices)}"
        return StreamedChoice(pointer, partial(self._note_below, f"{pointer}/message"))

    def _note_below(self, base: str, slug: str, message: str, pointer: str, event: int) -> None:
        self._note(slug, message, base + pointer, event)

    def _finish(self, choice: StreamedChoice, reason: JsonValue, number: int) -> None:
        place = choice.reason_pointer
        if not isinstance(reason, str):
            self._note("content.shape", f"a finish reason is {kind_of(reason)}, not a string", place, number)
            return
        if choice.finish_reason not in (None, reason):
            message = f"two finish reasons: {choice.finish_reason!r:.40} and {reason!r:.40}"
            self._note("stream.finish-reason", message, place, number)
        choice.finish_reason = reason
        choice.finish_events.append(number)

    def _contradictions(self, choice: StreamedChoice, message: Message) -> Iterator[Anomaly]:
        wrong = contradiction(choice.finish_reason, message)
        if wrong:
            place = choice.reason_pointer
            yield Anomaly("stream.finish-reason", wrong, place, tuple(choice.finish_events))

    def _ending(self, choices: list[StreamedChoice], messages: tuple[Message, ...]) -> Iterator[Anomaly]:
        """Anomalies of the end of the stream. After an error event no other end is expected."""
        last = (max(self._last, 0),)
        unfinished = [(c, m) for c, m in zip(choices, messages, strict=True) if c.finish_reason is None]
        if self._error:
            return
        for choice, message in unfinished:
            call = next((part for part in reversed(message.parts) if isinstance(part, ToolCallIR)), None)
            if call and call.error:
                what = f"the stream stops inside the arguments of call {call.name!r:.80}"
                yield Anomaly("stream.truncated", what, message.absolute(call, "raw"), last)
            if self._is_done:
                place = choice.reason_pointer
                yield Anomaly("stream.finish-reason", "no finish reason before [DONE]", place, last)
        if not self._is_done:
            missing = "neither a finish reason nor [DONE]" if unfinished or not choices else "no [DONE]"
            yield Anomaly("stream.no-terminator", f"the stream ends with {missing}", "", last)
