"""Which items of two lists belong together: equal ones, joined ones, those that begin alike, those of one name."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import eq
from typing import NamedTuple

from workbench.diff.damage._texts import joined
from workbench.diff.wire import align, ends
from workbench.ir import JsonValue

Key = Callable[[JsonValue], int]
Range = tuple[int, int]

_SQUEEZED = 40
"""Characters with which a text tells that it is the same one, changed further on."""

_MOST_JOINED, _MOST_TRIED = 64, 8
"""Neighbours that are tried as one; and items that begin alike of which that is tried."""

_MOST_ALIGNED = 300
"""Items that are aligned exactly: that is quadratic. Of more, those that stand once in both lists are anchors."""


class Together(NamedTuple):
    """Items of the first list that stand for items of the second; either range may be empty."""

    old: Range
    new: Range

    @property
    def is_pair(self) -> bool:
        """One for one."""
        return self.old[1] - self.old[0] == self.new[1] - self.new[0] == 1


def together(olds: Sequence[JsonValue], news: Sequence[JsonValue], key: Key) -> Iterator[Together]:
    """Every item of both lists once, in order; equal ones as pairs."""
    for tag, i, j, k, m in aligned([key(v) for v in olds], [key(v) for v in news]):
        if tag == "equal":
            yield from (Together((i + n, i + n + 1), (k + n, k + n + 1)) for n in range(j - i))
        else:
            yield from _between(olds, (i, j), news, (k, m), key)


def aligned(olds: Sequence[Hashable], news: Sequence[Hashable]) -> Iterator[tuple[str, int, int, int, int]]:
    """Opcodes as of ``difflib``; of long lists those between items that stand once in both, in the same order."""
    head, tail = ends(olds, news, eq)
    stop_old, stop_new = len(olds) - tail, len(news) - tail
    if max(stop_old, stop_new) - head <= _MOST_ALIGNED:
        yield from align(olds, news)
        return
    at_old = at_new = 0
    for o, n in (*_anchors(olds, head, stop_old, news, head, stop_new), (stop_old, stop_new)):
        for tag, i, j, k, m in align(olds[at_old:o], news[at_new:n]):
            yield tag, at_old + i, at_old + j, at_new + k, at_new + m
        if o < stop_old and n < stop_new:
            yield "equal", o, o + 1, n, n + 1
        at_old, at_new = o + 1, n + 1
    if tail:
        yield "equal", stop_old, len(olds), stop_new, len(news)


def _anchors(
    olds: Sequence[Hashable], i: int, j: int, news: Sequence[Hashable], k: int, m: int
) -> list[tuple[int, int]]:
    """The longest row of items, in both lists in this order, that stand once in each."""
    counts = Counter(olds[i:j]), Counter(news[k:m])
    rows = {olds[n]: n for n in range(i, j) if counts[0][olds[n]] == 1 == counts[1][olds[n]]}
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


def _between(
    olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range, key: Key
) -> Iterator[Together]:
    """What stands between equal items: joined neighbours first, they tell where the rest belongs."""
    (i, j), (k, m) = old, new
    if j - i != m - k and i < j and k < m:
        for found in _joins(olds, old, news, new, key):
            yield from _alike(olds, (i, found.old[0]), news, (k, found.new[0]), key)
            yield found
            i, k = found.old[1], found.new[1]
    yield from _alike(olds, (i, j), news, (k, m), key)


def _joins(
    olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range, key: Key
) -> Iterator[Together]:
    """Neighbours that became one, or one that became neighbours."""
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
                yield Together((i + o, i + at), (k + n, k + skip))
                break


class _Flat(NamedTuple):
    """An item as the texts and other things it is made of, if it is made of such."""

    label: str
    pieces: tuple[str, ...]


def _starts(item: _Flat | None) -> list[tuple[str, str]]:
    """How an item begins, in all the lengths in which another one may begin so."""
    if item is None or not item.pieces:
        return []
    return [(item.label, item.pieces[0][:n]) for n in (1, 4, 16)]


def _from(rows: list[int], at: int) -> list[int]:
    first = bisect_left(rows, at)
    return rows[first : first + _MOST_TRIED]


def _parts(items: Sequence[_Flat | None], whole: _Flat | None) -> int:
    """How many of the items at the beginning are the whole together; 0 for none."""
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
        if n > 1 and (tuple(pieces) == whole.pieces or (len(whole.pieces) == 1 and joined(pieces, whole.pieces[0]))):
            return n
    return 0


_TEXTS = frozenset({"text", "input_text", "output_text"})


def text_of(item: JsonValue) -> str | None:
    """The text that an item is, as a string or as a block of text; None for anything else."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict) and isinstance(item.get("text"), str) and str(item.get("type", "text")) in _TEXTS:
        return str(item["text"])
    return None


