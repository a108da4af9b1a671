"""What changed between two JSON bodies: messages, tools and parameters that came, went, moved or read otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from workbench.diff.spelling import spellings
from workbench.diff.wire import REPEATED, align, ends
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.leaves import escape
from workbench.wire import JsonIndex, loads

MOST_DETAILS = 200
"""Differences named inside one changed item."""


class Kind(StrEnum):
    """What happened to an item of a body."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    RESPELLED = "re-spelled"  # the same value in other bytes


class Detail(NamedTuple):
    """A difference inside a changed item: at a pointer of the second body, or of the first where it was removed.

    Attributes:
        missing_at: of what was removed, where it would stand in the second body (of an element: its list).
    """

    kind: Kind
    pointer: str
    before: JsonValue = None
    after: JsonValue = None
    missing_at: str = ""

    @property
    def place(self) -> str:
        """In the second body."""
        return self.missing_at or self.pointer


@dataclass(frozen=True, slots=True)
class Change:
    """One item that differs.

    Attributes:
        before, after: its pointer in either body; None where it is not there.
        label: what it is, in untrusted words ("user", "read_file", "max_tokens").
        details: where it differs, for a changed one.
        spelling: how the bytes differ, for a re-spelled one.
    """

    kind: Kind
    before: str | None
    after: str | None
    label: str
    details: tuple[Detail, ...] = ()
    spelling: tuple[str, ...] = ()


@dataclass(eq=False)
class _Item:
    pointer: str
    value: JsonValue
    raw: bytes

    @cached_property
    def key(self) -> str:
        """What it means, in any spelling: dear, so that it is asked only where the bytes differ."""
        return canonical(self.value)

    def means(self, other: _Item) -> bool:
        """It means the same."""
        return self.raw == other.raw != b"" or self.key == other.key


def changes(a: JsonIndex, b: JsonIndex) -> tuple[Change, ...] | None:
    """Every item that differs between two indexed bodies; None where one of them is no JSON object."""
    try:
        old, new = loads(a.text), loads(b.text)
    except WireError:
        return None
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    return tuple(_members(a, old, b, new))


def _members(a: JsonIndex, old: dict[str, JsonValue], b: JsonIndex, new: dict[str, JsonValue]) -> Iterator[Change]:
    for name in dict.fromkeys((*new, *old)):
        pointer = f"/{escape(name)}"
        both = name in old and name in new
        if both and name in REPEATED and isinstance(old[name], list) and isinstance(new[name], list):
            yield from _elements(_items(a, pointer, old[name]), _items(b, pointer, new[name]))
            continue
        olds = [_item(a, pointer, old[name])] if name in old else []
        news = [_item(b, pointer, new[name])] if name in new else []
        yield from _paired(olds, news)


def _items(index: JsonIndex, pointer: str, values: Sequence[JsonValue]) -> list[_Item]:
    spans = dict(index.elements(pointer))
    raws = (index.text[slice(*spans.get(str(n), (0, 0)))] for n in range(len(values)))
    return [_Item(f"{pointer}/{n}", value, raw) for n, (value, raw) in enumerate(zip(values, raws, strict=True))]


def _item(index: JsonIndex, pointer: str, value: JsonValue) -> _Item:
    span = index.span(pointer)
    return _Item(pointer, value, index.text[slice(*span)] if span else b"")


