"""Values at pointers of a JSON body, and the changes between two values."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire import Change, Insert, Remove, Replace, dumps


def changes_between(old: JsonValue, new: JsonValue, pointer: str = "") -> tuple[Change, ...]:
    """Changes that turn ``old`` into ``new``; equal parts are not touched."""
    if dumps(old) == dumps(new):
        return ()
    if isinstance(old, dict) and isinstance(new, dict):
        return tuple(_members(old, new, pointer))
    if isinstance(old, list) and isinstance(new, list):
        return tuple(_elements(old, new, pointer))
    return (Replace(pointer, new),)


def _members(old: dict[str, JsonValue], new: dict[str, JsonValue], pointer: str) -> Iterator[Change]:
    for name in (*old, *(name for name in new if name not in old)):
        at = f"{pointer}/{escape(name)}"
        if name not in new:
            yield Remove(at)
        elif name not in old:
            yield Insert(at, new[name])
        else:
            yield from changes_between(old[name], new[name], at)


def _elements(old: list[JsonValue], new: list[JsonValue], pointer: str) -> Iterator[Change]:
    before, after = ([dumps(value) for value in values] for values in (old, new))
    for word, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if word == "replace" and end - start == last - first:
            for at, value in zip(range(start, end), new[first:last], strict=True):
                yield from changes_between(old[at], value, f"{pointer}/{at}")
        elif word != "equal":
            yield from (Insert(f"{pointer}/{start}", value) for value in new[first:last])
            yield from (Remove(f"{pointer}/{at}") for at in range(start, end))
