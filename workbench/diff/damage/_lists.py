"""Groups the items of two lists that belong together: equal, joined, with the same beginning, or with the same name."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import eq

from workbench.diff.damage._texts import is_joined
from workbench.diff.wire import align, ends
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple

Key = Callable[[JsonValue], int]
Range = tuple[int, int]

_BEGINNING = 40
"""Characters of a text that identify it if it changed further on."""

_MOST_JOINED, _MOST_TRIED = 64, 8
"""Neighbours that are tried as one; and items that begin alike of which that is tried."""

_MOST_ALIGNED = 300
"""Items that are aligned exactly, in quadratic time. In longer lists, items that occur once in both are anchors."""


class ItemGroup(NamedTuple):
    """A range of the first list that belongs to a range of the second; either may be empty."""

    old: Range
    new: Range

    @property
    def is_pair(self) -> bool:
        """True for one item on each side."""
        return self.old[1] - self.old[0] == self.new[1] - self.new[0] == 1


def group_items(olds: Sequence[JsonValue], news: Sequence[JsonValue], key: Key) -> Iterator[ItemGroup]:
    """Every item of both lists once, in order; equal ones as pairs."""
    for tag, i, j, k, m in align_items([key(v) for v in olds], [key(v) for v in news]):
        if tag == "equal":
            yield from (ItemGroup((i + n, i + n + 1), (k + n, k + n + 1)) for n in range(j - i))
        else:
            yield from _group_unequal(olds, (i, j), news, (k, m), key)


def align_items(hashables: Sequence[Hashable], news: Sequence[Hashable]) -> Iterator[tuple[str, int, int, int, int]]:
    """Opcodes as of ``difflib``; for long lists, between the items that occur once in both, in the same order."""
    head, tail = ends(hashables, news, eq)
    stop_old, stop_new = len(hashables) - tail, len(news) - tail
    if max(stop_old, stop_new) - head <= _MOST_ALIGNED:
        yield from align(hashables, news)
        return
    at_old = at_new = 0
    for o, n in (*_anchors(hashables, head, stop_old, news, head, stop_new), (stop_old, stop_new)):
        for tag, i, j, k, m in align(hashables[at_old:o], news[at_new:n]):
            yield tag, at_old + i, at_old + j, at_new + k, at_new + m
        if o < stop_old and n < stop_new:
            yield "equal", o, o + 1, n, n + 1
        at_old, at_new = o + 1, n + 1
    if tail:
        yield "equal", stop_old, len(hashables), stop_new, len(news)


def _anchors(
    hashables: Sequence[Hashable], i: int, j: int, news: Sequence[Hashable], k: int, m: int
) -> list[tuple[int, int]]:
    """Longest common subsequence of the items that occur once in each list (patience sorting)."""
    counts = Counter(hashables[i:j]), Counter(news[k:m])
    rows = {hashables[n]: n for n in range(i, j) if counts[0][hashables[n]] == 1 == counts[1][hashables[n]]}
    pairs = [(rows[news[n]], n) for n in range(k, m) if news[n] in rows]
    ends_at, last, before = list[int](), list[int](), dict[int, int]()  # patience sorting
    for number, (old, _) in enumerate(pairs):
        place = bisect_left(ends_at, old)
        ends_at[place : place + 1] = [old]
        last[place : place + 1] = [number]
        before[number] = last[place - 1] if place else -1
    found, at = list[tuple[int, int]](), last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _group_unequal(
    olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range, key: Key
) -> Iterator[ItemGroup]:
    """Items between equal ones: joined neighbours first, because they tell where the rest belongs."""
    (i, j), (k, m) = old, new
    if j - i != m - k and i < j and k < m:
        for found in _joins(olds, old, news, new, key):
            yield from _group_alike(olds, (i, found.old[0]), news, (k, found.new[0]), key)
            yield found
            i, k = found.old[1], found.new[1]
    yield from _group_alike(olds, (i, j), news, (k, m), key)


def _joins(
    olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range, key: Key
) -> Iterator[ItemGroup]:
    """Neighbours that became one item, or one item that became neighbours."""
    i, k = old[0], new[0]
    flat_old = [_flat(v, key) for v in olds[slice(*old)]]
    flat_new = [_flat(v, key) for v in news[slice(*new)]]
    starts: dict[tuple[str, str], list[int]] = {}
    for n, item in enumerate(flat_old):
        for start in _starts(item):
            starts.setdefault(start, []).append(n)
    at = skip = 0
    for n, item in enumerate(flat_new):
        if n < skip:
            continue
        same = [row for start in _starts(item) for row in _from(starts.get(start, []), at)]
        for o in sorted(dict.fromkeys(same)):
            whole = _parts(flat_old[o : o + _MOST_JOINED], item)
            pieces = 1 if whole > 1 else _parts(flat_new[n : n + _MOST_JOINED], flat_old[o])
            if max(whole, pieces) > 1:
                at, skip = o + max(whole, 1), n + max(pieces, 1)
                yield ItemGroup((i + o, i + at), (k + n, k + skip))
                break


class _Flat(NamedTuple):
    """An item as its texts and other pieces."""

    label: str
    pieces: tuple[str, ...]


def _starts(item: _Flat | None) -> list[tuple[str, str]]:
    """Beginnings of an item in several lengths, for lookup."""
    if item is None or not item.pieces:
        return []
    return [(item.label, item.pieces[0][:n]) for n in (1, 4, 16)]


def _from(rows: list[int], at: int) -> list[int]:
    first = bisect_left(rows, at)
    return rows[first : first + _MOST_TRIED]


def _parts(items: Sequence[_Flat | None], whole: _Flat | None) -> int:
    """Number of leading items that together are the whole; 0 for none."""
    if whole is None or not whole.pieces:
        return 0
    pieces: list[str] = []
    length = sum(map(len, whole.pieces))
    for n, item in enumerate(items, 1):
        if item is None or item.label != whole.label:
            return 0
        pieces += item.pieces
        if sum(map(len, pieces)) > length:
            return 0
        if n > 1 and (tuple(pieces) == whole.pieces or (len(whole.pieces) == 1 and is_joined(pieces, whole.pieces[0]))):
            return n
    return 0


_TEXTS = frozenset({"text", "input_text", "output_text"})


def item_text(item: JsonValue) -> str | None:
    """Text of an item that is a string or a text block; None for other items."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict) and isinstance(item.get("text"), str) and str(item.get("type", "text")) in _TEXTS:
        return str(item["text"])
    return None


