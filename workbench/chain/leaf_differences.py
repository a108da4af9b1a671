"""Differences between two JSON values that should be equal, leaf by leaf: the value sent and the value received.

It is the same comparison for the arguments of a call, the schema of a tool, and what a gateway passes on. Whether a
difference matters is for its reader to say: a client's own rule, the protocol, or the person.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import NamedTuple
from urllib.parse import unquote_plus

from workbench.chain.passed_results import value_in
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire import dumps, loads

_CUT_MARK = 24
"""Characters that a mark at the end of a cut text may have."""

_TEXT = 8
"""Length in characters of a text that no other is likely to equal."""

_DEEP = 100
"""Levels of JSON that are compared one by one: Python's stack ends at fewer than JSON may have."""

_DEEPEST = 4
"""Objects within each other in which a value is looked for that has left its place."""


class Fate(NamedTuple):
    """A value that is not the same on both sides, and how.

    Attributes:
        kind: ``"dropped"``, ``"added"``, ``"renamed"``, ``"moved"``, ``"doubled"``, ``"stringified"`` (JSON became
            text), ``"parsed"`` (text became JSON), ``"retyped"`` (the same number or truth value as another type),
            ``"truncated"``, ``"recoded"`` (escaped, or decoded once more) or ``"changed"``.
        pointer: of the value before; of the place where it would have been, if it was added.
        there: of the value after; of the place where it would be, if it was dropped.
        before, after: the two; None for the one that is not there.
    """

    kind: str
    pointer: str
    there: str
    before: JsonValue = None
    after: JsonValue = None

    def words(self) -> str:
        """The predicate of a sentence about the value: "was left out"."""
        return _WORDS[self.kind]


_WORDS = {
    "dropped": "was left out",
    "added": "was added",
    "renamed": "has a different name",
    "moved": "is in a different place",
    "doubled": "is duplicated",
    "stringified": "became a string that contains JSON",
    "parsed": "was a string that contains JSON, and was parsed",
    "retyped": "has a different type",
    "truncated": "was truncated",
    "recoded": "was escaped or decoded once more",
    "changed": "has a different value",
}


def fates(before: JsonValue, after: JsonValue, pointer: str = "", there: str = "") -> Iterator[Fate]:
    """Every value that is not the same on both sides, in the order of the first.

    Below ``_DEEP`` levels a value is compared as a whole.
    """
    if pointer.count("/") > _DEEP:
        if before != after:
            yield Fate("changed", pointer, there, before, after)
    elif isinstance(before, dict) and isinstance(after, dict):
        yield from _of_objects(before, after, pointer, there)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, pointer, there)
    elif not _is_same(before, after):
        yield Fate(_kind(before, after), pointer, there, before, after)


def _of_objects(before: dict[str, JsonValue], after: dict[str, JsonValue], pointer: str, there: str) -> Iterator[Fate]:
    new = _NewMembers({name: value for name, value in after.items() if name not in before})
    places: dict[Hashable, str] | None = None
    for name, value in before.items():
        at, to = f"{pointer}/{escape(name)}", f"{there}/{escape(name)}"
        if name in after:
            yield from fates(value, after[name], at, to)
            continue
        found = new.take(name, value)
        if found is not None:
            yield Fate("renamed", at, f"{there}/{escape(found)}", value, after[found])
            continue
        places = _places(after, there) if places is None else places
        place = places.get(_key(value)) if _is_telling(value) else None
        yield Fate("dropped", at, to, value) if place is None else Fate("moved", at, place, value, value)
    for name in new.unmatched:
        yield Fate("added", f"{pointer}/{escape(name)}", f"{there}/{escape(name)}", None, after[name])


class _NewMembers:
    """Members of an object that were not there before, found by the letters of their name or by their value.

    Attributes:
        unmatched: those that are no old member under another name.
    """

    def __init__(self, new: dict[str, JsonValue]) -> None:
        self.unmatched = new
        self._by_letters: dict[str, list[str]] = {}
        self._by_value: dict[Hashable, list[str]] = {}
        for name, value in reversed(new.items()):
            self._by_letters.setdefault(_letters(name), []).append(name)
            self._by_value.setdefault(_key(value), []).append(name)

    def take(self, name: str, value: JsonValue) -> str | None:
        """The new member that is an old one under another name: spelled alike, or with a value that tells."""
        found = self._first(self._by_letters.get(_letters(name), []))
        if found is None and _is_telling(value):
            found = self._first(self._by_value.get(_key(value), []))
        if found is not None:
            del self.unmatched[found]
        return found

    def _first(self, names: list[str]) -> str | None:
        while names and names[-1] not in self.unmatched:
            names.pop()
        return names[-1] if names else None


