"""Reads rows of a table, which have the columns of a store, into a session of that store."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from workbench.errors import UnreadableInput
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._store import COLUMNS, StoreRow, session_of, store_of
from workbench.wire.session import Session


def session_of_rows(columns: Iterable[str], rows: Iterable[StoreRow], name: str, damage: ImportDamage) -> Session:
    """The session of a table. Raises UnreadableInput for a table of no store, or without an exchange."""
    names = list(columns)
    store = store_of(names)
    if store is None:
        name_list = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
        raise UnreadableInput(f"a table from an unknown store with the columns {name_list}", hint=_hint())
    module = import_module(f"{__package__}.{store}")
    session = getattr(module, "session", None)
    if session is not None:
        own_session: Session = session(rows, name, damage)
        return own_session
    return session_of(module.exchanges(rows, damage), name, module.TITLE, damage)


def _hint() -> str:
    return f"known stores: {', '.join(name.replace('_', ' ') for name in sorted(COLUMNS))}"
