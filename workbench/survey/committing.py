"""Makes the tables of a run from its parts, and commits them: Parquet with DuckDB, compressed JSON Lines without."""

from __future__ import annotations

import os
import time
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from workbench.ir import JsonValue
from workbench.survey.catalog import Catalog, Commit
from workbench.survey.parts import SUFFIX, is_whole, read_part
from workbench.survey.plans import SurveyPlan
from workbench.survey.rows import Row
from workbench.survey.schema import (
    EXCHANGES,
    FINDINGS,
    GROUPED,
    INT,
    MADE_BY_CHILD,
    OBJECTS,
    PARQUET,
    REPLACED,
    SESSIONS,
    STATUSES,
    TABLES,
    TEXT,
    VERSION,
)
from workbench.survey.views import create_views, lists_replaced
from workbench.wire import dumps

_SORTED = {FINDINGS: "rule, provider, object", EXCHANGES: "conversation, started_us", OBJECTS: "uri"}


class Examples(NamedTuple):
    """Which findings a table keeps: so many of each ``rule``, or of each ``shape`` of its messages.

    They are chosen by their keys, which are hashes: the same ones in any order of batches. The table ``grouped`` counts
    all findings.
    """

    of: str
    most: int


def commit_run(catalog: Catalog, plan: SurveyPlan, engine: str) -> Commit:
    """Commit the parts of a plan that are whole. Raises OSError."""
    run = int(plan.about["run"])
    whole = [path for path in map(catalog.part, plan.index) if is_whole(path)]
    per = plan.about["options"].get("per")
    earlier = [commit for commit in catalog.commits() if commit.about["rules"] == plan.about["rules"]]
    files, counts, replaced = write_tables(catalog, run, whole, Examples(*per) if per else None, earlier)
    planned = sum(batch.objects for batch in plan.index)
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
        "findings": counts["findings"],
        "replaced": replaced,
        "complete": lost == 0 and not plan.about["counts"].get("unlisted_folders"),
        "tables": files,
    }
    return catalog.commit(about)


def write_tables(
    catalog: Catalog, run: int, parts: Sequence[Path], examples: Examples | None, earlier: Sequence[Commit]
) -> tuple[Mapping[str, Sequence[str]], Counter[str], Mapping[str, JsonValue] | None]:
    """(files of each table, counts of rows and of statuses, what of earlier runs is replaced; None if not known)."""
    for table in TABLES:
        (catalog.folder / table).mkdir(exist_ok=True)
    try:
        import duckdb
    except ImportError:
        return *_write_lines(catalog, run, parts, examples), None if earlier else {}
    database = catalog.parts / f".commit.{os.getpid()}.duckdb"
    database.unlink(missing_ok=True)
    try:
        with duckdb.connect(str(database), config={"autoinstall_known_extensions": False}) as base:
            base.execute(f"SET enable_progress_bar = false; SET memory_limit = '{_MEMORY}'")
            base.execute("SET preserve_insertion_order = false")
            _load(base, parts)
            replaced = _find_replaced(base, catalog, earlier)
            return *_write_parquet(base, catalog, run, examples), replaced
    finally:
        database.unlink(missing_ok=True)


_MEMORY = "512MB"
"""Memory of a commit: more rows than that are sorted on disk."""


def _load(base: Any, parts: Sequence[Path]) -> None:
    """The rows of all parts as a table ``part``."""
    columns = {"t": TEXT, **{name: kind for table in MADE_BY_CHILD for name, kind in TABLES[table].items()}}
    if parts:
        base.execute(
            "CREATE TABLE part AS SELECT * FROM read_json(?, format = 'newline_delimited', compression = 'zstd', "
            "columns = " + _struct(columns) + ")",
            [[str(path) for path in parts]],
        )
    else:
        base.execute(f"CREATE TABLE part ({', '.join(f'{_quote(n)} {k}' for n, k in columns.items())})")


def _find_replaced(base: Any, catalog: Catalog, earlier: Sequence[Commit]) -> Mapping[str, JsonValue] | None:
    """Objects of earlier runs that this one has judged again: tables of them, and their counts; None if not known."""
    base.execute("CREATE TABLE again (object VARCHAR, of_run BIGINT)")
    base.execute(f"CREATE TABLE taken_back AS {_GROUPED.format(findings=_NEW)} LIMIT 0")
    if not earlier:
        return {}
    if not lists_replaced(earlier):
        return None
    create_views(base, catalog.folder, earlier)
    base.execute(
        "INSERT INTO again SELECT o.object, o.run FROM objects o "
        f"SEMI JOIN (SELECT uri FROM part WHERE t = '{OBJECTS}') n ON o.uri = n.uri"
    )
    if not base.execute("SELECT count(*) FROM again").fetchone()[0]:
        return {}
    of = "SEMI JOIN again a ON t.object = a.object AND t.run = a.of_run"
    base.execute(f"INSERT INTO taken_back {_GROUPED.format(findings=f'SELECT t.* FROM findings t {of}')}")
    base.execute("UPDATE taken_back SET findings = -findings, sessions = -sessions")
    return {
        "statuses": dict(base.execute(f"SELECT status, count(*) FROM objects t {of} GROUP BY 1").fetchall()),
        "verdicts": dict(base.execute(f"SELECT verdict, count(*) FROM exchanges t {of} GROUP BY 1").fetchall()),
        "findings": base.execute(f"SELECT count(*) FROM findings t {of}").fetchone()[0],
    }


