"""Writes the session text form: JSON Lines, one exchange a line, exact bodies; for fixtures and diffs."""

from __future__ import annotations

from workbench.formats.exporters import ExportResult, ExportSelection
from workbench.formats.exporters._secret_removal import session_file
from workbench.wire.session import store

TITLE = "text session"
SUFFIX = ".jsonl"


def write(selection: ExportSelection) -> ExportResult:
    """Write the exchanges as a session. Raises SessionFormatError, OSError."""
    return session_file(selection, store.TEXT)
