"""Text that arrives in pieces, with the place of each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, repeat
from typing import TypeAlias

from workbench import regex
from workbench.ir import Anomaly, Part, Reasoning, Segment, Source, Text, ToolResultIR
from workbench.lazy_dataclass import replace
from workbench.protocols.common import think_tags

_DAMAGED = regex.compile("[\ufffd\ud800-\udfff]")
_PROOF = regex.compile(r"[A-Za-z0-9+/_-]{30,}={0,2}")
"""Base64 that is long enough to be no piece by chance."""


class Pieces:
    """One streamed string: its texts, and the event and pointer of each. Joined on first use.

    Three lists and not one of tuples: what holds a piece must not be a thing that the garbage collector walks through.
    """

    __slots__ = ("_begins", "events", "pointers", "texts")

    def __init__(self) -> None:
        self._begins: list[int] = []
        self.texts: list[str] = []
        self.events: list[int] = []
        self.pointers: list[str] = []

    def add(self, text: str, event: int, pointer: str) -> None:
        """Take the next piece."""
        self.texts.append(text)
        self.events.append(event)
        self.pointers.append(pointer)

    def __bool__(self) -> bool:
        return bool(self.events)

    def __deepcopy__(self, memo: object) -> Pieces:
        """Copy the lists and share what they hold, which never changes: copying item by item would be slow."""
        pieces = Pieces()
        pieces.texts, pieces.events, pieces.pointers = self.texts.copy(), self.events.copy(), self.pointers.copy()
        return pieces

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def segments(self, first: int = 0, last: int | None = None) -> tuple[Segment, ...]:
        """Segments of the pieces, or of those from ``first`` to before ``last``."""
        places = zip(self.events[first:last], self.pointers[first:last], strict=True)
        return tuple(map(tuple.__new__, repeat(Segment), places))  # ``Segment._make``, without a Python call each

    def cut_out(self, start: int, end: int) -> tuple[tuple[Segment, ...], tuple[int, int]]:
        """The segments that hold characters ``start`` to ``end``, and where these are in the text of those segments."""
        if len(self._begins) <= len(self.texts):
            self._begins = list(accumulate(map(len, self.texts), initial=0))
        begins = self._begins
        first = min(bisect_right(begins, start) - 1, len(self.events) - 1)
        last = max(bisect_left(begins, end), first + 1)
        return self.segments(first, last), (start - begins[first], end - begins[first])

    def damaged_events(self) -> tuple[int, ...]:
        """Events whose text holds a character that did not survive: U+FFFD, or half of a surrogate pair."""
        if self.text.isascii():
            return ()
        return tuple(event for text, event in zip(self.texts, self.events, strict=True) if _DAMAGED.search(text))


DAMAGE = "characters were damaged in transit: U+FFFD or a lone surrogate"


def damage(strings: Iterable[tuple[str, Pieces]]) -> Iterator[Anomaly]:
    """An anomaly for each streamed string with damaged characters; strings as pointer and pieces."""
    for pointer, pieces in strings:
        events = pieces.damaged_events()
        if events:
            yield Anomaly("stream.encoding", DAMAGE, pointer, events)


def whole_proofs(pieces: Pieces) -> tuple[str, ...]:
    """Pieces that are each a complete proof, and no cuts of one: clients keep the last of them."""
    if len(pieces.texts) < 2:
        return ()
    return tuple(dict.fromkeys(text for text in pieces.texts if len(text) % 4 == 0 and _PROOF.fullmatch(text)))


Node = Mapping[str, Pieces]
"""Pieces that a node was joined from: pointer below the node → pieces."""


Nodes: TypeAlias = Mapping[str, tuple[Node, tuple[int, ...]]]
"""Pointer in a message → where its strings came from, and every event that carried some of it."""


def locate(part: Part, node: Node, events: tuple[int, ...]) -> Part:
    """The part with its segments and events. Fields that no piece of the stream holds have no place."""
    source = part.source
    known = {name: node[suffix] for name, suffix in source.fields.items() if suffix in node}
    fields = {name: source.fields[name] for name in known}
    if "text" in source.slices and "text" in known:
        segments, slice_ = known["text"].cut_out(*source.slices["text"])
        events = tuple(dict.fromkeys(segment.event for segment in segments))
        found = Source(source.pointer, fields, {"text": segments}, events, {"text": slice_})
    else:
        by_pieces = {pieces: pieces.segments() for pieces in known.values()}  # text and parsed form share theirs
        found = Source(source.pointer, fields, {name: by_pieces[pieces] for name, pieces in known.items()}, events)
    return replace(part, source=found)


def place(part: Part, nodes: Nodes) -> Part:
    """The part, and what is in it, with the places in the stream."""
    if isinstance(part, ToolResultIR):
        content = tuple(place(inner, nodes) for inner in part.content)
        return replace(part, content=content, source=Source(part.source.pointer))
    return locate(part, *node_at(nodes, part.source.pointer))


def node_at(nodes: Nodes, at: str) -> tuple[Node, tuple[int, ...]]:
    """The node that a pointer leads into, and the events that carried it."""
    while at and at not in nodes:
        at = at.rpartition("/")[0]
    return nodes.get(at, ({}, ()))


_ITSELF = Source("", {"text": ""})


class GrowingText:
    """A text or reasoning that grows, from some piece of a string on (``adapters.Growing``).

    Args:
        begins: the part, its text empty.
        pieces: the string that it is made of; what is in it already belongs to an earlier part.
        is_tagged: reasoning may be in the text, in tags.
    """

    def __init__(self, begins: Text | Reasoning, pieces: Pieces, *, is_tagged: bool = False) -> None:
        self.is_tagged = is_tagged
        self._begins = begins
        self._pieces = pieces
        self._start = len(pieces.texts)
        self._stop: int | None = None

    @property
    def is_over(self) -> bool:
        return self._stop is not None

    def end(self) -> None:
        """End this part: later pieces of the string belong to another one."""
        if self._stop is None:
            self._stop = len(self._pieces.texts)

    def opening(self) -> Part | None:
        return self._begins

    def since(self, count: int) -> list[str]:
        return self._pieces.texts[self._start + count : self._stop]

    def parts(self) -> tuple[Part, ...]:
        text = "".join(self.since(0))
        if self.is_tagged:
            return tuple(think_tags.parts(Text(text, source=_ITSELF)))
        return (replace(self._begins, text=text),)


class WholePart:
    """A part that came whole; often two, a proof and what it proves."""

    is_over, is_tagged = True, False

    def __init__(self, *parts: Part) -> None:
        self._parts = parts

    def opening(self) -> Part | None:
        return None

    def since(self, count: int) -> list[str]:
        return []

    def parts(self) -> tuple[Part, ...]:
        return self._parts
