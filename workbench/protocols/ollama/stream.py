"""Streams of Ollama's own API: a line of JSON for each piece of the answer, the last one with ``"done": true``.

    {"model", "created_at", "message": {"role", "content", "thinking"?, "tool_calls"?}, "done": false}
    {…, "done": true, "done_reason", "total_duration", …, "prompt_eval_count", "eval_count"}

Facts: ``api/types.go``, ``docs/api.md`` and ``docs/capabilities/streaming.mdx`` of Ollama. Calls arrive whole, several
in one line or one after the other, with or without an index; what a line carries is always new. An error in the middle
is a separate line, after status 200.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.errors import WireError
from workbench.ir import Anomaly, ApiError, Carrier, JsonValue, ModelResponse, Reasoning, Text
from workbench.lazy_dataclass import replace
from workbench.protocols.common.pieces import GrowingText, Node, Pieces, WholePart, damage, node_at, place
from workbench.protocols.common.reading import Notes
from workbench.protocols.ollama.message import read_message
from workbench.protocols.ollama.response import describe, is_answer, read_failure, read_said
from workbench.wire import SseEvent, loads, type_name, type_words

_TEXTS = ("content", "thinking", "response")
_LISTS = ("tool_calls", "images")
_KNOWN = (*_TEXTS, *_LISTS)
_OF_PROMPT = ("response", "thinking", "images")
"""Fields of a response of ``/api/generate``, which has no message."""


class NativeStreamDecoder:
    """Builds the response of one stream. Never raises; linear in the length of the stream."""

    def __init__(self) -> None:
        self.growing: list[GrowingText | WholePart] = []
        self._texts: dict[str, Pieces] = {}
        self._lists: dict[str, list[tuple[JsonValue, int, str]]] = {}  # value, event, pointer
        self._beside: dict[str, JsonValue] = {}  # further keys of the message
        self._top: dict[str, JsonValue] = {}
        self._error: ApiError | None = None
        self._noted: dict[tuple[str, str, str], list[int]] = {}
        self._finish: tuple[int, ...] = ()
        self._last = -1
        self._key = ""  # of the string that grows
        self._is_prompt: bool | None = None  # told by the first line
        self._is_done = self._is_cut = False

    def feed(self, event: SseEvent) -> None:
        """Take one line."""
        number, data = event.number, event.data
        if data is None:
            return
        self._last = number
        try:
            value = loads(data)
        except WireError as error:
            self._unreadable(event, error)
            return
        if self._is_done:
            self._note("stream.framing", "a line after the final one", "", number)
        if not is_answer(value):
            self._feed_other(value, number)
            return
        message = value.get("message")
        if self._is_prompt is None:
            self._is_prompt = "response" in value and "message" not in value
        if self._is_prompt:
            self._feed_message({k: v for k, v in value.items() if k in _OF_PROMPT}, number, "")
        elif type(message) is dict:
            self._feed_message(message, number, "/message")
        elif "message" in value:
            self._note("content.shape", f"a message is {type_words(message)}, not an object", "/message", number)
        ir_keys = _OF_PROMPT if self._is_prompt else ("message",)
        self._top.update((k, v) for k, v in value.items() if k not in ir_keys)
        if value.get("done") is True:
            self._is_done = True
            self._turn("")
            self._finish = (number,)

    def result(self) -> ModelResponse:
        """The response so far."""
        notes, nodes = Notes(), dict(self._nodes())
        has_said = bool(self._texts or self._lists or self._beside or self._top)
        message = read_said(self._body(), notes) if has_said else None
        anomalies = [Anomaly(*key, tuple(events)) for key, events in self._noted.items()]
        if message:
            message = replace(message, parts=tuple(place(part, nodes) for part in message.parts))
            base = message.pointer
            anomalies += (replace(a, events=node_at(nodes, a.pointer[len(base) :])[1]) for a in notes.anomalies)
            anomalies += self._damage(base)
        return replace(
            describe(self._body(), (message,) if message else ()),
            error=self._error,
            is_stream=True,
            is_complete=self._is_done,
            anomalies=(*anomalies, *self._ending()),
            finish_events=self._finish,
        )

    def _feed_message(self, message: Mapping[str, JsonValue], number: int, base: str) -> None:
        """Take what a line carries; ``base`` is the pointer of the message in it."""
        for key, value in message.items():
            if key not in _KNOWN:
                self._beside[key] = value
            elif not value:
                continue
            elif key in _TEXTS and type(value) is str:
                if key != self._key:
                    self._turn(key)
                self._texts[key].add(value, number, f"{base}/{key}")
            elif key in _LISTS and type(value) is list:
                if key == "tool_calls":
                    self._turn("")
                    self.growing += (_whole(call) for call in value)
                entries = self._lists.setdefault(key, [])
                entries += ((item, number, f"{base}/{key}/{n}") for n, item in enumerate(value))
            else:
                self._note("content.shape", f"{key!r} is {type_words(value)}", f"{base}/{key}", number)

    def _turn(self, key: str) -> None:
        """Start to collect another string, or none."""
        self._end()
        self._key = key
        if key:
            pieces = self._texts.setdefault(key, Pieces())
            is_thought = key == "thinking"
            begins = Reasoning(Carrier.MESSAGE_THINKING, "") if is_thought else Text("")
            self.growing.append(GrowingText(begins, pieces, is_tagged=not is_thought))

    def _end(self) -> None:
        last = self.growing[-1] if self.growing else None
        if isinstance(last, GrowingText):
            last.end()

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        return describe({**self._top, "message": {}}, (), is_stream=True)

    def _feed_other(self, value: JsonValue, number: int) -> None:
        """A line that is no piece of an answer."""
        error = read_failure(value) if isinstance(value, dict) else None
        if error:
            self._error = self._error or error
            self._note("stream.error-event", "the stream contains an error", error.pointer, number)
        else:
            what = "an object that is not part of a response" if isinstance(value, dict) else type_name(value)
            self._note("stream.framing", f"a line contains {what}", "", number)

    def _unreadable(self, event: SseEvent, error: WireError) -> None:
        if event.terminated:
            self._note("stream.framing", f"a line is {error.what}", "", event.number)
        else:
            self._is_cut = True
            self._note("stream.truncated", "the stream ends inside a line", "", event.number)

    def _note(self, slug: str, message: str, pointer: str, event: int) -> None:
        self._noted.setdefault((slug, message, pointer), []).append(event)

    def _body(self) -> Mapping[str, JsonValue]:
        """The answer as in a whole body."""
        message = {**self._beside, **{key: pieces.text for key, pieces in self._texts.items()}}
        message.update((key, [item for item, _, _ in items]) for key, items in self._lists.items())
        return {**self._top, **message} if self._is_prompt else {**self._top, "message": message}

    def _nodes(self) -> Iterator[tuple[str, tuple[Node, tuple[int, ...]]]]:
        """(pointer in the message, strings and events) of everything that has a place."""
        for key, pieces in self._texts.items():
            yield f"/{key}", ({"": pieces}, tuple(dict.fromkeys(pieces.events)))
        for key, items in self._lists.items():
            for n, (item, event, pointer) in enumerate(items):
                yield f"/{key}/{n}", (_node(item, event, pointer), (event,))

    def _damage(self, base: str) -> Iterator[Anomaly]:
        return damage((f"{base}/{key}", pieces) for key, pieces in self._texts.items())

    def _ending(self) -> Iterator[Anomaly]:
        """Anomalies of the end of the stream. After an error event no other end is expected."""
        if not self._is_done and not self._error and not self._is_cut:
            yield Anomaly("stream.no-terminator", "the stream ends without a final line", "", (max(self._last, 0),))


def _whole(call: JsonValue) -> WholePart:
    """A call, as in an answer."""
    return WholePart(*read_message({"tool_calls": [call]}, "", Notes(), is_answer=True).parts)


def _node(item: JsonValue, event: int, pointer: str) -> Node:
    """Sources of the parts of an entry of a list; it arrives whole."""
    if isinstance(item, str):
        return {"": _piece(item, event, pointer)}
    if not isinstance(item, dict):
        return {}
    function = item.get("function")
    found = {"/id": item.get("id")}
    if isinstance(function, dict):
        found |= {f"/function/{key}": function.get(key) for key in ("name", "arguments")}
    return {suffix: _piece(value, event, pointer + suffix) for suffix, value in found.items() if value is not None}


def _piece(value: JsonValue, event: int, pointer: str) -> Pieces:
    pieces = Pieces()
    pieces.add(value if isinstance(value, str) else "", event, pointer)
    return pieces
