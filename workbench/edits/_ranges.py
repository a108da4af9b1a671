"""Byte ranges of JSON values, elements and members, each with the comma that belongs to it.

All ranges are found in the bytes, so that text around a change keeps its spelling: odd spaces, repeated keys, escapes.
Pointers continue inside strings that hold JSON; text inserted there is escaped once for each such string.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final, NamedTuple

from workbench import regex
from workbench.diff import common
from workbench.edits.request import Splice
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire import CUT, JsonIndex, JsonPlace, decode, loads, nth, patch, string_slice_span, writer_like

BLANK: Final = b" \t\r\n"
"""Bytes allowed between JSON tokens."""
_NOT_ASCII: Final = regex.compile(r"[^\x00-\x7f]+")


class ValueRange:
    """A JSON value and its byte range, in its layer: the text itself, or the inside of a string.

    Raises:
        LocalProtocolError: nothing is at the pointer.
    """

    def __init__(self, index: JsonIndex, pointer: str, place: JsonPlace | None = None) -> None:
        place = place or index.find(pointer)
        if place is None or place.node.end == CUT:
            raise LocalProtocolError(
                "no value at this pointer", where=pointer or "the whole text", hint="check the pointer"
            )
        self.index, self.pointer, self.place = index, pointer, place
        self.text = place.layer.text
        self.start, self.end = place.node.start, place.node.end

    @property
    def raw(self) -> bytes:
        """Bytes of the value."""
        return self.text[self.start : self.end]

    @cached_property
    def parsed_value(self) -> JsonValue:
        """The parsed value."""
        return loads(self.raw)

    @property
    def key(self) -> tuple[int, int] | None:
        """Range of the key, quotes included; None for an array element and for the root."""
        return self.place.node.key

    @property
    def is_list(self) -> bool:
        """The value is an array."""
        return self.text[self.start : self.start + 1] == b"["

    @property
    def inner(self) -> ValueRange:
        """The JSON value inside a string that holds JSON; else the value itself."""
        layer, node, strings = self.place
        found = layer.enter(node) if layer.holds_json(node) else None
        if found is None or found[1].root is None:
            return self
        return ValueRange(self.index, self.pointer, JsonPlace(found[1], found[1].root, (*strings, found[0]))).inner

    @cached_property
    def children(self) -> list[ValueRange]:
        """Elements or members in text order; earlier ones of a repeated key are left out."""
        layer, node, strings = self.place
        table = layer.table(node)
        if table is None:
            return []
        names = table.names if table.names is not None else {str(n): n for n in range(len(table))}
        numbered = sorted((n, escape(name)) for name, n in names.items())
        return [
            ValueRange(self.index, f"{self.pointer}/{s}", JsonPlace(layer, nth(table, n), strings)) for n, s in numbered
        ]

    def splice(self, start: int, end: int, new: bytes) -> Splice:
        """Translate a change in this layer into a change of the whole text."""
        first, last = self.place.outward((start, end))
        for layer in _texts_around(self.index.text, self.place)[-2::-1]:
            new = writer_like(layer)(decode(new))[1:-1]
        return Splice(first, last, new)

    def replace(self, new: bytes) -> Splice:
        """Replace the value by other bytes."""
        return self.splice(self.start, self.end, new)

    def set_text(self, text: str) -> tuple[Splice, ...]:
        """Change the text of a string; the common beginning and end keep their spelling."""
        old, write = self.parsed_value, writer_like(self.text)
        if not isinstance(old, str):
            return (self.replace(write(text)),)
        if old == text:
            return ()
        head = common(old, text)
        tail = common(old[head:][::-1], text[head:][::-1])
        span = string_slice_span(self.text, (self.start, self.end), head, len(old) - tail)
        return (self.splice(*span, write(text[head : len(text) - tail])[1:-1]),)

    def remove(self) -> Splice:
        """Remove the value with its key and one comma."""
        start, end = self.key[0] if self.key else self.start, self.end
        before = _skip_blanks_back(self.text, start)
        if self.text[before - 1 : before] == b",":
            return self.splice(_skip_blanks_back(self.text, before - 1), end, b"")
        after = _skip_blanks(self.text, end)
        if self.text[after : after + 1] == b",":
            return self.splice(start, _skip_blanks(self.text, after + 1), b"")
        return self.splice(before, after, b"")

    def insert_element(self, at: int, raw: bytes) -> Splice:
        """Insert an element before index ``at``, or after the last. Raises LocalProtocolError if it is no array."""
        self._refuse_unless(b"[", "not an array")
        held = self.children
        if not held:
            return self.splice(self.start + 1, self.end - 1, raw)
        pairs = [(held[n - 1], held[n]) for n in (at, at - 1, at + 1) if 0 < n < len(held)]
        gap = self.text[pairs[0][0].end : pairs[0][1].start] if pairs else self._layout.gap
        if at < len(held):
            return self.splice(held[at].start, held[at].start, raw + gap)
        return self.splice(held[-1].end, held[-1].end, gap + raw)

    def duplicate_element(self, at: int) -> Splice:
        """Insert a copy of the element at ``at`` after it."""
        held = self.children
        if at + 1 < len(held):
            gap = self.text[held[at].end : held[at + 1].start]
        else:
            gap = self.text[held[at - 1].end : held[at].start] if at else self._layout.gap
        return self.splice(held[at].end, held[at].end, gap + held[at].raw)

    def insert_member(self, key: str, raw: bytes) -> Splice:
        """Append a member to an object. Raises LocalProtocolError if it is no object."""
        self._refuse_unless(b"{", "not an object")
        layout, held = self._layout, self.children
        member = writer_like(self.text)(key) + layout.colon + raw
        if held:
            return self.splice(held[-1].end, held[-1].end, layout.gap + member)
        return self.splice(self.start + 1, self.end - 1, member)

    def format_child(self, value: JsonValue) -> bytes:
        """Text of a new child, indented like its siblings."""
        layout = self._layout
        first = b'{"":' + layout.colon[1:] + b"0}"
        sample = b"[" + layout.lead + first + layout.trail + b"]"
        made = patch.apply(sample, [patch.Insert("/-", value)])
        raw = made[1 + len(layout.lead) + len(first) : len(made) - len(layout.trail) - 1].lstrip(b"," + BLANK)
        write = writer_like(self.index.text)
        if write("é").isascii():
            raw = _NOT_ASCII.sub(lambda m: write(m[0])[1:-1].decode(), decode(raw)).encode()
        return raw

    def _refuse_unless(self, opening: bytes, why: str) -> None:
        if self.text[self.start : self.start + 1] != opening:
            raise LocalProtocolError(why, where=self.pointer or "the whole text", hint="edit it as JSON")

    @cached_property
    def _layout(self) -> _ContainerLayout:
        """Whitespace style of this container."""
        lead = self.text[self.start + 1 : _skip_blanks(self.text, self.start + 1)]
        trail = self.text[_skip_blanks_back(self.text, self.end - 1) : self.end - 1]
        is_wide = re.search(rb'":\s', self.text) is not None
        if not self.children or b"\n" not in lead:
            return _ContainerLayout(b"", b"", b", " if is_wide else b",", b": " if is_wide else b":")
        return _ContainerLayout(lead, trail, b"," + lead, b": " if is_wide else b":")


class _ContainerLayout(NamedTuple):
    lead: bytes  # line break and indentation before each child, b"" on one line
    trail: bytes
    gap: bytes
    colon: bytes


def _texts_around(text: bytes, place: JsonPlace) -> list[bytes]:
    """Texts that contain a place, outermost first."""
    return [text, *(inside.text for inside in place.strings)]


def _skip_blanks(text: bytes, at: int) -> int:
    """Position after the blanks that start here."""
    while at < len(text) and text[at] in BLANK:
        at += 1
    return at


def _skip_blanks_back(text: bytes, at: int) -> int:
    """Position before the blanks that end here."""
    while at > 0 and text[at - 1] in BLANK:
        at -= 1
    return at
