"""Groups objects whose exchanges belong to one conversation into units that are judged together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from workbench.lazy_dataclass import dataclass
from workbench.survey.places import StoredObject
from workbench.survey.rows import Row

MOST_OBJECTS = 2_000
MOST_BYTES = 64 * 1024 * 1024
"""Limits of a unit: a conversation that is larger is judged in pieces, and counted."""


@dataclass(slots=True)
class JoinCounts:
    """What the index pass found.

    Attributes:
        continuing: exchanges that continue something.
        joined: those of them whose earlier exchange is in a stored object, their own included.
        units: units of more than one object; ``objects`` in them.
        split: units that were too large for one task.
    """

    continuing: int = 0
    joined: int = 0
    units: int = 0
    objects: int = 0
    split: int = 0

    @property
    def without_earlier(self) -> int:
        """Exchanges whose earlier exchange is in no object."""
        return self.continuing - self.joined

    def as_dict(self) -> dict[str, int]:
        """For the manifest."""
        counts = {"continuing": self.continuing, "joined": self.joined, "without_earlier": self.without_earlier}
        return {**counts, "units": self.units, "objects": self.objects, "split": self.split}


@dataclass(slots=True)
class Joiner:
    """Takes the rows of the index pass and gives units.

    Attributes:
        objects: all objects, in order.
    """

    objects: Sequence[StoredObject]
    counts: JoinCounts = field(default_factory=JoinCounts)
    _parents: list[int] = field(default_factory=list)
    _offers: dict[int, int] = field(default_factory=dict)
    _seeks: list[tuple[int, list[int]]] = field(default_factory=list)

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows, in any order."""
        if not self._parents:
            self._parents = list(range(len(self.objects)))
        places = self._places()
        for row in rows:
            at = places[row["uri"]]
            for key in (*row["offers"], *row["named"]):
                other = self._offers.setdefault(key, at)
                if key < 0:
                    self._union(other, at)
            self._seeks += ((at, keys) for keys in row["seeks"])

    def _places(self) -> dict[str, int]:
        return {found.uri: number for number, found in enumerate(self.objects)}

    def units(self) -> Iterator[Sequence[StoredObject]]:
        """The units, in the order of their first objects."""
        self._parents = self._parents or list(range(len(self.objects)))
        for at, keys in self._seeks:
            earlier = [self._offers[key] for key in keys if key in self._offers]
            self.counts.continuing += 1
            self.counts.joined += bool(earlier)
            for other in earlier:
                self._union(at, other)
        groups: dict[int, list[StoredObject]] = {}
        for number, found in enumerate(self.objects):
            groups.setdefault(self._root(number), []).append(found)
        for group in groups.values():
            yield from self._pieces(group)

    def _pieces(self, group: list[StoredObject]) -> Iterator[Sequence[StoredObject]]:
        held: list[StoredObject] = []
        pieces: list[list[StoredObject]] = []
        for found in group:
            if held and (len(held) >= MOST_OBJECTS or sum(f.size for f in held) + found.size > MOST_BYTES):
                pieces.append(held)
                held = []
            held.append(found)
        pieces.append(held)
        self.counts.split += len(pieces) > 1
        if len(group) > 1:
            self.counts.units += 1
            self.counts.objects += len(group)
        yield from pieces

    def _root(self, at: int) -> int:
        while self._parents[at] != at:
            self._parents[at] = self._parents[self._parents[at]]
            at = self._parents[at]
        return at

    def _union(self, one: int, other: int) -> None:
        first, second = sorted((self._root(one), self._root(other)))
        self._parents[second] = first
