"""Changes that can be taken back: an exchange that was still arriving when it was read has to be read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from functools import partial
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


class Journal:
    """Makes changes, and while ``is_on`` notes how to undo each."""

    def __init__(self) -> None:
        self.is_on = False
        self._undo: list[Callable[[], object]] = []

    def note(self, undo: Callable[[], object]) -> None:
        """A change was made elsewhere."""
        if self.is_on:
            self._undo.append(undo)

    def put(self, table: MutableMapping[K, V], key: K, value: V) -> None:
        """Set one entry."""
        if self.is_on and key in table:
            self._undo.append(partial(table.__setitem__, key, table[key]))
        elif self.is_on:
            self._undo.append(partial(table.pop, key))
        table[key] = value

    def put_each(self, table: MutableMapping[K, V], keys: Iterable[K], value: V) -> None:
        """Set several entries to one value."""
        if self.is_on:
            for key in keys:
                self.put(table, key, value)
        else:
            table.update(dict.fromkeys(keys, value))

    def pop(self, table: MutableMapping[K, V], key: K) -> V | None:
        """Remove one entry; its value, or None if there is none."""
        if key not in table:
            return None
        value = table.pop(key)
        self.note(partial(table.__setitem__, key, value))
        return value

    def append(self, items: list[T], item: T) -> None:
        """Add at the end."""
        items.append(item)
        self.note(items.pop)

    def mark(self) -> int:
        """A point to rewind to."""
        return len(self._undo)

    def rewind(self, mark: int) -> None:
        """Undo everything since a point, the newest first."""
        while len(self._undo) > mark:
            self._undo.pop()()

    def forget(self) -> None:
        """Nothing will be taken back any more: note nothing until it is on again."""
        self._undo.clear()
        self.is_on = False
