"""A SQLite file of anybody, made harmless: only our tables, no code in them, and nothing that takes for ever.

A database is a program: a view or a generated column computes, a trigger acts, pages that point at one another make a
small file an endless table. So nothing of a file is asked for before its schema is found to be ours, and no statement
takes more steps than a file of that size can need.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from workbench.errors import SessionFormatError
from workbench.limits import MAX_STORED_BODY

FAULTS: Final = (sqlite3.Error, UnicodeDecodeError, OverflowError)
"""What SQLite and its reader raise for a file that is torn, or made to look so."""

LEAST_STEPS: Final = 2_000_000
STEPS_PER_BYTE: Final = 5
"""Steps of SQLite's machine that a statement may take: proving a file takes under 1 for each of its bytes."""

_LOOKS: Final = 10_000
_TOO_LONG: Final = "it takes more steps than a file of this size can need"
_LIMITS: Final[Mapping[int, int]] = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_STORED_BODY + 2**20,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 3,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
_NOT_OURS: Final = "a SQLite file, but no session"
_COMMENT: Final = re.compile(r"--[^\n]*")


class Connection(sqlite3.Connection):
    """A connection to a file of anybody; each statement has the steps that a file of its size can need."""

    _most = LEAST_STEPS
    _left = LEAST_STEPS

    def guard(self, path: Path) -> None:
        """Bound what it does with a file."""
        self.measure(path)
        for what, most in _LIMITS.items():
            self.setlimit(what, most)
        self.set_progress_handler(self._look, _LOOKS)
        self.execute("PRAGMA trusted_schema = OFF")
        self.execute("PRAGMA cell_size_check = ON")

    def measure(self, path: Path) -> None:
        """Take the size that the file has now. Raises OSError."""
        beside = path.with_name(f"{path.name}-wal")
        size = path.stat().st_size + (beside.stat().st_size if beside.exists() else 0)
        self._most = LEAST_STEPS + STEPS_PER_BYTE * size

    def trust(self) -> None:
        """Let statements take what they take: the file was looked at, and from now on it is what we make of it."""
        self.set_progress_handler(None, 0)

    def execute(self, *words: Any) -> sqlite3.Cursor:
        """Begin a statement, with all of its steps before it."""
        self._left = self._most
        return super().execute(*words)

    def _look(self) -> bool:
        self._left -= _LOOKS
        return self._left < 0


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What SQLite says of a file, in one line of ours."""
    try:
        yield
    except FAULTS as error:
        raise SessionFormatError(f"not a readable session ({reason(error)})", where=str(path)) from error


def reason(error: Exception) -> str:
    """What is wrong with a file, in few words."""
    if str(error) == "interrupted":
        return _TOO_LONG
    is_text = isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode to UTF-8")
    return "text that is not UTF-8" if is_text else " ".join(str(error).split())[:200]


def check_schema(db: sqlite3.Connection, path: Path) -> None:
    """Raises SessionFormatError for a file with anything but our tables, as we make them."""
    with readable(path):
        found = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 100").fetchall()
    ours = _tables()
    seen: set[str] = set()
    for kind, name, table, made in found:
        is_ours = kind == "table" and name == table and name in ours and name not in seen
        if is_ours and isinstance(made, str) and _plain(made) == ours[name]:
            seen.add(name)
        elif kind != "index" or made is not None or table not in ours:  # SQLite's own: what a key is looked up by
            raise SessionFormatError(f"{_NOT_OURS}: it has a {kind} {name!r} that is not ours", where=str(path))
    if not {"meta", "exchange"} <= seen:
        raise SessionFormatError(_NOT_OURS, where=str(path))


def schema() -> str:
    """The tables of a session, as they are made."""
    return files("workbench.wire.session").joinpath("schema.sql").read_text(encoding="utf-8")


@cache
def _tables() -> Mapping[str, str]:
    """Name → how it is made, as SQLite keeps it."""
    with sqlite3.connect(":memory:") as db:
        db.executescript(schema())
        made = {name: _plain(sql) for name, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE sql NOT NULL")}
    db.close()
    return made


def _plain(sql: str) -> str:
    """Without comments and spaces, which other versions wrote in other words."""
    return "".join(_COMMENT.sub("", sql).split()).lower()
