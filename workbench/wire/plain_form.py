"""Trees of dataclasses as JSON, and back: one encoder for all of them, which knows their classes by name alone."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

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
    return _value(json.loads(text), makers)


def _plain(value: Any, classes: Sequence[type]) -> Any:
    kind = type(value)
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
    fields = [field.name for field in dataclasses.fields(value) if field.init]
    return [kind.__name__, *(_plain(getattr(value, name), classes) for name in fields)]


def _key(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a key that is not text: {name!r}")
    return name


def _value(plain: Any, makers: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(plain, dict):
        return {name: _value(item, makers) for name, item in plain.items()}
    if not isinstance(plain, list):
        return plain
    kind, *items = plain
    if kind == _BYTES:
        return bytes.fromhex(items[0])
    values = [_value(item, makers) if isinstance(item, list | dict) else item for item in items]
    if kind == _LIST:
        return values
    return tuple(values) if kind == _TUPLE else makers[kind](*values)
