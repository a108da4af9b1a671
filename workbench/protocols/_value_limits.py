"""Limits of a value: range of a number, length and pattern of a text, number of elements of a list or an object.

The words are those of JSON Schema (``minimum``, ``exclusiveMinimum``, ``maxLength``, ``pattern``, ``minItems``,
``maxProperties`` …), and ``each``: limits of every element of a list, or of every value of an object. A pattern is of
the whole text. A limit that is not for the type of a value says nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sized
from functools import cache
from typing import Any, TypeAlias

from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.provenance import escape

Limits: TypeAlias = Mapping[str, Any]


class Excess(NamedTuple):
    """A value that is beyond a limit.

    Attributes:
        pointer: from the value that the limits are of.
        found: its size in words ("6 elements"); "" where the value itself is what is limited.
        expected: what is accepted, in words ("at most 4 elements").
    """

    pointer: str
    found: str
    expected: str


def beyond(limits: Limits, value: JsonValue, *, is_any: bool = False) -> Iterator[Excess]:
    """Where a value is beyond its limits: one place for each value.

    Args:
        is_any: the value stands for all of its type: it is beyond each limit for that type.
    """
    limit_texts = {word: _limit_words(word, limit, value, is_any) for word, limit in limits.items() if word != "each"}
    words = [text.format(limits[word]) for word, text in limit_texts.items() if text]
    if words:
        is_sized = isinstance(value, str | list | dict) and not limit_texts.get("pattern")
        found = f"{len(value)} {_UNITS[type(value)]}" if is_sized and isinstance(value, Sized) else ""
        yield Excess("", found, " and ".join(words))
    inner = limits.get("each")
    if inner and isinstance(value, list | dict):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for step, each in pairs:
            yield from (
                Excess(f"/{escape(str(step))}{at}", found, expected)
                for at, found, expected in beyond(inner, each, is_any=is_any)
            )


def in_words(limits: Limits) -> str:
    """Limits in words, those of elements behind them."""
    phrases = [_TEMPLATES[word].format(limit) for word, limit in limits.items() if word != "each"]
    inner = in_words(limits["each"]) if "each" in limits else ""
    return ", ".join([*phrases, *([f"each {inner}"] if inner else [])])


def _limit_words(word: str, limit: Any, value: JsonValue, is_any: bool) -> str:
    """A template of the limit in words, if a value is beyond it; else ""."""
    size, text = _measure(word, value)
    if size is None:
        return ""
    if word == "pattern":
        return text if is_any or not _pattern(limit).fullmatch(str(size)) else ""
    is_low = size <= limit if word == "exclusiveMinimum" else word[:3] == "min" and size < limit
    is_high = size >= limit if word == "exclusiveMaximum" else word[:3] == "max" and size > limit
    return text if is_any or is_low or is_high else ""


def _measure(word: str, value: JsonValue) -> tuple[Any, str]:
    """What a limit is compared with, and how the limit is put into words; (None, "") if it is for another type."""
    if isinstance(value, bool):
        return None, ""
    if isinstance(value, int | float):
        return (value, _NUMBERS[word]) if word in _NUMBERS else (None, "")
    if isinstance(value, str):
        size: Any = value if word == "pattern" else len(value)
        return (size, _TEXTS[word]) if word in _TEXTS else (None, "")
    sized = _LISTS if isinstance(value, list) else _OBJECTS if isinstance(value, dict) else {}
    return (len(value), sized[word]) if value is not None and word in sized else (None, "")


_NUMBERS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
}
_UNITS = {str: "characters", list: "elements", dict: "keys"}
_TEXTS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "a string that matches {}",
}
_LISTS = {"minItems": "at least {} elements", "maxItems": "at most {} elements"}
_OBJECTS = {"minProperties": "at least {} keys", "maxProperties": "at most {} keys"}
_TEMPLATES = {**_NUMBERS, **_TEXTS, **_LISTS, **_OBJECTS}
WORDS = frozenset((*_TEMPLATES, "each"))


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.ASCII)
