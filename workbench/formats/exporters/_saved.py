"""Writes session files as bytes; secrets are replaced as in every session file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from workbench.formats.exporters import Exported, Selection, one_file
from workbench.formats.exporters._safe import safe
from workbench.wire import Exchange, Redactor
from workbench.wire.session import store


class _Done(Redactor):
    """A redactor that finds nothing: its input contains no secrets any more."""

    def exchange(self, exchange: Exchange) -> Exchange:
        return exchange


def saved(selection: Selection, form: str) -> Exported:
    """Write the exchanges as a session file. Raises SessionFormatError, OSError.

    Args:
        form: ``store.TEXT`` or ``store.RECORDING``.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session"
        exchanges = (exchange for _, exchange in safe(selection))
        session = selection.session
        written = store.save(exchanges, path, _Done(), session.about, form, store.copied_id(session))
        count = written.redactions
        note = (f"{count:,} secrets are replaced by stand-ins" if count > 1 else "a secret is replaced by a stand-in",)
        return one_file(path.read_bytes(), (note if count else ()) + tuple(f"damaged: {d}" for d in written.damage))