def canonical(value: JsonValue) -> str:
    """One text for every spelling of a value; numbers by their value, true and 1 apart."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value


def _elements(olds: list[_Item], news: list[_Item]) -> Iterator[Change]:
    head, tail = ends(olds, news, _Item.means)
    found = [c for o, n in zip(olds[:head], news[:head], strict=True) for c in _same(o, n)]
    old, new = olds[head : len(olds) - tail], news[head : len(news) - tail]
    for tag, i, j, k, m in align([o.key for o in old], [n.key for n in new]):
        if tag == "equal":
            found += (c for o, n in zip(old[i:j], new[k:m], strict=True) for c in _same(o, n))
        else:
            found += _paired(old[i:j], new[k:m])
    found += (c for o, n in zip(olds[len(olds) - tail :], news[len(news) - tail :], strict=True) for c in _same(o, n))
    yield from _moves(found, {i.pointer: i.key for i in old}, {i.pointer: i.key for i in new})


def _same(old: _Item, new: _Item) -> Iterator[Change]:
    """An item that means the same: nothing, or that it is spelled otherwise."""
    how = spellings(old.raw, new.raw)
    if how:
        yield Change(Kind.RESPELLED, old.pointer, new.pointer, label_of(new), spelling=how)


def _paired(olds: list[_Item], news: list[_Item]) -> Iterator[Change]:
    """Items between equal ones: those of one label are one item that changed, the rest came or went."""
    left = list(olds)
    for new in news:
        old = next((o for o in left if label_of(o) == label_of(new)), None)
        if old is None:
            yield Change(Kind.ADDED, None, new.pointer, label_of(new))
            continue
        yield from (Change(Kind.REMOVED, o.pointer, None, label_of(o)) for o in left[: left.index(old)])
        left = left[left.index(old) + 1 :]
        if old.means(new):
            yield from _same(old, new)
        else:
            details = tuple(islice(_details(old, new), MOST_DETAILS))
            yield Change(Kind.CHANGED, old.pointer, new.pointer, label_of(new), details)
    yield from (Change(Kind.REMOVED, o.pointer, None, label_of(o)) for o in left)


def _moves(found: list[Change], olds: Mapping[str, str], news: Mapping[str, str]) -> Iterator[Change]:
    """What went in one place and came in another was moved."""
    gone: dict[str, list[str]] = {}
    for change in found:
        if change.kind is Kind.REMOVED and change.before is not None:
            gone.setdefault(olds[change.before], []).append(change.before)
    moved: dict[str, str] = {}
    for change in found:
        if change.kind is Kind.ADDED and change.after is not None and gone.get(news[change.after]):
            moved[change.after] = gone[news[change.after]].pop(0)
    sources = set(moved.values())
    for change in found:
        if change.kind is Kind.ADDED and change.after in moved:
            yield Change(Kind.MOVED, moved[change.after], change.after, change.label)
        elif change.kind is not Kind.REMOVED or change.before not in sources:
            yield change


def label_of(item: _Item) -> str:
    """What an item is called: its name, role or type, else the name of its member."""
    value = item.value
    if isinstance(value, dict):
        function = value.get("function")
        names = (value.get("name"), function.get("name") if isinstance(function, dict) else None)
        for word in (*names, value.get("role"), value.get("type")):
            if isinstance(word, str) and word:
                return word
    return item.pointer.split("/")[1]


def _details(old: _Item, new: _Item) -> Iterator[Detail]:
    """Where two values differ, in order; only what differs is entered."""
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
                    yield Detail(Kind.ADDED, f"{at_new}/{step}", None, b[name])
                elif name not in b:
                    yield Detail(Kind.REMOVED, f"{at_old}/{step}", a[name], None, f"{at_new}/{step}")
                else:
                    inner.append((f"{at_old}/{step}", f"{at_new}/{step}", a[name], b[name]))
        elif isinstance(a, list) and isinstance(b, list):
            yield from _list_details(at_old, at_new, a, b, inner)
        else:
            yield Detail(Kind.CHANGED, at_new, a, b)
        stack.extend(reversed(inner))


def _list_details(
    at_old: str,
    at_new: str,
    a: list[JsonValue],
    b: list[JsonValue],
    inner: list[tuple[str, str, JsonValue, JsonValue]],
) -> Iterator[Detail]:
    for tag, i, j, k, m in align([canonical(v) for v in a], [canonical(v) for v in b]):
        if tag == "equal":
            continue
        both = min(j - i, m - k)
        inner += ((f"{at_old}/{i + n}", f"{at_new}/{k + n}", a[i + n], b[k + n]) for n in range(both))
        yield from (Detail(Kind.REMOVED, f"{at_old}/{n}", a[n], None, at_new) for n in range(i + both, j))
        yield from (Detail(Kind.ADDED, f"{at_new}/{n}", None, b[n]) for n in range(k + both, m))
