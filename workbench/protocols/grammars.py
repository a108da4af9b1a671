"""Grammars: the keys and types of every object of a body, and the places where a body differs from them.

``grammar.json`` in the folder of a protocol is derived from official types (``python -m tests.grammars``); a provider
with types of its own has ``grammar-NAME.json`` there. ``grammar-overlay.json`` says by hand what is accepted beyond
them, or refused all the same: ``{type, keys, optional, required, limits, open, for, why}``, where ``for`` names the
providers whose own grammars it is about ("" is the protocol's vendor), and a type that is ``open`` accepts anything.
An object type has ``keys``, ``need`` (those that it never lacks), ``one`` (true: it has one key only) and ``limits``
(key → limits of its value, with the words of JSON Schema: ``_value_limits``).

A type is ``"any"``, ``"str"``, ``"int"``, ``"num"``, ``"bool"``, ``"null"``, ``"#NAME"`` (an object), or a list:
``["[]", T]``, ``["{}", T]`` (a map), ``["=", VALUE, …]``, ``["|", T, …]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any, Final, TypeAlias

from workbench import protocols
from workbench.config import resources
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols import _value_limits
from workbench.provenance import escape
from workbench.wire import loads

Kind: TypeAlias = Any
"""A type as it is in the file."""

UNKNOWN_KEY, WRONG_TYPE, WRONG_VALUE, BEYOND_LIMIT, MISSING, TOO_MANY, UNKNOWN_VARIANT, NULL = (
    "key",
    "type",
    "value",
    "limit",
    "missing",
    "many",
    "variant",
    "null",
)

ANYTHING: Final = "any"
"""The type of a value that is not held to anything."""

_TAGS = ("type", "role")
"""Keys that tell which object of a union it is."""
_WRAPPED = {"bedrock-invoke": "anthropic-messages"}
"""Protocols whose bodies are those of another, which has the grammar."""
_PROTOCOLS = ("anthropic-messages", "openai-chat", "openai-responses")
"""Protocols whose objects have such tags."""
_WORDS = {"str": "a string", "int": "an integer", "num": "a number", "bool": "true or false", "null": "null"}


@dataclass(frozen=True, slots=True)
class ShapeFault:
    """A place where a body differs from its grammar.

    Attributes:
        pointer: of the key that is unknown, the value that is wrong, or the object that lacks a key.
        code: ``UNKNOWN_KEY``, ``WRONG_TYPE``, ``WRONG_VALUE``, ``BEYOND_LIMIT``, ``MISSING``, ``TOO_MANY`` (keys of
            which one is accepted), ``UNKNOWN_VARIANT`` (of ``type`` or ``role``) or ``NULL`` (at a key that may be
            absent).
        name: the key.
        holder: name of the type of the object.
        expected: what the grammar expects, in words.
        found: size of a value that is beyond a limit of its size, in words.
        known: keys or values that are known there.
    """

    pointer: str
    code: str
    name: str
    holder: str
    expected: str = ""
    known: tuple[str, ...] = ()
    found: str = ""


@dataclass(frozen=True, slots=True)
class ObjectType:
    """An object: its keys with their types, those that it never lacks, and whether it has one only.

    It is anything at all if it is open.
    """

    name: str
    keys: Mapping[str, Kind]
    need: tuple[str, ...]
    limits: Mapping[str, _value_limits.Limits]
    is_open: bool = False
    is_union: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class BodyGrammar:
    """The grammar of the bodies of one protocol, at one provider.

    Attributes:
        label: packages and their versions.
        date: day on which it was derived.
        request, answer: names of the types of the bodies; "" where none is known.
        provider: name of the contract whose provider these types are of; others borrow them.
        is_proto: JSON of protocol buffers: keys in both spellings, enums in any case, one value in place of a list.
        is_lenient: the provider passes over keys that it does not know.
        is_of_shapes: texts, numbers and lists stand for any other: each that has a limit is beyond it.
    """

    label: str
    date: str
    request: str
    answer: str
    provider: str
    is_proto: bool
    is_lenient: bool
    types: Mapping[str, Mapping[str, Any]] = field(repr=False)
    is_of_shapes: bool = False
    _object_types: dict[str, ObjectType] = field(default_factory=dict, repr=False, compare=False)
    _admitted: dict[tuple[tuple[str, ...], str], Mapping[str, tuple[str, ...]]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _of_shapes: list[BodyGrammar] = field(default_factory=list, repr=False, compare=False)

    def object(self, name: str) -> ObjectType:
        """A type by its name."""
        found = self._object_types.get(name)
        if found is None:
            raw = self.types[name]
            keys, limits = dict(raw["keys"]), dict(raw.get("limits", ()))
            if self.is_proto:
                keys |= {_snake(key): kind for key, kind in raw["keys"].items()}
                limits |= {_snake(key): each for key, each in limits.items()}
            need, is_open = tuple(raw.get("need", ())), bool(raw.get("open"))
            object_type = ObjectType(name, keys, need, limits, is_open, bool(raw.get("one")))
            found = self._object_types[name] = object_type
        return found

    def of_shapes(self) -> BodyGrammar:
        """This grammar for bodies whose texts, numbers and lists stand for any other."""
        if not self._of_shapes:
            head = self.label, self.date, self.request, self.answer, self.provider, self.is_proto, self.is_lenient
            self._of_shapes.append(BodyGrammar(*head, self.types, is_of_shapes=True))
        return self._of_shapes[0]

    def request_kind(self, key: str) -> Kind:
        """Type of a top-level field of a request; None if it is unknown."""
        return self.object(self.request).keys.get(key)

    def lists(self, key: str, value: JsonValue) -> bool:
        """True if any type has this text among the values of a key."""
        return isinstance(value, str) and value in self.texts_of(key)

    def texts_of(self, key: str) -> frozenset[str]:
        """Texts that any type has as values of a key."""
        kinds = [each["keys"][key] for each in self.types.values() if key in each["keys"]]
        return frozenset(value for kind in kinds for value in _list_values(kind))

    def member_faults(self, key: str, value: JsonValue) -> list[ShapeFault]:
        """Places in the value of a top-level field of a request that differ from its type or its limits."""
        return list(self._member(self.object(self.request), key, value, f"/{escape(key)}"))

    def faults(self, kind: Kind, value: JsonValue, pointer: str = "", holder: str = "") -> Iterator[ShapeFault]:
        """Places below a value that differ from a type.

        Args:
            pointer: of the value.
            holder: name of the type of the object that it is in.
        """
        if kind == "any":
            return iter(())
        if isinstance(kind, str) and kind[0] == "#":
            return self._object(self.object(kind[1:]), value, pointer, holder)
        if isinstance(kind, str):
            return iter(() if _is_plain(kind, value, is_proto=self.is_proto) else (_type_fault(kind, pointer, holder),))
        return self._checks()[kind[0]](kind, value, pointer, holder)

    def _checks(self) -> Mapping[str, Callable[[Kind, JsonValue, str, str], Iterator[ShapeFault]]]:
        return {"[]": self._list, "{}": self._map, "=": self._enum, "|": self._union}

    def _map(self, kind: Kind, value: JsonValue, pointer: str, holder: str) -> Iterator[ShapeFault]:
        if not isinstance(value, dict):
            yield _type_fault(kind, pointer, holder)
            return
        for key, inner in value.items():
            yield from self.faults(kind[1], inner, f"{pointer}/{escape(key)}", holder)

    def _enum(self, kind: Kind, value: JsonValue, pointer: str, holder: str) -> Iterator[ShapeFault]:
        if not self._is_one_of(kind, value):
            yield _value_fault(kind, value, pointer, holder)

    def _is_one_of(self, kind: Kind, value: JsonValue) -> bool:
        if any(value == known and type(value) is type(known) for known in kind[1:]):
            return True
        return self.is_proto and (isinstance(value, int) or str(value).upper() in map(str.upper, map(str, kind[1:])))

    def _list(self, kind: Kind, value: JsonValue, pointer: str, holder: str) -> Iterator[ShapeFault]:
        if isinstance(value, list):
            for number, each in enumerate(value):
                yield from self.faults(kind[1], each, f"{pointer}/{number}", holder)
        elif self.is_proto and value is not None:
            yield from self.faults(kind[1], value, pointer, holder)
        else:
            yield _type_fault(kind, pointer, holder)

    def _object(self, known: ObjectType, value: JsonValue, pointer: str, holder: str) -> Iterator[ShapeFault]:
        if known.is_open:
            return
        if not isinstance(value, dict):
            yield _type_fault(f"#{known.name}", pointer, holder)
            return
        tags = _values_of(known.keys.get("type"))
        if tags and isinstance(value.get("type"), str) and value["type"] not in tags and not self.is_proto:
            yield ShapeFault(f"{pointer}/type", UNKNOWN_VARIANT, "type", known.name, known=tags)
            return
        for key, inner in value.items():
            yield from self._member(known, key, inner, f"{pointer}/{escape(key)}")
        for key in known.need:
            if key not in value and not (self.is_proto and _snake(key) in value):
                yield ShapeFault(pointer, MISSING, key, known.name)
        present = [key for key, inner in value.items() if inner is not None and key in known.keys]
        if known.is_union and len(present) > 1:
            yield ShapeFault(pointer, TOO_MANY, present[1], known.name, known=tuple(present))

    def _member(self, known: ObjectType, key: str, value: JsonValue, pointer: str) -> Iterator[ShapeFault]:
        kind = known.keys.get(key)
        if kind is None:
            yield ShapeFault(pointer, UNKNOWN_KEY, key, known.name, known=tuple(known.keys))
        elif value is not None or _may_be_null(kind):
            yield from self.faults(kind, value, pointer, known.name)
            for at, found, expected in _value_limits.beyond(known.limits.get(key, {}), value, is_any=self.is_of_shapes):
                yield ShapeFault(pointer + at, BEYOND_LIMIT, key, known.name, expected, found=found)
        elif not self.is_proto:
            yield ShapeFault(pointer, WRONG_TYPE if key in known.need else NULL, key, known.name, _words(kind))

    def _union(self, kind: Kind, value: JsonValue, pointer: str, holder: str) -> Iterator[ShapeFault]:
        if not isinstance(value, dict):
            yield from self._plain_union(kind, value, pointer, holder)
            return
        objects = [arm for arm in kind[1:] if isinstance(arm, str) and arm[0] == "#"]
        maps = [arm for arm in kind[1:] if isinstance(arm, list) and arm[0] == "{}"]
        for tag in _TAGS:
            objects, unknown = self._by_tag(objects, tag, value)
            if unknown and not maps:
                is_there = tag in value
                at, code = (f"{pointer}/{tag}", UNKNOWN_VARIANT) if is_there else (pointer, MISSING)
                yield ShapeFault(at, code, tag, holder, known=unknown)
                return
        found = [list(self.faults(arm, value, pointer, holder)) for arm in (*objects, *maps)]
        yield from min(found, key=len) if found else [_type_fault(kind, pointer, holder)]

    def _by_tag(self, arms: list[str], tag: str, value: Mapping[str, JsonValue]) -> tuple[list[str], tuple[str, ...]]:
        """Objects of a union that a tag admits; where it admits none, the values that are known."""
        if len(arms) < 2 or (tag in value and not isinstance(value[tag], str)):
            return arms, ()
        admitted = self._admitted_values(tuple(arms), tag)
        fitting = [arm for arm in arms if self._admits(arm, admitted[arm], tag, value)]
        if not fitting and all(admitted.values()):
            return [], tuple(sorted({name for names in admitted.values() for name in names}))
        return fitting or arms, ()

    def _admitted_values(self, arms: tuple[str, ...], tag: str) -> Mapping[str, tuple[str, ...]]:
        """Values of a tag that each object of a union admits, the same for every value of that union."""
        found = self._admitted.get((arms, tag))
        if found is None:
            found = {arm: _values_of(self.object(arm[1:]).keys.get(tag)) for arm in arms}
            self._admitted[arms, tag] = found
        return found

    def _admits(self, arm: str, values: tuple[str, ...], tag: str, value: Mapping[str, JsonValue]) -> bool:
        known = self.object(arm[1:])
        if tag not in value:
            return tag not in known.need
        return value[tag] in values or (not values and tag in known.keys)

    def _plain_union(self, kind: Kind, value: JsonValue, pointer: str, holder: str) -> Iterator[ShapeFault]:
        """A value that is no object: the type of its own kind that it fits best tells what is wrong."""
        best: list[ShapeFault] | None = None
        for arm in kind[1:]:
            if _is_of_kind(arm, value):
                found = list(self.faults(arm, value, pointer, holder))
                best = found if best is None or len(found) < len(best) else best
        yield from [_type_fault(kind, pointer, holder)] if best is None else best


def grammar_of(protocol: str, provider: str = "") -> BodyGrammar | None:
    """The grammar of a protocol, that of the provider itself if it has one; None if no grammar is known."""
    protocol = _WRAPPED.get(protocol, protocol)
    own = _load(protocol, f"grammar-{provider}.json") if provider else None
    return own or _load(protocol, "grammar.json")


@cache
def listed_keys(grammar: BodyGrammar) -> frozenset[str]:
    """Keys for which some type lists texts, and those that tell which object it is; not ``id``: no two are the same."""
    kinds = chain.from_iterable(each["keys"].items() for each in grammar.types.values())
    return frozenset((*_TAGS, *(key for key, kind in kinds if any(_list_values(kind))))) - {"id"}


@cache
def own_grammars(protocol: str) -> tuple[BodyGrammar, ...]:
    """The grammars of a protocol, each of a provider with types of its own."""
    names = ("", *resources.provider_grammars(protocol))
    return tuple(known for name in names if (known := grammar_of(protocol, name)))


def states_values(kind: Kind) -> bool:
    """A type lists values, and admits no other text."""
    arms = kind[1:] if isinstance(kind, list) and kind[0] == "|" else [kind]
    return "str" not in arms and any(isinstance(arm, list) and arm[0] == "=" for arm in arms)


@cache
def _load(protocol: str, name: str) -> BodyGrammar | None:
    text = resources.protocol_file(protocol, name)
    if text is None:
        return None
    raw: Any = loads(text)
    overlay: Any = loads(resources.protocol_file(protocol, "grammar-overlay.json") or b"[]")
    _add_overlay(raw["types"], overlay, "" if name == "grammar.json" else raw["provider"])
    return BodyGrammar(
        label=", ".join(raw["sources"]),
        date=raw["date"],
        request=raw["request"],
        answer=raw["answer"],
        provider=raw["provider"],
        is_proto=bool(raw.get("proto")),
        is_lenient=bool(raw.get("lenient")),
        types=raw["types"],
    )


@cache
def request_places(protocol: str, provider: str = "") -> tuple[str, ...]:
    """Contents that a request of a protocol may have: its top-level keys, and each type of tool, item and content part.

    A type is a pointer with its value behind it: ``/tools/*/type = web_search``. Empty where no grammar is known.

    Args:
        provider: whose own types they are of, if it has any.
    """
    grammar = grammar_of(protocol, provider)
    if grammar is None or not grammar.request:
        return ()
    keys = grammar.object(grammar.request).keys
    found = [f"/{key}" for key in keys if key not in _LISTED and not (grammar.is_proto and "_" in key)]
    for group in _GROUPS:
        for each in _objects(grammar, keys.get(group)):
            found += [f"/{group}/{key}" for key in each.keys if not (grammar.is_proto and "_" in key)]
    for pointer, inner in _TYPED:
        kinds = [keys.get(pointer.split("/")[1])]
        for key in inner:
            kinds = [each.keys.get(key) for kind in kinds for each in _objects(grammar, kind)]
        tags = {tag for kind in kinds for each in _objects(grammar, kind) for tag in _values_of(each.keys.get("type"))}
        found += [f"{pointer} = {tag}" for tag in sorted(tags)]
    return tuple(found)


_GROUPS = ("generationConfig", "inferenceConfig", "reasoning", "text")
"""Keys that hold parameters."""
_LISTED = ("messages", "input", "contents", "tools")
_TYPED = (
    ("/tools/*/type", ()),
    ("/input/*/type", ()),
    ("/messages/*/content/*/type", ("content",)),
    ("/input/*/content/*/type", ("content",)),
)
"""Pointer of a type → keys on the way from its list to the objects that have it."""


