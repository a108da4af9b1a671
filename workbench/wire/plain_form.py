"""Trees of dataclasses as JSON, and back: one encoder for all of them, which knows their classes by name alone.

The text is a list of two: the values that are shared, each once, and the tree. A reference to a shared value is a list
of its number. What may be changed (a list, a mapping, and what holds one) is never shared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

from workbench.lazy_dataclass import field_names

_LIST, _TUPLE, _BYTES = "list", "tuple", "bytes"
_SCALARS = frozenset((str, int, float, bool))


def encode(value: Any, classes: Sequence[type]) -> str:
    """Return the JSON of a value of the classes, tuples, lists, mappings with text keys, and scalars.

    A class is a dataclass, an enumeration or a named tuple; of the two latter, a value whose class is not among them is
    written as the text or the tuple that it is.

    Raises:
        TypeError: something else is in it.
    """
    writer = _PlainForms(classes)
    tree = writer.plain(value)
    return json.dumps([writer.shared, tree], separators=(",", ":"))


def decode(text: bytes | str, classes: Sequence[type]) -> Any:
    """Return the value that ``encode`` was given. Raises ValueError, TypeError, LookupError for other texts."""
    makers: Mapping[str, Callable[..., Any]] = {cls.__name__: cls for cls in classes}
    shared, tree = json.loads(text)
    return _value_of(shared, tree, makers)


class _PlainForms:
    """Plain forms of values.

    Attributes:
        shared: plain forms of what may be at several places.
    """

    def __init__(self, classes: Sequence[type]) -> None:
        self.shared: list[Any] = []
        self._classes = frozenset(classes)
        self._numbers: dict[str, int] = {}

    def plain(self, value: Any) -> Any:
        """The plain form of a value, or a reference to it."""
        kind = type(value)
        if value is None or kind in _SCALARS:
            return value
        if isinstance(value, str | int | float) and kind not in self._classes:
            return value.value if isinstance(value, Enum) else value
        if isinstance(value, Mapping):
            return {_key(name): self.plain(item) for name, item in value.items()}
        if isinstance(value, list):
            return [_LIST, *map(self.plain, value)]
        node: list[Any] = [*self._node(kind, value)]
        is_changeable = False
        for place, item in enumerate(node):
            if item is not None and type(item) not in _SCALARS:
                plain = node[place] = self.plain(item)
                is_changeable = is_changeable or _is_changeable(plain)
        return node if is_changeable else [self._share(node)]

    def _node(self, kind: type, value: Any) -> Iterable[Any]:
        """The kind of a value, and what it is made of."""
        if isinstance(value, tuple):
            return (kind.__name__ if kind in self._classes else _TUPLE, *value)
        if isinstance(value, bytes):
            return (_BYTES, value.hex())
        if isinstance(value, Enum):
            return (kind.__name__, value.value)
        if kind not in self._classes:
            raise TypeError(f"no plain form for a value of type {kind.__name__}")
        return (kind.__name__, *[getattr(value, name) for name in field_names(kind)])

    def _share(self, node: list[Any]) -> int:
        number = self._numbers.setdefault(repr(node), len(self.shared))
        if number == len(self.shared):
            self.shared.append(node)
        return number


def _is_changeable(plain: Any) -> bool:
    """A mapping, a list, or something that holds one; not a reference."""
    return type(plain) is dict or (type(plain) is list and type(plain[0]) is not int)


def _key(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a key that is not text: {name!r}")
    return name


def _value_of(shared: Sequence[Any], tree: Any, makers: Mapping[str, Callable[..., Any]]) -> Any:
    """The value of a tree: contracts have thousands, and are read at every start."""
    items: list[Any] = []

    def read(plain: Any) -> Any:
        if type(plain) is dict:
            return {name: read(item) for name, item in plain.items()}
        if type(plain) is not list:
            return plain
        kind = plain[0]
        if type(kind) is int:
            return items[kind]
        values = [
            (items[item[0]] if len(item) == 1 and type(item[0]) is int else read(item))
            if type(item) is list
            else read(item)
            if type(item) is dict
            else item
            for item in plain
        ]
        del values[0]
        if kind == _TUPLE:
            return tuple(values)
        if kind == _LIST:
            return values
        return bytes.fromhex(values[0]) if kind == _BYTES else makers[kind](*values)

    for plain in shared:
        items.append(read(plain))
    return read(tree)
