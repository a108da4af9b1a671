"""The side file that SQLite keeps next to a session while a process writes it; it may vanish at any moment."""

from __future__ import annotations

import os
from pathlib import Path


def state(path: Path) -> os.stat_result | None:
    """State of the side file of a session; None if there is none, or it is empty. Raises OSError."""
    if path.is_symlink():
        path = path.resolve()  # SQLite puts it next to the file that a link points to
    try:
        found = path.with_name(f"{path.name}-wal").stat()
    except FileNotFoundError:
        return None
    return found if found.st_size else None


def is_written(path: Path) -> bool:
    """True if a process writes the session, or died while writing: a side file exists. Raises OSError."""
    return state(path) is not None
