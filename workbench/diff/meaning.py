"""Changed items of two JSON bodies: messages, tools and parameters; and items that are spelled differently."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import Final

from workbench import regex
from workbench.diff.wire import REPEATED, align, ends
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.provenance import escape
from workbench.wire import JsonIndex, loads

MOST_DETAILS = 200
"""Differences named inside one changed item."""


class ItemChangeKind(StrEnum):
    """Kind of change of an item of a body."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    RESPELLED = "re-spelled"  # the same value in other bytes


class ValueDifference(NamedTuple):
    """A difference inside a changed item: at a pointer of the second body, or of the first if it was removed.

    Attributes:
        missing_at: for a removed value, its pointer if it were in the second body (of an element: the pointer of its
            list).
    """

    kind: ItemChangeKind
    pointer: str
    before: JsonValue = None
    after: JsonValue = None
    missing_at: str = ""

    @property
    def place(self) -> str:
        """Pointer in the second body."""
        return self.missing_at or self.pointer


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One item that differs.

    Attributes:
        before, after: its pointer in either body; None if that body lacks it.
        label: its name, role or type, untrusted ("user", "read_file", "max_tokens").
        details: its differences, for a changed item.
        spelling: differences of the bytes, for a re-spelled item.
    """

    kind: ItemChangeKind
    before: str | None
    after: str | None
    label: str
    details: tuple[ValueDifference, ...] = ()
    spelling: tuple[str, ...] = ()


@dataclass(eq=False)
class _BodyItem:
    pointer: str
    value: JsonValue
    raw: bytes

    @cached_property
    def key(self) -> str:
        """Canonical text of the value. Costly, so it is computed only if the bytes differ."""
        return canonical(self.value)

    def means(self, other: _BodyItem) -> bool:
        """True if both have the same value."""
        return self.raw == other.raw != b"" or self.key == other.key


def item_changes(a: JsonIndex, b: JsonIndex) -> tuple[ItemChange, ...] | None:
    """Every item that differs between two indexed bodies; None if one of them is no JSON object."""
    try:
        old, new = loads(a.text), loads(b.text)
    except WireError:
        return None
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    return tuple(_members(a, old, b, new))


def _members(a: JsonIndex, old: dict[str, JsonValue], b: JsonIndex, new: dict[str, JsonValue]) -> Iterator[ItemChange]:
    for name in dict.fromkeys((*new, *old)):
        pointer = f"/{escape(name)}"
        both = name in old and name in new
        if both and name in REPEATED and isinstance(old[name], list) and isinstance(new[name], list):
            yield from _elements(_items(a, pointer, old[name]), _items(b, pointer, new[name]))
            continue
        olds = [_item(a, pointer, old[name])] if name in old else []
        news = [_item(b, pointer, new[name])] if name in new else []
        yield from _pair_items(olds, news)


def _items(index: JsonIndex, pointer: str, values: Sequence[JsonValue]) -> list[_BodyItem]:
    spans = dict(index.elements(pointer))
    raws = (index.text[slice(*spans.get(str(n), (0, 0)))] for n in range(len(values)))
    return [_BodyItem(f"{pointer}/{n}", value, raw) for n, (value, raw) in enumerate(zip(values, raws, strict=True))]


def _item(index: JsonIndex, pointer: str, value: JsonValue) -> _BodyItem:
    span = index.span(pointer)
    return _BodyItem(pointer, value, index.text[slice(*span)] if span else b"")


def canonical(value: JsonValue) -> str:
    """One text for every spelling of a value; numbers by their value, true and 1 different."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value


def _elements(body_items: list[_BodyItem], news: list[_BodyItem]) -> Iterator[ItemChange]:
    head, tail = ends(body_items, news, _BodyItem.means)
    found = [c for o, n in zip(body_items[:head], news[:head], strict=True) for c in _spelling_change(o, n)]
    old, new = body_items[head : len(body_items) - tail], news[head : len(news) - tail]
    for tag, i, j, k, m in align([o.key for o in old], [n.key for n in new]):
        if tag == "equal":
            found += (c for o, n in zip(old[i:j], new[k:m], strict=True) for c in _spelling_change(o, n))
        else:
            found += _pair_items(old[i:j], new[k:m])
    found += (
        c
        for o, n in zip(body_items[len(body_items) - tail :], news[len(news) - tail :], strict=True)
        for c in _spelling_change(o, n)
    )
    yield from _moves(found, {i.pointer: i.key for i in old}, {i.pointer: i.key for i in new})


def _spelling_change(old: _BodyItem, new: _BodyItem) -> Iterator[ItemChange]:
    """A re-spelled change for two items of the same value; nothing if the bytes are equal."""
    how = spellings(old.raw, new.raw)
    if how:
        yield ItemChange(ItemChangeKind.RESPELLED, old.pointer, new.pointer, label_of(new), spelling=how)


def _pair_items(body_items: list[_BodyItem], news: list[_BodyItem]) -> Iterator[ItemChange]:
    """Changes of the items between equal ones.

    Items with one label are one changed item, the rest was added or removed.
    """
    rest = list(body_items)
    for new in news:
        old = next((o for o in rest if label_of(o) == label_of(new)), None)
        if old is None:
            yield ItemChange(ItemChangeKind.ADDED, None, new.pointer, label_of(new))
            continue
        yield from (ItemChange(ItemChangeKind.REMOVED, o.pointer, None, label_of(o)) for o in rest[: rest.index(old)])
        rest = rest[rest.index(old) + 1 :]
        if old.means(new):
            yield from _spelling_change(old, new)
        else:
            details = tuple(islice(_details(old, new), MOST_DETAILS))
            yield ItemChange(ItemChangeKind.CHANGED, old.pointer, new.pointer, label_of(new), details)
    yield from (ItemChange(ItemChangeKind.REMOVED, o.pointer, None, label_of(o)) for o in rest)