@cache
def listed_values() -> Mapping[str, frozenset[str]]:
    """Key → texts that the grammars of all protocols list for it: they belong to a protocol, and to no user."""
    found: dict[str, set[str]] = {}
    for grammar in filter(None, map(grammar_of, protocols.protocols())):
        for each in grammar.types.values():
            for key, kind in each["keys"].items():
                found.setdefault(key, set()).update(_list_values(kind))
    return {key: frozenset(values) for key, values in found.items() if values}


def _list_values(kind: Kind) -> Iterator[str]:
    if isinstance(kind, list) and kind[0] == "=":
        yield from (value for value in kind[1:] if isinstance(value, str))
    elif isinstance(kind, list):
        for each in kind[1:]:
            yield from _list_values(each)


def _objects(grammar: BodyGrammar, kind: Kind) -> Iterator[ObjectType]:
    """The objects that a type may be, in lists and unions too."""
    if isinstance(kind, str) and kind.startswith("#"):
        yield grammar.object(kind[1:])
    elif isinstance(kind, list) and kind[0] in ("[]", "|"):
        for each in kind[1:]:
            yield from _objects(grammar, each)


@cache
def tags_elsewhere(protocol: str) -> frozenset[str]:
    """Values of ``type`` and ``role`` that other protocols have and this one has not."""
    names = {path: grammar_of(path) for path in (*_PROTOCOLS, protocol)}
    own = names[protocol]
    others = {tag for name, each in names.items() if each and name != protocol for tag in _tags(each)}
    return frozenset(others - (_tags(own) if own else set()))


