"""Writes session files as bytes; secrets are replaced as in every session file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._secret_removal import without_secrets
from workbench.wire import Exchange, Redactor
from workbench.wire.session import store


class _NoRedactor(Redactor):
    """A redactor that finds nothing: its input contains no secrets any more."""

    def exchange(self, exchange: Exchange) -> Exchange:
        return exchange


def session_file(selection: ExportSelection, form: str) -> ExportResult:
    """Write the exchanges as a session file. Raises SessionFormatError, OSError.

    Args:
        form: ``store.TEXT`` or ``store.RECORDING``.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session"
        exchanges = (exchange for _, exchange in without_secrets(selection))
        session = selection.session
        written = store.save(exchanges, path, _NoRedactor(), session.about, form, store.copied_id(session))
        count = written.redactions
        note = (f"{count:,} secrets are replaced by stand-ins" if count > 1 else "a secret is replaced by a stand-in",)
        return one_file(path.read_bytes(), (note if count else ()) + tuple(f"damaged: {d}" for d in written.damage))
