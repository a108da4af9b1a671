"""Writes the session text form: JSON Lines, one exchange a line, exact bodies; for fixtures and diffs."""

from __future__ import annotations

from workbench.formats.exporters import Exported, Selection
from workbench.formats.exporters._saved import saved
from workbench.wire.session import store

TITLE = "text session"
SUFFIX = ".jsonl"


def write(selection: Selection) -> Exported:
    """Write the exchanges as a session. Raises SessionFormatError, OSError."""
    return saved(selection, store.TEXT)
