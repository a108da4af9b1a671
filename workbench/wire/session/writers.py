"""Who writes a session: every writer has a row in ``meta`` while it is there, and so has each exchange it goes on with.

A process that was killed leaves its rows. They count for nothing, nor do those of a copy of the file: a writer is known
by its process and by the file (its inode) that it opened.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from workbench.errors import SessionFormatError, WireError
from workbench.wire.json_strings import encode
from workbench.wire.jsontext import loads
from workbench.wire.session import alive, values

Writers = Mapping[str, Mapping[str, str]]
"""Id of a writer → what it says of the session for as long as it is there."""


class _Noted(NamedTuple):
    """The row of a writer.

    Attributes:
        mark: of its process, see ``alive.mark``.
        file: what it writes, see ``file_of``.
        about: what it says of the session.
    """

    mark: str
    file: str
    about: Mapping[str, str]


def join(db: sqlite3.Connection, path: Path) -> str:
    """Note that this process writes; the id it goes by. Inside a transaction."""
    db.execute("DELETE FROM meta WHERE key = 'writer'")  # how earlier versions noted the one there could be
    one = uuid.uuid4().hex[:8]
    _note(db, one, _Noted(alive.mark(), file_of(path), {}))
    return one


def leave(db: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Forget these writers. Inside a transaction."""
    for one in ids:
        db.execute("DELETE FROM meta WHERE key GLOB 'writing *' AND value = ?", (one,))
        db.execute("DELETE FROM meta WHERE key = ?", (f"writer {one}",))


def announce(db: sqlite3.Connection, one: str, path: Path, about: Mapping[str, str]) -> None:
    """What this writer says of the session, in place of what it said before. Inside a transaction."""
    _note(db, one, _Noted(alive.mark(), file_of(path), about))


def living(db: sqlite3.Connection, file: str) -> Writers:
    """The writers of a file that are there."""
    return {one: noted.about for one, noted in _noted(db) if _is_there(noted, file)}


def forget(db: sqlite3.Connection, file: str) -> None:
    """Drop the rows of writers that are gone. Inside a transaction."""
    leave(db, [one for one, noted in _noted(db) if not _is_there(noted, file)])


def begin(db: sqlite3.Connection, one: str, seq: int) -> None:
    """This writer goes on with an exchange. Inside a transaction."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"writing {seq}", one))


def end(db: sqlite3.Connection, seq: int) -> None:
    """Nobody goes on with it. Inside a transaction."""
    db.execute("DELETE FROM meta WHERE key = ?", (f"writing {seq}",))


def owner(db: sqlite3.Connection, seq: int) -> str:
    """The writer that began an exchange and has not finished it, "" for none."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (f"writing {seq}",)).fetchone()
    return str(row[0]) if row else ""


def file_of(path: Path) -> str:
    """What tells a file from its copies. Raises OSError."""
    return str(path.stat().st_ino)


def merged(about: Mapping[str, str], writers: Writers) -> Mapping[str, str]:
    """What is said of a session as a whole, and by those who write it: of several the words of each."""
    said: dict[str, dict[str, None]] = {}
    for words in writers.values():
        for word, value in words.items():
            said.setdefault(word, {})[value] = None
    return {**about, **{word: " · ".join(values) for word, values in said.items()}}


def _is_there(noted: _Noted, file: str) -> bool:
    return noted.file == file and alive.is_alive(noted.mark)


def _note(db: sqlite3.Connection, one: str, noted: _Noted) -> None:
    told = json.dumps({**noted._asdict(), "about": dict(noted.about)})
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"writer {one}", told))


def _noted(db: sqlite3.Connection) -> Iterator[tuple[str, _Noted]]:
    for key, value in db.execute("SELECT key, value FROM meta WHERE key GLOB 'writer *'").fetchall():
        if isinstance(key, str):
            yield key.partition(" ")[2], _read(value)


def _read(value: object) -> _Noted:
    """What a row says of a writer; nothing where it is not written by this version."""
    try:
        said = values.members(loads(encode(values.text(value))))
        about = values.members(said.get("about"))
        mark, file = values.text(said.get("mark")), values.text(said.get("file"))
        return _Noted(mark, file, {word: values.text(told) for word, told in about.items()})
    except (WireError, SessionFormatError):
        return _Noted("", "", {})
