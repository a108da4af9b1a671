"""Rows of a table that are read before they are asked for: most sessions are read in order."""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable
from typing import Any, Final

from workbench.wire.session.untrusted_sqlite import FAULTS

_NEAR: Final = 32
"""Distance up to which a row follows the one asked for before."""

_AHEAD: Final = 256
"""Rows that are read at once, and their kilobytes."""


class RowsAhead:
    """Rows of a table, each read with some of those behind it if the one before it was asked for last.

    Args:
        one: query for a row by its key.
        more: query for the rows from a number on, in order, each with its key before it.
    """

    def __init__(self, one: str, more: str) -> None:
        self._one, self._more = one, more
        self._ahead: dict[Hashable, Any] = {}
        self._last = -_NEAR

    def row(self, db: sqlite3.Connection, number: int, *rest: Hashable) -> Any:
        """The row of a number, and of the rest of its key; None if there is none. Raises SQLite errors.

        Args:
            db: file that nobody writes.
        """
        key = (number, *rest)
        if key in self._ahead:
            return self._ahead.pop(key)
        if type(number) is not int:  # in a damaged file
            return self.find(db, *key)
        is_next, self._last = 0 <= number - self._last < _NEAR, number
        if is_next:
            try:
                self._read(db, number, len(key))
            except FAULTS:  # of another row
                self._ahead.clear()
        return self._ahead.pop(key) if key in self._ahead else self.find(db, *key)

    def forget(self) -> None:
        """Drop what was read ahead: the file has changed."""
        self._ahead, self._last = {}, -_NEAR

    def find(self, db: sqlite3.Connection, *key: Hashable) -> Any:
        """The row of a key, read alone; None if there is none. Raises SQLite errors."""
        return db.execute(self._one, key).fetchone()

    def _read(self, db: sqlite3.Connection, number: int, width: int) -> None:
        self._ahead, size = {}, 0
        for row in db.execute(self._more, (number,)):
            self._ahead[row[:width]] = row[width:]
            if type(row[0]) is int:
                self._last = row[0]
            size += 1024
            for value in row:
                if type(value) in (bytes, str):
                    size += len(value)
            if size > 1024 * _AHEAD:
                break
