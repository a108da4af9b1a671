"""Regular expressions of modules, compiled when they are first used, and quick searches for one of many texts.

The program has about 600 of them, a short command uses 50, and to compile all takes a third of its time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

Row = TypeVar("Row")

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")

if TYPE_CHECKING:
    compile = re.compile
else:

    def compile(source: str | bytes, flags: int = 0) -> _Pattern:
        """Return what ``re.compile`` returns, but for its type: the source is read at the first use."""
        return _Pattern(source, flags)


class _Pattern:
    """A pattern whose methods are those of the compiled one: looked up once, so that a call costs nothing more."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self.pattern, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return re.compile, (self.pattern, self._flags)


_FREQUENT = b' etaoinsrhdluc"mfpgwyb,.v_'
"""Bytes of prose, of programs and of JSON, the most frequent first."""
_COMMON = 9
"""Of them, the first that are too frequent to look for."""


_SOON = 8 * 1024
"""Bytes that are searched for each text by itself, before a pattern of all is compiled: most commands end sooner."""

_FEW = 4
"""Number of texts that are each looked for sooner than a pattern of all is."""

_MOST_ABSENT = 64
"""Sets of absent bytes for which it is kept which texts are possible."""


_LETTERS = 4
"""Length of the stretches of a text by which the texts in it are found: few texts share one of this length."""


class RowsByText(Generic[Row]):
    """Rows of a table that each need one of some texts: those that may fit a text, found without trying every row.

    Args:
        rows: texts of which one is needed, and the row; without any, the row may fit everything.
    """

    def __init__(self, rows: Iterable[tuple[Iterable[str], Row]]) -> None:
        pairs = [(tuple(texts), row) for texts, row in rows]
        self.rows = tuple(row for _, row in pairs)
        self._always = [number for number, (texts, _) in enumerate(pairs) if not texts]
        self._short = [
            (text, number) for number, (texts, _) in enumerate(pairs) for text in texts if len(text) < _LETTERS
        ]
        self._numbers: dict[str, list[tuple[str, int]]] = {}
        for number, (texts, _) in enumerate(pairs):
            for text in texts:
                if len(text) >= _LETTERS:
                    rarest = min(_stretches(text), key=lambda each: (len(self._numbers.get(each, ())), each))
                    self._numbers.setdefault(rarest, []).append((text, number))

    def fitting(self, whole: str) -> list[Row]:
        """The rows that may fit a text, in their order."""
        found = {number for text, number in self._short if text in whole}
        for stretch in self._numbers.keys() & _stretches_of_whole(whole):
            found.update([number for text, number in self._numbers[stretch] if text in whole])
        return [self.rows[number] for number in sorted(found.union(self._always))]


def _stretches(text: str) -> set[str]:
    return {text[n : n + _LETTERS] for n in range(len(text) - _LETTERS + 1)}


_stretches_of_whole = lru_cache(maxsize=4)(_stretches)
"""``_stretches`` of a text that several tables are looked through for, one after the other."""


class AnyOf:
    """Tells whether one of some texts is in another one, in less time than looking for each.

    Each is found by its rarest byte that has three behind it, which is seldom met, and by what is around it.

    Args:
        texts: of at least one byte each.
    """

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._texts = tuple(dict.fromkeys(texts))
        self._bytes = sorted({byte for text in self._texts for byte in text})
        self._possible: dict[bytes, Sequence[bytes]] = {}
        self._left = _SOON

    def is_in(self, whole: bytes) -> bool:
        """One of them is in there."""
        if self._left > 0:
            self._left -= len(whole)
            return any(map(whole.__contains__, self._texts))
        possible = self._texts_without(bytes([byte for byte in self._bytes if byte not in whole]))
        if len(possible) <= _FEW:
            return any(map(whole.__contains__, possible))
        rare, common = self._patterns
        return rare.search(whole) is not None or any(map(whole.__contains__, common))

    def _texts_without(self, absent: bytes) -> Sequence[bytes]:
        """The texts that have none of some bytes."""
        found = self._possible.get(absent)
        if found is None:
            if len(self._possible) >= _MOST_ABSENT:
                self._possible.clear()
            found = [text for text in self._texts if not any(map(text.__contains__, absent))]
            self._possible[absent] = found
        return found

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[bytes], Sequence[bytes]]:
        """A pattern that finds most of the texts, and the others."""
        common = list[bytes]()
        around: dict[bytes, set[bytes]] = {}
        for text in self._texts:
            at = max(range(max(1, len(text) - 3)), key=lambda n: _FREQUENT.find(text[n]) % 256)
            rarest = text[at : at + 1]
            if rarest in _FREQUENT[:_COMMON]:
                common.append(text)
            else:
                around.setdefault(rarest, set()).add(_behind(text, at + 1))
        source = b"|".join(re.escape(first) + b"(?:" + b"|".join(sorted(each)) + b")" for first, each in around.items())
        return re.compile(source or b"(?!)"), common


def _behind(text: bytes, at: int) -> bytes:
    """Pattern that matches at a place in a text, if it is that text."""
    return re.escape(text[at:]) + b"(?<=" + re.escape(text) + b")"
