"""Writing a session whose requests repeat their history, as a recorder and ``import`` write it: redacted.

Peer: the floor. Of each exchange only the new bytes are compressed and inserted into SQLite, one transaction each; the
digest of the whole body is computed. Nothing is searched for secrets.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import zstandard

from benchmarks.goals import reach
from benchmarks.listing import exchanges
from workbench.wire.exchange import Exchange, Headers
from workbench.wire.redaction import Redactor
from workbench.wire.session import SessionWriter

LARGE = 330_000
"""Bytes of the exchange that the goal speaks of."""

LEARNED = "plain-word-Secret42"
"""Value of a header that only the second half of the requests has."""


def main(count: int = 300) -> None:
    """Print CPU milliseconds of an exchange, and the floor."""
    ways: dict[str, Callable[[Path, list[Exchange]], None]] = {
        "floor": _floor,
        "written": _written,
        "written, redacted": _redacted,
        "redacted, a secret is learned halfway": lambda path, made: _redacted(path, _with_header(made)),
    }
    made, spent = list(exchanges(count)), dict[str, float]()
    size = sum(len(each.request.body.raw) for each in made if each.request)
    with tempfile.TemporaryDirectory() as folder:
        for name, write in ways.items():
            begun = time.process_time()
            write(Path(folder) / name, made)
            spent[name] = time.process_time() - begun
    print(f"writing: {count} exchanges, {size / count / 1e3:.0f} kB each")
    reach("writing 330 kB, redacted", spent["written, redacted"] * LARGE / size * 1e3)
    for name, seconds in spent.items():
        times = f"{seconds / spent['floor']:6.1f} × the floor"
        print(f"  {name:38} {seconds / count * 1e3:6.2f} ms of CPU an exchange {times}")


def _floor(path: Path, made: list[Exchange]) -> None:
    packer, before = zstandard.ZstdCompressor(level=6), 0
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript("PRAGMA journal_mode = WAL; CREATE TABLE body (digest BLOB, data BLOB)")
        for each in made:
            assert each.request
            raw = each.request.body.raw
            new, before = raw[min(before, len(raw)) :], len(raw)
            db.execute("INSERT INTO body VALUES (?, ?)", (hashlib.sha256(raw).digest(), packer.compress(new)))


def _written(path: Path, made: list[Exchange]) -> None:
    with SessionWriter(path) as writer:
        for each in made:
            writer.append(each)


def _redacted(path: Path, made: list[Exchange]) -> None:
    redactor = Redactor()
    with SessionWriter(path) as writer:
        for each in made:
            writer.append(redactor.exchange(each))


def _with_header(made: list[Exchange]) -> list[Exchange]:
    secret = Headers((("x-api-key", LEARNED),))
    return [
        replace(each, request=replace(each.request, headers=secret)) if each.request and n > len(made) // 2 else each
        for n, each in enumerate(made)
    ]
