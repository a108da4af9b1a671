"""Trees of dataclasses as JSON, and back: one encoder for all of them, which knows their classes by name alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from workbench.lazy_dataclass import field_names

_LIST, _TUPLE, _BYTES = "list", "tuple", "bytes"


def encode(value: Any, classes: Sequence[type]) -> str:
    """Return the JSON of a value of the classes, tuples, lists, mappings with text keys, and scalars.

    A class is a dataclass, an enumeration or a named tuple; of the two latter, a value whose class is not among them is
    written as the text or the tuple that it is.

    Raises:
        TypeError: something else is in it.
    """
    return json.dumps(_plain(value, classes), separators=(",", ":"))


def decode(text: bytes | str, classes: Sequence[type]) -> Any:
    """Return the value that ``encode`` was given. Raises ValueError, TypeError, KeyError for other texts."""
    makers: Mapping[str, Callable[..., Any]] = {cls.__name__: cls for cls in classes}
    return _reader(makers)(json.loads(text))


def _plain(value: Any, classes: Sequence[type]) -> Any:
    kind: type = type(value)
    if isinstance(value, Enum) and kind in classes:
        return [kind.__name__, value.value]
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {_key(name): _plain(item, classes) for name, item in value.items()}
    if isinstance(value, list | tuple):
        name = kind.__name__ if kind in classes else _LIST if isinstance(value, list) else _TUPLE
        return [name, *(_plain(item, classes) for item in value)]
    if isinstance(value, bytes):
        return [_BYTES, value.hex()]
    if kind not in classes:
        raise TypeError(f"no plain form for a value of type {kind.__name__}")
    return [kind.__name__, *(_plain(getattr(value, name), classes) for name in field_names(kind))]


def _key(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a key that is not text: {name!r}")
    return name


def _reader(makers: Mapping[str, Callable[..., Any]]) -> Callable[[Any], Any]:
    """A function that makes values of plain ones: it is called for each of thousands at every start."""

    def read(plain: Any) -> Any:
        if type(plain) is dict:
            return {name: read(item) for name, item in plain.items()}
        if type(plain) is not list:
            return plain
        values = [read(item) if type(item) is list or type(item) is dict else item for item in plain]
        if not values:
            raise ValueError("a list without its kind")
        kind = values.pop(0)
        if kind == _TUPLE:
            return tuple(values)
        if kind == _LIST:
            return values
        return bytes.fromhex(values[0]) if kind == _BYTES else makers[kind](*values)

    return read
