"""Opens a recorded session for reading: exclusively if no process writes it, or next to its writer."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path

from workbench.errors import SessionFormatError, WireError
from workbench.lazy_dataclass import dataclass
from workbench.wire.json_scan import encode
from workbench.wire.jsontext import loads
from workbench.wire.session import untrusted_sqlite, values, write_ahead_log
from workbench.wire.session.identity import valid_id
from workbench.wire.session.untrusted_sqlite import FAULTS, readable, reason

VERSION = 2
APPLICATION_ID = 0x57424348  # "WBCH": file(1) and we know our own

LAST = 2**31 - 1
"""Largest position of an exchange: growth rows of a response are numbered by position and offset, in 64 bits."""

Stamp = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file open for reading.

    Attributes:
        damaged: fault of its length; empty if there is none.
        is_shared: read through the side files of a process that writes it or died while writing; otherwise no writer is
            expected and no side file is created.
        stamp: of the file when it was opened.
    """

    db: untrusted_sqlite.GuardedConnection
    damaged: str
    is_shared: bool
    stamp: Stamp


def stamp(path: Path) -> Stamp:
    """Value that changes when the file must be reopened to see its content. Raises OSError."""
    file = path.stat()
    if log := write_ahead_log.state(path):
        return (file.st_ino, log.st_ino)
    return (file.st_ino, file.st_size, file.st_mtime_ns)


def open_read_only(path: Path) -> OpenFile:
    """Open a file. Raises SessionFormatError, OSError."""
    seen = stamp(path)
    is_shared = write_ahead_log.is_written(path)
    damaged = "" if is_shared else _length_fault(path)
    uri = f"{path.resolve().as_uri()}?mode=ro{'' if is_shared else '&immutable=1'}"
    with ExitStack() as stack:
        with readable(path):
            db = sqlite3.connect(
                uri, uri=True, check_same_thread=False, isolation_level=None, factory=untrusted_sqlite.GuardedConnection
            )
            stack.callback(db.close)
            db.guard(path.resolve())
            if damaged:
                db.execute("PRAGMA writable_schema = ON")  # or SQLite refuses a short file as a whole
        untrusted_sqlite.check_schema(db, path)
        check_version(db, path)
        stack.pop_all()
    return OpenFile(db, damaged, is_shared, seen)


def _length_fault(path: Path) -> str:
    """Compare a file's length with its header (page size at byte 16, page count at byte 28)."""
    with path.open("rb") as file:
        head = file.read(32)
    size = int.from_bytes(head[16:18], "big")
    expected = (65536 if size == 1 else size) * int.from_bytes(head[28:32], "big")
    there = path.stat().st_size
    return f"the file is truncated: {there:,} of {expected:,} bytes" if there < expected else ""


def check_version(db: sqlite3.Connection, path: Path) -> None:
    """Raise SessionFormatError if it is not a session, or one of a newer version."""
    with readable(path):
        meta = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('format', 'version') LIMIT 2").fetchall())
    version = str(meta.get("version"))
    if meta.get("format") != "workbench-session" or not re.fullmatch("[1-9][0-9]*", version):
        raise SessionFormatError("a SQLite file, but not a session", where=str(path))
    if len(version) > 9 or int(version) > VERSION:
        raise SessionFormatError(values.newer(version, VERSION), where=str(path), hint="update Workbench")


def identity(db: sqlite3.Connection) -> str:
    """Id of the session; empty string in a file of format 1 without one."""
    with suppress(*FAULTS):
        found = db.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        return valid_id(found[0]) if found else ""
    return ""


def about(db: sqlite3.Connection) -> Mapping[str, str]:
    """Metadata of the session's maker."""
    try:
        found = db.execute("SELECT value FROM meta WHERE key = 'about'").fetchone()
        about_json = loads(encode(values.text(found[0]))) if found else None
    except (*FAULTS, WireError, SessionFormatError):
        about_json = None
    return {k: v for k, v in about_json.items() if isinstance(v, str)} if isinstance(about_json, dict) else {}


def sequence(file: OpenFile) -> tuple[list[int], tuple[str, ...]]:
    """Positions of all exchanges that can be listed, and the damage."""
    damaged = file.damaged
    try:
        found = [row[0] for row in file.db.execute("SELECT seq FROM exchange ORDER BY seq")]
        if not all(0 <= a < b <= LAST for a, b in pairwise((*found, LAST))):
            raise sqlite3.DatabaseError("the exchanges are not in order")
    except FAULTS as error:
        found = _listable(file.db)
        damaged = damaged or f"the file is damaged ({reason(error)})"
    return found, (f"{damaged}; {len(found):,} exchanges can be listed",) if damaged else ()


def _listable(db: sqlite3.Connection) -> list[int]:
    """Rows before and after damage, searched one by one until a thousand in a row are missing."""
    found: list[int] = []
    seq = 0
    while seq - (found[-1] if found else 0) < 1000:
        with suppress(*FAULTS):
            if db.execute("SELECT 1 FROM exchange WHERE seq = ?", (seq,)).fetchone():
                found.append(seq)
        seq += 1
    return found
