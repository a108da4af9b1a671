"""Parts: the rows of one batch, as compressed lines with a trailer that counts them. Without it, a part is incomplete.

A part is named after a digest of what its batch reads, so that the same batch always writes the same file: doing it
twice replaces it, and nothing is doubled.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import zstandard

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.survey.object_listing import StoredObject
from workbench.survey.rows import Row
from workbench.wire import dumps, loads

SUFFIX = ".jsonl.zst"
MOST_OBJECTS = 250
MOST_BYTES = 32 * 1024 * 1024
"""Limits of a batch: some seconds of work, so that little is lost with it."""

_LEVEL = 3


class Batch(NamedTuple):
    """Units of one task. ``name``: a digest of their objects and versions."""

    name: str
    units: Sequence[Sequence[StoredObject]]


def batches_of(units: Iterable[Sequence[StoredObject]]) -> Iterator[Batch]:
    """Batches of units, in order."""
    pending: list[Sequence[StoredObject]] = []
    count = size = 0
    for unit in units:
        pending.append(unit)
        count += len(unit)
        size += sum(found.size for found in unit)
        if count >= MOST_OBJECTS or size >= MOST_BYTES:
            yield batch_of(pending)
            pending, count, size = [], 0, 0
    if pending:
        yield batch_of(pending)


def batch_of(units: Sequence[Sequence[StoredObject]]) -> Batch:
    """A batch with the name of its units."""
    digest = blake2b(digest_size=12)
    for unit in units:
        digest.update(dumps([[found.uri, found.etag] for found in unit]) + b"\n")
    return Batch(digest.hexdigest(), units)


def part_of(batch: Batch, results: Iterable[Sequence[Row]]) -> bytes:
    """The bytes of the part of a batch."""
    counts = Counter[str]()
    lines = []
    for rows in results:
        for row in rows:
            counts[str(row["t"])] += 1
            lines.append(dumps(row) + b"\n")
    trailer: dict[str, JsonValue] = {"t": "end", "batch": batch.name, "counts": dict(counts)}
    lines.append(dumps(trailer) + b"\n")
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(b"".join(lines))


def write_part(folder: Path, batch: Batch, part: bytes) -> Path:
    """Write a part; whoever reads sees the whole of it or nothing. Raises OSError."""
    path = folder / (batch.name + SUFFIX)
    temporary = folder / f".{batch.name}.{os.getpid()}.{id(part)}.tmp"
    with temporary.open("wb") as file:
        file.write(part)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return path


def read_part(path: Path) -> list[Row] | None:
    """The rows of a part; None if it is not whole."""
    content = _content(path)
    if content is None:
        return None
    try:
        rows: list[Row] = [loads(line) for line in content.splitlines()]
    except WireError:
        return None
    if not rows or rows[-1].get("t") != "end":
        return None
    trailer = rows.pop()
    return rows if _counts(rows) == trailer["counts"] and trailer["batch"] == path.name.removesuffix(SUFFIX) else None


def is_whole(path: Path) -> bool:
    """True for a part with its trailer: the compressed form has a checksum, and the trailer is its last line."""
    content = _content(path)
    if not content:
        return False
    line = content.rstrip(b"\n").rpartition(b"\n")[2]
    return b'"t":"end"' in line.replace(b" ", b"") and path.name.removesuffix(SUFFIX).encode() in line


def _content(path: Path) -> bytes | None:
    """What a part holds; None if it is incomplete. A reader of streams would not see that its end is missing."""
    try:
        return zstandard.ZstdDecompressor().decompress(path.read_bytes())
    except (OSError, zstandard.ZstdError):
        return None


def _counts(rows: Sequence[Row]) -> Mapping[str, int]:
    return Counter(str(row["t"]) for row in rows)
