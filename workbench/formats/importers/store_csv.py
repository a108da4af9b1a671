"""Importer for exports of stores as tables: CSV, or JSON with columns and rows.

The names of columns tell which store it is; values may be JSON text, or lists as Python writes them (pandas). Facts:
learn.microsoft.com/rest/api/loganalytics (``tables``), clickhouse.com JSONCompact (``meta``), pandas ``to_json``.
"""

from __future__ import annotations

import ast
import csv
import io
from collections.abc import Iterator

from workbench import regex
from workbench.errors import LocalProtocolError, UnreadableInput, WireError
from workbench.formats.importers._files import HEAD, ImportDamage
from workbench.formats.importers._log_stores import StoreRow, store_of
from workbench.formats.importers._store_tables import session_of_rows
from workbench.formats.importers._values import as_list, mapping, mappings
from workbench.formats.importers._values import text as text_of
from workbench.ir import JsonValue
from workbench.limits import MAX_DECODED_BODY
from workbench.wire import dumps, loads
from workbench.wire.session import Session

NAME = "store-csv"
TITLE = "CSV export of a store"


def sniff(head: bytes) -> float:
    """A first line, or a list of columns, with the names of a store."""
    if _QUERY.match(head):
        return 0.95 if store_of(_names(head)) else 0.6 if _ROWS.search(head) or _VALUES.search(head) else 0.0
    first = head[: head.find(b"\n")] if b"\n" in head else head[:HEAD]
    if b"," not in first or first.lstrip()[:1] in (b"{", b"["):
        return 0.0
    columns = _columns(first.decode("utf-8", "replace"))
    if store_of(columns):
        return 0.9
    bare = first.replace(b'"', b"")
    has_values = all(map(_NAME.fullmatch, columns)) and bool(_VALUE.search(head, len(first)))
    return 0.6 if has_values or (_ASKED.search(bare) and _ANSWERED.search(bare)) else 0.0


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

_NAME = regex.compile(r"[\w @./:-]{1,100}")
_VALUE = regex.compile(rb"""[,\n]"\[?\{(?:""|')""")
"""A value that is an object or a list of objects."""

_QUERY = regex.compile(rb'\s*\{\s*"(?:tables|columns|meta)"\s*:\s*\[')
_VALUES = regex.compile(rb'"values"\s*:\s*\[')
_ROWS = regex.compile(rb'"(?:rows|data)"\s*:\s*\[\s*\[')
_COLUMN = regex.compile(rb'(?:"name"\s*:\s*|[\[,]\s*)"([^"\\]{1,100})"')


def _names(head: bytes) -> list[str]:
    """Names of columns in the head of a query's answer."""
    found = _ROWS.search(head)
    columns = head[: found.start()] if found else head
    return [found[1].decode("utf-8", "replace") for found in _COLUMN.finditer(columns)]


def _query(value: JsonValue) -> tuple[list[str], Iterator[StoreRow]]:
    """(columns, rows) of the first table of a query's answer."""
    whole = mapping(value)
    table = next(mappings(whole.get("tables")), whole)
    named = as_list(table.get("columns", table.get("meta")))
    columns = [text_of(column) or text_of(mapping(column).get("name")) for column in named]
    values = next((table[name] for name in ("rows", "data") if isinstance(table.get(name), list)), None)
    if values is None:  # each column has its values
        values = [list(row) for row in zip(*(as_list(mapping(column).get("values")) for column in named), strict=False)]
    rows = (row for row in as_list(values) if isinstance(row, list))
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
            yield StoreRow(f"row {number}", {k: _value(v) for k, v in row.items() if k is not None})
    except csv.Error as error:
        raise UnreadableInput(f"not a CSV table: {error}") from error
    finally:
        csv.field_size_limit(before)


def _value(value: str | None) -> JsonValue:
    r"""A value; None for an empty one and for ``\N``, which databases write for a null."""
    if value is None or value in ("", "\\N"):
        return None
    return _literal(value) if value.startswith(_LITERALS) and len(value) < _LONGEST else value


_LITERALS = ("[{'", "{'")
_LONGEST = 1_000_000
"""Characters of a list that Python has written, up to which it is read."""


def _literal(value: str) -> JsonValue:
    """The value of a Python literal, as ``pandas`` writes lists and objects into CSV; any other text unchanged."""
    try:
        read: JsonValue = loads(dumps(ast.literal_eval(value)))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError, WireError, LocalProtocolError):
        return value
    return read
