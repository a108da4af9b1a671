"""Finds the element spans of long object lists in a JSON object, which requests repeat."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection
from itertools import accumulate
from operator import add
from typing import Final, NamedTuple

from workbench import regex
from workbench.wire.json_strings import decode

_MEMBER: Final = regex.compile(rb'[ \t\r\n]*[{,][ \t\r\n]*"((?:[^"\\]|\\.)*+)"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_BETWEEN: Final = regex.compile(rb"[ \t\r\n,]*+")
_WHITE: Final = b" \t\r\n"
Span = tuple[int, int]


class ObjectList(NamedTuple):
    """A list with only objects. ``key``: as written; ``spans``: byte ranges of the elements."""

    key: str
    spans: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        """Start of the first element."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """End of the last element."""
        return self.spans[-1][1]


class MemberPlace(NamedTuple):
    """A member of an object: its name, start and end of its key (quotes included) and of its value."""

    name: str
    key_start: int
    key_end: int
    start: int
    end: int

    def move(self, by: int) -> MemberPlace:
        """The same with all offsets moved."""
        return MemberPlace(self.name, self.key_start + by, self.key_end + by, self.start + by, self.end + by)


def find_members(text: bytes) -> list[MemberPlace] | None:
    """Members of an object, in order; None if they need the full parser (not an object, a repeated key)."""
    from msgspec import MsgspecError, Raw
    from msgspec.json import decode as fast

    try:
        members = fast(text, type=dict[str, Raw])
    except (MsgspecError, ValueError, RecursionError):
        return None
    found, at = list[MemberPlace](), 0
    for name, raw in members.items():
        lead, value = _MEMBER.match(text, at), memoryview(raw)
        if lead is None or not text.startswith(value, lead.end()):
            return None
        at = lead.end() + len(value)
        found.append(MemberPlace(name, lead.start(1) - 1, lead.end(1) + 1, lead.end(), at))
    return found if text[at:].strip(_WHITE) == b"}" else None


def element_places(text: bytes, member: MemberPlace) -> array[int] | None:
    """Start and end of each element of a member, one after another; None if it is no list, or not readable."""
    from msgspec import MsgspecError, Raw
    from msgspec.json import decode as fast

    if not text.startswith(b"[", member.start):
        return None
    try:
        elements = fast(text[member.start : member.end], type=list[Raw])
    except (MsgspecError, ValueError, RecursionError):
        return None
    lengths, at, starts = [len(memoryview(raw)) for raw in elements], _skip(text, member.start + 1), list[int]()
    if len(elements) > 1:
        gap = text[at + lengths[0] : _skip(text, at + lengths[0])]
        if text.startswith(gap.join(elements), at):  # written by a program: all gaps are alike
            starts = list(accumulate(map(len(gap).__add__, lengths), initial=at))[:-1]
    if not starts:
        for length in lengths:
            starts.append(at)
            at = _skip(text, at + length)
    places = array("q", bytes(16 * len(elements)))
    places[::2], places[1::2] = array("q", starts), array("q", map(add, starts, lengths))
    return places


def _skip(text: bytes, at: int) -> int:
    """Start of the next element."""
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def runs(text: bytes) -> list[ObjectList]:
    """Members of an object that are non-empty lists of objects, in order.

    Empty if they need the full parser (not an object, a repeated key). The elements are only scanned.
    """
    found = list[ObjectList]()
    for key, spans in _lists(text) or ():
        if spans and all(text.startswith(b"{", start) for start, _ in spans):
            found.append(ObjectList(key, tuple(spans)))
    return found


def list_spans(text: bytes, keys: Collection[str]) -> list[Span] | None:
    """Ranges of the elements of these lists in an object, in order; None if they need the full parser."""
    lists = _lists(text)
    return None if lists is None else [span for key, spans in lists if key in keys for span in spans]


def _lists(text: bytes) -> list[tuple[str, list[Span]]] | None:
    """Members of an object that are lists, with the ranges of their elements."""
    members, found = find_members(text), list[tuple[str, list[Span]]]()
    for member in members or ():
        places = element_places(text, member)
        if places is not None:
            key = decode(text[member.key_start + 1 : member.key_end - 1])
            found.append((key, list(zip(places[::2], places[1::2], strict=True))))
        elif text.startswith(b"[", member.start):
            return None
    return None if members is None else found
