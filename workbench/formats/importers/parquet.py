"""Importer for Parquet exports of stores: the names of columns tell which store it is. Needs DuckDB or PyArrow.

``pip install 'agent-workbench[scale]'`` installs DuckDB. Rows are read in pieces, so that memory does not depend on the
size of the file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from workbench.errors import UnreadableInput
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._log_stores import StoreRow
from workbench.formats.importers._store_tables import session_of_rows
from workbench.ir import JsonValue
from workbench.wire.session import Session

NAME = "parquet"
TITLE = "Parquet export of a store"
MAGIC = b"PAR1"
AT_ONCE = 200
"""Rows that are read at a time: they may hold a long conversation each."""

NEEDED = "reading Parquet needs DuckDB"
HINT = "pip install 'agent-workbench[scale]'"


def sniff(head: bytes) -> float:
    """The magic number of Parquet."""
    return 0.99 if head.startswith(MAGIC) else 0.0


def read(data: bytes, name: str) -> Session:
    """One exchange for each row. Raises UnreadableInput."""
    handle, path = tempfile.mkstemp(suffix=".parquet", prefix="workbench-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        return _session(Path(path), name)
    finally:
        with suppress(OSError):
            os.unlink(path)


def open_path(path: Path) -> Session:
    """The same of a file, which is read in place."""
    return _session(path, path.name)


def _session(path: Path, name: str) -> Session:
    try:
        import duckdb
    except ImportError as error:
        raise UnreadableInput(NEEDED, where=name, hint=HINT) from error
    damage = ImportDamage()
    try:
        with duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False}) as base:
            base.execute("SET TimeZone = 'UTC'")
            columns = [row[0] for row in base.execute(_DESCRIBE, [str(path)]).fetchall()]
            texts = {row[0] for row in base.execute(_DESCRIBE, [str(path)]).fetchall() if "WITH TIME ZONE" in row[1]}
            selection = ", ".join(
                f"CAST({_quote(c)} AS VARCHAR) AS {_quote(c)}" if c in texts else _quote(c) for c in columns
            )
            result = base.execute(f"SELECT {selection} FROM read_parquet(?)", [str(path)])
            return session_of_rows(columns, _rows(result, columns), name, damage)
    except duckdb.Error as error:
        raise UnreadableInput(f"an incomplete Parquet file ({type(error).__name__})", where=name) from error


_DESCRIBE = "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet(?))"


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _rows(result: Any, columns: list[str]) -> Iterator[StoreRow]:
    number = 0
    while some := result.fetchmany(AT_ONCE):
        for values in some:
            number += 1
            yield StoreRow(f"row {number}", {c: _plain(v) for c, v in zip(columns, values, strict=True)})


def _plain(value: Any) -> JsonValue:
    """A value as JSON has it: times as text in ISO 8601, numbers with a fixed point as floats."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, UUID):
        return str(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