def _flat(item: JsonValue, key: Key) -> _Flat | None:
    text = item_text(item)
    if text is not None:
        return _Flat("text", (text,))
    if not isinstance(item, dict) or not isinstance(item.get("role"), str):
        return None
    pieces: list[str] = []
    for name, value in item.items():
        if name in ("role", "type") or value is None:
            continue
        if name not in ("content", "parts", "tool_calls"):
            return None
        for inner in value if isinstance(value, list) else [value]:
            text = item_text(inner)
            pieces.append(text if text is not None else f"\0{key(inner)}")
    return _Flat(str(item["role"]), tuple(pieces))


def _group_alike(
    olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range, key: Key
) -> Iterator[ItemGroup]:
    """One for one if all labels are equal; else by beginning, else by label."""
    (i, j), (k, m) = old, new
    names = [label_of(v) for v in olds[i:j]], [label_of(v) for v in news[k:m]]
    if names[0] == names[1]:
        yield from (ItemGroup((i + n, i + n + 1), (k + n, k + n + 1)) for n in range(j - i))
        return
    starts = [_beginning(v, key) for v in olds[i:j]], [_beginning(v, key) for v in news[k:m]]
    for tag, a, b, c, d in align_items(*starts):
        if tag == "equal":
            yield from (ItemGroup((i + a + n, i + a + n + 1), (k + c + n, k + c + n + 1)) for n in range(b - a))
        else:
            yield from _group_by_name(olds, (i + a, i + b), news, (k + c, k + d))


def _group_by_name(olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range) -> Iterator[ItemGroup]:
    """Items with the same name, in order; a name that occurs only later skips the items before it."""
    rows: dict[str, list[int]] = {}
    for n in range(*old):
        rows.setdefault(label_of(olds[n]), []).append(n)
    at, start = old[0], new[0]
    for k in range(*new):
        found = _from(rows.get(label_of(news[k]), []), at)
        if found:
            yield from _group_unnamed(olds, (at, found[0]), news, (start, k))
            yield ItemGroup((found[0], found[0] + 1), (k, k + 1))
            at, start = found[0] + 1, k + 1
    yield from _group_unnamed(olds, (at, old[1]), news, (start, new[1]))


def _group_unnamed(olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range) -> Iterator[ItemGroup]:
    """Pairs items without a common name if as many with partly equal content are on each side.

    Otherwise all of them were removed and added.
    """
    (i, j), (k, m) = old, new
    if j - i == m - k and all(_built_alike(a, b) for a, b in zip(olds[i:j], news[k:m], strict=True)):
        yield from (ItemGroup((i + n, i + n + 1), (k + n, k + n + 1)) for n in range(j - i))
        return
    yield from (ItemGroup((i, i), (n, n + 1)) for n in range(k, m))
    yield from (ItemGroup((n, n + 1), (m, m)) for n in range(i, j))


def _built_alike(a: JsonValue, b: JsonValue) -> bool:
    """True for objects that share an equal member, or one inside a member of the same name."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        return False
    return any(k in b and (a[k] == b[k] or _built_alike(a[k], b[k])) for k in a if k != "type")


def label_of(item: JsonValue) -> str:
    """Label of an item: its name, role or type, else its JSON type."""
    if isinstance(item, dict):
        function = item.get("function")
        names = (item.get("name"), function.get("name") if isinstance(function, dict) else None)
        for word in (*names, item.get("role"), item.get("type")):
            if isinstance(word, str) and word:
                return word
    return "number" if isinstance(item, int | float) and not isinstance(item, bool) else type(item).__name__


def _beginning(item: JsonValue, key: Key) -> str:
    """First characters of the text of an item; of one without text its fingerprint."""
    squeezed = re.sub(r"\W+", "", _first_text(item)).lower()
    return squeezed[:_BEGINNING] or f"{key(item)}"


def _first_text(item: JsonValue) -> str:
    for _ in range(4):
        text = item_text(item)
        if text is not None:
            return text
        if isinstance(item, dict):
            function = item.get("function")
            names = ("content", "parts", "tool_calls", "arguments", "thinking")
            inner = next((item[name] for name in names if item.get(name)), function)
        else:
            inner = item[0] if isinstance(item, list) and item else None
        item = inner
    return ""
