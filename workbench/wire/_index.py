"""Byte ranges of the values of a JSON text, found where they are asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from workbench.ir import escape
from workbench.wire._scan import CUT, Scanner, Table
from workbench.wire._strings import Inside, decode

Span = tuple[int, int]

_QUOTE, _OBJECT, _ARRAY = b'"{['
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
_MAY_HOLD_JSON: Final = re.compile(rb'"(?: |\\[nrt])*+(?:[{\[]|\\")')


def split(pointer: str) -> list[str] | None:
    """The steps of a JSON pointer (RFC 6901), unescaped; None where it is no pointer."""
    if not pointer:
        return []
    if pointer[0] != "/":
        return None
    steps = pointer[1:].split("/")
    return [s.replace("~1", "/").replace("~0", "~") for s in steps] if "~" in pointer else steps


class Node(NamedTuple):
    """A value in one layer of text: ``end`` is ``CUT`` where it is not whole. ``key`` is the member's key, if any."""

    start: int
    end: int
    key: Span | None = None


class Place(NamedTuple):
    """A node and the layer it is in; ``strings`` are the JSON strings entered to get there, outermost first."""

    layer: Layer
    node: Node
    strings: tuple[Inside, ...]

    def outward(self, span: Span) -> Span:
        """A range of the innermost layer as a range of the outermost one."""
        start, end = span
        for inside in reversed(self.strings):
            start, end = inside.outer(start), inside.outer(end, is_end=True)
        return start, end


