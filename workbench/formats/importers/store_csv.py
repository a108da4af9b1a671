"""Importer for CSV exports of stores: the names of columns tell which store it is; values may be JSON text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from workbench.errors import UnreadableInput
from workbench.formats.importers._files import HEAD, ImportDamage
from workbench.formats.importers._store import StoreRow, store_of
from workbench.formats.importers._store_tables import session_of_rows
from workbench.limits import MAX_DECODED_BODY
from workbench.wire.session import Session

NAME = "store-csv"
TITLE = "CSV export of a store"


def sniff(head: bytes) -> float:
    """A first line with the columns of a store."""
    first = head[: head.find(b"\n")] if b"\n" in head else head[:HEAD]
    if b"," not in first or first.lstrip()[:1] in (b"{", b"["):
        return 0.0
    return 0.9 if store_of(_columns(first.decode("utf-8", "replace"))) else 0.0


def read(data: bytes, name: str) -> Session:
    """One exchange for each row. Raises UnreadableInput."""
    damage = ImportDamage()
    text = data.decode("utf-8-sig", "replace")
    columns = _columns(text.partition("\n")[0])
    return session_of_rows(columns, _rows(text, damage), name, damage)


def _columns(line: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r")]), [])
    except csv.Error:
        return []


def _rows(text: str, damage: ImportDamage) -> Iterator[StoreRow]:
    before = csv.field_size_limit(MAX_DECODED_BODY)
    try:
        for number, row in enumerate(csv.DictReader(io.StringIO(text, newline="")), 2):
            if None in row or None in row.values():
                damage.add(f"row {number}: not as many values as columns")
            yield StoreRow(f"row {number}", {k: _null(v) for k, v in row.items() if k is not None})
    except csv.Error as error:
        raise UnreadableInput(f"not a CSV table: {error}") from error
    finally:
        csv.field_size_limit(before)


def _null(value: str | None) -> str | None:
    r"""A value; None for an empty one and for ``\N``, which databases write for a null."""
    return None if value in (None, "", "\\N") else value
