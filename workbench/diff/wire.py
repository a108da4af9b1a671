"""Byte ranges that differ, aligned at the elements that an agent repeats in every request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from operator import eq
from typing import AnyStr, TypeVar

from workbench.named_tuple import NamedTuple
from workbench.wire import JsonIndex

Span = tuple[int, int]
Item = TypeVar("Item")

REPEATED = ("messages", "input", "contents", "tools", "system")
"""Members whose elements are aligned with one another."""

MOST_ALIGNED = 1500
"""Segments that are aligned between two equal ends; more are paired in order (alignment is quadratic)."""


class Hunk(NamedTuple):
    """A range of the first body and the range of the second body that replaces it; either may be empty."""

    before: Span
    after: Span


def first_difference(before: bytes, after: bytes) -> int | None:
    """Offset of the first byte that differs; None if both are equal.

    If one body is a prefix of the other, the length of the shorter one.
    """
    if before == after:
        return None
    return common(before, after)


def hunks(before: JsonIndex, after: JsonIndex) -> tuple[Hunk, ...]:
    """Every range that differs. Replacing the first ranges by the second ones turns the first body into the second."""
    if before.text == after.text:
        return ()
    return tuple(_hunks(before.text, segment_bounds(before), after.text, segment_bounds(after)))


def segment_bounds(index: JsonIndex) -> list[int]:
    """Offsets that divide a body into segments, from 0 to its length: around its members and repeated elements."""
    found = {0, len(index.text)}
    for step, span in index.elements(""):
        key = index.key_span(f"/{step}")
        found.add(key[0] if key else span[0])
        found.add(span[1])
        if step in REPEATED:
            found.update(at for _, child in index.elements(f"/{step}") for at in child)
    return sorted(found)


def _hunks(before: bytes, a: Sequence[int], after: bytes, b: Sequence[int]) -> Iterator[Hunk]:
    olds = [before[s:e] for s, e in pairwise(a)]
    news = [after[s:e] for s, e in pairwise(b)]
    for tag, i, j, k, m in align(olds, news):
        if tag == "equal":
            continue
        if j - i == m - k:
            for n in range(j - i):
                yield from _trim(before, (a[i + n], a[i + n + 1]), after, (b[k + n], b[k + n + 1]))
        else:
            yield from _trim(before, (a[i], a[j]), after, (b[k], b[m]))


def align(olds: Sequence[object], news: Sequence[object]) -> Iterator[tuple[str, int, int, int, int]]:
    """Opcodes of difflib for two lists of hashable items; long lists are aligned between their equal ends only."""
    head, tail = ends(olds, news, eq)
    middle_old, middle_new = olds[head : len(olds) - tail], news[head : len(news) - tail]
    if head:
        yield "equal", 0, head, 0, head
    if max(len(middle_old), len(middle_new)) > MOST_ALIGNED:
        yield "replace", head, len(olds) - tail, head, len(news) - tail
    else:
        for tag, i, j, k, m in SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes():
            yield tag, head + i, head + j, head + k, head + m
    if tail:
        yield "equal", len(olds) - tail, len(olds), len(news) - tail, len(news)


def ends(items: Sequence[Item], news: Sequence[Item], is_same: Callable[[Item, Item], bool]) -> tuple[int, int]:
    """Number of items that two lists share at their start, and at the end of the rest."""
    most = min(len(items), len(news))
    head = next((n for n in range(most) if not is_same(items[n], news[n])), most)
    most -= head
    return head, next((n for n in range(most) if not is_same(items[-1 - n], news[-1 - n])), most)


def _trim(before: bytes, old: Span, after: bytes, new: Span) -> Iterator[Hunk]:
    """The differing middle of two ranges, without their common start and end."""
    a, b = before[slice(*old)], after[slice(*new)]
    if a == b:
        return
    head = common(a, b)
    tail = common_end(a[head:], b[head:])
    yield Hunk((old[0] + head, old[1] - tail), (new[0] + head, new[1] - tail))


def common(a: AnyStr, b: AnyStr) -> int:
    """Length of the common prefix of two texts."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_end(a: AnyStr, b: AnyStr) -> int:
    """Length of the common suffix of two texts."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle - 1
    return low
