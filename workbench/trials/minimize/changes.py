"""The changes that make of one JSON value another one: elements of lists are aligned before they are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import SequenceMatcher

from workbench.ir import JsonValue
from workbench.leaves import escape
from workbench.wire.jsontext import dumps
from workbench.wire.patch import Change, Insert, Remove, Replace

ALIKE = 0.5
"""Part of the members of two objects in one place that are equal, from which on one counts as the other, changed."""


def between(at: str, now: JsonValue, then: JsonValue, histories: Collection[str] = ()) -> Iterator[Change]:
    """The changes that make ``then`` of ``now``, as pointers into ``now``.

    Args:
        at: pointer of both.
        histories: members of the outermost object that grow at their end: what was added there stays.
    """
    if isinstance(now, dict) and isinstance(then, dict):
        yield from (Remove(f"{at}/{escape(key)}") for key in now if key not in then)
        for key, value in then.items():
            pointer = f"{at}/{escape(key)}"
            if key not in now:
                yield Insert(pointer, value)
            elif isinstance(now[key], list) and isinstance(value, list):
                yield from _lists(pointer, now[key], value, grows=key in histories)
            else:
                yield from between(pointer, now[key], value)
    elif isinstance(now, list) and isinstance(then, list):
        yield from _lists(at, now, then, grows=False)
    elif type(now) is not type(then) or now != then:
        yield Replace(at, then)


def _lists(at: str, now: list[JsonValue], then: list[JsonValue], *, grows: bool) -> Iterator[Change]:
    if then and not now and not grows:  # what was emptied comes back whole
        yield Replace(at, then)
        return
    keys = [dumps(value) for value in now], [dumps(value) for value in then]
    matcher = SequenceMatcher(None, *keys, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            continue
        is_tail = grows and last == len(then)
        pairs = min(end - start, last - first)
        if tag == "replace" and end - start != last - first and not is_tail and not _are_alike(now, then, start, first):
            pairs = 0
        for n in range(pairs):
            yield from between(f"{at}/{start + n}", now[start + n], then[first + n])
        if not is_tail:
            yield from (Remove(f"{at}/{n}") for n in range(start + pairs, end))
        place = f"{at}/{start + pairs}" if start + pairs < len(now) else f"{at}/-"
        yield from (Insert(place, value) for value in then[first + pairs : last])


def _are_alike(now: list[JsonValue], then: list[JsonValue], at: int, other: int) -> bool:
    """The first elements are the same one, changed."""
    one, two = now[at], then[other]
    if not isinstance(one, dict) or not isinstance(two, dict):
        return False
    same = sum(one.get(key) == two.get(key) for key in one.keys() & two.keys())
    return bool(same >= ALIKE * max(len(one), len(two)))