def _moves(item_changes: list[ItemChange], olds: Mapping[str, str], news: Mapping[str, str]) -> Iterator[ItemChange]:
    """The changes, with a removal and an addition of the same value joined to one move."""
    removals: dict[str, list[str]] = {}
    for change in item_changes:
        if change.kind is ItemChangeKind.REMOVED and change.before is not None:
            removals.setdefault(olds[change.before], []).append(change.before)
    moved: dict[str, str] = {}
    for change in item_changes:
        if change.kind is ItemChangeKind.ADDED and change.after is not None and removals.get(news[change.after]):
            moved[change.after] = removals[news[change.after]].pop(0)
    sources = set(moved.values())
    for change in item_changes:
        if change.kind is ItemChangeKind.ADDED and change.after in moved:
            yield ItemChange(ItemChangeKind.MOVED, moved[change.after], change.after, change.label)
        elif change.kind is not ItemChangeKind.REMOVED or change.before not in sources:
            yield change


def label_of(item: _BodyItem) -> str:
    """Label of an item: its name, role or type, else the name of its member."""
    value = item.value
    if isinstance(value, dict):
        function = value.get("function")
        names = (value.get("name"), function.get("name") if isinstance(function, dict) else None)
        for word in (*names, value.get("role"), value.get("type")):
            if isinstance(word, str) and word:
                return word
    return item.pointer.split("/")[1]


def _details(old: _BodyItem, new: _BodyItem) -> Iterator[ValueDifference]:
    """Differences of two values, in order; equal values are not entered."""
    stack: list[tuple[str, str, JsonValue, JsonValue]] = [(old.pointer, new.pointer, old.value, new.value)]
    while stack:
        at_old, at_new, a, b = stack.pop()
        if canonical(a) == canonical(b):
            continue
        inner: list[tuple[str, str, JsonValue, JsonValue]] = []
        if isinstance(a, dict) and isinstance(b, dict):
            for name in dict.fromkeys((*b, *a)):
                step = escape(name)
                if name not in a:
                    yield ValueDifference(ItemChangeKind.ADDED, f"{at_new}/{step}", None, b[name])
                elif name not in b:
                    yield ValueDifference(ItemChangeKind.REMOVED, f"{at_old}/{step}", a[name], None, f"{at_new}/{step}")
                else:
                    inner.append((f"{at_old}/{step}", f"{at_new}/{step}", a[name], b[name]))
        elif isinstance(a, list) and isinstance(b, list):
            yield from _list_details(at_old, at_new, a, b, inner)
        else:
            yield ValueDifference(ItemChangeKind.CHANGED, at_new, a, b)
        stack.extend(reversed(inner))


def _list_details(
    at_old: str,
    at_new: str,
    a: list[JsonValue],
    b: list[JsonValue],
    inner: list[tuple[str, str, JsonValue, JsonValue]],
) -> Iterator[ValueDifference]:
    for tag, i, j, k, m in align([canonical(v) for v in a], [canonical(v) for v in b]):
        if tag == "equal":
            continue
        both = min(j - i, m - k)
        inner += ((f"{at_old}/{i + n}", f"{at_new}/{k + n}", a[i + n], b[k + n]) for n in range(both))
        yield from (
            ValueDifference(ItemChangeKind.REMOVED, f"{at_old}/{n}", a[n], None, at_new) for n in range(i + both, j)
        )
        yield from (ValueDifference(ItemChangeKind.ADDED, f"{at_new}/{n}", None, b[n]) for n in range(k + both, m))


_TOKEN: Final = regex.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}\[\],:]', re.DOTALL)
_KEY: Final = regex.compile(rb'("(?:[^"\\]|\\.)*")\s*:', re.DOTALL)

WHITESPACE, KEY_ORDER, ESCAPES, NUMBERS = "whitespace", "key order", "escapes", "number spelling"


def spellings(before: bytes, after: bytes) -> tuple[str, ...]:
    """Ways in which two texts of one value differ, most visible first; empty if the bytes are equal."""
    if before == after:
        return ()
    olds, news = _TOKEN.findall(before), _TOKEN.findall(after)
    found = []
    if Counter(_TOKEN.split(before)) != Counter(_TOKEN.split(after)):
        found.append(WHITESPACE)
    if _keys(before) != _keys(after):
        found.append(KEY_ORDER)
    found += [ESCAPES] if _tokens_starting(olds, b'"') != _tokens_starting(news, b'"') else []
    found += [NUMBERS] if _tokens_starting(olds, b"-0123456789") != _tokens_starting(news, b"-0123456789") else []
    return tuple(found)


def _keys(text: bytes) -> list[bytes]:
    from workbench.wire import dumps, loads

    return [dumps(loads(key)) for key in _KEY.findall(text)]


def _tokens_starting(tokens: list[bytes], firsts: bytes) -> Counter[bytes]:
    return Counter(token for token in tokens if token[0] in firsts)
