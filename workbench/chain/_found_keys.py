"""The keys of a history that are in the tables of conversations, the latest first.

A history that grew is looked up only by its new keys. If the tables have got keys since then that were looked up
without a result, all keys are looked up again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum, auto
from itertools import filterfalse
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from workbench.chain._history_keys import HistoryKeys
from workbench.fingerprint import looks_unique

V = TypeVar("V")


class KeyTable(dict[int, V], Generic[V]):
    """A table by keys.

    Args:
        is_any: true if a new value of a key counts as a change, too.

    Attributes:
        changes: keys that were set, in order.
        taken_back: number of keys that were removed again.
    """

    def __init__(self, *, is_any: bool) -> None:
        super().__init__()
        self._is_any = is_any
        self.changes: list[int] = []
        self.taken_back = 0

    def __setitem__(self, key: int, value: V) -> None:
        if self._is_any or key not in self:
            self.changes.append(key)
        super().__setitem__(key, value)

    def update(self, found: Mapping[int, V]) -> None:  # type: ignore[override]
        self.changes += found if self._is_any else filterfalse(self.__contains__, found)
        super().update(found)

    def pop(self, key: int, *default: V) -> V:  # type: ignore[override]
        self.taken_back += 1
        return super().pop(key, *default)


class KeyKind(IntEnum):
    """Kind of a key, those of responses by strength; of the first items of a history, or of the last of these."""

    EXACT = 0
    ANY = auto()
    CALL = auto()
    NEAR = auto()
    PAIR = auto()
    COUNTER = auto()
    ASKED = auto()
    RETOLD = auto()


OF_ANSWERS = (KeyKind.EXACT, KeyKind.ANY, KeyKind.CALL, KeyKind.NEAR, KeyKind.PAIR)
_OF_REQUESTS = (KeyKind.ASKED, KeyKind.RETOLD)

_Found = tuple[int, int]
"""Number of first items, and a key."""


class FoundKeys:
    """The keys of a history that are in the tables, up to the point where none can be added.

    Args:
        vain: keys that are not in the tables, of all histories with this beginning.
    """

    def __init__(self, vain: set[int]) -> None:
        self._vain = vain
        self._count = 0
        self._seen = [(0, 0), (0, 0)]
        self._found: list[list[_Found]] = [[] for _ in KeyKind]

    def first(self, end: int) -> FoundKeys:
        """The found keys of the history's beginning, which others may continue."""
        other = FoundKeys(self._vain)
        other._seen, other._count = list(self._seen), min(self._count, max(end - 1, 0))
        other._found = [found[: bisect_right(found, other._count, key=itemgetter(0))] for found in self._found]
        return other

    def read(self, history: HistoryKeys, tables: KeyTables) -> None:
        """Look up the keys that are new in the history or in the tables."""
        for number, table in enumerate(tables):
            taken_back, changes = self._seen[number]
            if table.taken_back != taken_back or not self._vain.isdisjoint(table.changes[changes:]):
                self._count, self._found = 0, [[] for _ in KeyKind]
        self._seen = [(table.taken_back, len(table.changes)) for table in tables]
        end = history.chain.count_settled(history.count)
        for kind, found in zip(KeyKind, self._found, strict=True):
            table = tables.of(kind)
            for count in range(self._count + 1, end + 1):
                for key in reversed([*_keys(history, kind, count)]):
                    if key in table:
                        found.append((count, key))
                    else:
                        self._vain.add(key)
        self._count = max(self._count, end)

    def latest(self, kind: KeyKind, end: int) -> Iterator[_Found]:
        """The found keys of a kind for the first items, the latest first."""
        return (found for found in reversed(self._found[kind]) if found[0] <= end)

    def refuse(self, kind: KeyKind, found: Iterable[_Found]) -> None:
        """Count keys as not found, until their values change."""
        refused = {*found}
        self._vain.update(key for _, key in refused)
        self._found[kind] = [each for each in self._found[kind] if each not in refused]


def _keys(history: HistoryKeys, kind: KeyKind, count: int) -> Iterator[int]:
    """The keys of a kind of a request's first items, or of the answer that they end with; the stronger one first."""
    if kind in _OF_REQUESTS:
        yield history.request_key(count) if kind is KeyKind.ASKED else history.retelling_key(count)
        return
    chain, items = history.chain, history.chain.items
    item = items[count - 1]
    if not item.is_answer:
        return
    if kind in (KeyKind.EXACT, KeyKind.ANY):
        yield history.whole(chain.plain[count], chain.exact[count])[kind]
    elif kind in (KeyKind.CALL, KeyKind.COUNTER):
        if item.call_id and (kind is KeyKind.COUNTER or looks_unique(item.call_id)):
            yield history.call(item)
    elif count == history.count or not items[count].is_answer:
        start = chain.count_settled(count)
        run = history.run(start, count)
        keys = [history.pair(start, run)] if kind is KeyKind.PAIR else [
            history.near(before, run) for before in range(start, max(start - 2, -1), -1)
        ]  # fmt: skip
        yield from (key for key in keys if key is not None)


class KeyTables(NamedTuple):
    """Owners of answers, and earlier requests, by their keys."""

    owners: KeyTable[Any]
    attempts: KeyTable[Any]

    def of(self, kind: KeyKind) -> KeyTable[Any]:
        """The table that has the keys of a kind."""
        return self.attempts if kind in _OF_REQUESTS else self.owners


class Lookup:
    """The keys of one request that are in the tables.

    Args:
        history: the request.
        kind: what decides, in addition to the messages, which keys count.
    """

    def __init__(self, history: HistoryKeys, kind: object, tables: KeyTables) -> None:
        self._history, self._tables = history, tables
        self._end, self._is_read = history.chain.count_settled(history.count), False
        found = history.chain.found
        self._known = found.pop(kind, None)
        """None at the first request of its kind, which is likely to be the only one."""
        found[kind] = self._known or FoundKeys(set())
        while len(found) > _MOST_KINDS:
            del found[next(iter(found))]

    def found(self, kind: KeyKind) -> Iterator[_Found]:
        """The found keys of a kind, the latest first."""
        history, end = self._history, max(self._end - _RECENT, 0)
        yield from self._within(kind, history.count, end)  # more may follow the end; most answers are found there
        if self._known is None:
            yield from self._within(kind, end, 0)
            return
        if not self._is_read:
            self._known.read(history, self._tables)
            self._is_read = True
        yield from self._known.latest(kind, end)

    def refuse(self, kind: KeyKind, found: Iterable[_Found]) -> None:
        """Count keys as not found in later requests of this kind, where what follows them is the same."""
        earlier = [each for each in found if 0 < each[0] < self._end]
        if earlier and self._known and self._is_read:
            self._known.refuse(kind, earlier)

    def _within(self, kind: KeyKind, count: int, end: int) -> Iterator[_Found]:
        table = self._tables.of(kind)
        for n in range(count, end, -1):
            yield from ((n, key) for key in _keys(self._history, kind, n) if key in table)


_RECENT = 8
"""Items at the end of a history whose keys are looked up again."""

_MOST_KINDS = 4
"""Kinds of requests for which the keys of one history are kept."""
