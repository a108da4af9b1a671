"""Finds byte ranges of JSON values on demand, and those of the elements of long lists, which requests repeat."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Collection
from functools import cached_property
from itertools import accumulate
from operator import add
from typing import Any, Final

from workbench import regex
from workbench.ir import JsonValue
from workbench.limits import MAX_JSON_DEPTH
from workbench.named_tuple import NamedTuple
from workbench.provenance import escape
from workbench.wire._loads import raw_elements, raw_members
from workbench.wire.json_scan import CUT, ChildTable, Scanner, StringText, decode

Span = tuple[int, int]

_QUOTE: Final = ord('"')
_CONTAINERS: Final = b"{["
_INDEX: Final = regex.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
_MAY_HOLD_JSON: Final = regex.compile(rb'"(?: |\\[nrt]|\\u00(?:20|0[9aAdD]))*(?:[{\[]|\\"|\\u00(?:22|[57][bB]))')


def split_pointer(pointer: str) -> list[str] | None:
    """Steps of a JSON pointer (RFC 6901), unescaped; None if it is not a pointer."""
    if not pointer:
        return []
    if pointer[0] != "/":
        return None
    steps = pointer[1:].split("/")
    return [s.replace("~1", "/").replace("~0", "~") for s in steps] if "~" in pointer else steps


def value_at(value: JsonValue, pointer: str, default: Any = None) -> Any:
    """The value at a pointer of a parsed JSON value; the default if there is none."""
    steps = split_pointer(pointer)
    if steps is None:
        return default
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return default
    return value


class SpanNode(NamedTuple):
    """A value in one layer of text. ``end`` is ``CUT`` if it is incomplete; ``key`` is the member's key, if any."""

    start: int
    end: int
    key: Span | None = None


class JsonPlace(NamedTuple):
    """A node and its layer; ``strings`` are the JSON strings entered on the way, outermost first."""

    layer: TextLayer
    node: SpanNode
    strings: tuple[StringText, ...]

    def outward(self, span: Span) -> Span:
        """Convert a range of the innermost layer to a range of the outermost one."""
        start, end = span
        for inside in reversed(self.strings):
            start, end = inside.outer(start), inside.outer(end, is_end=True)
        return start, end


class JsonChild(NamedTuple):
    """A member or an element by its pointer step, from its key, or else its value, to its end (offsets in bytes)."""

    step: str
    start: int
    value: int
    end: int


