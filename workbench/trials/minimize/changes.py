"""The changes that make of one JSON value another one: elements of lists are aligned before they are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import SequenceMatcher

from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire import Change, Insert, Remove, Replace, dumps

ALIKE = 0.5
"""Share of equal members from which on two objects at one place count as the same one, changed."""


def aligned_changes(at: str, now: JsonValue, then: JsonValue, histories: Collection[str] = ()) -> Iterator[Change]:
    """Changes that turn ``now`` into ``then``, as pointers into ``now``; list elements are aligned first.

    Args:
        at: pointer of both.
        histories: members of the outermost object that only grow at their end; additions there stay.
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
                yield from aligned_changes(pointer, now[key], value)
    elif isinstance(now, list) and isinstance(then, list):
        yield from _lists(at, now, then, grows=False)
    elif type(now) is not type(then) or now != then:
        yield Replace(at, then)


def _lists(at: str, now: list[JsonValue], then: list[JsonValue], *, grows: bool) -> Iterator[Change]:
    if then and not now and not grows:  # an emptied list is restored as a whole
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
            yield from aligned_changes(f"{at}/{start + n}", now[start + n], then[first + n])
        if not is_tail:
            yield from (Remove(f"{at}/{n}") for n in range(start + pairs, end))
        place = f"{at}/{start + pairs}" if start + pairs < len(now) else f"{at}/-"
        yield from (Insert(place, value) for value in then[first + pairs : last])


def _are_alike(now: list[JsonValue], then: list[JsonValue], at: int, other: int) -> bool:
    """The first elements are the same object, changed."""
    one, two = now[at], then[other]
    if not isinstance(one, dict) or not isinstance(two, dict):
        return False
    same = sum(one.get(key) == two.get(key) for key in one.keys() & two.keys())
    return bool(same >= ALIKE * max(len(one), len(two)))