def _flat(item: JsonValue, key: Key) -> _Flat | None:
    text = text_of(item)
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
            text = text_of(inner)
            pieces.append(text if text is not None else f"\0{key(inner)}")
    return _Flat(str(item["role"]), tuple(pieces))


def _alike(
    olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range, key: Key
) -> Iterator[Together]:
    """One for one where they are called the same; else by how they begin, else by what they are called."""
    (i, j), (k, m) = old, new
    names = [label_of(v) for v in olds[i:j]], [label_of(v) for v in news[k:m]]
    if names[0] == names[1]:
        yield from (Together((i + n, i + n + 1), (k + n, k + n + 1)) for n in range(j - i))
        return
    starts = [_beginning(v, key) for v in olds[i:j]], [_beginning(v, key) for v in news[k:m]]
    for tag, a, b, c, d in aligned(*starts):
        if tag == "equal":
            yield from (Together((i + a + n, i + a + n + 1), (k + c + n, k + c + n + 1)) for n in range(b - a))
        else:
            yield from _named(olds, (i + a, i + b), news, (k + c, k + d))


def _named(olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range) -> Iterator[Together]:
    """Items of one name, in order; a name that comes first later on skips what stands before it."""
    rows: dict[str, list[int]] = {}
    for n in range(*old):
        rows.setdefault(label_of(olds[n]), []).append(n)
    at, start = old[0], new[0]
    for k in range(*new):
        found = _from(rows.get(label_of(news[k]), []), at)
        if found:
            yield from _unnamed(olds, (at, found[0]), news, (start, k))
            yield Together((found[0], found[0] + 1), (k, k + 1))
            at, start = found[0] + 1, k + 1
    yield from _unnamed(olds, (at, old[1]), news, (start, new[1]))


def _unnamed(olds: Sequence[JsonValue], old: Range, news: Sequence[JsonValue], new: Range) -> Iterator[Together]:
    """Items of no common name: as many that say the same in part are called otherwise, else they went and came."""
    (i, j), (k, m) = old, new
    if j - i == m - k and all(_built_alike(a, b) for a, b in zip(olds[i:j], news[k:m], strict=True)):
        yield from (Together((i + n, i + n + 1), (k + n, k + n + 1)) for n in range(j - i))
        return
    yield from (Together((i, i), (n, n + 1)) for n in range(k, m))
    yield from (Together((n, n + 1), (m, m)) for n in range(i, j))


def _built_alike(a: JsonValue, b: JsonValue) -> bool:
    """Objects of which a member of one name, or one inside of it, says the same."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        return False
    return any(k in b and (a[k] == b[k] or _built_alike(a[k], b[k])) for k in a if k != "type")


def label_of(item: JsonValue) -> str:
    """What an item is called: its name, role or type; what kind of value it is."""
    if isinstance(item, dict):
        function = item.get("function")
        names = (item.get("name"), function.get("name") if isinstance(function, dict) else None)
        for word in (*names, item.get("role"), item.get("type")):
            if isinstance(word, str) and word:
                return word
    return "number" if isinstance(item, int | float) and not isinstance(item, bool) else type(item).__name__


def _beginning(item: JsonValue, key: Key) -> str:
    """The first characters of what an item says; where it says nothing, what it is."""
    squeezed = re.sub(r"\W+", "", _first_text(item)).lower()
    return squeezed[:_SQUEEZED] or f"{key(item)}"


def _first_text(item: JsonValue) -> str:
    for _ in range(4):
        text = text_of(item)
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
