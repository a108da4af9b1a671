"""Makes the plan of a run: what is listed, less what is known, in units and batches. Objects pass one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.survey.conversations import Joiner
from workbench.survey.judging import object_key
from workbench.survey.keys import is_in_share
from workbench.survey.object_listing import StoredObject
from workbench.survey.parts import Batch, batches_of
from workbench.survey.rows import Row

IndexPass = Callable[[Iterable[Batch]], Iterable[tuple[Batch, Sequence[Row]]]]
"""Runs the index pass over batches; returns each with its rows, in any order."""

_KEY = 16


@dataclass(frozen=True, slots=True)
class ObjectSelection:
    """Which of the listed objects are judged.

    Attributes:
        sample: share of units, from 0 to 1, chosen by a keyed hash: the same ones in every run.
        joins: conversations are found first, over all objects.
        since: a date or an age (``time_of``); objects that were last written before are left out. None for all.
    """

    sample: float = 1.0
    joins: bool = False
    since: str | None = None


class KnownObjects:
    """Keys of objects that are settled: 16 bytes each, in groups by their first two bytes."""

    def __init__(self) -> None:
        self._groups: dict[bytes, bytearray] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, key: str) -> None:
        """Add a key in hexadecimal."""
        data = bytes.fromhex(key)
        self._groups.setdefault(data[:2], bytearray()).extend(data)
        self._count += 1

    def __contains__(self, key: str) -> bool:
        data = bytes.fromhex(key)
        group = self._groups.get(data[:2], b"")
        at = group.find(data)
        while at % _KEY and at >= 0:  # the end of one key and the start of the next
            at = group.find(data, at + 1)
        return at >= 0


@dataclass(slots=True)
class Planner:
    """Turns a listing into batches, and counts what becomes of its objects.

    Attributes:
        key: of the hashes.
        known: objects that are settled under the same rules.
        index: runs the index pass, if conversations are joined.
        counts: objects that are listed, known, left out by the sample, and planned.
        joined: what the index pass found; None without one.
    """

    key: bytes
    selection: ObjectSelection
    known: KnownObjects
    index: IndexPass
    counts: Counter[str] = field(default_factory=Counter)
    joined: Mapping[str, JsonValue] | None = None

    def batches(self, listing: Iterable[StoredObject]) -> Iterator[Batch]:
        """The batches of the plan. Raises what the listing and the index pass raise."""
        return batches_of(self._choose(self._units(self._count(listing))))

    def _count(self, listing: Iterable[StoredObject]) -> Iterator[StoredObject]:
        for found in listing:
            self.counts["listed"] += 1
            yield found

    def _units(self, listing: Iterable[StoredObject]) -> Iterator[Sequence[StoredObject]]:
        if not self.selection.joins:
            yield from ((found,) for found in listing)
            return
        with Joiner() as joiner:
            for batch, rows in self.index(joiner.batches(listing)):
                joiner.add(batch, rows)
            yield from joiner.units()
            self.joined = joiner.counts.as_dict()

    def _choose(self, units: Iterable[Sequence[StoredObject]]) -> Iterator[Sequence[StoredObject]]:
        for unit in units:
            if self.known and all(object_key(found, self.key) in self.known for found in unit):
                self.counts["known"] += len(unit)
            elif self.selection.sample < 1 and not is_in_share(self.key, "sample", unit[0].uri, self.selection.sample):
                self.counts["left_out"] += len(unit)
            else:
                self.counts["planned"] += len(unit)
                yield unit
