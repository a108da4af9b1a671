"""Places of a grammar: what it says of a pointer, and the keys that an object may have there.

A pointer may have ``*`` for any element of a list and any value of a map, and a condition on the object that it leads
to (``/messages/*[role=tool]/content``), as the named places of a protocol have (``Traits.places``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from workbench.named_tuple import NamedTuple
from workbench.protocols.grammars import ANYTHING, BodyGrammar, Kind, ObjectType, listed_texts, say_kind, say_limits

Tags = Callable[[str], Mapping[str, str]]
"""Pointer → texts of ``type`` and ``role`` of the object there, as far as it has them."""


class KnownKey(NamedTuple):
    """What a grammar says of a key.

    Attributes:
        name: the key.
        expected: its type and its limits, in words.
        values: texts that are listed for it; () where any are accepted.
        is_required: no object of its type lacks it.
    """

    name: str
    expected: str
    values: tuple[str, ...]
    is_required: bool


class _TypeAt(NamedTuple):
    """A type at a place, with the object and the key that it is of."""

    kind: Kind
    holder: ObjectType | None = None
    key: str = ""


def _no_tags(pointer: str) -> Mapping[str, str]:
    return {}


def key_at(grammar: BodyGrammar, pointer: str, tags: Tags = _no_tags) -> KnownKey | None:
    """What the grammar says of the key that a pointer of a request ends with; None if it has no such key."""
    keys = [_describe(each) for each in _at(grammar, pointer, tags) if pointer]
    return _merge(keys) if keys else None


def keys_of(grammar: BodyGrammar, pointer: str, tags: Tags = _no_tags) -> tuple[KnownKey, ...]:
    """The keys that the object at a pointer of a request may have: first those that it needs, each by its name."""
    keys: dict[str, list[KnownKey]] = {}
    holders = list(_objects_at(grammar, pointer, tags))
    for holder in holders:
        for key in holder.keys:
            if not (grammar.is_proto and "_" in key):
                keys.setdefault(key, []).append(_describe_key(holder, key))
    joined = [_merge(alike, is_everywhere=len(alike) == len(holders)) for alike in keys.values()]
    return tuple(sorted(joined, key=lambda each: (not each.is_required, each.name)))


def has_place(grammar: BodyGrammar, pointer: str) -> bool:
    """A request may have something at a pointer: the grammar has a type there, or accepts anything above it."""
    return any(True for _ in _at(grammar, pointer, _no_tags))


def _describe(found: _TypeAt) -> KnownKey:
    """What is said of a key, or of the elements of a list."""
    if found.holder is None:
        return KnownKey("", say_kind(found.kind), listed_texts(found.kind), is_required=False)
    return _describe_key(found.holder, found.key)


def _describe_key(holder: ObjectType, key: str) -> KnownKey:
    kind, limits = holder.keys[key], say_limits(holder.limits.get(key, {}))
    expected = ", ".join(part for part in (say_kind(kind), limits) if part)
    return KnownKey(key, expected, listed_texts(kind), key in holder.need)


def _merge(alike: list[KnownKey], *, is_everywhere: bool = True) -> KnownKey:
    """What several types say of one key.

    Args:
        is_everywhere: each of the types that an object may be has it.
    """
    values = dict.fromkeys(value for each in alike for value in each.values) if all(e.values for e in alike) else ()
    words = dict.fromkeys(part for each in alike for part in each.expected.split(" or "))
    is_required = is_everywhere and all(each.is_required for each in alike)
    return KnownKey(alike[0].name, " or ".join(words), tuple(values), is_required)


def _objects_at(grammar: BodyGrammar, pointer: str, tags: Tags) -> Iterator[ObjectType]:
    seen: set[str] = set()
    for found in _at(grammar, pointer, tags):
        for each in _fitting_arms(grammar, _arms(found.kind), tags(pointer)):
            if isinstance(each, str) and each.startswith("#") and each not in seen:
                seen.add(each)
                yield grammar.object(each[1:])


def _at(grammar: BodyGrammar, pointer: str, tags: Tags) -> Iterator[_TypeAt]:
    """Every type that may be at a pointer."""
    found = [_TypeAt(f"#{grammar.request}")]
    here = ""
    for step in pointer.split("/")[1:]:
        name, _, condition = step.partition("[")
        asked = dict([condition.removesuffix("]").split("=", 1)]) if "=" in condition else {}
        tag_values = tags(here)
        found = [
            after
            for each in found
            for after in _step(grammar, each.kind, name.replace("~1", "/").replace("~0", "~"), tag_values)
        ]
        here = f"{here}/{name}"
        if asked:
            found = [
                _TypeAt(arm, f.holder, f.key) for f in found for arm in _fitting_arms(grammar, _arms(f.kind), asked)
            ]
    yield from found


def _step(grammar: BodyGrammar, kind: Kind, name: str, tags: Mapping[str, str]) -> Iterator[_TypeAt]:
    for arm in _fitting_arms(grammar, _arms(kind), tags):
        if arm == ANYTHING:
            yield _TypeAt(ANYTHING)
        elif isinstance(arm, str) and arm.startswith("#"):
            holder = grammar.object(arm[1:])
            if holder.is_open:
                yield _TypeAt(ANYTHING)
            elif name in holder.keys:
                yield _TypeAt(holder.keys[name], holder, name)
        elif isinstance(arm, list) and (arm[0] == "{}" or (arm[0] == "[]" and (name == "*" or name.isdecimal()))):
            yield _TypeAt(arm[1])


def _arms(kind: Kind) -> list[Kind]:
    return list(kind[1:]) if isinstance(kind, list) and kind[0] == "|" else [kind]


def _fitting_arms(grammar: BodyGrammar, arms: list[Kind], tags: Mapping[str, str]) -> list[Kind]:
    """The types of a union that an object with these tags may be; all where no tag tells."""
    for tag, value in tags.items():
        fitting = [arm for arm in arms if _admits(grammar, arm, tag, value)]
        arms = fitting or arms
    return arms


def _admits(grammar: BodyGrammar, arm: Kind, tag: str, value: str) -> bool:
    if not (isinstance(arm, str) and arm.startswith("#")):
        return False
    kind = grammar.object(arm[1:]).keys.get(tag)
    return kind is not None and (not listed_texts(kind) or value in listed_texts(kind))


def tags_of(read: Callable[[str], object]) -> Tags:
    """The tags of objects of a body.

    Args:
        read: pointer → the value there; anything but a text where there is none.
    """
    return partial(_tags_of, read)


def _tags_of(read: Callable[[str], object], pointer: str) -> Mapping[str, str]:
    found = ((tag, read(f"{pointer}/{tag}")) for tag in ("type", "role"))
    return {tag: value for tag, value in found if isinstance(value, str)}
