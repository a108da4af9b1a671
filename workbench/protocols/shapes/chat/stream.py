"""Chat Completions streams.

Facts: ``types/chat/chat_completion_chunk.py`` and ``_streaming.py`` of the official ``openai`` SDK 3.52; recordings of
the dialects. Every block is ``data:`` with one chunk; ``data: [DONE]`` ends the stream. Any other form is an anomaly,
noted once for all events with it.

The chunks are joined to a message, which is read as in a response without streaming, so that both give the same IR; the
pieces show where its strings came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from workbench.errors import WireError
from workbench.ir import (
    MILD,
    UNUSUAL,
    Anomaly,
    ApiError,
    Carrier,
    JsonValue,
    Message,
    ModelResponse,
    Reasoning,
    Text,
    ToolCallIR,
)
from workbench.lazy_dataclass import replace
from workbench.protocols import StreamingPart
from workbench.protocols.common.error_body import error_under_key, read_error
from workbench.protocols.common.pieces import GrowingText, Node, Pieces, damage, locate
from workbench.protocols.common.reading import Notes, string_or_none
from workbench.protocols.shapes.chat.message import is_zero, read_message
from workbench.protocols.shapes.chat.response import contradiction, describe, read_usage
from workbench.protocols.shapes.chat.streamed_calls import Calls, Note, StreamedCall
from workbench.protocols.shapes.chat.streamed_lists import Contents, Details, StreamedListEntry
from workbench.wire import SseEvent, loads, type_words, without_repeated_prefix

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
_THOUGHTS = ("reasoning_content", "reasoning")
_EMPTY_PARTS: Mapping[str, Text | Reasoning] = {
    "content": Text(""),
    "reasoning_content": Reasoning(Carrier.REASONING_CONTENT, ""),
    "reasoning": Reasoning(Carrier.REASONING, ""),
}


_FILTER_RESULTS = "prompt_filter_results"
"""Key of the chunk without choices with which every stream of Azure begins (Azure OpenAI, "Content streaming")."""


class StreamedChoice:
    """A choice as it grows.

    Args:
        pointer: its pointer in a response without streaming.
        note: function that gets its anomalies, with pointers relative to the message.
    """

    def __init__(self, pointer: str, note: Note) -> None:
        self.pointer = f"{pointer}/message"
        self.reason_pointer = f"{pointer}/finish_reason"
        self.beside: dict[str, JsonValue] = {}
        self.finish_reason: str | None = None
        self.finish_events: list[int] = []
        self.calls = Calls(note)
        self.growing: list[GrowingText | StreamedListEntry | StreamedCall] = []
        self._at = ""  # the key of the string or list that grows
        self._role: str | None = None
        self._extra: dict[str, JsonValue] = {}
        self._legacy = StreamedCall("/function_call", "function_call")
        self._texts = {name: Pieces() for name in _TEXTS}
        self._contents: Contents | None = None
        self._details = Details(note)
        self._note = note
        self._base = ""
        self._pointers: dict[str, str] = {}

    def feed(self, delta: Mapping[str, JsonValue], event: int, base: str) -> None:
        """Read a delta at pointer ``base`` in the data of an event."""
        if base != self._base:
            self._base, self._pointers = base, {name: f"{base}/{name}" for name in (*_TEXTS, "tool_calls")}
        for name, value in delta.items():
            if (not value and type(value) is not dict) or name == "role":
                continue
            pieces = self._texts.get(name)
            if pieces is not None and type(value) is str:
                if name != self._at:
                    self._turn(name)
                pieces.texts.append(value)
                pieces.events.append(event)
                pieces.pointers.append(self._pointers[name])
            elif name == "tool_calls" and type(value) is list:
                if name != self._at:
                    self._turn(name)
                old_count = len(self.calls.calls)
                self.calls.feed(value, event, self._pointers[name])
                self.growing += self.calls.calls[old_count:]
            else:
                self._feed_other(name, value, event)
        if self._role is None and isinstance(delta.get("role"), str):
            self._role = delta["role"]

    def _feed_other(self, name: str, value: JsonValue, event: int) -> None:
        if name == "content" and isinstance(value, list | str):
            if self._contents is None:  # from now on, text is one part of several
                self._contents = Contents(self._texts.pop("content"))
            self._feed_list(self._contents, name, value, event)
        elif name == "reasoning_details":
            self._feed_list(self._details, name, value, event)
        elif name in ("function_call", "audio") and is_zero(value):
            self._extra.setdefault(name, value)
        elif name == "function_call" and isinstance(value, dict):
            self.calls.grow(self._legacy, {}, value, event, self._base)
        elif name in _TEXTS or name == "tool_calls":
            self._note("content.shape", f"{name!r} in a delta is {type_words(value)}", f"/{name}", event)
        else:
            self._extra[name] = value

    def _feed_list(self, new_items: Contents | Details, name: str, value: JsonValue, event: int) -> None:
        """Take a delta of a list. Entries that repeat reasoning which came as a string are no parts that arrive."""
        old_count = len(new_items.items)
        new_items.feed(value, event, f"{self._base}/{name}")
        if name == "content" or not any(self._texts.get(key) for key in _THOUGHTS):
            if name != self._at:
                self._turn(name)
            for item in new_items.items[old_count:]:
                self._end()
                self.growing.append(item)

    def _turn(self, name: str) -> None:
        """Start to collect another string or list."""
        self._end()
        self.calls.leave()
        self._at = name
        if name in _EMPTY_PARTS and name in self._texts:
            self.growing.append(GrowingText(_EMPTY_PARTS[name], self._texts[name], is_tagged=name == "content"))

    def _end(self) -> None:
        last = self.growing[-1] if self.growing else None
        if isinstance(last, GrowingText):
            last.end()
        elif isinstance(last, StreamedListEntry):
            last.is_over = True

    def result(self) -> tuple[Message, list[Anomaly]]:
        """The message so far, and its anomalies."""
        nodes, notes = dict(self._nodes()), Notes()
        message = read_message(self._value(), self.pointer, notes, is_answer=True)
        parts = tuple(locate(part, *nodes.get(part.source.pointer, _NOWHERE)) for part in message.parts)
        anomalies = [replace(a, events=self._events(a.pointer, nodes)) for a in notes.anomalies]
        return replace(message, parts=parts), [*anomalies, *self._damage(nodes)]

    def _value(self) -> JsonValue:
        """The message as in a whole answer."""
        value = {**self._extra, **{name: pieces.text for name, pieces in self._texts.items() if pieces}}
        lists: dict[str, Sequence[StreamedListEntry | StreamedCall]] = {
            "content": self._contents.items if self._contents else [],
            "reasoning_details": self._details.items,
            "tool_calls": self.calls.calls,
        }
        value.update((name, [item.value() for item in items]) for name, items in lists.items() if items)
        if self._legacy.events:
            value["function_call"] = self._legacy.value()["function_call"]
        if self._role is not None:
            value["role"] = self._role
        return value

    def _nodes(self) -> Iterator[tuple[str, tuple[Node, tuple[int, ...]]]]:
        """(pointer in the message, strings and events) of everything that has a place."""
        for name, pieces in self._texts.items():
            yield f"/{name}", ({"": pieces}, _unique(pieces.events))
        for name, items in (("content", self._contents), ("reasoning_details", self._details)):
            for n, item in enumerate(items.items if items else ()):
                node = item.node()
                yield f"/{name}/{n}", (node, _unique(e for pieces in node.values() for e in pieces.events))
        for call in self.calls.calls:
            yield call.at, (call.node(), _unique(call.events))
        legacy = {"/name": self._legacy.name, "/arguments": self._legacy.text}
        yield "/function_call", ({k: v for k, v in legacy.items() if v}, _unique(self._legacy.events))

    def _events(self, pointer: str, nodes: Mapping[str, tuple[Node, tuple[int, ...]]]) -> tuple[int, ...]:
        """The blocks that carried the node a pointer leads into."""
        at = pointer[len(self.pointer) :]
        while at and at not in nodes:
            at = at.rpartition("/")[0]
        return nodes[at][1] if at else ()

    def _damage(self, nodes: Mapping[str, tuple[Node, tuple[int, ...]]]) -> Iterator[Anomaly]:
        return damage(
            (f"{self.pointer}{at}{suffix}", pieces)
            for at, (node, _) in nodes.items()
            for suffix, pieces in node.items()
        )


def _unique(events: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(events))


_NOWHERE: tuple[Node, tuple[int, ...]] = ({}, ())


_UNNUMBERED = "a choice has no index: clients that tell choices apart by it raise an error"
_END_OF_STREAM = b"[DONE]"
_METRICS = "amazon-bedrock-invocationMetrics"
_CHUNK_KEYS = ("id", "object", "usage", "model")
_CHOICE_KEYS = frozenset({"index", "delta", "message", "finish_reason"})


class ChatStreamDecoder:
    """Builds the response from the chunks of a stream."""

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
        self._has_empty_reason = False

    def feed(self, event: SseEvent) -> None:
        """Read one event."""
        number = self._last = event.number
        data = event.data
        if data is None:  # comments alone: keep-alive
            return
        if self._is_done or data.strip() == _END_OF_STREAM:
            self._end(number)
            return
        try:
            chunk = loads(data)
        except WireError as error:
            self._unreadable(event, error)
            return
        if type(chunk) is not dict:
            self._note("stream.framing", f"a block contains {type_words(chunk)}, not an object", "", number)
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
            is_complete=self._has_end,
            anomalies=(*noted, *self._ending(choices, messages)),
            finish_events=tuple(choices[0].finish_events) if choices else (),
        )

    @property
    def growing(self) -> Sequence[StreamingPart]:
        """Parts as they arrive."""
        return next((choice.growing for choice in self._choices.values()), ())

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        top = {**self._top, "id": self._id, "model": self._model}
        return describe(top, None, messages=(), usage=read_usage(self._usage), is_stream=True)

    @property
    def _has_end(self) -> bool:
        """A terminal event came: ``[DONE]``, or the last chunk of Perplexity, which says so itself (recorded)."""
        return self._is_done or self._top.get("object") == "chat.completion.done"

    def _note(self, slug: str, message: str, pointer: str, event: int) -> None:
        self._noted.setdefault((slug, message, pointer), []).append(event)

    def _end(self, number: int) -> None:
        if self._is_done:
            self._note("stream.framing", "data after [DONE]", "", number)
        self._is_done = True

    def _unreadable(self, event: SseEvent, error: WireError) -> None:
        if (event.data or b"").lstrip().startswith(b"data:"):
            self._note("stream.framing", "the prefix 'data:' is repeated", "", event.number)
            self._is_done |= without_repeated_prefix(event.data or b"") == _END_OF_STREAM
        elif event.terminated:
            self._note("stream.framing", f"the data of a block is {error.what}", "", event.number)
        else:
            self._note("stream.truncated", "the stream ends inside a chunk", "", event.number)

    def _feed_top(self, chunk: Mapping[str, JsonValue], number: int) -> None:
        """Collect the keys next to the choices. The last value of most keys counts."""
        self._top.update(chunk)
        found = chunk.get("id")
        if found != self._id and found and isinstance(found, str):
            if self._id is not None:
                self._note(
                    "stream.id", f"the id of the response changes; the first id was {self._id!r:.80}", "/id", number
                )
            self._id = self._id or found
        if self._model is None and chunk.get("model"):
            self._model = string_or_none(chunk["model"])
        if chunk.get("usage"):
            self._usage = chunk["usage"]
        if chunk.get("error"):
            self._fail(error_under_key(chunk), number)

    def _fail(self, error: ApiError, number: int) -> None:
        self._error = self._error or error
        self._note("stream.error-event", "the stream contains an error", "/error", number)

    def _feed_rest(self, chunk: Mapping[str, JsonValue], event: SseEvent) -> None:
        """Take a chunk that has no choices."""
        choices = chunk.get("choices")
        error = None
        if _METRICS in chunk:  # Bedrock ends a stream of a model with this protocol so
            self._is_done = True
            return
        if choices is None and (event.name == "error" or not any(key in chunk for key in _CHUNK_KEYS)):
            error = read_error(chunk)
        if chunk.get("error"):
            return
        if error:
            self._fail(error, event.number)
        elif choices != [] and "choices" in chunk:
            self._note("content.shape", f"'choices' is {type_words(choices)}, not a list", "/choices", event.number)
        elif choices is None and not any(key in chunk for key in _CHUNK_KEYS):
            self._note("stream.framing", "a block contains an object that is not a chunk", "", event.number)
        else:
            self._note_no_choices(chunk, event.number)

    def _note_no_choices(self, chunk: Mapping[str, JsonValue], number: int) -> None:
        degree, what = (UNUSUAL if _FILTER_RESULTS in chunk else ""), "a chunk without choices"
        if "choices" not in chunk and "usage" in chunk and not degree:
            degree, what = MILD, "a chunk without 'choices': strict clients require the field, even as an empty list"
        self._note(f"stream.empty-choices{degree}", what, "/choices", number)

    def _feed_choice(self, value: JsonValue, position: int, number: int) -> None:
        if type(value) is not dict:
            self._note("content.shape", f"a choice is {type_words(value)}, not an object", "/choices", number)
            return
        index = value.get("index")
        if type(index) is not int:
            self._note(f"stream.index{MILD}", _UNNUMBERED, f"/choices/{position}", number)
            index = position
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = self._open()
        reason, delta = value.get("finish_reason"), value.get("delta")
        if choice.finish_events and type(delta) is dict and (delta.get("content") or delta.get("tool_calls")):
            what = "content after a finish reason: clients that stop reading at this point lose the rest"
            self._note(f"stream.finish-reason{MILD}", what, choice.reason_pointer, number)
        if reason == "" and not self._has_empty_reason:
            self._has_empty_reason = True
            what = "a finish reason is '' instead of null: clients that accept only known finish reasons raise an error"
            self._note(f"stream.finish-reason{UNUSUAL}", what, choice.reason_pointer, number)
        elif reason is not None and reason != "":
            self._finish(choice, reason, number)
        if type(delta) is dict:
            choice.feed(delta, number, f"/choices/{position}/delta" if position else "/choices/0/delta")
        elif type(value.get("message")) is dict:
            self._note("content.shape", "a chunk with 'message' instead of 'delta'", choice.pointer, number)
            choice.feed(value["message"], number, f"/choices/{position}/message")
        else:
            what = f"a delta is {type_words(delta)}, not an object" if "delta" in value else "a choice has no delta"
            self._note("content.shape", f"{what}: clients raise an error when they read it", choice.pointer, number)
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
            self._note("content.shape", f"a finish reason is {type_words(reason)}, not a string", place, number)
            return
        if choice.finish_reason not in (None, reason):
            message = f"two finish reasons: {choice.finish_reason!r:.40} and {reason!r:.40}"
            self._note("stream.finish-reason", message, place, number)
        elif choice.finish_events:
            what = (
                f"the finish reason {reason!r:.40} is repeated: clients that end the response at a finish reason "
                "end it twice"
            )
            self._note(f"stream.finish-reason{UNUSUAL}", what, place, number)
        choice.finish_reason = reason
        choice.finish_events.append(number)

    def _contradictions(self, choice: StreamedChoice, message: Message) -> Iterator[Anomaly]:
        wrong = contradiction(choice.finish_reason, message)
        if wrong:
            place = choice.reason_pointer
            yield Anomaly("stream.finish-reason", wrong, place, tuple(choice.finish_events))
        if choice.calls.lack_of_index:
            call, event = choice.calls.lack_of_index
            what = "a call has no index: clients that join deltas by index raise an error or lose the call"
            yield Anomaly(f"stream.index{MILD}", what, f"{choice.pointer}{call.at}", (event,))

    def _ending(self, choices: list[StreamedChoice], messages: tuple[Message, ...]) -> Iterator[Anomaly]:
        """Anomalies of the end of the stream. After an error event no other end is expected."""
        last = (max(self._last, 0),)
        unfinished = [(c, m) for c, m in zip(choices, messages, strict=True) if c.finish_reason is None]
        if self._error:
            return
        for choice, message in unfinished:
            call = next((part for part in reversed(message.parts) if isinstance(part, ToolCallIR)), None)
            if call and call.error:
                what = f"the stream ends inside the arguments of call {call.name!r:.80}"
                yield Anomaly("stream.truncated", what, message.absolute(call, "raw"), last)
            if self._is_done:
                mild = "" if call else MILD  # of a text nothing is lost (Snowflake's Cortex never gives a reason)
                place = choice.reason_pointer
                yield Anomaly(f"stream.finish-reason{mild}", "no finish reason before [DONE]", place, last)
        if not self._has_end:
            missing = "neither a finish reason nor [DONE]" if unfinished or not choices else "no [DONE]"
            yield Anomaly("stream.no-terminator", f"the stream ends with {missing}", "", last)
