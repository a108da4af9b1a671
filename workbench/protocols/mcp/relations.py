"""What values a message to or from a tool server may have, beyond its form: the relations of ``relations.yaml``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from workbench import regex
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.provenance import escape, unescape

_PRESENT, _ABSENT, _EMPTY = "present", "absent", "empty"
_ANY = "*"
_KEY, _OTHERS, _INSIDE = "@key", "@others", "@/"
"""In a condition: the name of the member itself, types of the entries beside that of the place, and what is in it."""

PAGES = "https://modelcontextprotocol.io/specification/"


class Declarations(NamedTuple):
    """What is known of a connection when a message is sent.

    Attributes:
        version: the revision; empty if it is unknown.
        client, server: capabilities, as declared; None if that was not seen.
        asked_by: the side that sends the request or the notification; empty if it is unknown.
    """

    version: str = ""
    client: Mapping[str, JsonValue] | None = None
    server: Mapping[str, JsonValue] | None = None
    asked_by: str = ""

    def lacks(self, path: str) -> bool:
        """A side declared its capabilities, and this one is not among them."""
        return self._value_of(path) is False

    def has(self, path: str) -> bool:
        """A side declared a capability; for the name of a side alone, any or none."""
        return self._value_of(path) is True

    def _value_of(self, path: str) -> bool | None:
        side, *names = path.split(".")
        value: JsonValue = self.client if side == "client" else self.server
        if value is None:
            return None
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value is not None and value is not False


class MessageRelation(NamedTuple):
    """One line of the file, which says what its members mean.

    Attributes:
        steps: of the place.
        at: its pointer.
        test: what is wrong there: a word, a list of values, or one kind of test with its limit.
    """

    steps: tuple[str, ...]
    at: str
    test: Any
    when: Mapping[str, Any]
    lacks: str
    has: str
    by: str
    first: str
    before: str
    rule: str
    is_note: bool
    text: str
    source: str

    def is_for(self, declarations: Declarations) -> bool:
        """The direction of a message, and the capabilities of its connection, are those that the relation speaks of."""
        if self.by and declarations.asked_by not in ("", self.by):
            return False
        return (not self.has or declarations.has(self.has)) and (not self.lacks or declarations.lacks(self.lacks))

    def is_in(self, version: str) -> bool:
        """A revision has the relation."""
        return version >= self.first and not (self.before and version >= self.before)

    def places(self, message: Mapping[str, JsonValue]) -> Iterator[str]:
        """Pointers at which a message breaks the relation."""
        for pointer, holders, key, value in _walk(message, self.steps, is_absent=self.test == _ABSENT):
            if self._is_wrong(holders, value) and all(
                _holds(test, *_values_for(name, message, holders, key)) for name, test in self.when.items()
            ):
                yield pointer

    def may_be_in(self, message: Mapping[str, JsonValue]) -> bool:
        """A look at the beginning of the place: most messages do not have it."""
        first, *others = self.steps
        inside = message.get(first)
        if inside is None or self.test == _ABSENT or not others:
            return inside is not None
        return others[0] == _ANY or (isinstance(inside, dict) and others[0] in inside)

    def _is_wrong(self, holders: Sequence[JsonValue], value: tuple[JsonValue, ...]) -> bool:
        test, holder = self.test, holders[-1]
        if isinstance(test, dict) and isinstance(limit := test.get("above"), str):
            test = {"above": holder.get(limit) if isinstance(holder, dict) else None}
        if isinstance(test, dict) and "outside" in test:
            is_found = any(_is_defined(each, holders[-3]) for each in value)
            return not is_found and _holds({"matches": test["outside"]}, value)
        return _holds(test, value)


def _is_defined(reference: JsonValue, schema: JsonValue) -> bool:
    """A part of a schema has the URL of a reference as its ``$id``, maybe only the end of it."""
    url = reference.partition("#")[0] if isinstance(reference, str) else ""
    left = [schema]
    while left:
        value = left.pop()
        id_ = value.get("$id") if isinstance(value, dict) else None
        if isinstance(id_, str) and (plain := id_.partition("#")[0]) and (url == plain or url.endswith(f"/{plain}")):
            return True
        left += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return False


_Walked = tuple[str, list[JsonValue], str, tuple[JsonValue, ...]]
"""Pointer, the values around it, its last step, and the value there in a tuple, which is empty where there is none."""


def _walk(message: JsonValue, steps: Sequence[str], *, is_absent: bool) -> Iterator[_Walked]:
    """Places in a message; those with nothing there only if they are asked for."""
    found: list[_Walked] = [("", [message], "", (message,))]
    for step in steps:
        found = [each for one in found for each in _step(one, step) if is_absent or each[3]]
    return iter(found)


def _step(one: _Walked, step: str) -> Iterator[_Walked]:
    pointer, holders, _, value = one
    inside = value[0] if value else None
    around = [*holders, inside]
    if step == _ANY:
        members = inside.items() if isinstance(inside, dict) else enumerate(inside) if isinstance(inside, list) else ()
        for name, each in members:
            yield f"{pointer}/{escape(str(name))}", around, str(name), (each,)
    elif isinstance(inside, dict) and step in inside:
        yield f"{pointer}/{escape(step)}", around, step, (inside[step],)
    else:
        yield pointer, around, step, ()


def _values_for(
    name: str, message: JsonValue, holders: Sequence[JsonValue], key: str
) -> Sequence[tuple[JsonValue, ...]]:
    """The value that a condition speaks of; several for those beside the place."""
    if name == _KEY:
        return [(key,)]
    if name == _OTHERS:
        beside = holders[-2] if isinstance(holders[-2], list) else []
        return [tuple(each.get(key) for each in beside if isinstance(each, dict))]
    if name.startswith(_INSIDE):
        value = holders[-1].get(key) if isinstance(holders[-1], dict) else None
        return [next(iter(_walk(value, _steps(name), is_absent=True)), ("", [], "", ()))[3]]
    if name.startswith("/"):
        return [next(iter(_walk(message, _steps(name), is_absent=True)), ("", [], "", ()))[3]]
    holder = holders[-1]
    return [(holder[name],) if isinstance(holder, dict) and name in holder else ()]


def _holds(test: Any, *values: tuple[JsonValue, ...]) -> bool:
    found = values[0] if values else ()
    if test in (_PRESENT, _ABSENT):
        return bool(found) is (test == _PRESENT)
    return any(_is(test, value) for value in found)


def _is(test: Any, value: JsonValue) -> bool:
    if test == _EMPTY:
        return value in ([], "", {})
    if isinstance(test, list):
        return any(value == known and type(value) is type(known) for known in test)
    ((kind, limit),) = test.items()
    if kind in ("matches", "differs"):
        return isinstance(value, str) and bool(_pattern(limit).fullmatch(value)) is (kind == "matches")
    if kind == "longer":
        return isinstance(value, str | list) and len(value) > limit
    is_number = isinstance(value, int | float) and isinstance(limit, int | float) and not isinstance(value, bool)
    return is_number and (value > limit if kind == "above" else value < limit)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return regex.compile(text, re.DOTALL)


def _steps(pointer: str) -> tuple[str, ...]:
    return tuple(map(unescape, pointer.split("/")[1:]))


def broken_relations(
    method: str, kind: str, message: Mapping[str, JsonValue], declarations: Declarations
) -> Iterator[tuple[MessageRelation, str]]:
    """Relations that a message breaks, each with the pointer of the place.

    Args:
        method: of the message, or of the request that it answers.
        kind: ``"request"``, ``"response"`` or ``"notification"``.
    """
    for relation in _relations_of(method, kind, declarations.version):
        if relation.may_be_in(message) and relation.is_for(declarations):
            for place in relation.places(message):
                yield relation, place


@lru_cache(maxsize=1024)
def _relations_of(method: str, kind: str, version: str) -> Sequence[MessageRelation]:
    """The relations of a message in a revision."""
    table = message_relations()
    every = (*table.get((method, kind), ()), *table.get((_ANY, kind), ()))
    return tuple(relation for relation in every if relation.is_in(version))


@cache
def message_relations() -> Mapping[tuple[str, str], Sequence[MessageRelation]]:
    """All relations, by method and kind of message."""
    from workbench.config import resources, safeyaml

    data: Any = safeyaml.load(resources.protocol_file("mcp", "relations.yaml") or b"[]", name="relations.yaml")
    found: dict[tuple[str, str], list[MessageRelation]] = {}
    for line in data:
        found.setdefault((line["method"], line["in"]), []).append(_relation(line))
    return found


def _relation(line: Mapping[str, Any]) -> MessageRelation:
    terms = {name: str(line.get(name, "")) for name in ("lacks", "has", "by", "before", "rule", "text")}
    at, first, source = line["at"], str(line.get("from", "")), f"{PAGES}{line['source']}"
    is_note, when = bool(line.get("note")), line.get("when", {})
    return MessageRelation(_steps(at), at, line["is"], when, first=first, is_note=is_note, source=source, **terms)
