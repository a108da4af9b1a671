"""Writes a session file in SQLite, as the recorder does."""

from __future__ import annotations

from workbench.formats.exporters import ExportResult, ExportSelection
from workbench.formats.exporters._secret_removal import session_file
from workbench.wire.session import store

TITLE = "session file"
SUFFIX = ".wb"


def write(selection: ExportSelection) -> ExportResult:
    """Write the exchanges as a session. Raises SessionFormatError, OSError."""
    return session_file(selection, store.RECORDING)
