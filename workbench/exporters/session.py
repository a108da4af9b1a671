"""Our own form: a session file in SQLite, as the recorder writes it."""

from __future__ import annotations

from workbench.exporters import Exported, Selection
from workbench.exporters._saved import saved
from workbench.wire.session import store

TITLE = "session file"
SUFFIX = ".wb"


def write(selection: Selection) -> Exported:
    """The exchanges as a session. Raises SessionFormatError, OSError."""
    return saved(selection, store.RECORDING)
