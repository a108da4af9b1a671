"""Which spellings of a JSON text became others: escapes, numbers, white space, wherever the values stand.

A value that went or came is no other spelling: only what stands in both texts is compared, and a spelling counts as
new where the text before did not have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from workbench.diff.damage.kinds import Kind
from workbench.errors import WireError
from workbench.wire import loads

_TOKEN: Final = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")|(-?[0-9][0-9.eE+-]*)|[{}\[\],:]|true|false|null', re.DOTALL)
_ODD: Final = re.compile(rb"[\\\x80-\xff]")


class Respelled(NamedTuple):
    """One kind of other spelling: how often, and the first place in both texts."""

    kind: Kind
    places: int
    was: int
    at: int
    words: str


_Seen = dict[object, dict[bytes, list[int]]]
"""What stands there → its spellings → (how often, where first)."""


class _Read:
    """The tokens of one text, by what they mean."""

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


def respelled(before: bytes, after: bytes) -> Iterator[Respelled]:
    """Every kind of spelling that is another one now."""
    old, new = _Read(before), _Read(after)
    for kind, olds, news in (
        (Kind.WHITESPACE, old.gaps, new.gaps),
        (Kind.ESCAPES, *_odd(old.strings, new.strings)),
        (Kind.NUMBER_SPELLING, old.numbers, new.numbers),
    ):
        found = [place for key in news if key in olds for place in _new_ones(olds[key], news[key])]
        if found:
            was, at, a, b = min(found)[:4]
            words = "" if kind is Kind.WHITESPACE else f"{_shown(a)} became {_shown(b)}"
            yield Respelled(kind, sum(place[4] for place in found), was, at, words)


def _new_ones(
    olds: Mapping[bytes, list[int]], news: Mapping[bytes, list[int]]
) -> Iterator[tuple[int, int, bytes, bytes, int]]:
    """(where before, where after, spelling before, spelling after, how often) where the spellings are others."""
    is_as_often = sum(n for n, _ in olds.values()) == sum(n for n, _ in news.values())
    for raw, (times, at) in news.items():
        more = times - olds[raw][0] if raw in olds else times
        if more > 0 and (is_as_often or raw not in olds):
            fewer = [(first, other) for other, (n, first) in olds.items() if n > news.get(other, [0])[0]]
            if fewer:
                was, other = min(fewer)
                yield was, at, other, raw, more


def _odd(olds: dict[bytes, list[int]], news: dict[bytes, list[int]]) -> tuple[_Seen, _Seen]:
    """Strings that have more than one spelling, by what they say."""
    values = {_value(raw) for raw in _escaped((*olds, *news))}
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


def _escaped(raws: Iterable[bytes]) -> Iterator[bytes]:
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


def _shown(raw: bytes) -> str:
    found = _ODD.search(raw)
    start = max(0, found.start() - 8) if found and len(raw) > 24 else 0
    return raw[start : start + 24].decode("utf-8", "replace")
