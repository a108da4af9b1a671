"""Makes the tables of a run from its parts, and commits them: Parquet with DuckDB, compressed JSON Lines without."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import zstandard

from workbench.ir import JsonValue
from workbench.survey.catalog import Catalog, Commit, SurveyPlan
from workbench.survey.parts import SUFFIX, is_whole, read_part
from workbench.survey.rows import Row
from workbench.survey.schema import (
    EXCHANGES,
    FINDINGS,
    GROUPED,
    INT,
    MADE_BY_CHILD,
    OBJECTS,
    SESSIONS,
    STATUSES,
    TABLES,
    TEXT,
    VERSION,
)
from workbench.wire import dumps

PARQUET = ".parquet"
_SORTED = {FINDINGS: "rule, provider, object", EXCHANGES: "conversation, started_us", OBJECTS: "uri"}


def commit_run(catalog: Catalog, plan: SurveyPlan, engine: str) -> Commit:
    """Commit the parts of a plan that are whole. Raises OSError."""
    run = int(plan.about["run"])
    parts = [catalog.part(batch) for batch in plan.batches]
    whole = [path for path in parts if is_whole(path)]
    files, counts = write_tables(catalog, run, whole)
    planned = sum(len(unit) for batch in plan.batches for unit in batch.units)
    lost = planned - sum(counts[status] for status in STATUSES)
    about: dict[str, JsonValue] = {
        **plan.about,
        "schema": VERSION,
        "engine": engine,
        "committed": time.time(),
        "counts": {**plan.about["counts"], **{s: counts[s] for s in STATUSES}, "lost": lost},
        "statuses": {status: counts[status] for status in STATUSES if counts[status]},
        "verdicts": {name.removeprefix("verdict "): n for name, n in counts.items() if name.startswith("verdict ")},
        "rows": {table: counts[f"rows {table}"] for table in TABLES},
        "complete": lost == 0,
        "tables": files,
    }
    return catalog.commit(about)


def write_tables(catalog: Catalog, run: int, parts: Sequence[Path]) -> tuple[Mapping[str, Sequence[str]], Counter[str]]:
    """(files of each table, counts of rows and of statuses)."""
    for table in TABLES:
        (catalog.folder / table).mkdir(exist_ok=True)
    try:
        import duckdb
    except ImportError:
        return _write_lines(catalog, run, parts)
    with duckdb.connect(config={"autoinstall_known_extensions": False}) as base:
        base.execute("SET enable_progress_bar = false")
        return _write_parquet(base, catalog, run, parts)


def _write_parquet(
    base: Any, catalog: Catalog, run: int, parts: Sequence[Path]
) -> tuple[Mapping[str, Sequence[str]], Counter[str]]:
    columns = {"t": TEXT, **{name: kind for table in MADE_BY_CHILD for name, kind in TABLES[table].items()}}
    counts = Counter[str]()
    if parts:
        base.execute(
            "CREATE TEMP TABLE part AS SELECT * FROM read_json(?, format = 'newline_delimited', compression = 'zstd', "
            "columns = " + _struct(columns) + ")",
            [[str(path) for path in parts]],
        )
    else:
        base.execute(f"CREATE TEMP TABLE part ({', '.join(f'{_quote(n)} {k}' for n, k in columns.items())})")
    files: dict[str, list[str]] = {}
    for table, held in TABLES.items():
        source = _MADE.get(table) or f"SELECT {_columns(held)} FROM part WHERE t = '{table}'"
        order = f" ORDER BY {_SORTED[table]}" if table in _SORTED else ""
        path = catalog.path_of(table, run, PARQUET)
        rows = base.execute(
            f"COPY (SELECT {run}::BIGINT AS run, * FROM ({source}){order}) TO '{_text(path)}' "
            "(FORMAT parquet, COMPRESSION zstd)"
        ).fetchone()
        counts[f"rows {table}"] = int(rows[0])
        files[table] = [f"{table}/{path.name}"]
    for verdict, number in base.execute(
        f"SELECT verdict, count(*) FROM part WHERE t = '{EXCHANGES}' GROUP BY 1"
    ).fetchall():
        counts[f"verdict {verdict}"] = number
    for status, number in base.execute(
        f"SELECT status, count(*) FROM part WHERE t = '{OBJECTS}' GROUP BY 1"
    ).fetchall():
        counts[status] = number
    return files, counts


def _columns(held: Iterable[str]) -> str:
    return ", ".join(map(_quote, held))


def _quote(name: str) -> str:
    return f'"{name}"'


def _text(path: Path) -> str:
    return str(path).replace("'", "''")


def _struct(columns: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items()) + "}"


_SESSIONS = f"""
    WITH e AS (SELECT * FROM part WHERE t = '{EXCHANGES}'), f AS (
        SELECT conversation, count(*) FILTER (severity = 'error') AS errors,
               count(*) FILTER (severity = 'warning') AS warnings
        FROM part WHERE t = '{FINDINGS}' GROUP BY 1)
    SELECT e.conversation, count(DISTINCT e.object) AS objects, count(*) AS exchanges,
           coalesce(any_value(f.errors), 0) AS errors, coalesce(any_value(f.warnings), 0) AS warnings,
           min(e.started_us) AS first_us, max(e.started_us) AS last_us, max(e.provider) AS provider,
           max(e.model) AS model, max(e.client) AS client
    FROM e LEFT JOIN f USING (conversation) GROUP BY 1 ORDER BY 1