def _write_parquet(
    base: Any, catalog: Catalog, run: int, examples: Examples | None
) -> tuple[Mapping[str, Sequence[str]], Counter[str]]:
    counts = Counter[str]()
    files: dict[str, list[str]] = {}
    for table, columns in TABLES.items():
        source = _MADE.get(table) or f"SELECT {_columns(columns)} FROM part WHERE t = '{table}'"
        if examples and table == FINDINGS:
            order = f"ORDER BY {', '.join(_CHOSEN_BY)}"
            source += f" QUALIFY row_number() OVER (PARTITION BY {_PARTS[examples.of]} {order}) <= {int(examples.most)}"
        order = f" ORDER BY {_SORTED[table]}" if table in _SORTED else ""
        path = catalog.path_of(table, run, PARQUET)
        rows = base.execute(
            f"COPY (SELECT {run}::BIGINT AS run, * FROM ({source}){order}) TO '{_text(path)}' "
            "(FORMAT parquet, COMPRESSION zstd)"
        ).fetchone()
        counts[f"rows {table}"] = int(rows[0])
        files[table] = [f"{table}/{path.name}"]
    counts["findings"] = base.execute(f"SELECT count(*) FROM part WHERE t = '{FINDINGS}'").fetchone()[0]
    for verdict, number in base.execute(
        f"SELECT verdict, count(*) FROM part WHERE t = '{EXCHANGES}' GROUP BY 1"
    ).fetchall():
        counts[f"verdict {verdict}"] = number
    for status, number in base.execute(
        f"SELECT status, count(*) FROM part WHERE t = '{OBJECTS}' GROUP BY 1"
    ).fetchall():
        counts[status] = number
    return files, counts


def _columns(names: Iterable[str]) -> str:
    return ", ".join(map(_quote, names))


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
    FROM ({{findings}}) GROUP BY ALL ORDER BY ALL
"""
_NEW = f"SELECT * FROM part WHERE t = '{FINDINGS}'"
_CHOSEN_BY = ("object", "exchange", "path", "shape")
_PARTS = {"rule": "rule", "shape": "rule, shape"}
_MADE = {
    SESSIONS: _SESSIONS,
    REPLACED: "SELECT * FROM again ORDER BY ALL",
    GROUPED: f"SELECT * FROM ({_GROUPED.format(findings=_NEW)}) UNION ALL SELECT * FROM taken_back",
}


def _write_lines(
    catalog: Catalog, run: int, parts: Sequence[Path], examples: Examples | None
) -> tuple[Mapping[str, Sequence[str]], Counter[str]]:
    """The same without DuckDB. Rows pass one part at a time."""
    counts = Counter[str]()
    files: dict[str, list[str]] = {}
    sessions: dict[JsonValue, Row] = {}
    groups: dict[tuple[JsonValue, ...], list[Row]] = defaultdict(list)
    by_place: dict[tuple[JsonValue, ...], list[tuple[tuple[JsonValue, ...], Row]]] = defaultdict(list)
    writers = {table: _LineWriter(catalog.path_of(table, run, SUFFIX)) for table in TABLES}
    for path in parts:
        rows = read_part(path) or []
        _add_sessions(sessions, rows)
        counts.update(str(row["status"]) for row in rows if row["t"] == OBJECTS)
        counts.update(f"verdict {row['verdict']}" for row in rows if row["t"] == EXCHANGES)
        for row in rows:
            table = str(row["t"])
            if table == FINDINGS:
                place = {name: row[name] for name in ("object", "exchange", "conversation")}
                groups[tuple(row[name] for name in _KEYS)].append(place)
                counts["findings"] += 1
                if examples:
                    _choose(by_place[tuple(row[n] for n in _PARTS[examples.of].split(", "))], row, examples.most)
                    continue
            counts[f"rows {table}"] += 1
            writers[table].write({"run": run, **{name: row.get(name) for name in TABLES[table]}})
    for _, row in sorted((one for entries in by_place.values() for one in entries), key=itemgetter(0)):
        counts[f"rows {FINDINGS}"] += 1
        writers[FINDINGS].write({"run": run, **{name: row.get(name) for name in TABLES[FINDINGS]}})
    for row in sessions.values():
        objects = row.pop("seen")
        counts[f"rows {SESSIONS}"] += 1
        writers[SESSIONS].write({"run": run, **row, "objects": len(objects)})
    for key, entries in groups.items():
        counts[f"rows {GROUPED}"] += 1
        writers[GROUPED].write({"run": run, **_grouped_row(key, entries)})
    for table, writer in writers.items():
        writer.close()
        files[table] = [f"{table}/{writer.path.name}"]
    return files, counts


def _choose(entries: list[tuple[tuple[JsonValue, ...], Row]], row: Row, most: int) -> None:
    """Keep a finding if it is one of the first by its key."""
    insort(entries, (tuple(row[name] for name in _CHOSEN_BY), row), key=itemgetter(0))
    del entries[most:]


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
        session = sessions.setdefault(row["conversation"], _empty_session(row))
        session["seen"].add(row["object"])
        session["exchanges"] += 1
        times = [t for t in (session["first_us"], session["last_us"], row["started_us"]) if t is not None]
        session["first_us"], session["last_us"] = (min(times), max(times)) if times else (None, None)
        for name in ("provider", "model", "client"):
            session[name] = max(filter(None, (session[name], row[name])), default=None)
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
