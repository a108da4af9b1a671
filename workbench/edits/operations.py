"""Edits of the elements of a request, each as the byte ranges that change.

Every operation is pure: it returns the splices (``request.apply_changes`` applies them) or raises LocalProtocolError
with the reason in one line. Bytes outside of the change keep their spelling. Whether a provider accepts the result is
not checked here.

Byte ranges of JSON values, elements and members, each with the comma that belongs to it.
All ranges are found in the bytes, so that text around a change keeps its spelling: odd spaces, repeated keys, escapes.
Pointers continue inside strings that hold JSON; text inserted there is escaped once for each such string.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from workbench import protocols, regex
from workbench.diff import common
from workbench.edits import shape
from workbench.edits.message_parts import element_pointer
from workbench.edits.request import Splice, json_problem
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, Text, ToolResultIR
from workbench.protocols import REQUEST, Adapter, DecodedExchange
from workbench.provenance import escape
from workbench.wire import (
    CUT,
    JsonIndex,
    JsonPlace,
    decode,
    loads,
    nth,
    patch,
    split_pointer,
    string_slice_span,
    writer_like,
)

Splices: TypeAlias = tuple[Splice, ...]

_KEPT = ("/content", "/parts")
"""Lists that stay when they become empty."""


def remove(decoded: DecodedExchange, pointer: str) -> Splices:
    """Remove a message, part, tool, parameter, or any other element or member."""
    value = value_of(decoded, pointer)
    if not pointer:
        raise LocalProtocolError("the whole body cannot be removed", where="the whole text")
    if pointer in _part_pointers(decoded):
        around = parent_of(decoded, pointer)
        while len(around.children) == 1 and not _may_be_empty(decoded, around.pointer):
            value, around = around, parent_of(decoded, around.pointer)
    return (value.remove(),)


def duplicate(decoded: DecodedExchange, pointer: str) -> Splices:
    """Insert a copy of the same bytes after an element."""
    parent, at = _list_and_index(decoded, pointer)
    return (parent.duplicate_element(at),)


def move(decoded: DecodedExchange, pointer: str, by: int) -> Splices:
    """Move an element within its list: ``by`` -1 is up, 1 is down. Text between the elements stays in place."""
    parent, at = _list_and_index(decoded, pointer)
    if not 0 <= at + by < len(parent.children):
        raise LocalProtocolError("the element cannot be moved further", where=pointer)
    return _rotate(parent, at, at + by)


def set_text(decoded: DecodedExchange, pointer: str, text: str) -> Splices:
    """Change the text of a string, or of a list of blocks such as a result; the form stays.

    In a list of blocks the first text is replaced, the other texts are removed, and other blocks stay.
    """
    value = value_of(decoded, pointer)
    if not value.is_list:
        return value.set_text(text)
    texts = _result_texts(decoded, pointer)
    if not texts:
        block = shape.block(adapter_of(decoded), Text(text))
        return (value.insert_element(0, value.format_child(block)),)
    others = (c.remove() for c in value.children if any(f"{at}/".startswith(f"{c.pointer}/") for at in texts[1:]))
    return tuple(sorted((*value_of(decoded, texts[0]).set_text(text), *others)))


def set_value(decoded: DecodedExchange, pointer: str, typed: bytes) -> Splices:
    """Replace a value by JSON as typed, without blanks around it.

    Inside a string that holds JSON (arguments) the bytes are escaped accordingly.
    """
    value = value_of(decoded, pointer)
    return (value.replace(_parse_typed(typed)),) if value.raw != typed.strip(BLANK) else ()


def set_parameter(decoded: DecodedExchange, pointer: str, typed: bytes) -> Splices:
    """Set a member to JSON as typed: replace it, or append it to its object if it is absent."""
    if decoded.request_index.span(pointer):
        return set_value(decoded, pointer, typed)
    return (parent_of(decoded, pointer).insert_member((split_pointer(pointer) or [""])[-1], _parse_typed(typed)),)


def rename(decoded: DecodedExchange, pointer: str, name: str) -> Splices:
    """Change the key of a parameter or other member."""
    value, parent = value_of(decoded, pointer), parent_of(decoded, pointer)
    if value.key is None:
        raise LocalProtocolError("list elements have no names", where=pointer)
    other = f"{parent.pointer}/{escape(name)}"
    if other == pointer:
        return ()
    if decoded.request_index.span(other):
        raise LocalProtocolError("the name is in use", where=other, hint="remove the other key first")
    return (value.splice(*value.key, writer_like(value.text)(name)),)


def replace_range(text: bytes, start: int, end: int, new: bytes) -> Splices:
    """Replace any range of bytes; the result need not be JSON."""
    if not 0 <= start <= end <= len(text):
        raise LocalProtocolError("no such range", where=f"bytes {start}–{end} of {len(text)}")
    return (Splice(start, end, new),) if text[start:end] != new else ()


def adapter_of(decoded: DecodedExchange) -> Adapter:
    """Adapter of a request. Raises LocalProtocolError if it could not be decoded."""
    if decoded.request is None:
        why = json_problem(decoded.request_text) or "not a request of a known protocol"
        raise LocalProtocolError(f"the body can only be edited as text: {why}", where="request")
    return protocols.get(decoded.request.protocol)


def value_of(decoded: DecodedExchange, pointer: str) -> ValueRange:
    """Value of the body at a pointer. Raises LocalProtocolError."""
    return ValueRange(decoded.request_index, pointer)


def parent_of(decoded: DecodedExchange, pointer: str) -> ValueRange:
    """Container of a value (present or not), also the JSON inside a string. Raises LocalProtocolError."""
    return value_of(decoded, patch.parent_of(pointer)[0]).inner


def _list_and_index(decoded: DecodedExchange, pointer: str) -> tuple[ValueRange, int]:
    """The list that contains an element, and its index."""
    parent = parent_of(decoded, pointer)
    if not parent.is_list:
        raise LocalProtocolError("not an element of a list", where=pointer)
    value_of(decoded, pointer)
    return parent, int(patch.parent_of(pointer)[1])


def _rotate(value_range: ValueRange, at: int, to: int) -> Splices:
    """Move one element of a list: values change places, the text between them stays."""
    order = list(value_range.children)
    order.insert(to, order.pop(at))
    pairs = zip(value_range.children, order, strict=True)
    return tuple(slot.replace(value.raw) for slot, value in pairs if slot.raw != value.raw)


def _part_pointers(decoded: DecodedExchange) -> frozenset[str]:
    """Pointers of the parts and tools of a request."""
    if decoded.request is None:
        return frozenset()
    parts = (m.pointer + element_pointer(p) for m in decoded.request.messages for p in m.parts)
    return frozenset((*parts, *(t.pointer for t in decoded.request.tools)))


def _may_be_empty(decoded: DecodedExchange, pointer: str) -> bool:
    """The container stays when it is empty: a message, its content, the body; not a list of calls or tools."""
    at = f"{pointer}/"
    ends = [m.pointer for m in decoded.messages(REQUEST) if f"{m.pointer}/".startswith(at)]
    return not pointer or bool(ends) or pointer.endswith(_KEPT)


def _result_texts(decoded: DecodedExchange, pointer: str) -> list[str]:
    """Pointers of the texts in the blocks of a result, given the pointer of its content."""
    for message in decoded.messages(REQUEST):
        for part in message.parts:
            if isinstance(part, ToolResultIR) and message.absolute(part, "content") == pointer:
                return [message.absolute(p, "text") for p in part.content if "text" in p.source.fields]
    raise LocalProtocolError("neither text nor tool result blocks", where=pointer, hint="edit the value as JSON")


def _parse_typed(text: bytes) -> bytes:
    """Check that typed text is JSON, and strip the blanks around it."""
    wrong = json_problem(text)
    if wrong:
        raise LocalProtocolError(wrong, where="the typed text")
    return text.strip(BLANK)


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
        children = self.children
        if not children:
            return self.splice(self.start + 1, self.end - 1, raw)
        pairs = [(children[n - 1], children[n]) for n in (at, at - 1, at + 1) if 0 < n < len(children)]
        gap = self.text[pairs[0][0].end : pairs[0][1].start] if pairs else self._layout.gap
        if at < len(children):
            return self.splice(children[at].start, children[at].start, raw + gap)
        return self.splice(children[-1].end, children[-1].end, gap + raw)

    def duplicate_element(self, at: int) -> Splice:
        """Insert a copy of the element at ``at`` after it."""
        children = self.children
        if at + 1 < len(children):
            gap = self.text[children[at].end : children[at + 1].start]
        else:
            gap = self.text[children[at - 1].end : children[at].start] if at else self._layout.gap
        return self.splice(children[at].end, children[at].end, gap + children[at].raw)

    def insert_member(self, key: str, raw: bytes) -> Splice:
        """Append a member to an object. Raises LocalProtocolError if it is no object."""
        self._refuse_unless(b"{", "not an object")
        layout, children = self._layout, self.children
        member = writer_like(self.text)(key) + layout.colon + raw
        if children:
            return self.splice(children[-1].end, children[-1].end, layout.gap + member)
        return self.splice(self.start + 1, self.end - 1, member)

    def format_child(self, value: JsonValue) -> bytes:
        """Text of a new child, indented like its siblings."""
        layout = self._layout
        first = b'{"":' + layout.colon[1:] + b"0}"
        sample = b"[" + layout.lead + first + layout.trail + b"]"
        edited_sample = patch.apply(sample, [patch.Insert("/-", value)])
        raw = edited_sample[1 + len(layout.lead) + len(first) : len(edited_sample) - len(layout.trail) - 1].lstrip(
            b"," + BLANK
        )
        write = writer_like(self.index.text)
        if write("é").isascii():
            raw = _NOT_ASCII.sub(lambda m: write(m[0])[1:-1].decode(), decode(raw)).encode()
        return raw

    def _refuse_unless(self, opening: bytes, why: str) -> None:
        if self.text[self.start : self.start + 1] != opening:
            raise LocalProtocolError(why, where=self.pointer or "the whole text", hint="edit the value as JSON")

    @cached_property
    def _layout(self) -> _ChildLayout:
        """Whitespace style of this container."""
        lead = self.text[self.start + 1 : _skip_blanks(self.text, self.start + 1)]
        trail = self.text[_skip_blanks_back(self.text, self.end - 1) : self.end - 1]
        is_wide = re.search(rb'":\s', self.text) is not None
        if not self.children or b"\n" not in lead:
            return _ChildLayout(b"", b"", b", " if is_wide else b",", b": " if is_wide else b":")
        return _ChildLayout(lead, trail, b"," + lead, b": " if is_wide else b":")


class _ChildLayout(NamedTuple):
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