"""


_KEYS = tuple(TABLES[GROUPED])[:9]
_GROUPED = f"""
    SELECT {", ".join(_KEYS)}, count(*) AS findings, count(DISTINCT conversation) AS sessions,
           split_part(min(object || ' ' || exchange), ' ', 1) AS object,
           split_part(min(object || ' ' || exchange), ' ', 2)::BIGINT AS exchange
    FROM part WHERE t = '{FINDINGS}' GROUP BY ALL ORDER BY ALL
"""
_MADE = {SESSIONS: _SESSIONS, GROUPED: _GROUPED}


def _write_lines(catalog: Catalog, run: int, parts: Sequence[Path]) -> tuple[Mapping[str, Sequence[str]], Counter[str]]:
    """The same without DuckDB. Rows pass one part at a time."""
    counts = Counter[str]()
    files: dict[str, list[str]] = {}
    sessions: dict[JsonValue, Row] = {}
    groups: dict[tuple[JsonValue, ...], list[Row]] = defaultdict(list)
    writers = {table: _LineWriter(catalog.path_of(table, run, SUFFIX)) for table in TABLES}
    for path in parts:
        rows = read_part(path) or []
        _add_sessions(sessions, rows)
        counts.update(str(row["status"]) for row in rows if row["t"] == OBJECTS)
        counts.update(f"verdict {row['verdict']}" for row in rows if row["t"] == EXCHANGES)
        for row in rows:
            table = str(row["t"])
            if table == FINDINGS:
                kept = {name: row[name] for name in ("object", "exchange", "conversation")}
                groups[tuple(row[name] for name in _KEYS)].append(kept)
            counts[f"rows {table}"] += 1
            writers[table].write({"run": run, **{name: row.get(name) for name in TABLES[table]}})
    for row in sessions.values():
        objects = row.pop("seen")
        counts[f"rows {SESSIONS}"] += 1
        writers[SESSIONS].write({"run": run, **row, "objects": len(objects)})
    for key, held in groups.items():
        counts[f"rows {GROUPED}"] += 1
        writers[GROUPED].write({"run": run, **_grouped_row(key, held)})
    for table, writer in writers.items():
        writer.close()
        files[table] = [f"{table}/{writer.path.name}"]
    return files, counts


def _grouped_row(key: tuple[JsonValue, ...], rows: Sequence[Row]) -> Row:
    first = min(f"{row['object']} {row['exchange']}" for row in rows).partition(" ")
    return {
        **dict(zip(_KEYS, key, strict=True)),
        "findings": len(rows),
        "sessions": len({row["conversation"] for row in rows}),
        "object": first[0],
        "exchange": int(first[2]),
    }


def _add_sessions(sessions: dict[JsonValue, Row], rows: Iterable[Row]) -> None:
    """Add what some rows say of conversations."""
    severities: dict[JsonValue, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row["t"] == FINDINGS:
            severities[row["conversation"]][str(row["severity"])] += 1
    for row in rows:
        if row["t"] != EXCHANGES:
            continue
        held = sessions.setdefault(row["conversation"], _empty_session(row))
        held["seen"].add(row["object"])
        held["exchanges"] += 1
        times = [t for t in (held["first_us"], held["last_us"], row["started_us"]) if t is not None]
        held["first_us"], held["last_us"] = (min(times), max(times)) if times else (None, None)
        for name in ("provider", "model", "client"):
            held[name] = max(filter(None, (held[name], row[name])), default=None)
    for conversation, found in severities.items():
        sessions[conversation]["errors"] += found["error"]
        sessions[conversation]["warnings"] += found["warning"]


def _empty_session(row: Row) -> Row:
    zero = {name: 0 if kind == INT else None for name, kind in TABLES[SESSIONS].items()}
    return {**zero, "conversation": row["conversation"], "first_us": None, "last_us": None, "seen": set()}


class _LineWriter:
    """Writes rows as compressed lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._stream: Any = zstandard.ZstdCompressor().stream_writer(self._file)

    def write(self, row: Mapping[str, JsonValue]) -> None:
        self._stream.write(dumps(dict(row)) + b"\n")

    def close(self) -> None:
        self._stream.close()
        self._file.close()


def read_lines(path: Path) -> Iterator[Row]:
    """The rows of a table that was written without DuckDB."""
    import io

    from workbench.wire import loads

    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
        for line in io.BufferedReader(reader):
            yield loads(line)
