"""Opening a recorded session to read: alone where nobody writes it, beside its writer where somebody does."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import SessionFormatError, WireError
from workbench.wire.jsontext import loads

MAGIC = b"SQLite format 3\x00"
VERSION = 1
APPLICATION_ID = 0x57424348  # "WBCH": file(1) and we know our own

Stamp = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file open for reading.

    Attributes:
        torn: what is wrong with its length, "" where nothing is.
        is_shared: read through the side files of a process that writes it, or died while writing; else nobody is
            expected to write, and no side file is made.
        stamp: of the file when it was opened.
    """

    db: sqlite3.Connection
    torn: str
    is_shared: bool
    stamp: Stamp


def is_written(path: Path) -> bool:
    """Some process writes it, or died while writing: what it wrote last stands beside the file."""
    wal = _wal(path)
    return wal.exists() and wal.stat().st_size > 0


def stamp(path: Path) -> Stamp:
    """Differs when the file has to be opened again to see what is in it. Raises OSError."""
    file = path.stat()
    if is_written(path):
        return (file.st_ino, _wal(path).stat().st_ino)
    return (file.st_ino, file.st_size, file.st_mtime_ns)


def open_read_only(path: Path) -> OpenFile:
    """Open it. Raises SessionFormatError, OSError."""
    seen = stamp(path)
    is_shared = is_written(path)
    torn = "" if is_shared else _cut_off(path)
    uri = f"{path.resolve().as_uri()}?mode=ro{'' if is_shared else '&immutable=1'}"
    try:
        db = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
        with ExitStack() as stack:
            stack.callback(db.close)
            if torn:
                db.execute("PRAGMA writable_schema = ON")  # or SQLite refuses a short file as a whole
            db.execute("SELECT 1 FROM sqlite_master").fetchone()
            check_version(db, path)
            stack.pop_all()
    except sqlite3.Error as error:
        raise SessionFormatError(f"not a readable session ({error})", where=str(path)) from error
    return OpenFile(db, torn, is_shared, seen)


def _wal(path: Path) -> Path:
    path = path.resolve()  # SQLite puts it beside the file that a link points to
    return path.with_name(path.name + "-wal")


def _cut_off(path: Path) -> str:
    """Whether a file is shorter than its header says (page size at byte 16, page count at byte 28)."""
    with path.open("rb") as file:
        head = file.read(32)
    size = int.from_bytes(head[16:18], "big")
    expected = (65536 if size == 1 else size) * int.from_bytes(head[28:32], "big")
    there = path.stat().st_size
    return f"the file is cut off: {there:,} of {expected:,} bytes are there" if there < expected else ""


def check_version(db: sqlite3.Connection, path: Path) -> None:
    """Raises SessionFormatError for what is no session, or one of a newer version."""
    try:
        meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
    except sqlite3.Error as error:
        raise SessionFormatError(f"a SQLite file, but no session ({error})", where=str(path)) from error
    version = meta.get("version", "")
    if meta.get("format") != "workbench-session" or not version.isdecimal():
        raise SessionFormatError("a SQLite file, but no session", where=str(path))
    if int(version) > VERSION:
        raise SessionFormatError(
            f"written by a newer version (format {version}, this one reads {VERSION})",
            where=str(path),
            hint="update workbench",
        )


def about(db: sqlite3.Connection) -> Mapping[str, str]:
    """What its maker says of the session."""
    found = db.execute("SELECT value FROM meta WHERE key = 'about'").fetchone()
    try:
        said = loads(found[0].encode()) if found else None
    except (WireError, AttributeError):
        said = None
    return {k: v for k, v in said.items() if isinstance(v, str)} if isinstance(said, dict) else {}


def sequence(file: OpenFile) -> tuple[list[int], tuple[str, ...]]:
    """Positions of every exchange that can be listed, and what is wrong."""
    torn = file.torn
    try:
        found = [row[0] for row in file.db.execute("SELECT seq FROM exchange ORDER BY seq")]
    except sqlite3.DatabaseError as error:
        found = _listable(file.db)
        torn = torn or f"the file is torn ({error})"
    return found, (f"{torn}; {len(found):,} exchanges can be listed",) if torn else ()


def _listable(db: sqlite3.Connection) -> list[int]:
    """Rows before and behind a tear, looked for one by one until a thousand in a row are missing."""
    found: list[int] = []
    seq = 0
    while seq - (found[-1] if found else 0) < 1000:
        with suppress(sqlite3.DatabaseError):
            if db.execute("SELECT 1 FROM exchange WHERE seq = ?", (seq,)).fetchone():
                found.append(seq)
        seq += 1
    return found
