"""Spellings of a JSON text that changed: escapes, numbers, whitespace, at any place.

An added or removed value is no other spelling: only tokens that both texts have are compared, and a spelling counts as
new if the first text did not have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from workbench import regex
from workbench.diff.damage.kinds import DamageKind
from workbench.errors import WireError
from workbench.named_tuple import NamedTuple
from workbench.wire import loads

_TOKEN: Final = regex.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")|(-?[0-9][0-9.eE+-]*)|[{}\[\],:]|true|false|null', re.DOTALL)
_ODD: Final = regex.compile(rb"[\\\x80-\xff]")


class SpellingChange(NamedTuple):
    """One kind of changed spelling: its count, and the first place in both texts."""

    kind: DamageKind
    places: int
    was: int
    at: int
    words: str


_Seen = dict[object, dict[bytes, list[int]]]
"""Token → its spellings → [count, first offset]."""


class _TextTokens:
    """The tokens of one text, by their meaning."""

    def __init__(self, text: bytes) -> None:
        self.gaps: _Seen = {}
        self.numbers: _Seen = {}
        self.strings: dict[bytes, list[int]] = {}
        role, name, key, end = b"", b"", b"", 0
        for token in _TOKEN.finditer(text):
            raw, start = token[0], token.start()
            mine = raw if raw in b"{}[],:" else b"v"
            _count(self.gaps, role + mine, text[end:start], end)
            if token.lastindex == 1:
                name = raw
                seen = self.strings.setdefault(raw, [0, start])
                seen[0] += 1
            elif token.lastindex == 2:
                _count(self.numbers, (key, _number(raw)), raw, start)
            if raw == b":":
                key = name
            role, end = mine, token.end()
        _count(self.gaps, role, text[end:], end)


def spelling_changes(before: bytes, after: bytes) -> Iterator[SpellingChange]:
    """Every kind of spelling that changed."""
    old, new = _TextTokens(before), _TextTokens(after)
    for kind, olds, news in (
        (DamageKind.WHITESPACE, old.gaps, new.gaps),
        (DamageKind.ESCAPES, *_odd(old.strings, new.strings)),
        (DamageKind.NUMBER_SPELLING, old.numbers, new.numbers),
    ):
        found = [place for key in news if key in olds for place in _new_ones(olds[key], news[key])]
        if found:
            was, at, a, b = min(found)[:4]
            words = "" if kind is DamageKind.WHITESPACE else f"{_excerpt(a)} became {_excerpt(b)}"
            yield SpellingChange(kind, sum(place[4] for place in found), was, at, words)


def _new_ones(
    olds: Mapping[bytes, list[int]], news: Mapping[bytes, list[int]]
) -> Iterator[tuple[int, int, bytes, bytes, int]]:
    """(offset before, offset after, spelling before, spelling after, count) for each changed spelling."""
    is_as_often = sum(n for n, _ in olds.values()) == sum(n for n, _ in news.values())
    for raw, (times, at) in news.items():
        more = times - olds[raw][0] if raw in olds else times
        if more > 0 and (is_as_often or raw not in olds):
            fewer = [(first, other) for other, (n, first) in olds.items() if n > news.get(other, [0])[0]]
            if fewer:
                was, other = min(fewer)
                yield was, at, other, raw, more


def _odd(olds: dict[bytes, list[int]], news: dict[bytes, list[int]]) -> tuple[_Seen, _Seen]:
    """Strings with more than one spelling, by their value."""
    values = {_value(raw) for raw in _with_escapes((*olds, *news))}
    plain = {b'"' + value.encode("utf-8", "surrogatepass") + b'"': value for value in values if value is not None}
    sides = list[_Seen]()
    for strings in (olds, news):
        side: _Seen = {}
        for raw, seen in strings.items():
            value = plain.get(raw) if not _ODD.search(raw) else _value(raw)
            if value is not None:
                side.setdefault(value, {})[raw] = seen
        sides.append(side)
    return sides[0], sides[1]


def _with_escapes(raws: Iterable[bytes]) -> Iterator[bytes]:
    return (raw for raw in raws if _ODD.search(raw))


def _value(raw: bytes) -> str | None:
    try:
        value = loads(raw)
    except WireError:
        return None
    return value if isinstance(value, str) else None


def _number(raw: bytes) -> object:
    try:
        value = loads(raw)
    except WireError:
        return raw
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _count(seen: _Seen, key: object, raw: bytes, at: int) -> None:
    spellings = seen.setdefault(key, {})
    found = spellings.get(raw)
    if found is None:
        spellings[raw] = [1, at]
    else:
        found[0] += 1


def _excerpt(raw: bytes) -> str:
    found = _ODD.search(raw)
    start = max(0, found.start() - 8) if found and len(raw) > 24 else 0
    return raw[start : start + 24].decode("utf-8", "replace")
