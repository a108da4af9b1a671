"""Reads rows of a table into a session: of the store that has its columns, else of requests with their responses."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from workbench.errors import UnreadableInput
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._log_stores import COLUMNS, StoreRow, session_of, store_of
from workbench.formats.importers._record import exchanges_of
from workbench.formats.importers._record_names import EVENT_TEXTS, SELECTION
from workbench.formats.importers._records import NEITHER, RecordFinder
from workbench.formats.importers._values import mappings, normalize_name, parse_text
from workbench.formats.importers.records import TITLE
from workbench.ir import JsonValue
from workbench.wire.session import Session


def session_of_rows(columns: Iterable[str], rows: Iterable[StoreRow], name: str, damage: ImportDamage) -> Session:
    """The session of a table. Raises UnreadableInput for one without an exchange."""
    names = list(columns)
    store = store_of(names)
    if store is None:
        return _session_of_records(names, rows, name, damage)
    module = import_module(f"{__package__}.{store}")
    session = getattr(module, "session", None)
    if session is not None:
        own_session: Session = session(rows, name, damage)
        return own_session
    return session_of(module.exchanges(rows, damage), name, module.TITLE, damage)


def _session_of_records(names: list[str], rows: Iterable[StoreRow], name: str, damage: ImportDamage) -> Session:
    """The session of a table that has both sides of an exchange in columns of any names that recorders use."""
    reader = import_module(f"{__package__}.span_records")
    finder = RecordFinder(damage)
    spans: list[StoreRow] = []
    for row in rows:
        count = len(finder.found)
        finder.look(_with_selection(row.value), row.where)
        if len(finder.found) == count:
            damage.add(f"{row.where}: {NEITHER}")
            spans += [row] if reader.is_span(row.value) else []
    if spans and not finder.found:
        session: Session = reader.session(spans, name, ImportDamage())
        return session
    if not finder.found:
        name_list = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
        raise UnreadableInput(f"a table from an unknown store with the columns {name_list}", hint=_hint())
    return session_of(exchanges_of(finder.found, damage), name, TITLE, damage)


def _with_selection(row: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """A row whose columns with messages and tools are one member: it is no body, though it has the names of one."""
    row = {name: parse_text(value) if normalize_name(name) in EVENT_TEXTS else value for name, value in row.items()}
    if "inputs" in row or not any(mappings(parse_text(row.get("messages")))):
        return row
    selection: JsonValue = {name: parse_text(row[name]) for name in SELECTION if row.get(name) is not None}
    return {**{name: value for name, value in row.items() if name not in SELECTION}, "inputs": selection}


def _hint() -> str:
    return f"known stores: {', '.join(name.replace('_', ' ') for name in sorted(COLUMNS))}"
