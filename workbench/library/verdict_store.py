"""Verdicts on files that were checked, kept in the cache: a file that is the same need not be inspected again.

A verdict is kept under a digest of the file's bytes and of all else that decides about it: its name, the options, the
program with its contracts and plug-ins. It is never kept where it depends on other files, or names a credential. What
was cut or changed in the cache is no verdict; without the cache everything takes longer, and is the same.

A file of the cache holds the verdicts whose keys begin alike: a header, and for each the key, a digest, a length, and
the verdict.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from workbench.config import cache_files
from workbench.contracts import (
    UNREAD,
    Basis,
    Breaks,
    Contradiction,
    Edit,
    EnforcedCheck,
    FaultId,
    FaultOrigin,
    Finding,
    Repair,
    Severity,
    WireOrder,
)
from workbench.contracts import loading as contracts
from workbench.hashing import blake2b
from workbench.lazy_dataclass import replace
from workbench.library.program_digest import program_digest
from workbench.rules import ContradictedFact, InspectedExchange, Inspection
from workbench.wire import ExchangeKind, Origin, State, Summary, plain_form
from workbench.wire.session import is_written

MOST_BYTES = 512 * 1024
"""A larger verdict is not kept: thousands of findings that nobody reads twice."""

MOST_FINDINGS = 2000
"""Rows with more findings are not kept: to show them takes as long as to find them."""

BUCKETS, MOST_OF_BUCKET = 64, 1024 * 1024
"""Files of the cache, and bytes of one: of more, the verdicts that were kept first are forgotten."""

_HEADER = b"workbench verdicts 1\n"
_KEY, _CHECK, _LENGTH = 32, 16, 4
_PIECE = 1024 * 1024
_SECRETS = "secret."
"""Beginning of the rules whose findings are never kept."""

_CLASSES = (
    *(Basis, Breaks, Contradiction, ContradictedFact, Edit, EnforcedCheck, ExchangeKind, FaultId, FaultOrigin, Finding),
    *(InspectedExchange, Inspection, Origin, Repair, Severity, State, Summary, WireOrder),
)
_FAULTS = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, zlib.error)
"""Raised for a verdict that cannot be written, or is none."""


class KeptVerdict(NamedTuple):
    """The inspection of a file, with one finding for each cause, and the facts that accepted requests contradict."""

    inspection: Inspection
    contradicted: tuple[ContradictedFact, ...]


class FileKey(NamedTuple):
    """Digest under which the verdict on a file is kept, and the identity of the file of which that is true."""

    digest: bytes
    identity: Sequence[int]


class VerdictStore:
    """The verdicts of one run. Those that are added are written by ``save``.

    Args:
        options: everything that determines a verdict in addition to the file and the program.
    """

    def __init__(self, options: Sequence[str | bool | None]) -> None:
        program = program_digest()
        contracts.keep_resolved(program)
        self._context = f"{program} {options!r}".encode(errors="surrogateescape")
        self._added: dict[bytes, bytes] = {}
        self._read: dict[str, Mapping[bytes, bytes]] = {}

    def key(self, path: str, *, is_found: bool) -> FileKey | None:
        """The key of a file; None if it is no regular file, or is being written.

        Args:
            is_found: it was found in a folder, and read only if an importer claims it.
        """
        try:
            content = _read_content(path)
        except (OSError, ValueError):
            return None
        if content is None:
            return None
        about = f"{Path(path).name!r} {is_found} ".encode(errors="surrogateescape")
        digest = blake2b(self._context + about + content.digest, digest_size=_KEY).digest()
        return FileKey(digest, content.identity)

    def find(self, key: FileKey) -> KeptVerdict | None:
        """The verdict on a file; None if none is kept."""
        verdict = self._load(key)
        return KeptVerdict(*verdict) if _is_verdict(verdict) else None

    def _load(self, key: FileKey) -> Any:
        """The decoded value kept under a key; None if there is none."""
        name = _bucket_of(key.digest)
        if name not in self._read:
            self._read[name] = _read_bucket(name)
        packed = self._read[name].get(key.digest)
        with suppress(*_FAULTS):
            if packed is not None:
                return plain_form.decode(_unpack(packed), _CLASSES)
        return None

    def add(self, path: str, key: FileKey, inspection: Inspection, contradicted: tuple[ContradictedFact, ...]) -> None:
        """Keep the verdict on a file, unless the file has changed since, or the verdict must not be kept."""
        self._add(path, key, (_outline(inspection), contradicted), inspection.findings)

    def _add(self, path: str, key: FileKey, verdict: object, findings: Iterable[Finding]) -> None:
        if any(finding.rule.startswith(_SECRETS) for finding in findings):
            return
        with suppress(*_FAULTS, OSError):
            plain = plain_form.encode(verdict, _CLASSES)
            packed = zlib.compress(plain.encode(), 1)
            if len(packed) <= MOST_BYTES and cache_files.identity(path) == key.identity:
                self._added[key.digest] = packed

    def find_rows(self, key: FileKey, summaries: Sequence[Summary]) -> Sequence[InspectedExchange]:
        """The rows of a file with all their findings; none if they are not kept. ``summaries``: its list."""
        rows = self._load(key)
        if not isinstance(rows, tuple) or len(rows) != len(summaries) or not all(map(_is_row, rows)):
            return ()
        pairs = zip(rows, summaries, strict=True)
        return [row if row.summary else replace(row, summary=summary) for row, summary in pairs]

    def add_rows(
        self, path: str, key: FileKey, rows: Sequence[InspectedExchange], summaries: Sequence[Summary]
    ) -> None:
        """Keep the rows of a whole file, unless it has changed since, or they must not be kept."""
        if sum(len(row.findings) for row in rows) > MOST_FINDINGS or any(row.tool_links for row in rows):
            return
        plain = tuple(
            replace(row, findings=tuple(row.findings), summary=None if row.summary == summary else row.summary)  # type: ignore[arg-type]
            for row, summary in zip(rows, summaries, strict=True)
        )
        self._add(path, key, plain, [finding for row in plain for finding in row.findings])

    def save(self) -> None:
        """Write what was added. A failure is ignored."""
        by_bucket: dict[str, dict[bytes, bytes]] = {}
        for digest, packed in self._added.items():
            by_bucket.setdefault(_bucket_of(digest), {})[digest] = packed
        self._added, self._read = {}, {}
        for name, added in by_bucket.items():
            earlier = {key: packed for key, packed in _read_bucket(name).items() if key not in added}
            cache_files.write(name, _bucket({**earlier, **added}))


class _Content(NamedTuple):
    """Digest of the bytes of a file, and its identity."""

    digest: bytes
    identity: Sequence[int]


def _read_content(path: str) -> _Content | None:
    """Digest and identity of a file, from few system calls; None if it is no regular file, or is being written.

    Raises OSError, ValueError.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe that is opened and closed loses its writer
        return None
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or is_written(Path(path)):
            return None
        digest = blake2b()
        while piece := os.read(handle, _PIECE):
            digest.update(piece)
    finally:
        os.close(handle)
    return _Content(digest.digest(), cache_files.identity_of(status))