def _tags(grammar: BodyGrammar) -> set[str]:
    kinds = (each["keys"].get(tag) for each in grammar.types.values() for tag in _TAGS)
    return {value for kind in kinds for value in _values_of(kind)}


def _add_overlay(types: dict[str, Any], lines: Any, provider: str) -> None:
    for line in lines:
        providers = line.get("for", "")
        if provider not in ([providers] if isinstance(providers, str) else providers):
            continue
        names = line["type"]
        for name in [names] if isinstance(names, str) else names:
            known = types[name]
            known["keys"].update(line.get("keys", {}))
            known["limits"] = known.get("limits", {}) | line.get("limits", {})
            known["open"] = line.get("open", known.get("open", False))
            need = (*known.get("need", ()), *line.get("required", ()))
            known["need"] = [key for key in need if key not in line.get("optional", ())]


def _is_of_kind(kind: Kind, value: JsonValue) -> bool:
    """A type is one of values of this JSON type, so that its faults are those of the value."""
    if isinstance(kind, list):
        is_text = kind[0] == "=" and isinstance(value, str)
        return is_text or (kind[0] == "[]" and isinstance(value, list))
    return kind[0] != "#" and _is_plain(kind, value, is_proto=False)


def _type_fault(kind: Kind, pointer: str, holder: str) -> ShapeFault:
    return ShapeFault(pointer, WRONG_TYPE, pointer.rpartition("/")[2], holder, _words(kind))


