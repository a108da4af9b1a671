"""One candidate of a stream: the parts of its chunks, collected into the content that a whole answer would hold.

Text that comes in several chunks is one part, as long as nothing else comes between and no signature is on it:
a signed part must not be merged with another (documentation of thought signatures). Everything else comes whole, but
for calls whose arguments are streamed.

{"partialArgs": [{"jsonPath": "$.recipe.steps[1]", "stringValue": "Cook", "willContinue": true}]}

Facts: ``PartialArg`` in ``types.py`` of the ``google-genai`` SDK 3.4; recordings. A string is continued by further
pieces of the same path while ``willContinue`` is true; every other value comes whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from workbench import regex
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import (
    Anomaly,
    Carrier,
    JsonValue,
    Message,
    Part,
    Reasoning,
    Segment,
    Source,
    Text,
    ToolResultIR,
)
from workbench.lazy_dataclass import replace
from workbench.limits import MAX_JSON_DEPTH
from workbench.protocols.common.pieces import DAMAGE, Pieces
from workbench.protocols.common.reading import Notes
from workbench.protocols.shapes.contents.nodes import key_of, member
from workbench.protocols.shapes.contents.parts import read_part
from workbench.wire import dumps, loads

_STEP = regex.compile(r"""\.([^.\[\]\s'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.DOTALL)
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_MAX_STEPS = MAX_JSON_DEPTH // 2


class _GrowingValue:
    """A value in the tree that is being built, and the pieces it grows by."""

    __slots__ = ("holder", "is_open", "pieces", "step")

    def __init__(self, holder: JsonValue, step: int | str) -> None:
        self.holder = holder
        self.step = step
        self.pieces: list[str] = []
        self.is_open = False


def assemble(value: JsonValue, partial: Iterable[JsonValue]) -> tuple[JsonValue, list[JsonValue]]:
    """The arguments that pieces add up to.

    Args:
        value: what came whole, or None.
        partial: entries of ``partialArgs``, in order.

    Returns:
        The arguments, and the entries that have no place in them.
    """
    try:
        root: JsonValue = {} if value is None else loads(dumps(value))
    except (WireError, LocalProtocolError):  # too deep to be written: it stays as it came
        return value, list(partial)
    if not isinstance(root, dict):
        return value, list(partial)
    places: dict[str, _GrowingValue] = {}
    strays: list[JsonValue] = []
    for entry in partial:
        if not _take(root, places, entry):
            strays.append(entry)
    for place in places.values():
        if place.pieces:
            place.holder[place.step] = "".join(place.pieces)
    return root, strays


def _take(root: dict[str, JsonValue], places: dict[str, _GrowingValue], entry: JsonValue) -> bool:
    """Put one piece into its place; False where it has none."""
    path = member(entry, "jsonPath")
    key = next((key for key in _VALUES if member(entry, key) is not None), None)
    if not isinstance(path, str) or key is None:
        return False
    place = places.get(path) or _open(root, path)
    if place is None:
        return False
    places[path] = place
    value = member(entry, key)
    if key == "stringValue" and isinstance(value, str):
        if not place.is_open:
            place.pieces.clear()
        place.pieces.append(value)
        place.holder[place.step] = ""  # nothing can be put into it
    else:
        place.pieces.clear()
        place.holder[place.step] = None if key == "nullValue" else value
    place.is_open = member(entry, "willContinue") is True
    return True


def _open(root: dict[str, JsonValue], path: str) -> _GrowingValue | None:
    """The place a path leads to, with the objects and lists on the way; None where it leads nowhere."""
    steps = _steps(path)
    if not steps:
        return None
    node: JsonValue = root
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if not _fits(node, step):
            return None
        if following is None:
            break
        empty: JsonValue = [] if isinstance(following, int) else {}
        if isinstance(node, list):
            if step == len(node):
                node.append(empty)
        else:
            node.setdefault(step, empty)
        node = node[step]
    if isinstance(node, list) and steps[-1] == len(node):
        node.append(None)
    return _GrowingValue(node, steps[-1])


def _fits(node: JsonValue, step: int | str) -> bool:
    """The node can hold the step: lists grow one by one, so that no number makes them large."""
    if isinstance(step, int):
        return isinstance(node, list) and step <= len(node)
    return isinstance(node, dict)


def _steps(path: str) -> list[int | str]:
    """The steps of a singular query of RFC 9535; none for anything else."""
    steps, at = list[int | str](), 1
    while path.startswith("$") and at < len(path):
        found = _STEP.match(path, at)
        if found is None or len(steps) >= _MAX_STEPS:
            return []
        name, index, single, double = found.groups()
        quoted = single if single is not None else double
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(name if quoted is None else _unescape(quoted))
        at = found.end()
    return steps


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) if "\\" in text else text


Note = Callable[[str, str, str, int], None]
"""Takes slug, message, pointer below the content, and event of what is wrong."""

_STREAMED = ("partialArgs", "willContinue")


class StreamedPart:
    """A part of the content as it arrives (``adapters.Growing``); but for text it comes whole."""

    is_tagged = False
    is_over = True

    def value(self) -> JsonValue:
        """The part as in a whole answer."""
        raise NotImplementedError

    def is_call(self, call: JsonValue) -> bool:
        """True for a part with this call."""
        return False

    def opening(self) -> Part | None:
        return None

    def since(self, count: int) -> list[str]:
        return []

    def parts(self) -> tuple[Part, ...]:
        return tuple(read_part(self.value(), "", Notes()))

    def proofs(self) -> tuple[str, ...]:
        """Every signature that its chunks carried, if there are several."""
        return ()


class WholeItem(StreamedPart):
    """A part that came in one chunk."""

    def __init__(self, value: JsonValue, event: int, origin: str) -> None:
        self.raw = value
        self.events = [event]
        self.origin = origin

    def value(self) -> JsonValue:
        return self.raw

    def is_call(self, call: JsonValue) -> bool:
        return isinstance(self.raw, dict) and self.raw.get("functionCall") == call

    def place(self, suffix: str) -> tuple[Segment, ...]:
        """Segments of the value at a pointer below the part; empty for a value put together."""
        return (Segment(self.events[0], self.origin + suffix),)

    def copy(self) -> WholeItem:
        return self  # nothing in it changes


class GrowingPart(StreamedPart):
    """Text, or a thought, that came in pieces."""

    def __init__(self, *, is_thought: bool) -> None:
        self.is_thought = is_thought
        self.is_over = False
        self.pieces = Pieces()

    def opening(self) -> Part | None:
        return Reasoning(Carrier.THOUGHT_SIGNATURE, "") if self.is_thought else Text("")

    def since(self, count: int) -> list[str]:
        return self.pieces.texts[count:]

    @property
    def events(self) -> list[int]:
        return self.pieces.events

    def value(self) -> JsonValue:
        return {"text": self.pieces.text} | ({"thought": True} if self.is_thought else {})

    def place(self, suffix: str) -> tuple[Segment, ...]:
        return self.pieces.segments() if suffix == "/text" else ()

    def copy(self) -> GrowingPart:
        growing_part = GrowingPart(is_thought=self.is_thought)
        growing_part.is_over = self.is_over
        growing_part.pieces = self.pieces.__deepcopy__(None)
        return growing_part


class StreamedFunctionCall(StreamedPart):
    """A call whose arguments came in pieces. Its name is in the first chunk."""

    def __init__(self) -> None:
        self.chunks: list[tuple[Mapping[str, JsonValue], int, str]] = []
        self.is_open = True

    def add(self, part: Mapping[str, JsonValue], event: int, origin: str) -> None:
        """Take the next part of it."""
        self.chunks.append((part, event, origin))
        self.is_open = member(member(part, "functionCall"), "willContinue") is True

    @property
    def is_over(self) -> bool:  # type: ignore[override]
        return not self.is_open

    @property
    def events(self) -> list[int]:
        return [event for _, event, _ in self.chunks]

    def value(self) -> JsonValue:
        whole_part: dict[str, JsonValue] = {}
        call: dict[str, JsonValue] = {}
        entries: list[JsonValue] = []
        for part, _, _ in self.chunks:
            inner = member(part, "functionCall")
            whole_part = {**part, **whole_part}
            own = {key_of(inner, key) for key in _STREAMED}
            call = {**{k: v for k, v in inner.items() if k not in own}, **call}
            partial = member(inner, "partialArgs")
            entries += partial if isinstance(partial, list) else []
        args, strays = assemble(call.get("args"), entries)
        call["args"] = args
        return whole_part | {key_of(whole_part, "functionCall"): call | ({"partialArgs": strays} if strays else {})}

    def place(self, suffix: str) -> tuple[Segment, ...]:
        if suffix.endswith("/args"):
            return ()
        steps = suffix.split("/")[1:]
        for part, event, origin in self.chunks:
            value: JsonValue = part
            for step in steps:
                value = value.get(step) if isinstance(value, dict) else None
            if value is not None:
                return (Segment(event, origin + suffix),)
        return ()

    def proofs(self) -> tuple[str, ...]:
        signatures = (member(part, "thoughtSignature") for part, _, _ in self.chunks)
        return tuple(dict.fromkeys(b for b in signatures if isinstance(b, str) and b))

    def copy(self) -> StreamedFunctionCall:
        streamed_function_call = StreamedFunctionCall()
        streamed_function_call.chunks, streamed_function_call.is_open = self.chunks.copy(), self.is_open
        return streamed_function_call


class Candidate:
    """A candidate as it grows.

    Args:
        note: takes what is wrong with it.
    """

    def __init__(self, note: Note) -> None:
        self.beside: dict[str, JsonValue] = {}
        self.finish_events: list[int] = []
        self.extra: dict[str, JsonValue] = {}
        self.role = "model"
        self.items: list[WholeItem | GrowingPart | StreamedFunctionCall] = []
        self._note = note

    def copy(self, note: Note) -> Candidate:
        """The same, to continue by itself."""
        candidate = Candidate(note)
        candidate.beside, candidate.extra, candidate.role = self.beside.copy(), self.extra.copy(), self.role
        candidate.finish_events = self.finish_events.copy()
        candidate.items = [item.copy() for item in self.items]
        return candidate

    def feed(self, parts: list[JsonValue], event: int, origin: str, *, is_list: bool = True) -> None:
        """Take the parts of a chunk, at ``origin`` in its data."""
        for n, part in enumerate(parts):
            self._feed(part, event, f"{origin}/{n}" if is_list else origin, is_first=not n)

    def _feed(self, part: JsonValue, event: int, origin: str, *, is_first: bool) -> None:
        if type(part) is not dict:
            self._add(WholeItem(part, event, origin))
            return
        text = part.get("text")
        if type(text) is str and part.keys() <= _TEXT_KEYS:
            self._feed_text(text, part.get("thought"), event, origin, is_first=is_first)
        elif not self._feed_call(part, event, origin):
            self._add(WholeItem(part, event, origin))

    def _feed_text(self, text: str, thought: JsonValue, event: int, origin: str, *, is_first: bool) -> None:
        if not text:  # the last chunk brings an empty text, so that it has one
            return
        last = self.items[-1] if self.items else None
        is_thought = thought is True
        if not is_first or not isinstance(last, GrowingPart) or last.is_thought is not is_thought:
            last = GrowingPart(is_thought=is_thought)
            self._add(last)
        pieces = last.pieces
        pieces.texts.append(text)
        pieces.events.append(event)
        pieces.pointers.append(f"{origin}/text")

    def _feed_call(self, part: Mapping[str, JsonValue], event: int, origin: str) -> bool:
        """Take a part of a streamed call; False for anything else."""
        call = member(part, "functionCall")
        if type(call) is not dict:
            return False
        last = self.items[-1] if self.items else None
        is_named = member(call, "name") is not None
        streams = bool(member(call, "partialArgs")) or member(call, "willContinue") is True
        if isinstance(last, StreamedFunctionCall) and not is_named:
            if not last.is_open and streams:
                at = f"/parts/{len(self.items) - 1}"
                self._note("stream.block-order", "arguments arrive after the end of their call", at, event)
            if last.is_open or streams or not call:
                last.add(part, event, origin)
                return True
        if streams and not is_named:
            what = "arguments arrive for a call that was not started"
            self._note("stream.block-order", what, f"/parts/{len(self.items)}", event)
        if streams:
            call = StreamedFunctionCall()
            call.add(part, event, origin)
            self._add(call)
        return streams

    def _add(self, item: WholeItem | GrowingPart | StreamedFunctionCall) -> None:
        last = self.items[-1] if self.items else None
        if isinstance(last, GrowingPart):
            last.is_over = True
        self.items.append(item)

    def open_call(self) -> int | None:
        """Position of the call whose arguments have not ended."""
        found = (n for n, item in enumerate(self.items) if isinstance(item, StreamedFunctionCall) and item.is_open)
        return next(found, None)

    def message(self, pointer: str, anomalies: list[Anomaly]) -> Message:
        """The content so far; ``anomalies`` receives its faults."""
        parts: list[Part] = []
        for n, item in enumerate(self.items):
            notes, events = Notes(pointer), tuple(dict.fromkeys(item.events))
            at = f"/parts/{n}"
            parts += (place_part(part, at, item, events) for part in read_part(item.value(), at, notes))
            if isinstance(item, GrowingPart) and item.pieces.damaged_events():
                notes.add("stream.encoding", DAMAGE, f"{at}/text", item.pieces.damaged_events())
            anomalies += (a if a.events else replace(a, events=events) for a in notes.anomalies)
        return Message(self.role, tuple(parts), dict(self.extra), pointer)


_TEXT_KEYS = frozenset(("text", "thought"))


def place_part(
    part: Part, at: str, item: WholeItem | GrowingPart | StreamedFunctionCall, events: tuple[int, ...]
) -> Part:
    """The part, each of its fields with the pieces of the stream it came in."""
    segments = dict(_segments(part, at, item))
    fields = {name: part.source.fields[name] for name in segments}
    source = Source(part.source.pointer, fields, segments, events, part.source.slices)
    if isinstance(part, Reasoning) and item.proofs():
        part = replace(part, copies=item.proofs())
    if isinstance(part, ToolResultIR):
        return replace(
            part, content=tuple(place_part(inner, at, item, events) for inner in part.content), source=source
        )
    return replace(part, source=source)


def _segments(
    part: Part, at: str, item: WholeItem | GrowingPart | StreamedFunctionCall
) -> Iterator[tuple[str, tuple[Segment, ...]]]:
    below = part.source.pointer[len(at) :]
    for name, suffix in part.source.fields.items():
        places = item.place(below + suffix) if name != "extra" else ()
        if places:
            yield name, places