def _outline(inspection: Inspection) -> Inspection:
    """The inspection with what is printed of it: of a row, the findings that say it was not read."""
    rows = tuple(
        replace(row, findings=tuple(f for f in row.findings if row.problems or f.rule in UNREAD))
        for row in inspection.rows
    )
    return replace(inspection, rows=rows, conversations=(), findings=tuple(inspection.findings))


def _is_row(value: object) -> bool:
    return (
        isinstance(value, InspectedExchange)
        and (value.summary is None or isinstance(value.summary, Summary))
        and all(isinstance(finding, Finding) for finding in value.findings)
    )


def _is_verdict(value: object) -> bool:
    match value:
        case (Inspection() as found, tuple() as contradicted):
            return (
                all(isinstance(row, InspectedExchange) and isinstance(row.summary, Summary) for row in found.rows)
                and all(isinstance(finding, Finding) for finding in found.findings)
                and all(isinstance(fact, ContradictedFact) for fact in contradicted)
            )
    return False


def _bucket_of(digest: bytes) -> str:
    return f"verdicts-{digest[0] % BUCKETS:02}.bin"


def _unpack(packed: bytes) -> bytes:
    """The text of a verdict. Raises ValueError if it is larger than any that is kept."""
    inflate = zlib.decompressobj()
    text = inflate.decompress(packed, cache_files.MAX_BYTES)
    if not inflate.eof:
        raise ValueError("the stored verdict is incomplete")
    return text


def _read_bucket(name: str) -> Mapping[bytes, bytes]:
    """The verdicts in a file of the cache by their keys; as many as are whole."""
    return dict(_records(cache_files.read(name) or b""))


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_HEADER) if data.startswith(_HEADER) else len(data)
    while at < len(data):
        head = data[at : at + _KEY + _CHECK + _LENGTH]
        key, check, size = head[:_KEY], head[_KEY:-_LENGTH], int.from_bytes(head[-_LENGTH:], "big")
        at += len(head)
        packed = data[at : at + size]
        at += size
        if len(packed) < size or check != _check(key, packed):
            return
        yield key, packed


def _check(key: bytes, packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_CHECK, key=key[:_KEY]).digest()


def _bucket(verdicts: Mapping[bytes, bytes]) -> bytes:
    """The content of a file of the cache: the verdicts that were kept last, as many as it may hold."""
    records: list[bytes] = []
    room = MOST_OF_BUCKET - len(_HEADER)
    for key, packed in reversed(list(verdicts.items())):
        record = b"".join((key, _check(key, packed), len(packed).to_bytes(_LENGTH, "big"), packed))
        room -= len(record)
        if room < 0:
            break
        records.append(record)
    return b"".join((_HEADER, *reversed(records)))
