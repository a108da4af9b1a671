"""Registers the writers of a session: each has a row in ``meta``, and one for each exchange it is writing.

A killed process leaves its rows. They are ignored, as are those of a copy of the file: a writer is identified by its
process and by the inode of the file that it opened.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from workbench.errors import SessionFormatError, WireError
from workbench.named_tuple import NamedTuple
from workbench.wire.json_scan import encode
from workbench.wire.jsontext import loads
from workbench.wire.session import values


def mark() -> str:
    """Identity of this process: its id, and its start time if the system reports it."""
    return f"{os.getpid()} {_start_time(os.getpid())}".strip()


def is_alive(mark: str) -> bool:
    """True if the process of a mark is running."""
    pid, _, started = mark.partition(" ")
    if not re.fullmatch("[0-9]{1,9}", pid):
        return False
    return _start_time(int(pid)) == started if started else exists(int(pid))


def _start_time(pid: int) -> str:
    """Start of a running process in clock ticks since boot (proc(5), field 22); empty if unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]


def exists(pid: int) -> bool:
    """True if some process has this id, perhaps another one by now."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True


Writers = Mapping[str, Mapping[str, str]]
"""Id of a writer → what it states about the session while it is running."""


class _WriterRow(NamedTuple):
    """Row of a writer.

    Attributes:
        mark: of its process, see ``mark``.
        file: the file it writes, see ``file_of``.
        about: what it states about the session.
    """

    mark: str
    file: str
    about: Mapping[str, str]


def join(db: sqlite3.Connection, path: Path) -> str:
    """Register this process as a writer; return its id. Call inside a transaction."""
    db.execute("DELETE FROM meta WHERE key = 'writer'")  # how earlier versions noted the one there could be
    one = uuid.uuid4().hex[:8]
    _note(db, one, _WriterRow(mark(), file_of(path), {}))
    return one


def leave(db: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Remove these writers. Call inside a transaction."""
    for one in ids:
        db.execute("DELETE FROM meta WHERE key GLOB 'writing *' AND value = ?", (one,))
        db.execute("DELETE FROM meta WHERE key = ?", (f"writer {one}",))


def announce(db: sqlite3.Connection, one: str, path: Path, about: Mapping[str, str]) -> None:
    """Replace what this writer states about the session. Call inside a transaction."""
    _note(db, one, _WriterRow(mark(), file_of(path), about))


def living(db: sqlite3.Connection, file: str) -> Writers:
    """Running writers of a file."""
    return {one: noted.about for one, noted in _writer_rows(db) if _is_there(noted, file)}


def forget(db: sqlite3.Connection, file: str) -> None:
    """Remove rows of writers that are gone. Call inside a transaction."""
    leave(db, [one for one, noted in _writer_rows(db) if not _is_there(noted, file)])


def register_writing(db: sqlite3.Connection, one: str, seq: int) -> None:
    """Register that this writer writes an exchange. Call inside a transaction."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"writing {seq}", one))


def end(db: sqlite3.Connection, seq: int) -> None:
    """Remove the writer of an exchange. Call inside a transaction."""
    db.execute("DELETE FROM meta WHERE key = ?", (f"writing {seq}",))


def owner(db: sqlite3.Connection, seq: int) -> str:
    """Writer of an unfinished exchange; empty if there is none."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (f"writing {seq}",)).fetchone()
    return str(row[0]) if row else ""


def file_of(path: Path) -> str:
    """Identity that distinguishes a file from its copies. Raises OSError."""
    return str(path.stat().st_ino)


def merge_about(about: Mapping[str, str], writers: Writers) -> Mapping[str, str]:
    """Statements about a session, of its maker and its running writers; several values of a key are joined."""
    merged: dict[str, dict[str, None]] = {}
    for words in writers.values():
        for word, value in words.items():
            merged.setdefault(word, {})[value] = None
    return {**about, **{word: " · ".join(values) for word, values in merged.items()}}


def _is_there(writer_row: _WriterRow, file: str) -> bool:
    return writer_row.file == file and is_alive(writer_row.mark)


def _note(db: sqlite3.Connection, one: str, writer_row: _WriterRow) -> None:
    text = json.dumps({**writer_row._asdict(), "about": dict(writer_row.about)})
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"writer {one}", text))


def _writer_rows(db: sqlite3.Connection) -> Iterator[tuple[str, _WriterRow]]:
    for key, value in db.execute("SELECT key, value FROM meta WHERE key GLOB 'writer *'").fetchall():
        if isinstance(key, str):
            yield key.partition(" ")[2], _read(value)


def _read(value: object) -> _WriterRow:
    """Content of a writer's row; None if another version wrote it."""
    try:
        members = values.members(loads(encode(values.text(value))))
        about = values.members(members.get("about"))
        mark, file = values.text(members.get("mark")), values.text(members.get("file"))
        return _WriterRow(mark, file, {word: values.text(entry) for word, entry in about.items()})
    except (WireError, SessionFormatError):
        return _WriterRow("", "", {})