def _places(value: dict[str, JsonValue], there: str, depth: int = _DEEPEST) -> dict[Hashable, str]:
    """Values of an object and of the objects in it, as keys, with the pointer of the first place of each."""
    found: dict[Hashable, str] = {}
    for name, inner in value.items():
        at = f"{there}/{escape(name)}"
        found.setdefault(_key(inner), at)
        if isinstance(inner, dict) and depth > 1:
            for key, place in _places(inner, at, depth - 1).items():
                found.setdefault(key, place)
    return found


def _of_lists(before: list[JsonValue], after: list[JsonValue], pointer: str, there: str) -> Iterator[Fate]:
    if len(before) == len(after):
        for number, value in enumerate(before):
            yield from fates(value, after[number], f"{pointer}/{number}", f"{there}/{number}")
        return
    keys, known = [_key(value) for value in after], [_key(value) for value in before]
    free = Counter(keys)
    for number, (value, key) in enumerate(zip(before, known, strict=True)):
        if free[key]:
            free[key] -= 1
        elif len(after) < len(before) or value is not None:
            yield Fate("dropped", f"{pointer}/{number}", there, value)
    unpaired = []
    for number in reversed(range(len(keys))):
        if free[keys[number]]:
            free[keys[number]] -= 1
            unpaired.append(number)
    old = set(known)
    for number in reversed(unpaired):
        kind = "doubled" if keys[number] in old else "added"
        yield Fate(kind, pointer, f"{there}/{number}", None, after[number])


def _key(value: JsonValue, levels: int = _DEEP) -> Hashable:
    """A key that two values share if they are equal and of the same types, in any order of members."""
    if levels == 0:
        return dumps(value)
    if isinstance(value, dict):
        return frozenset((name, _key(inner, levels - 1)) for name, inner in value.items())
    if isinstance(value, list):
        return tuple(_key(inner, levels - 1) for inner in value)
    return type(value), value


def _kind(before: JsonValue, after: JsonValue) -> str:
    if [before] == after or before == [after]:
        return "retyped"
    if isinstance(after, str) and not isinstance(before, str):
        is_json = isinstance(before, dict | list) and _is_same_inside(value_in(after), before)
        return "stringified" if is_json else "retyped" if _read(after) == before and before is not None else "changed"
    if isinstance(before, str) and not isinstance(after, str):
        return "parsed" if value_in(before) == after is not None else "retyped" if _read(before) == after else "changed"
    if isinstance(before, str) and isinstance(after, str):
        return _kind_of_texts(before, after)
    is_alike = isinstance(before, bool | int | float) and isinstance(after, bool | int | float) and before == after
    return "retyped" if is_alike else "changed"


def _kind_of_texts(before: str, after: str) -> str:
    beginning = after.rstrip(" .…")
    if (
        len(beginning) < len(before)
        and beginning
        and before.startswith(beginning[: max(_TEXT, len(beginning) - _CUT_MARK)])
    ):
        return "truncated"
    forms = (html.escape(before), html.unescape(before), unquote_plus(before), dumps(before).decode("utf-8", "replace"))
    inside = dumps(before).decode("utf-8", "replace")[1:-1]
    return "recoded" if after in (*forms, inside, before.strip()) else "changed"


def _read(text: str) -> JsonValue:
    """A number or truth value that a text is; None for another text."""
    plain = text.strip().lower()
    if plain in ("true", "false"):
        return plain == "true"
    try:
        found = loads(plain) if plain[:1].isdecimal() or plain[:1] == "-" else None
    except WireError:
        return None
    return found if isinstance(found, int | float) else None


def _is_same(before: JsonValue, after: JsonValue) -> bool:
    """Equal; a truth value is no number."""
    is_truth = isinstance(before, bool) or isinstance(after, bool)
    is_spelled = isinstance(before, int) and isinstance(after, float)  # 1 as 1.0: strict readers refuse it
    return bool(before == after) and not is_spelled and not (is_truth and type(before) is not type(after))


def _is_same_inside(before: JsonValue, after: JsonValue) -> bool:
    is_nested = isinstance(before, dict | list) and type(before) is type(after)
    return _is_same(before, after) or (is_nested and next(fates(before, after), None) is None)


def _is_telling(value: JsonValue) -> bool:
    """A value that no other is likely to equal."""
    return (isinstance(value, str) and len(value) >= _TEXT) or (isinstance(value, dict | list) and len(value) > 1)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()
