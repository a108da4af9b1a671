"""Writes a session file in SQLite, as the recorder does."""

from __future__ import annotations

from workbench.formats.exporters import Exported, Selection
from workbench.formats.exporters._saved import saved
from workbench.wire.session import store

TITLE = "session file"
SUFFIX = ".wb"


def write(selection: Selection) -> Exported:
    """Write the exchanges as a session. Raises SessionFormatError, OSError."""
    return saved(selection, store.RECORDING)
