"""Importer for Workbench session files, SQLite and text form, opened in place."""

from __future__ import annotations

import tempfile
from pathlib import Path

from workbench.errors import SessionFormatError
from workbench.wire.session import Session, store, text

NAME = "session"
TITLE = "Workbench session"


def sniff(head: bytes) -> float:
    """The magic bytes or the first line."""
    return 1.0 if store.is_session(head) else 0.0


def open_path(path: Path) -> Session:
    """Open in place. Raises SessionFormatError, OSError."""
    return store.open_session(path)


def read(data: bytes, name: str) -> Session:
    """Read a session from a pipe or a compressed file. Raises SessionFormatError."""
    if text.is_text_session(data[:4096]):
        return text.read(data, name)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            return store.open_session(path)  # an open database outlives its name
        except SessionFormatError as error:
            raise SessionFormatError(error.what, hint=error.hint) from error
