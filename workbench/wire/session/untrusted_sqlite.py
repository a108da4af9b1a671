"""Opens an untrusted SQLite file safely: only our tables, no code in it, and no unbounded work.

A database is a program: a view or generated column computes, a trigger acts, and pages that point at each other make a
small file an endless table. So nothing is read before the schema is verified to be ours, and no statement takes more
steps than a file of that size can need.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from workbench import regex
from workbench.errors import SessionFormatError
from workbench.limits import MAX_STORED_BODY
from workbench.wire.session import write_ahead_log

FAULTS: Final = (sqlite3.Error, UnicodeDecodeError, OverflowError)
"""Exceptions of SQLite and its reader for a damaged or hostile file."""

LEAST_STEPS: Final = 2_000_000
STEPS_PER_BYTE: Final = 5
"""Limit of SQLite machine steps per byte for one statement: verifying a file takes under 1."""

_LOOKS: Final = 10_000
_TOO_LONG: Final = "reading the file takes more steps than a file of this size should need"
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
_NOT_OURS: Final = "a SQLite file, but not a session"
_COMMENT: Final = regex.compile(r"--[^\n]*")


class GuardedConnection(sqlite3.Connection):
    """A connection to an untrusted file; each statement has a step limit that depends on the file size."""

    _most = LEAST_STEPS
    _steps_left = LEAST_STEPS

    def guard(self, path: Path) -> None:
        """Set the limits for a file."""
        self.measure(path)
        for what, most in _LIMITS.items():
            self.setlimit(what, most)
        self.set_progress_handler(self._look, _LOOKS)
        self.execute("PRAGMA trusted_schema = OFF")
        self.execute("PRAGMA cell_size_check = ON")

    def measure(self, path: Path) -> None:
        """Update the file size. Raises OSError."""
        log = write_ahead_log.state(path)
        size = path.stat().st_size + (log.st_size if log else 0)
        self._most = LEAST_STEPS + STEPS_PER_BYTE * size

    def trust(self) -> None:
        """Remove the step limit: the file was verified, and from now on only we write it."""
        self.set_progress_handler(None, 0)

    def execute(self, *words: Any) -> sqlite3.Cursor:
        """Start a statement with the full step limit."""
        self._steps_left = self._most
        return super().execute(*words)

    def _look(self) -> bool:
        self._steps_left -= _LOOKS
        return self._steps_left < 0


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Report errors of SQLite on a file as one line."""
    try:
        yield
    except FAULTS as error:
        raise SessionFormatError(f"not a readable session ({reason(error)})", where=str(path)) from error


def reason(error: Exception) -> str:
    """Fault of a file in a few words."""
    if str(error) == "interrupted":
        return _TOO_LONG
    is_text = isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode to UTF-8")
    return "text that is not UTF-8" if is_text else " ".join(str(error).split())[:200]


def check_schema(db: sqlite3.Connection, path: Path) -> None:
    """Raise SessionFormatError if the file has anything but our tables, exactly as we create them."""
    with readable(path):
        found = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 100").fetchall()
    ours = _tables()
    seen: set[str] = set()
    for kind, name, table, sql in found:
        is_ours = kind == "table" and name == table and name in ours and name not in seen
        if is_ours and isinstance(sql, str) and _plain(sql) == ours[name]:
            seen.add(name)
        elif kind != "index" or sql is not None or table not in ours:  # SQLite's own: what a key is looked up by
            raise SessionFormatError(
                f"{_NOT_OURS}: the file has a {kind} {name!r} that Workbench did not create", where=str(path)
            )
    if not {"meta", "exchange"} <= seen:
        raise SessionFormatError(_NOT_OURS, where=str(path))


def schema() -> str:
    """SQL that creates the tables of a session."""
    return files("workbench.wire.session").joinpath("schema.sql").read_text(encoding="utf-8")


@cache
def _tables() -> Mapping[str, str]:
    """Table name → its SQL, as SQLite keeps it."""
    with sqlite3.connect(":memory:") as db:
        db.executescript(schema())
        statements = {
            name: _plain(sql) for name, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE sql NOT NULL")
        }
    db.close()
    return statements


def _plain(sql: str) -> str:
    """SQL without comments and spaces, in which other versions differ."""
    return "".join(_COMMENT.sub("", sql).split()).lower()
