"""Parses, writes and edits JSON of the wire without changing any other byte.

The one place that parses JSON from the wire. ``JsonIndex`` finds values in the original bytes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from workbench import limits, regex
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire._loads import dumps, dumps_ascii, dumps_parsed, loads, raw_members
from workbench.wire.body_text import BodyText, WholeText
from workbench.wire.json_index import (
    JsonIndex,
    JsonPlace,
    MemberPlace,
    ObjectList,
    Span,
    TextLayer,
    element_places,
    find_members,
    list_spans,
    runs,
)
from workbench.wire.json_scan import ESCAPE, ChildTable, decode, encode

__all__ = [
    "JsonIndex",
    "ListOutline",
    "Members",
    "ObjectList",
    "ParsedMembers",
    "dumps",
    "dumps_parsed",
    "list_spans",
    "loads",
    "outline",
    "raw_members",
    "replace",
    "runs",
    "schema_type",
    "string_slice_span",
    "type_name",
    "type_words",
    "writer_like",
]


_OPENED: Final = b'{"":[null'
"""In front of the rest of a list: an object, a list, and an element in the place of those before."""


class ListOutline:
    """An object with a list that grows from one text to the next.

    Attributes:
        list: the member that is the list.
        before, after: the members on both sides of it; the places of ``after`` count from ``end``.
        count: number of elements.
        end: end of the last element.
        tail: everything after that.
    """

    __slots__ = ("_places", "after", "before", "count", "end", "list", "tail")

    def __init__(
        self,
        before: Sequence[MemberPlace],
        list_: MemberPlace,
        places: array[int],
        tail: bytes,
        after: Sequence[MemberPlace],
    ) -> None:
        self.before, self.list, self.after, self.tail = before, list_, after, tail
        self._places = places  # another outline may add more
        self.count = len(places) // 2
        self.end = places[-1] if places else list_.start + 1

    def place(self, number: int) -> tuple[int, int]:
        """Start and end of an element."""
        return self._places[2 * number], self._places[2 * number + 1]

    def places_from(self, number: int) -> Iterator[tuple[int, int]]:
        """Start and end of the elements from one on."""
        places = self._places[2 * number : 2 * self.count]
        return zip(places[::2], places[1::2], strict=True)

    def count_kept(self, shared: int) -> int:
        """Number of first elements that another text has too, of which so many first bytes are the same."""
        return bisect_left(self._places, shared, 0, 2 * self.count) // 2

    def resume(self, count: int, rest: bytes) -> ListOutline | None:
        """The outline of a text that differs from the end of an element on; None if that needs the full parser.

        Args:
            count: number of elements that it has in common, at least one.
            rest: what it has behind these.
        """
        found = outline(_OPENED + rest, "")
        if found is None or found.before or any(self._has(member.name) for member in found.after):
            return None
        shift = self._places[2 * count - 1] - len(_OPENED)
        places = self._places if len(self._places) == 2 * count else self._places[: 2 * count]
        places.extend([at + shift for at in found._places[2:]])
        list_ = self.list._replace(end=found.list.end + shift)
        return ListOutline(self.before, list_, places, found.tail, found.after)

    def _has(self, name: str) -> bool:
        return name == self.list.name or any(member.name == name for member in self.before)

    def seed(self, layer: TextLayer) -> None:
        """Tell the layer of the text the children of the object and of the list, so that it need not scan them."""
        root = layer.scanner.root()
        if root is None:
            return
        whole, inner = ChildTable(is_object=True), ChildTable(is_object=False)
        for member in (*self.before, self.list, *(m.move(self.end) for m in self.after)):
            whole.add(member.name, member.key_start, member.key_end)
            whole.values.extend((member.start, member.end))
        inner.values = self._places[: 2 * self.count]
        layer.tables.update({root: whole, self.list.start: inner})


def outline(text: bytes, key: str) -> ListOutline | None:
    """The outline of an object whose member ``key`` is a list; None if that needs the full parser.

    Members and elements are only scanned, and may turn out not to be JSON when they are parsed.
    """
    members = find_members(text) or []
    number = next((n for n, member in enumerate(members) if member.name == key), None)
    places = None if number is None else element_places(text, members[number])
    if number is None or places is None:
        return None
    end = places[-1] if places else members[number].start + 1
    after = [member.move(-end) for member in members[number + 1 :]]
    return ListOutline(members[:number], members[number], places, text[end:], after)


class Members:
    """Members of the object in a text; each is parsed on first access and cached.

    Of a repeated key the last member counts. In broken text the complete members before the break are found.
    """

    def __init__(self, text: bytes | BodyText) -> None:
        self._body: BodyText = WholeText(text) if isinstance(text, bytes) else text
        self._values: dict[str, JsonValue] = {}

    @property
    def text(self) -> bytes:
        """The text of the object."""
        return self._body.whole()

    def get(self, key: str) -> JsonValue:
        """Value of a key; None if absent.

        Raises:
            WireError: it is not JSON.
        """
        if key not in self._values:
            text = self._text_of(key)
            self._values[key] = loads(text) if text else None
        return self._values[key]

    def _text_of(self, key: str) -> bytes:
        if self._texts is not None:
            return bytes(self._texts[key]) if key in self._texts else b""
        text = self.text
        span = JsonIndex(text).span(f"/{escape(key)}")
        return text[slice(*span)] if span else b""

    @cached_property
    def _texts(self) -> Mapping[str, Any] | None:
        """Raw text of the members; None if finding them needs the full parser."""
        return raw_members(self.text)


class ParsedMembers(Members):
    """Members of an object of which all but one were parsed before.

    Args:
        text: the object.
        values: the members that were parsed.
        other: name of the one that was not.
    """

    def __init__(self, text: BodyText, values: Mapping[str, JsonValue], other: str) -> None:
        super().__init__(text)
        self._known, self._other = values, other

    def get(self, key: str) -> JsonValue:
        return super().get(key) if key == self._other else self._known.get(key)


_UNICODE_ESCAPE: Final = regex.compile(rb"(?<!\\)(?:\\\\)*+\\u(?!00[0-7])")


def replace(text: bytes, edits: Mapping[str, JsonValue]) -> bytes:
    r"""Replace values at pointers; bytes outside their spans stay the same.

    Pointers may go through strings: the new text is then escaped once for each string. Text that writes non-ASCII
    characters as ``\uXXXX`` stays that way.

    Raises:
        LocalProtocolError: no value at a pointer, overlapping edits, or a value that JSON cannot express.
    """
    index = JsonIndex(text)
    cuts = sorted((*_target(index, pointer), pointer) for pointer in edits)
    pieces, at, before = list[bytes](), 0, ""
    for start, end, pointer in cuts:
        if start < at:
            raise LocalProtocolError("two edits overlap", where=f"{before}, {pointer}", hint="apply one edit at a time")
        place = index.find(pointer)
        assert place is not None  # _target found it
        pieces += (text[at:start], _value_text(edits[pointer], text, place))
        at, before = end, pointer
    return b"".join((*pieces, text[at:]))


def _target(index: JsonIndex, pointer: str) -> Span:
    span = index.span(pointer)
    if span is None:
        raise LocalProtocolError("nothing to replace", where=pointer or "the whole text", hint="check the pointer")
    return span


def _value_text(value: JsonValue, text: bytes, place: JsonPlace) -> bytes:
    """JSON text of a value for its layer, escaped for every enclosing string."""
    layers = [text, *(inside.text for inside in place.strings)]
    new = writer_like(layers.pop())(value)
    while layers:
        new = writer_like(layers.pop())(decode(new))[1:-1]
    return new


def writer_like(text: bytes) -> Callable[[JsonValue], bytes]:
    r"""The writer that matches a text: with ``\uXXXX`` if all its non-ASCII characters are written so."""
    escapes = text.isascii() and b"\\u" in text and _UNICODE_ESCAPE.search(text)
    return dumps_ascii if escapes else dumps


def string_slice_span(text: bytes, span: Span, start_char: int, end_char: int) -> Span:
    """Byte range of characters ``start_char`` to ``end_char`` of the JSON string at ``span`` (with its quotes).

    Characters are those of the parsed string: an escape or a surrogate pair is one. Ends past the string are clipped.
    """
    start, end = span[0] + 1, span[1] - 1
    first = _byte_of_char(text, start, end, start_char)
    return first, _byte_of_char(text, first, end, end_char - start_char)


def _byte_of_char(text: bytes, at: int, end: int, count: int) -> int:
    """Offset of the character ``count`` after the one at byte ``at``."""
    while count > 0 and at < end:
        stop = text.find(b"\\", at, end)
        run = decode(text[at : stop if stop >= 0 else end])
        if count <= len(run):
            return at + len(encode(run[:count]))
        count -= len(run)
        if stop < 0:
            return end
        found = ESCAPE.match(text, stop, end)
        at = found.end() if found else end
        count -= 1
    return at


def quote(value: object, most: int = limits.SNIPPET) -> str:
    """Untrusted text as ``repr`` gives it, cut: no control character and no line break comes through."""
    return repr(cut(value if isinstance(value, str) else str(value), most))


def cut(text: str, most: int = limits.SNIPPET) -> str:
    """The beginning of a text, with … if there is more."""
    return text if len(text) <= most else text[:most] + "…"


def type_name(value: JsonValue) -> str:
    """JSON's name for the type of a value: ``"array"``, ``"null"``, ``"number"``."""
    return _TYPE_NAMES.get(type(value), "number")


def schema_type(value: JsonValue) -> str:
    """Name of a value's type in JSON Schema, which has one for whole numbers: ``"integer"``."""
    return "integer" if type(value) is int else type_name(value)


def type_words(value: JsonValue) -> str:
    """The type of a value in the words of a message: ``"a list"``, ``"null"``, ``"a number"``."""
    return _TYPE_WORDS.get(type(value), "a number")


_NO_TYPE: Final = type(None)
_TYPE_NAMES: Final = {dict: "object", list: "array", str: "string", bool: "boolean", _NO_TYPE: "null"}
_TYPE_WORDS: Final = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", _NO_TYPE: "null"}
