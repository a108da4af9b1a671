"""One item of a streamed answer: everything the stream says of it, often several times over.

A string arrives in deltas, then whole in its own ``done`` event, in that of its content part, in that of its item, and
once more in the last event. The latest word counts, as it does for clients; the pieces say where each word was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from workbench.ir import (
    MILD,
    Anomaly,
    Carrier,
    JsonValue,
    Message,
    Part,
    Reasoning,
    Segment,
    Source,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols.common.pieces import Pieces, damage
from workbench.protocols.common.reading import Notes
from workbench.protocols.shapes.items.item import read_output
from workbench.wire import value_at

MISSING = object()
"""Value of an absent member."""

value_or_missing = partial(value_at, default=MISSING)
"""The value at a pointer below a value; ``MISSING`` if there is none."""


class WholeValue(NamedTuple):
    """A value of the item, whole.

    Attributes:
        at: its pointer in the item.
        event, pointer: its place in the stream.
        is_last: it is not going to change.
    """

    at: str
    value: JsonValue
    event: int
    pointer: str
    is_last: bool

    def __deepcopy__(self, memo: object) -> WholeValue:
        """Itself: what arrived never changes."""
        return self


class StreamedItem:
    """An item as it grows.

    Args:
        index: ``output_index``; None where no event says it.
        kind: type of the item, as far as the event that opened it tells.
    """

    needs_one_whole = False
    """One event with the complete string is enough: others may leave it out."""

    def __init__(self, index: int | None, kind: str | None) -> None:
        self.index = index
        self.kind = kind
        self.tracks: dict[str, Pieces] = {}
        self.whole: WholeValue | None = None  # the latest word on all of it
        self.is_done = False
        self.is_shown = False  # some of it is a part that arrives
        self.final: int | None = None  # its place in the last event
        self.kinds: dict[str, str] = {}  # types of entries that began without saying theirs
        self._whole_values: dict[str, list[WholeValue]] = {}  # by pointer
        self._pieces_at: dict[str, list[Pieces]] = {}  # what grows at a pointer or below
        self._events: dict[str, list[int]] = {}  # of a pointer itself
        self._events_below: dict[str, list[int]] = {}  # of the pointers below it
        self._places: dict[tuple[str, int], int] = {}
        self._sizes: dict[str, int] = {}

    def place(self, key: str, number: int) -> str:
        """Pointer of the ``number``-th entry of a list of the item. Entries that never began are not made up."""
        if (key, number) not in self._places:
            self._places[key, number] = self._sizes.get(key, 0)
            self._sizes[key] = self._places[key, number] + 1
        return f"{key}/{self._places[key, number]}"

    def say(self, whole_value: WholeValue) -> None:
        """Take a whole value."""
        self._whole_values.setdefault(whole_value.at, []).append(whole_value)
        if not whole_value.at:
            self.whole = whole_value
            if isinstance(whole_value.value, dict) and isinstance(whole_value.value.get("type"), str):
                self.kind = whole_value.value["type"]

    def say_string(self, whole_value: WholeValue, event: dict[str, JsonValue]) -> None:
        """Take a whole string; the end of arguments also has name and id of the call, which may be nowhere else."""
        self.say(whole_value)
        self.mark(whole_value.at, whole_value.event)
        for key in ("name", "call_id") if self.whole is None else ():
            if isinstance(event.get(key), str):
                self.say(WholeValue(f"/{key}", event[key], whole_value.event, f"/{key}", is_last=True))
                self.mark(f"/{key}", whole_value.event)

    def grow(self, at: str) -> Pieces:
        """The string at a pointer, which arrives in pieces."""
        if at not in self.tracks:
            self.tracks[at] = Pieces()
            for place in _ways(at):
                self._pieces_at.setdefault(place, []).append(self.tracks[at])
        return self.tracks[at]

    def is_told(self, at: str) -> bool:
        """An event has stated the whole of a string that arrives in pieces; True for a string that does not."""
        return at not in self.tracks or any(whole_value.is_last for whole_value in self._whole_values.get(at, ()))

    def latest(self, at: str) -> str:
        """The string at a pointer, as the latest word on it alone has it."""
        whole_values = self._whole_values.get(at)
        word = whole_values[-1].value if whole_values else None
        return word if isinstance(word, str) else self.tracks[at].text if at in self.tracks else ""

    def mark(self, at: str, event: int) -> None:
        """Note that an event says something of a node, if it is not a delta."""
        *above, own = _ways(at)
        self._events.setdefault(own, []).append(event)
        for place in above:
            self._events_below.setdefault(place, []).append(event)

    def name(self, key: str) -> JsonValue:
        """A key of the item as it is known so far."""
        return self.whole.value.get(key) if self.whole and isinstance(self.whole.value, dict) else None

    def value(self) -> JsonValue:
        """The item as in a whole answer."""
        if self.whole and self.whole.is_last:
            return self.whole.value
        item = dict(self.whole.value) if self.whole and isinstance(self.whole.value, dict) else {"type": self.kind}
        ours = {id(item)}
        below = [whole_value for at, values in self._whole_values.items() if at for whole_value in values]
        for whole_value in sorted(below, key=lambda whole_value: whole_value.event):
            _put(item, whole_value.at, whole_value.value, ours)
        lasting = {whole_value.at for whole_value in below if whole_value.is_last}
        for at, pieces in self.tracks.items():
            if at not in lasting:
                _put(item, at, pieces.text, ours)
        for at, kind in self.kinds.items():
            if value_or_missing(item, f"{at}/type") is MISSING:
                _put(item, f"{at}/type", kind, ours)
        return item

    def message(self, pointer: str) -> tuple[Message, list[Anomaly]]:
        """The item as a message with the places of its fields, and its anomalies."""
        notes, value = Notes(), self.value()
        message = self._read(value, pointer, notes)
        parts = tuple(self._locate(self._proven(part), value) for part in message.parts)
        found = [replace(a, events=self.events(a.pointer[len(pointer) :])) for a in notes.anomalies]
        return replace(message, parts=parts), [*found, *self._disputes(pointer), *self._damage(pointer)]

    def _read(self, value: JsonValue, pointer: str, notes: Notes) -> Message:
        """The message that the item is, as in a whole answer."""
        return read_output(value, pointer, notes)

    def places(self, at: str, value: JsonValue) -> Iterator[tuple[Segment, ...]]:
        """Every place where the stream says this value of the pointer: the pieces of it, first the deltas."""
        track = self.tracks.get(at)
        if track and isinstance(value, str) and track.text == value:
            yield track.segments()
        for whole_value in self._over(at):
            below = at[len(whole_value.at) :]
            if _same(value_or_missing(whole_value.value, below), value):
                yield (Segment(whole_value.event, whole_value.pointer + below),)

    def _proven(self, part: Part) -> Part:
        """Reasoning with every proof that the stream carried for it: each event gets a new one."""
        if not isinstance(part, Reasoning) or not isinstance(part.data, str):
            return part
        proofs = (
            value_or_missing(whole_value.value, "/encrypted_content") for whole_value in self._whole_values.get("", ())
        )
        others = dict.fromkeys(b for b in proofs if isinstance(b, str) and b and b != part.data)
        return replace(part, copies=tuple(others)) if others else part

    def _over(self, at: str) -> list[WholeValue]:
        """Every whole value that holds what is at a pointer, in order of arrival."""
        return sorted(
            (s for place in _ways(at) for s in self._whole_values.get(place, ())),
            key=lambda whole_value: whole_value.event,
        )

    def _locate(self, part: Part, whole: JsonValue) -> Part:
        """The part, each of its fields with the pieces of the stream it came in."""
        base = part.source.pointer
        segments: dict[str, tuple[Segment, ...]] = {}
        for name, suffix in part.source.fields.items():
            value = value_or_missing(whole, base + suffix)
            found = next(self.places(base + suffix, value), None) if name != "extra" and value is not MISSING else None
            if found is not None:
                segments[name] = found
        fields = {name: part.source.fields[name] for name in segments}
        source = Source(base, fields, segments, self.events(base))
        if isinstance(part, ToolResultIR):
            return replace(part, content=tuple(self._locate(inner, whole) for inner in part.content), source=source)
        return replace(part, source=source)

    def events(self, at: str) -> tuple[int, ...]:
        """The events that took part in the node at a pointer."""
        found = {event for place in _ways(at) for event in self._events.get(place, ())}
        found.update(self._events_below.get(at, ()), *(pieces.events for pieces in self._pieces_at.get(at, ())))
        if at in self.tracks:
            found.update(self.tracks[at].events)
        return tuple(sorted(found))

    def _disputes(self, pointer: str) -> Iterator[Anomaly]:
        """Strings whose pieces add up to something else than the events say that give them whole."""
        for at, pieces in self.tracks.items():
            text = pieces.text
            last = [(s, value_or_missing(s.value, at[len(s.at) :])) for s in self._over(at) if s.is_last]
            wrong = [s for s, value in last if not self._says(at, value, text)]
            if self.needs_one_whole and any(self._says(at, value, text) for _, value in last):
                wrong = [s for s, value in last if value not in ("", MISSING) and s in wrong]
            if wrong:
                events = (*dict.fromkeys(pieces.events), *(s.event for s in wrong))
                message = "the joined deltas of a string differ from the events that contain the complete string"
                yield Anomaly("stream.block-order", message, pointer + at, events)

    def _says(self, at: str, value: JsonValue, text: str) -> bool:
        """A value that an event gives whole is what its pieces add up to."""
        return bool(value == text)

    def _damage(self, pointer: str) -> Iterator[Anomaly]:
        return damage((pointer + at, pieces) for at, pieces in self.tracks.items())


def changed_names(item: StreamedItem, final_item: Mapping[str, JsonValue]) -> Iterator[tuple[str, str, str]]:
    """(rule, message, name) of each name that an item does not keep from its beginning to its end.

    OpenAI itself gives a client's tool search another call_id at its end (recorded, gpt-5.4): what counts is the last.
    """
    call_id = f"stream.id{MILD}" if final_item.get("type") == "tool_search_call" else "stream.id"
    for key, slug in (("id", "stream.id"), ("call_id", call_id), ("name", "stream.name")):
        before, after = item.name(key), final_item.get(key)
        if isinstance(before, str) and before and after != before:
            yield slug, f"the {key} of an item changes from {before!r:.80} to {after!r:.80}", key


class StreamedItemString:
    """A text of an item, or the arguments of a call, as it arrives (``adapters.Growing``)."""

    is_tagged = False

    def __init__(self, item: StreamedItem, at: str) -> None:
        self._item = item
        self._at = at

    @property
    def is_over(self) -> bool:
        return self._item.is_done or (self._at in self._item.tracks and self._item.is_told(self._at))

    def opening(self) -> Part | None:
        if self._item.kind != "function_call":
            return self._text("")
        call_id, name = self._item.name("call_id"), self._item.name("name")
        is_named = isinstance(call_id, str) and isinstance(name, str)
        return ToolCallIR(call_id, name, None, "openai") if is_named else None

    def since(self, count: int) -> list[str]:
        track = self._item.tracks.get(self._at)
        return track.texts[count:] if track else []

    def parts(self) -> tuple[Part, ...]:
        if self._item.kind == "function_call":
            return self._item.message("")[0].parts
        return (self._text(self._item.latest(self._at)),)

    def _text(self, text: str) -> Part:
        return Text(text) if self._item.kind == "message" else Reasoning(Carrier.ENCRYPTED_ITEM, text)


def _put(node: JsonValue, pointer: str, value: JsonValue, ours: set[int]) -> None:
    """Put a value at a pointer below an object. What is on the way is made, or copied where it is not ``ours``."""
    steps = pointer.split("/")[1:]
    for step, following in pairwise(steps):
        inner = value_or_missing(node, f"/{step}")
        kind = list if following.isdecimal() else dict
        if id(inner) not in ours or not isinstance(inner, kind):
            inner = inner.copy() if isinstance(inner, kind) else kind()
            ours.add(id(inner))
            _set(node, step, inner)
        node = inner
    _set(node, steps[-1], value)


def _set(node: JsonValue, step: str, value: JsonValue) -> None:
    if not isinstance(node, list):
        node[step] = value
    elif int(step) < len(node):
        node[int(step)] = value
    else:
        node.append(value)


def _same(a: JsonValue, b: JsonValue) -> bool:
    return type(a) is type(b) and bool(a == b)


def _ways(at: str) -> list[str]:
    """A pointer and those of everything that it lies in, from the outside in."""
    steps = at.split("/")
    return ["/".join(steps[: n + 1]) for n in range(len(steps))]


def order(items: Sequence[StreamedItem]) -> list[StreamedItem]:
    """Items in the order of the answer: as the last event has them, else by their indexes."""
    return sorted(items, key=_rank)


def _rank(item: StreamedItem) -> tuple[int, int]:
    if item.final is not None:
        return (0, item.final)
    return (1, item.index if item.index is not None else 0)
