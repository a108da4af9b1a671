"""What became of each value on its way: two JSON values that should be one, compared leaf by leaf.

It is the same comparison for the arguments of a call, the schema of a tool, and what a gateway passes on. Whether a
difference matters is for its reader to say: a client's own rule, the protocol, or the person.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
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
"""Characters of a value that are enough to know it again at another place."""


class Fate(NamedTuple):
    """What became of one value.

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
        """What happened to the value, in words that follow its name."""
        return _WORDS[self.kind]


_WORDS = {
    "dropped": "was left out",
    "added": "was added",
    "renamed": "has another name",
    "moved": "is at another place",
    "doubled": "is there twice",
    "stringified": "became a text of JSON",
    "parsed": "was a text and became JSON",
    "retyped": "has another type",
    "truncated": "was cut",
    "recoded": "was escaped or decoded once more",
    "changed": "has another value",
}


def fates(before: JsonValue, after: JsonValue, pointer: str = "", there: str = "") -> Iterator[Fate]:
    """Every value that is not the same on both sides, in the order of the first."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_objects(before, after, pointer, there)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, pointer, there)
    elif not _is_same(before, after):
        yield Fate(_kind(before, after), pointer, there, before, after)


def _of_objects(before: dict[str, JsonValue], after: dict[str, JsonValue], pointer: str, there: str) -> Iterator[Fate]:
    new = [name for name in after if name not in before]
    for name, value in before.items():
        at, to = f"{pointer}/{escape(name)}", f"{there}/{escape(name)}"
        if name in after:
            yield from fates(value, after[name], at, to)
        elif (found := _taken_by(name, value, after, new)) is not None:
            new.remove(found)
            yield Fate("renamed", at, f"{there}/{escape(found)}", value, after[found])
        elif (place := _place_of(value, after, there)) is not None:
            yield Fate("moved", at, place, value, value)
        else:
            yield Fate("dropped", at, to, value)
    for name in new:
        yield Fate("added", f"{pointer}/{escape(name)}", f"{there}/{escape(name)}", None, after[name])


def _taken_by(name: str, value: JsonValue, after: dict[str, JsonValue], new: list[str]) -> str | None:
    """The new member that is an old one under another name: spelled alike, or with a value that tells."""
    alike = next((other for other in new if _letters(other) == _letters(name)), None)
    if alike is not None or not _is_telling(value):
        return alike
    return next((other for other in new if _is_same_inside(value, after[other])), None)


def _place_of(value: JsonValue, after: JsonValue, there: str, depth: int = 4) -> str | None:
    """Where a telling value is below another one."""
    if not _is_telling(value) or depth == 0 or not isinstance(after, dict):
        return None
    for name, inner in after.items():
        at = f"{there}/{escape(name)}"
        if _is_same_inside(value, inner):
            return at
        if (found := _place_of(value, inner, at, depth - 1)) is not None:
            return found
    return None


def _of_lists(before: list[JsonValue], after: list[JsonValue], pointer: str, there: str) -> Iterator[Fate]:
    if len(before) == len(after):
        for number, value in enumerate(before):
            yield from fates(value, after[number], f"{pointer}/{number}", f"{there}/{number}")
        return
    rest = list(after)
    for number, value in enumerate(before):
        found = next((each for each in rest if _is_same_inside(value, each)), None)
        if found is not None:
            rest.remove(found)
        elif len(after) < len(before) or value is not None:
            yield Fate("dropped", f"{pointer}/{number}", there, value)
    for value in rest:
        is_double = any(_is_same_inside(value, each) for each in before)
        place = f"{there}/{len(after) - 1 - after[::-1].index(value)}"
        yield Fate("doubled" if is_double else "added", pointer, place, None, value)


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
    kept = after.rstrip(" .…")
    if len(kept) < len(before) and kept and before.startswith(kept[: max(_TEXT, len(kept) - _CUT_MARK)]):
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
