"""Items of a conversation, as fingerprints that are computed when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from workbench.fingerprint import Item

_FEW = 64
"""Up to this number, items are copied: a reference to a longer list would keep the rest of it, too."""


class SaidItems:
    """Items of a conversation.

    A history that begins a conversation is kept as a reference to its list, because most are never needed.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Sequence[Item], int, int]] = []
        self._found: set[int] = set()
        self._read = 0

    def add(self, items: Sequence[Item], start: int, stop: int) -> None:
        """Add some of the items of a list that only grows."""
        run = (items, start, stop) if stop - start > _FEW else (items[start:stop], 0, stop - start)
        self._runs.append(run)

    def take_back(self) -> None:
        """Remove what was added last."""
        self._runs.pop()
        if self._read > len(self._runs):
            self._found, self._read = set(), 0

    @property
    def fingerprints(self) -> set[int]:
        """Fingerprints of all items, without call ids."""
        for items, start, stop in self._runs[self._read :]:
            self._found.update(item.plain for item in islice(items, start, stop))
        self._read = len(self._runs)
        return self._found
