"""Streams that build one message from blocks named by their key.

    stream := messageStart (contentBlockStart? contentBlockDelta* contentBlockStop)* messageStop metadata? | … exception

(``ConverseStreamOutput`` in botocore's service model ``bedrock-runtime/2023-09-30``; only tools' blocks have a start.)
An event is named by its frame; one that has lost its frame is an object whose only key is its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from workbench.errors import WireError
from workbench.ir import (
    MILD,
    Anomaly,
    ApiError,
    Carrier,
    JsonValue,
    Message,
    ModelResponse,
    Opaque,
    Part,
    Reasoning,
    Segment,
    Source,
    Text,
    ToolCallIR,
)
from workbench.ir import ToolResultIR as Result
from workbench.lazy_dataclass import replace
from workbench.protocols.bedrock_converse.answer import envelope
from workbench.protocols.bedrock_converse.content import put, read_block
from workbench.protocols.common.error_body import read_error, read_exception
from workbench.protocols.common.pieces import Pieces, damage, whole_proofs
from workbench.protocols.common.reading import VERBATIM, Notes, contradicts_content
from workbench.wire import SseEvent, loads, type_words

Path = tuple[str, ...]

DELTAS: Mapping[Path, Path] = {
    ("text",): ("text",),
    ("toolUse", "input"): ("toolUse", "input"),
    ("reasoningContent", "text"): ("reasoningContent", "reasoningText", "text"),
    ("reasoningContent", "signature"): ("reasoningContent", "reasoningText", "signature"),
    ("reasoningContent", "redactedContent"): ("reasoningContent", "redactedContent"),
}
"""Pointer of a string piece in a delta → pointer of the string in the block."""


_STARTED = "toolUse"
"""The kind of block that always begins with an event of its own, which names the tool."""
_INPUT: Path = ("toolUse", "input")
_TEXT: Path = ("text",)
_THINKING: Path = ("reasoningContent", "reasoningText", "text")
_PROOF: Path = ("reasoningContent", "reasoningText", "signature")
_NONE = Pieces()


_BESIDE = "amazon-bedrock-"
"""Beginning of the keys that the runtime puts beside an event: metrics, the action and the trace of a guardrail."""


class _At(NamedTuple):
    """An event: its number, and the pointer of what it says in its data."""

    number: int
    base: str


class _StreamedBlock:
    """A block and what has come of it."""

    is_tagged = False

    def __init__(self, kind: str, start: Mapping[str, JsonValue], at: _At) -> None:
        self.kind = kind
        self.start = start
        self.opened = at
        self.events = [at.number]
        self.strings: dict[Path, Pieces] = {}
        self.items: list[tuple[JsonValue, Segment]] = []  # content of a result
        self.others: list[tuple[dict[str, JsonValue], Segment]] = []  # deltas of no string: citations
        self.is_over = False

    def opening(self) -> Part | None:
        """The part without its string."""
        if _TEXT in self.strings:
            return Text("")
        if _THINKING in self.strings:
            return Reasoning(Carrier.REASONING_BLOCK, "")
        call = self.start.get("toolUse")
        if not isinstance(call, dict) or "type" in call:  # a server tool says so
            return None
        call_id, name = call.get("toolUseId"), call.get("name")
        is_named = isinstance(call_id, str) and isinstance(name, str)
        return ToolCallIR(call_id, name, None, "bedrock") if is_named else None

    def since(self, count: int) -> list[str]:
        """Pieces of its string."""
        pieces = next((self.strings[path] for path in (_TEXT, _THINKING, _INPUT) if path in self.strings), _NONE)
        return pieces.texts[count:]

    def parts(self) -> tuple[Part, ...]:
        """The parts so far."""
        return tuple(self.all_parts("", Notes()))

    def all_parts(self, at: str, notes: Notes) -> Iterator[Part]:
        """The part it adds up to so far, and every delta beside it, which came whole."""
        if self.start or self.strings or self.items:
            yield self._part(at, notes)
        for n, (delta, segment) in enumerate(self.others):
            source = Source(f"{at}/deltas/{n}", VERBATIM, {"value": (segment,)}, (segment.event,))
            yield Opaque(next(iter(delta)), delta, source)

    def _part(self, at: str, notes: Notes) -> Part:
        value: dict[str, JsonValue] = dict(self.start)
        for path, pieces in self.strings.items():
            value = put(value, path, pieces.text)
        if self.items:
            value = put(value, ("toolResult", "content"), [item for item, _ in self.items])
        error, raw = None, None
        if self.kind == "toolUse" and isinstance(value.get("toolUse"), dict):
            raw = value["toolUse"].get("input")
            raw = raw if isinstance(raw, str) and raw else None
            parsed, error = _parse_arguments(raw) if raw else ({}, None)
            value = put(value, _INPUT, parsed)
        mine = Notes()
        part = read_block(value, at, mine)
        if isinstance(part, Reasoning) and _PROOF in self.strings:
            part = replace(part, copies=whole_proofs(self.strings[_PROOF]))
        if raw is not None and isinstance(part, ToolCallIR):
            part = replace(part, raw=raw, error=error, input=None if error else part.input)
        events = tuple(dict.fromkeys(self.events))
        notes.anomalies += (replace(a, events=events) for a in mine.anomalies)
        return self._locate(part, events)

    def _locate(self, part: Part, events: tuple[int, ...]) -> Part:
        segments: dict[str, tuple[Segment, ...]] = {}
        for name, suffix in part.source.fields.items():
            path = tuple(suffix.split("/")[1:])
            if path == _INPUT and not self.strings.get(path, _NONE).text:
                continue  # no text came: the empty object is nowhere
            if path in self.strings:
                segments[name] = self.strings[path].segments()
            elif name != "extra" and _stands(self.start, path):
                segments[name] = (Segment(self.opened.number, f"{self.opened.base}/start{suffix}"),)
        fields = {name: part.source.fields[name] for name in segments}
        if isinstance(part, ToolCallIR) and part.raw is not None:
            segments["raw"], fields["raw"] = self._input_segments(), f"/{'/'.join(_INPUT)}"
        if isinstance(part, Result):
            part = replace(part, content=tuple(self._item(inner, n) for n, inner in enumerate(part.content)))
        return replace(part, source=Source(part.source.pointer, fields, segments, events))

    def _input_segments(self) -> tuple[Segment, ...]:
        """Where the text of the arguments is, though it may be no value."""
        if _INPUT in self.strings:
            return self.strings[_INPUT].segments()
        return (Segment(self.opened.number, f"{self.opened.base}/start/{'/'.join(_INPUT)}"),)

    def _item(self, part: Part, number: int) -> Part:
        """A part of a result, which came whole."""
        if number >= len(self.items):
            return part
        event, pointer = self.items[number][1]
        pointer += part.source.pointer.partition(f"/toolResult/content/{number}")[2]
        fields = {name: suffix for name, suffix in part.source.fields.items() if name != "extra"}
        segments = {name: (Segment(event, pointer + suffix),) for name, suffix in fields.items()}
        return replace(part, source=Source(part.source.pointer, fields, segments, (event,)))


class KeyedStreamDecoder:
    """Builds the response of one stream. Never raises; linear in the length of the stream."""

    def __init__(self) -> None:
        self._body: dict[str, JsonValue] = {}
        self._role = "assistant"
        self._blocks: list[_StreamedBlock] = []
        self.growing: Sequence[_StreamedBlock] = self._blocks
        self._open: dict[JsonValue, _StreamedBlock] = {}
        self._closed: set[JsonValue] = set()
        self._faults: dict[tuple[str, str], list[int]] = {}
        self._unknown: list[JsonValue] = []
        self._error: ApiError | None = None
        self._finish: tuple[int, ...] = ()
        self._last: int | None = None
        self._is_started = self._is_cut = self._is_complete = False
        self._handlers: Mapping[str, Callable[[_At, dict[str, JsonValue]], None]] = {
            "messageStart": self._message_start,
            "contentBlockStart": self._block_start,
            "contentBlockDelta": self._block_delta,
            "contentBlockStop": self._block_stop,
            "messageStop": self._message_stop,
            "metadata": self._metadata,
        }

    def feed(self, event: SseEvent) -> None:
        """Read one event."""
        self._last = event.number
        try:
            value = loads(event.data) if event.data else {}
        except WireError:
            self._unreadable(event)
            return
        name, base = event.name, ""
        keys = [key for key in value if not key.startswith(_BESIDE)] if isinstance(value, dict) else []
        if name not in self._handlers and len(keys) == 1:
            key = keys[0]
            if key in self._handlers or key.endswith("Exception"):
                name, base, value = key, f"/{key}", value[key]
        handle = self._handlers.get(name or "")
        if self._is_complete and name in self._handlers and name != "metadata":
            self._fault("stream.framing", "an event after messageStop", event.number)
        if handle and isinstance(value, dict):
            handle(_At(event.number, base), value)
        elif name and name not in self._handlers:
            self._fail(event.number, replace(read_error(value) or read_exception(event), type=name))
        elif read_error(value):
            self._fail(event.number, read_error(value) or ApiError(""))
        elif event.data:
            self._fault("stream.framing", f"the data of {name!r} is {type_words(value)}, not an object", event.number)
            self._unknown.append(value)

    def result(self) -> ModelResponse:
        """The response so far."""
        notes = Notes()
        parts = tuple(p for n, block in enumerate(self._blocks) for p in block.all_parts(f"/content/{n}", notes))
        faults = (Anomaly(slug, message, events=tuple(events)) for (slug, message), events in self._faults.items())
        found = [*faults, *notes.anomalies, *self._damage(), *self._endings(parts)]
        body = self._body | ({"unknown_events": list(self._unknown)} if self._unknown else {})
        return ModelResponse(
            **envelope(body),
            messages=(Message(self._role, parts),) if parts or self._is_started else (),
            error=self._error,
            is_stream=True,
            is_complete=self._is_complete,
            anomalies=tuple(sorted(found, key=lambda anomaly: anomaly.events[:1])),
            finish_events=self._finish,
        )

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        return ModelResponse(**envelope(self._body), is_stream=True)

    def _message_start(self, at: _At, value: dict[str, JsonValue]) -> None:
        if self._is_started:
            self._fault("stream.block-order", "a second messageStart: the message starts again", at.number)
        self._is_started = True
        if isinstance(value.get("role"), str):
            self._role = value["role"]

    def _block_start(self, at: _At, value: dict[str, JsonValue]) -> None:
        start = value.get("start")
        start = start if isinstance(start, dict) else {}
        index = self._index(at, value)
        if index in self._open:
            self._fault("stream.block-order", f"block {index} starts again before it has stopped", at.number)
        elif index in self._closed:
            self._fault("stream.block-order", f"block {index} starts a second time", at.number)
        if start:
            self._grow(index, next(iter(start)), start, at)

    def _block_delta(self, at: _At, value: dict[str, JsonValue]) -> None:
        delta = value.get("delta")
        index = self._index(at, value)
        if not isinstance(delta, dict) or not delta:
            self._fault("content.shape", f"a delta is {type_words(delta)}, not an object with content", at.number)
            self._unknown.append(value)
            return
        kind = next(iter(delta))
        change = delta[kind]
        pairs = (
            [((kind, key), text) for key, text in change.items()] if isinstance(change, dict) else [((kind,), change)]
        )
        block = self._block(index, "text" if kind == "citation" else kind, at)
        block.events.append(at.number)
        for path, text in pairs:
            if path in DELTAS and isinstance(text, str):
                pieces = block.strings.setdefault(DELTAS[path], Pieces())
                pieces.add(text, at.number, f"{at.base}/delta/{'/'.join(path)}")
            elif kind == "toolResult" and isinstance(text, list):
                pointer = f"{at.base}/delta/toolResult"
                block.items += ((item, Segment(at.number, f"{pointer}/{n}")) for n, item in enumerate(text))
            elif not block.others or block.others[-1][0] is not delta:
                block.others.append((delta, Segment(at.number, f"{at.base}/delta")))

    def _block(self, index: JsonValue, kind: str, at: _At) -> _StreamedBlock:
        """The open block of an index; a new one where none is open, or one of another kind."""
        block = self._open.get(index)
        if block is not None and block.kind == kind:
            return block
        if block is not None:
            self._fault(
                "stream.block-order", f"{kind!r} in block {index}, which has the type {block.kind!r}", at.number
            )
        elif index in self._closed:
            self._fault("stream.block-order", f"{kind!r} in block {index}, which has stopped", at.number)
        elif kind == _STARTED:
            self._fault("stream.block-order", f"{kind!r} in block {index}, which was not started", at.number)
        return self._grow(index, kind, {}, at)

    def _grow(self, index: JsonValue, kind: str, start: Mapping[str, JsonValue], at: _At) -> _StreamedBlock:
        if index in self._open:
            self._open[index].is_over = True
        block = self._open[index] = _StreamedBlock(kind, start, at)
        self._blocks.append(block)
        return block

    def _block_stop(self, at: _At, value: dict[str, JsonValue]) -> None:
        index = self._index(at, value)
        block = self._open.pop(index, None)
        if block is not None:
            self._closed.add(index)
            block.is_over = True
            block.events.append(at.number)

    def _message_stop(self, at: _At, value: dict[str, JsonValue]) -> None:
        self._body.update((k, v) for k, v in value.items() if k != "p")
        self._finish = (at.number,) if value.get("stopReason") is not None else ()
        self._is_complete = True

    def _metadata(self, at: _At, value: dict[str, JsonValue]) -> None:
        self._body.update((k, v) for k, v in value.items() if k != "p")  # "p" is padding against guesses by length

    def _index(self, at: _At, value: dict[str, JsonValue]) -> JsonValue:
        index = value.get("contentBlockIndex")
        if isinstance(index, int):
            return index
        self._fault("stream.index", "an event of a block has no block index", at.number)
        return next(reversed(self._open), None)

    def _unreadable(self, event: SseEvent) -> None:
        if not event.terminated:
            self._is_cut = True
        else:
            self._fault("stream.framing", "data that is not JSON", event.number)
            self._unknown.append((event.data or b"").decode("utf-8", "replace"))

    def _fail(self, number: int, error: ApiError) -> None:
        self._fault("stream.error-event", "the stream contains an error", number)
        self._error = error

    def _fault(self, slug: str, message: str, number: int) -> None:
        self._faults.setdefault((slug, message), []).append(number)

    def _damage(self) -> Iterator[Anomaly]:
        return damage(
            (f"/content/{n}/{'/'.join(path)}", pieces)
            for n, block in enumerate(self._blocks)
            for path, pieces in block.strings.items()
        )

    def _endings(self, parts: tuple[Part, ...]) -> Iterator[Anomaly]:
        contradiction = contradicts_content("stopReason", self._body.get("stopReason"), parts)
        if contradiction:
            yield Anomaly("stream.finish-reason", contradiction, "/stopReason", self._finish)
        if self._blocks and not self._is_started:
            events = tuple(self._blocks[0].events[:1])
            yield Anomaly(f"stream.framing{MILD}", "the blocks begin without messageStart", events=events)
        if self._error is not None or self._last is None:
            return
        for index, block in self._open.items():
            events = tuple(dict.fromkeys((*block.events, self._last)))
            if self._is_complete:
                yield Anomaly("stream.block-order", f"block {index} has no stop event", events=events)
            else:
                yield Anomaly("stream.truncated", f"the stream ends inside block {index}", events=events)
        if self._is_cut and not self._open:
            yield Anomaly("stream.truncated", "the stream ends inside an event", events=(self._last,))
        elif not self._is_complete and not self._open and (self._is_started or self._blocks):
            yield Anomaly("stream.no-terminator", "the stream ends without messageStop", events=(self._last,))


def _parse_arguments(raw: str) -> tuple[JsonValue, str | None]:
    """The value of argument text, or an empty object and why it has none."""
    try:
        return loads(raw), None
    except WireError as error:
        return {}, str(error)


def _stands(tree: JsonValue, path: Path) -> bool:
    for step in path:
        if not isinstance(tree, dict) or step not in tree:
            return False
        tree = tree[step]
    return True