class TextLayer:
    """One text: the body, or the inside of a JSON string in it.

    Attributes:
        tables: children by the offset of their container; each table is built once.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.scanner = Scanner(text)
        self.tables: dict[int, ChildTable] = {}
        self._strings: dict[int, tuple[StringText, TextLayer]] = {}

    @cached_property
    def root(self) -> SpanNode | None:
        """The value of the text; None for a blank one."""
        start = self.scanner.root()
        return None if start is None else SpanNode(start, self.scanner.value_end(start))

    def entrance(self) -> SpanNode | None:
        """The root; the end of a container is not searched, which would take a pass over the whole text."""
        start = self.scanner.root()
        if start is None or self.text[start] not in _CONTAINERS:
            return self.root
        return SpanNode(start, CUT)

    def table(self, node: SpanNode) -> ChildTable | None:
        """Children of a node; None for scalars."""
        table = self.tables.get(node.start)
        if table is None and self.text[node.start] in _CONTAINERS:
            table = self.tables[node.start] = self.scanner.table(node.start)
        return table

    def child(self, node: SpanNode, step: str) -> SpanNode | None:
        """The child that a pointer step names."""
        table = self.table(node)
        if table is None:
            return None
        if table.names is not None:
            number = table.names.get(step)
            return None if number is None else nth(table, number)
        return nth(table, int(step)) if _INDEX.fullmatch(step) and int(step) < len(table) else None

    def enter(self, node: SpanNode) -> tuple[StringText, TextLayer] | None:
        """The text inside a string; None for other values."""
        if node.end == CUT or self.text[node.start] != _QUOTE:
            return None
        found = self._strings.get(node.start)
        if found is None:
            inside = StringText(self.text, node.start + 1, node.end - 1)
            found = self._strings[node.start] = inside, TextLayer(inside.text)
        return found

    def holds_json(self, node: SpanNode) -> bool:
        """True for a string that contains an array or object (or its beginning), or again such a string."""
        if not _MAY_HOLD_JSON.match(self.text, node.start):
            return False
        entered = self.enter(node)
        root = entered[1].root if entered else None
        if entered is None or root is None:
            return False
        text = entered[1].text
        if root.end != CUT and text[root.end :].strip():
            return False
        return text[root.start] in _CONTAINERS or entered[1].holds_json(root)


def _child(place: JsonPlace, step: str, node: SpanNode) -> JsonChild:
    value, end = place.outward((node.start, node.end))
    return JsonChild(step, place.outward(node.key)[0] if node.key else value, value, end)


def nth(table: ChildTable, number: int) -> SpanNode:
    """Value bytes and key of one member or element, counted from zero."""
    key = (table.keys[2 * number], table.keys[2 * number + 1]) if table.keys else None
    return SpanNode(table.values[2 * number], table.values[2 * number + 1], key)


class JsonIndex:
    """JSON pointers to byte ranges of the original text, and back.

    Pointers (RFC 6901) continue inside JSON strings: ``/arguments/path`` is found in the text of the string at
    ``/arguments``, and its range is in the outer bytes. Of a repeated key the last member counts. Only values on the
    way to a pointer are scanned, and cached. In broken text the complete values before the break are found.

    Args:
        layer: the text with what is known of it; None if nothing is.
    """

    def __init__(self, text: bytes, layer: TextLayer | None = None) -> None:
        self.text = text
        self._layer = layer

    def find(self, pointer: str) -> JsonPlace | None:
        """Place of a pointer, complete or cut; None if absent."""
        steps = split_pointer(pointer)
        layer = self._top()
        node = layer.entrance() if steps else layer.root
        if steps is None or node is None:
            return None
        return _walk(JsonPlace(layer, node, ()), steps)

    def _top(self) -> TextLayer:
        if self._layer is None:
            self._layer = TextLayer(self.text)
        return self._layer

    def span(self, pointer: str) -> Span | None:
        """Byte range of a value's text, quotes included; None if absent or incomplete."""
        place = self.find(pointer)
        if place is None or place.node.end == CUT:
            return None
        return place.outward((place.node.start, place.node.end))

    def key_span(self, pointer: str) -> Span | None:
        """Byte range of the key of an object member, quotes included."""
        place = self.find(pointer)
        return place.outward(place.node.key) if place and place.node.key else None

    def children(self, pointer: str) -> list[JsonChild]:
        """Every complete child of an array or object, in text order.

        Earlier members of a repeated key are skipped. Empty for scalars and absent pointers.
        """
        place = self.find(pointer)
        table = place.layer.table(place.node) if place else None
        if place is None or table is None:
            return []
        if table.names is not None:
            numbered = sorted((n, escape(k)) for k, n in table.names.items())
        else:
            numbered = [(n, str(n)) for n in range(len(table))]
        nodes = ((step, nth(table, n)) for n, step in numbered)
        return [_child(place, step, node) for step, node in nodes if node.end != CUT]

    def elements(self, pointer: str) -> list[tuple[str, Span]]:
        """(pointer step, range of the value) of every child that ``children`` has."""
        return [(child.step, (child.value, child.end)) for child in self.children(pointer)]

    def pointer_at(self, offset: int) -> str:
        """Pointer of the deepest value that a byte belongs to.

        A key and its colon belong to their member; commas, brackets and blanks to the container. Strings that contain
        an array or object are entered.
        """
        layer = self._top()
        at, steps = layer.entrance(), list[str]()
        while at and at.start <= offset and (at.end == CUT or offset < at.end) and len(steps) <= MAX_JSON_DEPTH:
            table = layer.table(at)
            if table is not None:
                found = _child_at(layer, at, table, offset)
                if found is None:
                    break
                step, at = found
                steps.append(escape(step))
            elif layer.text[at.start] == _QUOTE and at.start < offset < at.end - 1 and layer.holds_json(at):
                entered = layer.enter(at)
                assert entered is not None  # holds_json entered it
                inside, layer = entered
                at, offset = layer.root, inside.inner(offset)
            else:
                break
        return "".join(f"/{s}" for s in steps)

    def duplicates(self) -> tuple[str, ...]:
        """Pointers of members with a key that occurs more than once in their object, in text order."""
        if not _repeats(self.text):
            return ()
        layer, found = self._top(), list[tuple[int, str]]()
        stack = [("", layer.root, 0)] if layer.root else []
        while stack:
            pointer, node, depth = stack.pop()
            if layer.text[node.start] not in _CONTAINERS or depth > MAX_JSON_DEPTH:
                continue
            table = layer.scanner.table(node.start)
            names = table.names or {str(n): n for n in range(len(table))}
            found += ((at, f"{pointer}/{escape(name)}") for at, name in table.repeated)
            stack.extend((f"{pointer}/{escape(step)}", nth(table, n), depth + 1) for step, n in names.items())
        return tuple(dict.fromkeys(p for _, p in sorted(found)))


def _walk(place: JsonPlace, steps: list[str]) -> JsonPlace | None:
    layer, at, strings = place
    for step in steps:
        while entered := layer.enter(at):
            inside, layer = entered
            strings = (*strings, inside)
            root = layer.entrance()
            if root is None:
                return None
            at = root
        child = layer.child(at, step)
        if child is None:
            return None
        at = child
    return JsonPlace(layer, at, strings)


def _child_at(layer: TextLayer, node: SpanNode, table: ChildTable, offset: int) -> tuple[str, SpanNode] | None:
    """The child that a byte belongs to, with its step."""
    low, high = 0, len(table)
    firsts = table.keys or table.values
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if firsts[2 * middle] <= offset else (low, middle)
    if low == 0:
        return None
    child = nth(table, low - 1)
    if child.end != CUT and offset >= child.end:
        return None
    if table.names is None:
        return str(low - 1), child
    return next(((k, child) for k, n in table.names.items() if n == low - 1), None)


def _repeats(text: bytes) -> bool:
    """True if an object of the text may repeat a key: a cheap test before the search."""
    try:
        _KEYS.decode(decode(text).removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return True
    return False


def _check_keys(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key is repeated")


_KEYS: Final = json.JSONDecoder(object_pairs_hook=_check_keys)


_MEMBER: Final = regex.compile(rb'[ \t\r\n]*[{,][ \t\r\n]*"((?:[^"\\]|\\.)*+)"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_BETWEEN: Final = regex.compile(rb"[ \t\r\n,]*+")
_WHITE: Final = b" \t\r\n"


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
    members = raw_members(text)
    if members is None:
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
    if not text.startswith(b"[", member.start):
        return None
    elements = raw_elements(text[member.start : member.end])
    if elements is None:
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