def _is_plain(kind: str, value: JsonValue, *, is_proto: bool) -> bool:
    if kind == "str":
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "null":
        return value is None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return is_proto and isinstance(value, str) and re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?", value) is not None
    return kind == "num" or isinstance(value, int) or value.is_integer()


def _may_be_null(kind: Kind) -> bool:
    return kind in ("any", "null") or (isinstance(kind, list) and kind[0] == "|" and "null" in kind[1:])


def _values_of(kind: Kind) -> tuple[str, ...]:
    """Texts that a type admits, if it admits no others."""
    if isinstance(kind, list) and kind[0] == "=":
        return tuple(value for value in kind[1:] if isinstance(value, str))
    if isinstance(kind, list) and kind[0] == "|":
        arms = [arm for arm in kind[1:] if arm != "null"]
        return _values_of(arms[0]) if len(arms) == 1 else ()
    return ()


def _value_fault(kind: Kind, value: JsonValue, pointer: str, holder: str) -> ShapeFault:
    name, known = pointer.rpartition("/")[2], tuple(str(each) for each in kind[1:])
    is_kind = any(isinstance(value, type(each)) for each in kind[1:])
    return ShapeFault(pointer, WRONG_VALUE if is_kind else WRONG_TYPE, name, holder, _words(kind), known)


def _words(kind: Kind) -> str:
    if isinstance(kind, str):
        return "an object" if kind[0] == "#" else _WORDS.get(kind, "a value")
    if kind[0] in ("[]", "{}"):
        return "a list" if kind[0] == "[]" else "an object"
    if kind[0] == "=":
        return "one of " + ", ".join(str(each) for each in kind[1:9]) if len(kind) > 2 else str(kind[1])
    return " or ".join(dict.fromkeys(_words(arm) for arm in kind[1:] if arm != "null"))


def listed_texts(kind: Kind) -> tuple[str, ...]:
    """Texts that a type lists, if it accepts no others; null beside them counts for nothing."""
    return _values_of(kind)


def say_kind(kind: Kind) -> str:
    """A type in words."""
    return "anything" if kind == ANYTHING else _words(kind)


def say_limits(limits: _value_limits.Limits) -> str:
    """Limits of a value in words; "" if there are none."""
    return _value_limits.in_words(limits)


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda upper: "_" + upper[1].lower(), key)
