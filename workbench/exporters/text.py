"""Our own form as text: JSON Lines, one exchange a line, bodies exact; for fixtures and diffs."""

from __future__ import annotations

from workbench.exporters import Exported, Selection
from workbench.exporters._saved import saved
from workbench.wire.session import store

TITLE = "text session"
SUFFIX = ".jsonl"


def write(selection: Selection) -> Exported:
    """The exchanges as a session. Raises SessionFormatError, OSError."""
    return saved(selection, store.TEXT)
