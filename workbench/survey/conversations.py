"""Groups objects whose exchanges belong to one conversation into units that are judged together.

Objects and keys are in a temporary database: memory does not depend on their number, but for four bytes an object.
"""

from __future__ import annotations

import sqlite3
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from workbench.lazy_dataclass import dataclass, field
from workbench.survey.object_listing import StoredObject
from workbench.survey.parts import Batch, batches_of
from workbench.survey.rows import Row

MOST_OBJECTS = 2_000
MOST_BYTES = 64 * 1024 * 1024
"""Limits of a unit: a conversation that is larger is judged in pieces, and counted."""

_TABLES = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768; PRAGMA temp_store = FILE;
CREATE TABLE objects (number INTEGER PRIMARY KEY, root INTEGER, uri TEXT, size INTEGER, etag TEXT);
CREATE TABLE offers (key INTEGER, number INTEGER);
CREATE TABLE seeks (seek INTEGER, key INTEGER, number INTEGER);
"""
_FOUND = """
SELECT s.seek, s.number, coalesce(
    (SELECT number FROM offers WHERE key = s.key AND number <= s.number ORDER BY number DESC LIMIT 1),
    (SELECT number FROM offers WHERE key = s.key ORDER BY number LIMIT 1)) AS other
FROM seeks s WHERE other IS NOT NULL ORDER BY s.rowid
"""
"""Of several objects that offer a key, the nearest one before: names of a store usually go with time, and many
conversations begin with the same words."""


@dataclass(slots=True)
class JoinCounts:
    """What the index pass found.

    Attributes:
        continuing: exchanges that continue something.
        joined: those of them whose earlier exchange is in a stored object, their own included.
        without_earlier: those whose earlier exchange is in no object.
        units: units of more than one object; ``objects`` in them.
        split: units that were too large for one task.
        unread: objects that the index pass could not read: their exchanges are joined with nothing.
    """

    continuing: int = 0
    joined: int = 0
    without_earlier: int = 0
    units: int = 0
    objects: int = 0
    split: int = 0
    unread: int = 0

    def as_dict(self) -> dict[str, int]:
        """For the manifest."""
        return asdict(self)


@dataclass(slots=True)
class Joiner:
    """Takes a listing, then the rows of the index pass, and gives units. A context manager."""

    counts: JoinCounts = field(default_factory=JoinCounts)
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _base: sqlite3.Connection | None = None
    _first: dict[str, int] = field(default_factory=dict)
    _roots: array[int] = field(default_factory=lambda: array("I"))

    def __enter__(self) -> Joiner:
        self._folder = tempfile.TemporaryDirectory(prefix="workbench-survey-")
        self._base = sqlite3.connect(Path(self._folder.name) / "join.sqlite", isolation_level=None)
        self._base.executescript(_TABLES)
        self._base.execute("BEGIN")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._base and self._folder
        self._base.close()
        self._folder.cleanup()

    def batches(self, listing: Iterable[StoredObject]) -> Iterator[Batch]:
        """Batches of single objects for the index pass, in order; keeps the objects."""
        assert self._base
        for batch in batches_of((found,) for found in listing):
            self._first[batch.name] = first = len(self._roots)
            rows = ((first + n, *unit[0]) for n, unit in enumerate(batch.units))
            self._base.executemany("INSERT INTO objects (number, uri, size, etag) VALUES (?, ?, ?, ?)", rows)
            self._roots.extend(range(first, first + len(batch.units)))
            yield batch

    def add(self, batch: Batch, rows: Iterable[Row]) -> None:
        """Take the rows of a batch, in any order; an object without one was not read."""
        assert self._base
        first = self._first.pop(batch.name)
        numbers = {unit[0].uri: first + n for n, unit in enumerate(batch.units)}
        self.counts.unread += len(numbers)
        for row in rows:
            at = numbers[row["uri"]]
            self.counts.unread -= bool(row["is_read"])
            offers = ((key, at) for key in (*row["offers"], *row["named"]))
            self._base.executemany("INSERT INTO offers VALUES (?, ?)", offers)
            for keys in row["seeks"]:
                self.counts.continuing += 1
                seeks = ((self.counts.continuing, key, at) for key in keys)
                self._base.executemany("INSERT INTO seeks VALUES (?, ?, ?)", seeks)

    def units(self) -> Iterator[Sequence[StoredObject]]:
        """The units, in the order of their first objects."""
        base = self._base
        assert base
        base.execute("CREATE INDEX by_key ON offers (key, number)")
        named = "SELECT key, number FROM offers WHERE key < 0 ORDER BY key, number"
        for before, at in _pairs(base.execute(named)):
            self._union(before, at)
        found = 0
        for seek, at, other in base.execute(_FOUND):
            self.counts.joined += seek != found
            found = seek
            self._union(at, other)
        self.counts.without_earlier = self.counts.continuing - self.counts.joined
        roots = ((self._root(number), number) for number in range(len(self._roots)))
        base.executemany("UPDATE objects SET root = ? WHERE number = ?", roots)
        base.execute("CREATE INDEX by_root ON objects (root, number)")
        group: list[StoredObject] = []
        last = -1
        for root, *about in base.execute("SELECT root, uri, size, etag FROM objects ORDER BY root, number"):
            if root != last and group:
                yield from self._pieces(group)
                group = []
            last = root
            group.append(StoredObject(*about))
        if group:
            yield from self._pieces(group)

    def _pieces(self, group: list[StoredObject]) -> Iterator[Sequence[StoredObject]]:
        piece: list[StoredObject] = []
        pieces: list[list[StoredObject]] = []
        size = 0
        for found in group:
            if piece and (len(piece) >= MOST_OBJECTS or size + found.size > MOST_BYTES):
                pieces.append(piece)
                piece, size = [], 0
            piece.append(found)
            size += found.size
        pieces.append(piece)
        self.counts.split += len(pieces) > 1
        if len(group) > 1:
            self.counts.units += 1
            self.counts.objects += len(group)
        yield from pieces

    def _root(self, at: int) -> int:
        roots = self._roots
        while roots[at] != at:
            roots[at] = roots[roots[at]]
            at = roots[at]
        return at

    def _union(self, one: int, other: int) -> None:
        first, second = sorted((self._root(one), self._root(other)))
        self._roots[second] = first


def _pairs(rows: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Numbers that follow each other under the same key."""
    last: tuple[int, int] | None = None
    for key, number in rows:
        if last and last[0] == key:
            yield last[1], number
        last = key, number