class Layer:
    """One text: the body itself, or the inside of a JSON string in it. Tables of children are built once."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.scanner = Scanner(text)
        self._tables: dict[int, Table] = {}
        self._members: dict[int, dict[str, int]] = {}
        self._strings: dict[int, tuple[Inside, Layer]] = {}
        start = self.scanner.root()
        self.root = None if start is None else Node(start, self.scanner.value_end(start))

    def table(self, node: Node) -> Table | None:
        """Children of a node, None for scalars."""
        if self.text[node.start] not in (_OBJECT, _ARRAY):
            return None
        table = self._tables.get(node.start)
        if table is None:
            table = self._tables[node.start] = self.scanner.table(node.start)
        return table

    def members(self, node: Node, table: Table) -> dict[str, int]:
        """Key → number of the child that counts: the last of its name."""
        found = self._members.get(node.start)
        if found is None:
            found = self._members[node.start] = {k: n for n, k in enumerate(self.key_names(table))}
        return found

    def key_names(self, table: Table) -> Iterator[str]:
        """Every key of an object in order, repeated ones too."""
        keys = table.keys
        for start, end in zip(keys[::2], keys[1::2], strict=True):
            raw = self.text[start + 1 : end - 1]
            yield decode(Inside(raw, 0, len(raw)).text if b"\\" in raw else raw)

    def child(self, node: Node, step: str) -> Node | None:
        """The child a pointer step names."""
        table = self.table(node)
        if table is None:
            return None
        if table.is_object:
            number = self.members(node, table).get(step)
            return None if number is None else _nth(table, number)
        return _nth(table, int(step)) if _INDEX.fullmatch(step) and int(step) < len(table) else None

    def enter(self, node: Node) -> tuple[Inside, Layer] | None:
        """The text inside a string, None for anything else."""
        if node.end == CUT or self.text[node.start] != _QUOTE:
            return None
        found = self._strings.get(node.start)
        if found is None:
            inside = Inside(self.text, node.start + 1, node.end - 1)
            found = self._strings[node.start] = inside, Layer(inside.text)
        return found

    def holds_json(self, node: Node) -> bool:
        """A string whose text is an array or object (or its beginning), or again such a string."""
        if not _MAY_HOLD_JSON.match(self.text, node.start):
            return False
        entered = self.enter(node)
        root = entered[1].root if entered else None
        if entered is None or root is None:
            return False
        text = entered[1].text
        if root.end != CUT and text[root.end :].strip():
            return False
        return text[root.start] in (_OBJECT, _ARRAY) or entered[1].holds_json(root)


def _nth(table: Table, number: int) -> Node:
    key = (table.keys[2 * number], table.keys[2 * number + 1]) if table.is_object else None
    return Node(table.values[2 * number], table.values[2 * number + 1], key)


class JsonIndex:
    """JSON pointers to byte ranges of the original text, and back.

    Pointers (RFC 6901) continue inside JSON strings: ``/arguments/path`` is found in the text of the string at
    ``/arguments``, and its range is in the outer bytes. Where a key repeats, the last member counts. Only what lies on
    the way to a pointer is opened, and kept. Broken text: what is whole before the break is found, the rest is not.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._layer: Layer | None = None

    def find(self, pointer: str) -> Place | None:
        """The place of a pointer, whole or cut; None where there is nothing."""
        steps = split(pointer)
        layer, strings = self._top(), ()
        node = layer.root
        if steps is None or node is None:
            return None
        return self._walk(Place(layer, node, strings), steps)

    def _top(self) -> Layer:
        if self._layer is None:
            self._layer = Layer(self.text)
        return self._layer

    def _walk(self, place: Place, steps: list[str]) -> Place | None:
        layer, at, strings = place
        for step in steps:
            while entered := layer.enter(at):
                inside, layer = entered
                strings = (*strings, inside)
                if layer.root is None:
                    return None
                at = layer.root
            child = layer.child(at, step)
            if child is None:
                return None
            at = child
        return Place(layer, at, strings)

    def span(self, pointer: str) -> Span | None:
        """Range of a value's text, quotes included; None where it is not there, or not whole."""
        place = self.find(pointer)
        if place is None or place.node.end == CUT:
            return None
        return place.outward((place.node.start, place.node.end))

    def key_span(self, pointer: str) -> Span | None:
        """Range of the key of an object member, quotes included."""
        place = self.find(pointer)
        return place.outward(place.node.key) if place and place.node.key else None

    def elements(self, pointer: str) -> list[tuple[str, Span]]:
        """(pointer step, range) of every whole child of an array or object, in order of the text.

        Earlier members of a repeated key are left out. Empty for scalars and for what is not there.
        """
        place = self.find(pointer)
        table = place.layer.table(place.node) if place else None
        if place is None or table is None:
            return []
        if table.is_object:
            names = place.layer.members(place.node, table)
            numbered = sorted((n, escape(k)) for k, n in names.items())
        else:
            numbered = [(n, str(n)) for n in range(len(table))]
        nodes = ((step, _nth(table, n)) for n, step in numbered)
        return [(step, place.outward((node.start, node.end))) for step, node in nodes if node.end != CUT]

    def pointer_at(self, offset: int) -> str:
        """Pointer of the deepest value that a byte belongs to.

        A key and its colon belong to their member; commas, brackets and blanks to the container. Strings that hold
        the text of an array or object are entered.
        """
        layer = self._top()
        at, steps = layer.root, list[str]()
        while at and at.start <= offset and (at.end == CUT or offset < at.end):
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
        """Pointers of members whose key occurs more than once in their object, in order of the text."""
        if not _repeats(self.text):
            return ()
        layer, found = self._top(), list[tuple[int, str]]()
        stack = [("", layer.root)] if layer.root else []
        while stack:
            pointer, node = stack.pop()
            if layer.text[node.start] not in (_OBJECT, _ARRAY):
                continue
            table = layer.scanner.table(node.start)
            last: dict[str, int] = {}
            for n, name in enumerate(layer.key_names(table)):
                if name in last:
                    found.append((table.keys[2 * n], f"{pointer}/{escape(name)}"))
                last[name] = n
            steps = last.items() if table.is_object else ((str(n), n) for n in range(len(table)))
            stack.extend((f"{pointer}/{escape(step)}", _nth(table, n)) for step, n in steps)
        return tuple(dict.fromkeys(p for _, p in sorted(found)))


def _child_at(layer: Layer, node: Node, table: Table, offset: int) -> tuple[str, Node] | None:
    """The child that a byte belongs to, with its step."""
    low, high = 0, len(table)
    firsts = table.keys if table.is_object else table.values
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if firsts[2 * middle] <= offset else (low, middle)
    if low == 0:
        return None
    child = _nth(table, low - 1)
    if child.end != CUT and offset >= child.end:
        return None
    if not table.is_object:
        return str(low - 1), child
    names = layer.members(node, table)
    return next(((k, child) for k, n in names.items() if n == low - 1), None)


def _repeats(text: bytes) -> bool:
    """Some object of the text may repeat a key: the quick question before the search."""
    seen = False

    def note(pairs: list[tuple[str, Any]]) -> None:
        nonlocal seen
        seen = seen or len({k for k, _ in pairs}) != len(pairs)

    try:
        json.loads(decode(text).removeprefix("\ufeff"), object_pairs_hook=note)
    except (ValueError, RecursionError):
        return True
    return seen
