"""Shapes of messages and answers: which members they have, of which JSON types, with the texts of some of these.

A conversation has thousands of messages and a dozen shapes. What a shape rules out need not be asked of any message
that has it: it is found out once about the skeleton of the shape.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from workbench.errors import WireError
from workbench.ir import JsonValue, Message
from workbench.protocols.history import RepeatedMessage, Test, fact, kind_set_of, text_of
from workbench.wire import loads

T = TypeVar("T")

NAMED: Final = frozenset(("role", "type"))
"""Members whose texts belong to a shape: they tell which object it is."""

SOME_TEXT: Final = "\0"
"""Any text of a skeleton, but for those of ``NAMED``; no contract and no grammar names it."""

_SOME_NUMBERS: Final[Mapping[type, JsonValue]] = {int: -987_654_321, float: -987_654_321.5}
_DEEPEST: Final = 64
"""Levels of a shape: no place of a contract leads deeper."""

_MOST: Final = 512
"""Shapes that are kept: sessions of several agents and protocols have fewer."""

_Key: TypeAlias = Any
"""Hashable; equal for values of one shape."""
_kept: dict[_Key, MessageShape] = {}


class MessageShape:
    """The shape of a message.

    Attributes:
        skeleton: a JSON value of this shape; of the elements of a list that are alike it has one.
        facts: what was found out about it (``history.fact``).
    """

    __slots__ = ("facts", "skeleton")

    def __init__(self, skeleton: JsonValue) -> None:
        self.skeleton = skeleton
        self.facts: dict[Any, Any] = {}

    @property
    def names(self) -> frozenset[str]:
        """Keys of all its objects, and the texts of their ``NAMED`` members."""
        return fact(self, _names)


def shape_of(message: Message) -> MessageShape:
    """The shape of a message that may come again."""
    shape = message.kind.shape if isinstance(message, RepeatedMessage) else None
    return shape if isinstance(shape, MessageShape) else fact(message, find_shape)


def of_kinds(messages: Sequence[Message], find: Callable[..., T], *terms: Hashable) -> T:
    """``find(kinds, *terms)`` of the kinds of messages that may come again, found once for each set of kinds.

    Args:
        messages: those of a request; kinds of later messages of the same history may be among the kinds.
        find: ``find(KindSet, *terms)``, a function of a module.
        terms: further arguments.
    """
    return fact(kind_set_of(messages), find, *terms)


def asked_by_shape(may: Callable[..., object]) -> Callable[[Test], Test]:
    """Declare that a test of messages is true of none whose shape rules it out.

    Args:
        may: ``may(shape, *terms)``, a function of a module; false if the test is true of no message of the shape.
    """

    def declare(test: Test) -> Test:
        setattr(test, "may_be_of_shape", may)  # noqa: B010 (a function has no such attribute by itself)
        return test

    return declare


def find_shape(message: Message) -> MessageShape:
    """The shape of a message, found out in its text."""
    try:
        return shape_of_value(loads(text_of(message) or b"null"))
    except WireError:
        return shape_of_value(None)


def shape_of_value(value: JsonValue, named: frozenset[str] = NAMED) -> MessageShape:
    """The shape of a parsed value: one object for all that have it, as long as it is kept.

    Args:
        named: members whose texts belong to the shape.
    """
    key = _key(value, named), named
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= _MOST:
            _kept.clear()
        found = _kept[key] = MessageShape(_skeleton(value, named))
    return found


class _Deeper:
    """What is below the deepest level of a shape: no grammar admits it, so that such messages are read themselves."""


def _key(value: JsonValue, named: frozenset[str], level: int = 0) -> _Key:
    kind = type(value)
    if kind is not dict and kind is not list:
        return value if kind is bool else kind
    if level == _DEEPEST:
        return _Deeper
    if not isinstance(value, dict):
        return frozenset([_key(each, named, level + 1) for each in value])
    members: list[tuple[str, _Key]] = []
    for key, inner in value.items():
        kind = type(inner)
        if kind is str:
            members.append((key, inner if key in named else str))
        elif kind is dict or kind is list:
            members.append((key, _key(inner, named, level + 1)))
        else:
            members.append((key, inner if kind is bool else kind))
    return tuple(members)


def _skeleton(value: JsonValue, named: frozenset[str], level: int = 0) -> Any:
    if isinstance(value, dict | list) and level == _DEEPEST:
        return _Deeper()
    if isinstance(value, dict):
        return {key: _skeleton_of_member(key, inner, named, level) for key, inner in value.items()}
    if isinstance(value, list):
        different = {_key(each, named, level + 1): each for each in value}
        return [_skeleton(each, named, level + 1) for each in different.values()]
    return SOME_TEXT if isinstance(value, str) else _SOME_NUMBERS.get(type(value), value)


def _names(shape: MessageShape) -> frozenset[str]:
    names, values = set[str](), [shape.skeleton]
    for value in values:  # which grows meanwhile
        if isinstance(value, dict):
            names.update(value, (text for key in NAMED if isinstance(text := value.get(key), str)))
            values += value.values()
        elif isinstance(value, list):
            values += value
    return frozenset(names)


def _skeleton_of_member(key: str, value: JsonValue, named: frozenset[str], level: int) -> Any:
    return value if key in named and isinstance(value, str) else _skeleton(value, named, level + 1)
