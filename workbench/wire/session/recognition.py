"""Recognition of a recording by its first bytes, without what reads one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import SessionFormatError

if TYPE_CHECKING:
    from workbench.wire.session.sqlite import SqliteSession

MAGIC = b"SQLite format 3\x00"


def open_recording(path: Path) -> SqliteSession | None:
    """Open a recording without the importers of other formats; None for any other file, and for one with a fault."""
    try:
        if not path.is_file():  # reading from a pipe would take its bytes away
            return None
        with path.open("rb") as file:
            is_sqlite = file.read(len(MAGIC)) == MAGIC
        if not is_sqlite:
            return None
        from workbench.wire.session.sqlite import SqliteSession  # SQLite, and 9 ms

        return SqliteSession(path)
    except (OSError, SessionFormatError):
        return None
