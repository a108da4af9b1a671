"""Importer for exports of stores as tables: CSV, or the JSON of a query with columns and rows (Azure Log Analytics).

The names of columns tell which store it is; values may be JSON text. Facts: learn.microsoft.com/rest/api/loganalytics.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from workbench import regex
from workbench.errors import UnreadableInput
from workbench.formats.importers._files import HEAD, ImportDamage
from workbench.formats.importers._log_stores import StoreRow, store_of
from workbench.formats.importers._store_tables import session_of_rows
from workbench.formats.importers._values import as_list, mapping, mappings
from workbench.formats.importers._values import text as text_of
from workbench.ir import JsonValue
from workbench.limits import MAX_DECODED_BODY
from workbench.wire import loads
from workbench.wire.session import Session

NAME = "store-csv"
TITLE = "CSV export of a store"


def sniff(head: bytes) -> float:
    """A first line, or a list of columns, with the names of a store."""
    if _QUERY.match(head):
        return 0.95 if store_of(_names(head)) else 0.0
    first = head[: head.find(b"\n")] if b"\n" in head else head[:HEAD]
    if b"," not in first or first.lstrip()[:1] in (b"{", b"["):
        return 0.0
    if store_of(_columns(first.decode("utf-8", "replace"))):
        return 0.9
    bare = first.replace(b'"', b"")
    return 0.6 if _ASKED.search(bare) and _ANSWERED.search(bare) else 0.0


def read(data: bytes, name: str) -> Session:
    """One exchange for each row. Raises UnreadableInput."""
    damage = ImportDamage()
    if _QUERY.match(data[:HEAD]):
        columns, rows = _query(loads(data))
        return session_of_rows(columns, rows, name, damage)
    text = data.decode("utf-8-sig", "replace")
    columns = _columns(text.partition("\n")[0])
    return session_of_rows(columns, _rows(text, damage), name, damage)


_ASKED = regex.compile(rb"(?:^|,)(?:(?:full_)?request(?:[_.]body)?|RequestBody|messages|inputs?)(?=,|\r|$)")
_ANSWERED = regex.compile(rb",(?:(?:full_)?response(?:[_.]body)?|ResponseBody|outputs?)(?=,|\r|$)")
"""Columns with a side of an exchange, in a table of a store that is not known."""

_QUERY = regex.compile(rb'\s*\{\s*"tables"\s*:\s*\[')
_COLUMN = regex.compile(rb'"name"\s*:\s*"([^"\\]{1,100})"')


def _names(head: bytes) -> list[str]:
    """Names of columns in the head of a query's answer."""
    return [found[1].decode("utf-8", "replace") for found in _COLUMN.finditer(head.partition(b'"rows"')[0])]


def _query(value: JsonValue) -> tuple[list[str], Iterator[StoreRow]]:
    """(columns, rows) of the first table of a query's answer."""
    table = next(mappings(mapping(value).get("tables")), {})
    columns = [text_of(column.get("name")) for column in mappings(table.get("columns"))]
    rows = (row for row in as_list(table.get("rows")) if isinstance(row, list))
    return columns, (StoreRow(f"row {n}", dict(zip(columns, row, strict=False))) for n, row in enumerate(rows, 1))


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
                damage.add(f"row {number}: fewer or more values than columns")
            yield StoreRow(f"row {number}", {k: _null(v) for k, v in row.items() if k is not None})
    except csv.Error as error:
        raise UnreadableInput(f"not a CSV table: {error}") from error
    finally:
        csv.field_size_limit(before)


def _null(value: str | None) -> str | None:
    r"""A value; None for an empty one and for ``\N``, which databases write for a null."""
    return None if value in (None, "", "\\N") else value
