"""Streams whose events open, grow and close the parts of the response.

    stream := message-start (content | tool-plan-delta | call | citation | debug)* message-end
    content := content-start content-delta* content-end        call := tool-call-start tool-call-delta* tool-call-end

(``v2/types/v2chat_stream_response.py`` and ``types/chat_*_event.py`` of the official ``cohere`` SDK 7.3; its reader
tolerates a ``[DONE]`` behind the end.) The deltas hold what they add at the place where a whole answer has it. What is
put together is then read as a whole answer, so that both ways give the same IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from workbench.errors import WireError
from workbench.ir import MILD, Anomaly, ApiError, Carrier, JsonValue, Message, ModelResponse, Reasoning, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.protocols.cohere_v2.response import contradiction, describe
from workbench.protocols.common.error_body import read_error
from workbench.protocols.common.pieces import GrowingText, Node, Nodes, Pieces, damage, node_at, place
from workbench.protocols.common.reading import Notes
from workbench.protocols.shapes.chat.message import read_message
from workbench.protocols.shapes.chat.streamed_calls import Calls, StreamedCall
from workbench.protocols.shapes.chat.streamed_lists import StreamedListEntry
from workbench.wire import SseEvent, loads, type_words

_BASE = "/message"
_MESSAGE = "/delta/message"
_LISTS = ("content", "tool_calls", "citations")
_TEXTS = ("text", "thinking")

Json: TypeAlias = Mapping[str, JsonValue]


class EventStreamDecoder:
    """Builds the response of one stream. Never raises; linear in the length of the stream."""

    def __init__(self) -> None:
        self._handlers: Mapping[str, Callable[[int, Json], None]] = {
            "message-start": self._message_start,
            "content-start": self._content,
            "content-delta": self._content,
            "content-end": self._end_of_content,
            "tool-plan-delta": self._plan_delta,
            "tool-call-start": self._call,
            "tool-call-delta": self._call,
            "tool-call-end": self._end_of_call,
            "citation-start": self._citation,
            "citation-end": lambda number, value: None,
            "message-end": self._message_end,
        }
        self.growing: list[GrowingText | StreamedListEntry | StreamedCall] = []
        self._top: dict[str, JsonValue] = {}
        self._beside: dict[str, JsonValue] = {}  # further keys of the message
        self._plan = Pieces()
        self._contents: list[StreamedListEntry] = []
        self._open_contents: dict[JsonValue, StreamedListEntry] = {}
        self._calls = Calls(self._note_below)
        self._open_calls: dict[JsonValue, StreamedCall] = {}
        self._ended_calls: set[JsonValue] = set()
        self._strays: set[StreamedCall] = set()  # calls that never began
        self._citations: list[JsonValue] = []
        self._unknown: list[JsonValue] = []
        self._noted: dict[tuple[str, str, str], list[int]] = {}
        self._error: ApiError | None = None
        self._finish: tuple[int, ...] = ()
        self._last = -1
        self._is_started = self._is_complete = self._is_cut = False

    def feed(self, event: SseEvent) -> None:
        """Read one event. Events with only comments are skipped."""
        number, data = event.number, event.data
        if data is None:
            return
        self._last = number
        if data.strip() == b"[DONE]" and (self._is_complete or self._error):
            return
        try:
            value = loads(data)
        except WireError as error:
            self._unreadable(event, error)
            return
        if self._is_complete:
            self._note("stream.framing", "an event after the end of the message", "", number)
        if type(value) is not dict:
            self._note("stream.framing", f"an event contains {type_words(value)}, not an object", "", number)
            return
        kind = value.get("type")
        handle = self._handlers.get(kind) if isinstance(kind, str) else None
        if handle:
            handle(number, value)
        else:
            self._other(number, value)

    def result(self) -> ModelResponse:
        """The response so far."""
        nodes, notes = dict(self._nodes()), Notes()
        message = read_message(self._value(), _BASE, notes, is_answer=True)
        message = replace(message, parts=tuple(place(part, nodes) for part in message.parts))
        has_said = bool(message.parts) or self._is_started
        anomalies = [Anomaly(*key, tuple(events)) for key, events in self._noted.items()]
        anomalies += (replace(a, events=node_at(nodes, a.pointer[len(_BASE) :])[1]) for a in notes.anomalies)
        anomalies += _damage(nodes)
        extras = {"unknown_events": self._unknown} if self._unknown else {}
        return describe(
            self._top | extras,
            messages=(message,) if has_said else (),
            error=self._error,
            is_stream=True,
            is_complete=self._is_complete,
            anomalies=(*anomalies, *self._ending(message)),
            finish_events=self._finish,
        )

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        return describe(self._top, is_stream=True)

    # -- events

    def _message_start(self, number: int, value: Json) -> None:
        if self._is_started:
            self._note("stream.block-order", "a second message-start", _BASE, number)
        self._is_started = True
        self._take_top(value)
        message = self._delta_message(number, value)
        ir_keys = (*_LISTS, "tool_plan")
        if message.get("tool_plan") and isinstance(message["tool_plan"], str):
            self._begin_plan()
            self._plan.add(message["tool_plan"], number, f"{_MESSAGE}/tool_plan")
            message = {k: v for k, v in message.items() if k != "tool_plan"}
        self._beside.update((k, v) for k, v in message.items() if v or k not in ir_keys)

    def _content(self, number: int, value: Json) -> None:
        for piece, pointer in self._entries(number, value, "content"):
            item = self._content_item(number, value, piece)
            for key in _TEXTS:
                text = piece.get(key)
                if isinstance(text, str) and (text or value["type"] == "content-start"):
                    item.add(f"/{key}", text, number, f"{pointer}/{key}")
            item.rest.update((k, v) for k, v in piece.items() if not (k in _TEXTS and isinstance(v, str)))

    def _content_item(self, number: int, value: Json, piece: Json) -> StreamedListEntry:
        """The part of the content that an event belongs to, a new one if need be."""
        index, kind = value.get("index"), piece.get("type") or next((k for k in _TEXTS if piece.get(k)), "text")
        item = self._open_contents.get(_key(index))
        if value["type"] == "content-delta" and item is not None and _fits(item, piece):
            return item
        place = f"{_BASE}/content/{len(self._contents)}"
        if value["type"] == "content-delta":
            self._note("stream.block-order", "a delta for content that was not started", place, number)
        elif item is not None:
            self._note("stream.block-order", "content starts at an index that is already in use", place, number)
        item = self._open_contents[_key(index)] = StreamedListEntry({"type": kind})
        self._contents.append(item)
        self._begin(item)
        return item

    def _begin(self, part: GrowingText | StreamedListEntry | StreamedCall) -> None:
        """A part begins, and the plan is over, if it was that."""
        last = self.growing[-1] if self.growing else None
        if isinstance(last, GrowingText):
            last.end()
        self.growing.append(part)

    def _begin_plan(self) -> None:
        if not self.growing or not isinstance(self.growing[-1], GrowingText):
            self._begin(GrowingText(Reasoning(Carrier.TOOL_PLAN, ""), self._plan))

    def _end_of_content(self, number: int, value: Json) -> None:
        item = self._open_contents.pop(_key(value.get("index")), None)
        if item is None:
            self._note(
                "stream.block-order", "an end event for content that was not started", f"{_BASE}/content", number
            )
        else:
            item.is_over = True

    def _plan_delta(self, number: int, value: Json) -> None:
        text = self._delta_message(number, value).get("tool_plan")
        if isinstance(text, str):
            self._begin_plan()
            self._plan.add(text, number, f"{_MESSAGE}/tool_plan")
        else:
            self._note("content.shape", f"tool_plan is {type_words(text)}, not a string", f"{_BASE}/tool_plan", number)

    def _call(self, number: int, value: Json) -> None:
        for delta, pointer in self._entries(number, value, "tool_calls"):
            function = delta.get("function")
            function = function if isinstance(function, dict) else {}
            self._calls.grow(self._open_call(number, value), delta, function, number, pointer)

    def _open_call(self, number: int, value: Json) -> StreamedCall:
        """The call that an event belongs to, a new one if need be."""
        index = _key(value.get("index"))
        call = self._open_calls.get(index)
        if value["type"] == "tool-call-delta" and call is not None:
            return call
        at = f"/tool_calls/{len(self._calls.calls)}"
        if value["type"] == "tool-call-delta":
            self._note("stream.index", "a delta for a call that was not started", _BASE + at, number)
        elif call is not None:
            self._note("stream.index", "a call starts at an index that is already in use", _BASE + at, number)
        elif index in self._ended_calls:
            self._note(
                "stream.index", "a call starts at the index of a call that has already ended", _BASE + at, number
            )
        call = self._open_calls[index] = StreamedCall(at, "function")
        if value["type"] == "tool-call-delta":
            self._strays.add(call)
        self._calls.calls.append(call)
        self._begin(call)
        return call

    def _end_of_call(self, number: int, value: Json) -> None:
        index = _key(value.get("index"))
        self._ended_calls.add(index)
        call = self._open_calls.pop(index, None)
        if call is None:
            self._note(
                "stream.block-order", "an end event for a call that was not started", f"{_BASE}/tool_calls", number
            )
        else:
            call.events.append(number)
            call.is_over = True

    def _citation(self, number: int, value: Json) -> None:
        found = self._delta_message(number, value).get("citations")
        self._citations += found if isinstance(found, list) else [found]

    def _message_end(self, number: int, value: Json) -> None:
        delta = value.get("delta")
        self._is_complete = True
        self._finish = (number,)
        self._take_top(value)
        if not isinstance(delta, dict):
            self._note("content.shape", f"message-end has a delta that is {type_words(delta)}", "", number)
            return
        self._top.update(delta)
        error = read_error({"error": delta["error"]}) if delta.get("error") else None
        if error:
            self._fail(number, error, "/delta/error")

    def _other(self, number: int, value: Json) -> None:
        """An event of another type: an error, what was asked for in addition (``debug``), or from the future."""
        error = None if isinstance(value.get("type"), str) and "error" not in value else read_error(value)
        if error:
            self._fail(number, error, error.pointer)
            return
        self._unknown.append(value)
        if not isinstance(value.get("type"), str):
            self._note("stream.framing", "an event without a type", "", number)

    def _fail(self, number: int, error: ApiError, pointer: str) -> None:
        self._error = self._error or error
        self._note("stream.error-event", "the stream contains an error", pointer, number)

    def _unreadable(self, event: SseEvent, error: WireError) -> None:
        if event.terminated:
            self._note("stream.framing", f"the data of an event is {error.what}", "", event.number)
        else:
            self._is_cut = True
            self._note("stream.truncated", "the stream ends inside an event", "", event.number)

    # -- what they hold

    def _take_top(self, value: Json) -> None:
        self._top.update((k, v) for k, v in value.items() if k not in ("type", "delta", "index"))

    def _delta_message(self, number: int, value: Json) -> Json:
        """The message in a delta."""
        delta = value.get("delta")
        message = delta.get("message") if isinstance(delta, dict) else None
        if isinstance(message, dict):
            return message
        if delta is not None or value["type"] != "message-start":
            self._note("content.shape", f"a {value['type']} without a message in its delta", _BASE, number)
        return {}

    def _entries(self, number: int, value: Json, key: str) -> Iterator[tuple[Json, str]]:
        """Entries that a delta adds to a list, with pointers: one object; some gateways put it into a list."""
        found = self._delta_message(number, value).get(key)
        if isinstance(found, list):
            entries = [(entry, f"{_MESSAGE}/{key}/{n}") for n, entry in enumerate(found)]
        else:
            entries = [(found, f"{_MESSAGE}/{key}")]
        for entry, pointer in entries:
            if isinstance(entry, dict):
                yield entry, pointer
            else:
                message = f"{key!r} in a delta is {type_words(entry)}, not an object"
                self._note("content.shape", message, f"{_BASE}/{key}", number)

    def _note(self, slug: str, message: str, pointer: str, event: int) -> None:
        self._noted.setdefault((slug, message, pointer), []).append(event)

    def _note_below(self, slug: str, message: str, pointer: str, event: int) -> None:
        self._note(slug, message, _BASE + pointer, event)

    def _value(self) -> JsonValue:
        """The message as in a whole answer."""
        value = dict(self._beside)
        if any(self._plan.texts):
            value["tool_plan"] = self._plan.text
        if self._contents:
            value["content"] = [item.value() for item in self._contents]
        if self._calls.calls:
            value["tool_calls"] = [call.value() for call in self._calls.calls]
        if self._citations:
            value["citations"] = self._citations
        return value

    def _nodes(self) -> Iterator[tuple[str, tuple[Node, tuple[int, ...]]]]:
        """(pointer in the message, strings and events) of everything that has a place."""
        yield "/tool_plan", ({"": self._plan}, tuple(self._plan.events))
        for n, item in enumerate(self._contents):
            node = item.node()
            yield f"/content/{n}", (node, tuple(dict.fromkeys(e for pieces in node.values() for e in pieces.events)))
        for call in self._calls.calls:
            yield call.at, (call.node(), tuple(dict.fromkeys(call.events)))

    def _ending(self, message: Message) -> Iterator[Anomaly]:
        """Anomalies of the end of the stream. After an error event no other end is expected."""
        wrong = contradiction(self._top.get("finish_reason"), message)
        if wrong:
            yield Anomaly("stream.finish-reason", wrong, "/finish_reason", self._finish)
        if not self._is_started and message.parts:
            events = message.parts[0].source.events[:1]
            yield Anomaly(f"stream.framing{MILD}", "the message begins without message-start", _BASE, events)
        if self._is_complete and not self._error:
            for call in self._open_calls.values():
                if call in self._strays:
                    continue
                events = tuple(dict.fromkeys((*call.events, *self._finish)))
                yield Anomaly("stream.block-order", "a call has no end event", _BASE + call.at, events)
        if self._error or self._is_complete or self._is_cut:
            return
        last = (max(self._last, 0),)
        last_call = next((part for part in reversed(message.parts) if isinstance(part, ToolCallIR)), None)
        if last_call and last_call.error and self._open_calls:
            what = f"the stream ends inside the arguments of call {last_call.name!r:.80}"
            yield Anomaly("stream.truncated", what, message.absolute(last_call, "raw"), last)
        else:
            yield Anomaly("stream.no-terminator", "the stream ends without message-end", "", last)


def _key(index: JsonValue) -> JsonValue:
    """An index that can be looked up."""
    return index if isinstance(index, int | str) else None


def _fits(item: StreamedListEntry, piece: Json) -> bool:
    """A delta adds to the text of a part, or to its thinking, but not to both."""
    kinds = [key for key in _TEXTS if isinstance(piece.get(key), str)]
    return not kinds or item.rest.get("type") in kinds or item.rest.get("type") not in _TEXTS


def _damage(nodes: Nodes) -> Iterator[Anomaly]:
    return damage(
        (f"{_BASE}{at}{suffix}", pieces) for at, (node, _) in nodes.items() for suffix, pieces in node.items()
    )
