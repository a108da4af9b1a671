"""The plan of a run as a file: batches, each a compressed frame that is read alone, and an index of them at the end.

The plan is never in memory as a whole: a driver needs the index, which has one entry for each batch. The file is JSON
Lines, compressed with zstd; its last 16 bytes are a skippable frame that tells where the index begins.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import zstandard

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.survey.object_listing import StoredObject
from workbench.survey.parts import Batch
from workbench.wire import dumps, loads

_TRAILER = struct.Struct("<IIQ")
_SKIPPABLE = 0x184D2A50
"""Magic number of a frame that readers of zstd skip (RFC 8878, 3.1.2)."""


class PlannedBatch(NamedTuple):
    """A batch in the index of a plan: its name, the number of its objects, and where it is in the file."""

    name: str
    objects: int
    at: int
    size: int


@dataclass(frozen=True, slots=True)
class SurveyPlan:
    """The plan of one run.

    Attributes:
        path: its file.
        about: number of the run, root, rules, counts of what was listed, options.
        index: all batches, in order.
    """

    path: Path
    about: Mapping[str, JsonValue]
    index: Sequence[PlannedBatch]

    def batches(self, planned_batches: Iterable[PlannedBatch] | None = None) -> Iterator[Batch]:
        """Batches of the plan, read one by one; by default all."""
        with self.path.open("rb") as file:
            for entry in self.index if planned_batches is None else planned_batches:
                file.seek(entry.at)
                name, units = loads(zstandard.ZstdDecompressor().decompress(file.read(entry.size)))
                yield Batch(name, [[StoredObject(*found) for found in unit] for unit in units])


def write_plan(file: BinaryIO, batches: Iterable[Batch], about: Callable[[], Mapping[str, JsonValue]]) -> None:
    """Write a plan while its batches are made.

    Args:
        about: called after the last batch, when all is counted.
    """
    index: list[PlannedBatch] = []
    at = 0
    compressor = zstandard.ZstdCompressor()
    for batch in batches:
        line = dumps([batch.name, [[list(found) for found in unit] for unit in batch.units]]) + b"\n"
        size = file.write(compressor.compress(line))
        index.append(PlannedBatch(batch.name, sum(map(len, batch.units)), at, size))
        at += size
    end: dict[str, JsonValue] = {"about": dict(about()), "index": [list(entry) for entry in index]}
    file.write(compressor.compress(dumps(end) + b"\n"))
    file.write(_TRAILER.pack(_SKIPPABLE, 8, at))


def read_plan(path: Path) -> SurveyPlan:
    """The plan in a file. Raises OSError."""
    with path.open("rb") as file:
        file.seek(-_TRAILER.size, os.SEEK_END)
        _, _, at = _TRAILER.unpack(file.read(_TRAILER.size))
        file.seek(at)
        footer = loads(zstandard.ZstdDecompressor().decompress(file.read()[: -_TRAILER.size]))
    return SurveyPlan(path, footer["about"], [PlannedBatch(*entry) for entry in footer["index"]])
