"""Reads the tables of a survey: views over the files that commits name, ready questions, and SQL.

A view shows of each object the newest run only. With one run it is the files themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.survey.catalog import Catalog, Commit
from workbench.survey.committing import PARQUET, read_lines
from workbench.survey.rows import Row
from workbench.survey.schema import GROUPED, OBJECTS, SETTLED, TABLES

NEEDED = "questions in SQL need DuckDB"
HINT = "pip install 'agent-workbench[scale]'"


class Answer(NamedTuple):
    """The answer to a question: names of columns, and rows."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


class Question(NamedTuple):
    """A question that people ask of every survey."""

    title: str
    sql: str


QUESTIONS: Mapping[str, Question] = {
    "failures": Question(
        "failures by rule, provider, client and week",
        "SELECT rule, provider, client, week, count(*) AS findings, count(DISTINCT conversation) AS sessions "
        "FROM findings WHERE severity <> 'info' GROUP BY ALL ORDER BY sessions DESC, findings DESC, rule",
    ),
    "new": Question(
        "shapes of failures that the newest run has, and no earlier one",
        "SELECT rule, provider, count(*) AS findings, min(object) AS example FROM findings_all f "
        "WHERE run = (SELECT max(run) FROM objects_all) AND severity <> 'info' AND NOT EXISTS "
        "(SELECT 1 FROM findings_all e WHERE e.run < f.run AND e.rule = f.rule AND e.shape = f.shape) "
        "GROUP BY rule, provider, shape ORDER BY findings DESC, rule",
    ),
    "retries": Question(
        "tokens of requests that were sent again because of a failure (needs --metrics)",
        "SELECT provider, model, client, sum(repeated) AS repeated_tokens, sum(prompt + output) AS all_tokens, "
        "round(sum(dollars), 4) AS dollars FROM metrics GROUP BY ALL ORDER BY repeated_tokens DESC",
    ),
    "text-calls": Question(
        "models that write tool calls as text",
        "SELECT model, provider, count(*) AS findings, count(DISTINCT conversation) AS sessions FROM findings "
        "WHERE rule LIKE 'text.%' GROUP BY ALL ORDER BY sessions DESC, findings DESC",
    ),
    "gateways": Question(
        "fields that gateways drop or change",
        "SELECT rule, path, provider, client, count(*) AS findings FROM findings WHERE rule LIKE 'gateway.%' "
        "GROUP BY ALL ORDER BY findings DESC, rule",
    ),
    "facts": Question(
        "what providers accepted and refused, by term of the contract",
        "SELECT contract, rule, fact, count(*) FILTER (outcome = 'accepted') AS accepted, "
        "count(*) FILTER (outcome = 'refused') AS refused FROM facts GROUP BY ALL ORDER BY contract, rule, fact",
    ),
    "unjudged": Question(
        "objects that were not judged, and why",
        "SELECT status, error, count(*) AS objects, sum(bytes) AS bytes FROM objects WHERE status <> 'judged' "
        "GROUP BY ALL ORDER BY objects DESC",
    ),
    "fidelity": Question(
        "fidelity: how close the exchanges are to the original bytes",
        "SELECT fidelity, verdict, count(*) AS exchanges FROM exchanges GROUP BY ALL ORDER BY exchanges DESC",
    ),
    "sessions": Question(
        "sessions with most errors",
        "SELECT conversation, sum(objects) AS objects, sum(exchanges) AS exchanges, sum(errors) AS errors, "
        "sum(warnings) AS warnings FROM sessions GROUP BY ALL ORDER BY errors DESC, warnings DESC LIMIT 50",
    ),
}
"""Name → question, for ``workbench survey OUT --question NAME``."""


def commits_of(catalog: Catalog, rules: str | None = None) -> list[Commit]:
    """The commits under one version of the rules, by default that of the newest one."""
    held = list(catalog.commits())
    wanted = rules or (held[-1].about["rules"] if held else None)
    return [commit for commit in held if commit.about["rules"] == wanted]


@contextmanager
def open_tables(catalog: Catalog, commits: Sequence[Commit] | None = None) -> Iterator[Any]:
    """A DuckDB connection with the views. Raises UsageError without DuckDB, or without a commit."""
    try:
        import duckdb
    except ImportError as error:
        raise UsageError(NEEDED, hint=HINT) from error
    used = commits_of(catalog) if commits is None else commits
    if not used:
        raise UsageError(f"{catalog.folder}: no run is committed yet")
    with duckdb.connect(config={"autoinstall_known_extensions": False}) as base:
        base.execute("SET enable_progress_bar = false")
        for table, columns in TABLES.items():
            base.execute(f"CREATE VIEW {table}_all AS {_source(catalog, used, table, columns)}")
        for table in TABLES:
            base.execute(f"CREATE VIEW {table} AS {_view(table, is_alone=len(used) == 1)}")
        yield base


def _source(catalog: Catalog, commits: Sequence[Commit], table: str, columns: Mapping[str, str]) -> str:
    names = [catalog.folder / name for commit in commits for name in commit.files(table)]
    if not names:
        kinds = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in {"run": "BIGINT", **columns}.items())
        return f"SELECT {kinds} WHERE false"
    parquet = [_literal(str(path)) for path in names if path.suffix == PARQUET]
    lines = [_literal(str(path)) for path in names if path.suffix != PARQUET]
    typed = "{" + ", ".join(f"'{n}': '{k}'" for n, k in {"run": "BIGINT", **columns}.items()) + "}"
    held = ", ".join(f'"{name}"' for name in ("run", *columns))
    sources = []
    if parquet:
        sources.append(f"SELECT {held} FROM read_parquet([{', '.join(parquet)}])")
    if lines:
        read = f"read_json([{', '.join(lines)}], format = 'newline_delimited', compression = 'zstd', columns = {typed})"
        sources.append(f"SELECT {held} FROM {read}")
    return " UNION ALL ".join(sources)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _view(table: str, *, is_alone: bool) -> str:
    if is_alone:
        return f"SELECT * FROM {table}_all"
    if table == OBJECTS:
        return "SELECT * FROM objects_all QUALIFY row_number() OVER (PARTITION BY uri ORDER BY run DESC) = 1"
    if "object" not in TABLES[table] or table == GROUPED:
        return f"SELECT * FROM {table}_all"
    return f"SELECT t.* FROM {table}_all t SEMI JOIN objects o ON t.object = o.object AND t.run = o.run"


def ask(catalog: Catalog, sql: str) -> Answer:
    """The answer to SQL over the views. Raises UsageError for what DuckDB refuses."""
    import_error = "the query is refused"
    with open_tables(catalog) as base:
        import duckdb

        try:
            result = base.execute(sql)
            return Answer([column[0] for column in result.description or ()], result.fetchall())
        except duckdb.Error as error:
            raise UsageError(f"{import_error}: {str(error).splitlines()[0]}") from error


def settled_objects(catalog: Catalog, rules: str) -> Collection[str]:
    """Keys of the objects that were settled under a version of the rules."""
    held = [commit for commit in catalog.commits() if commit.about["rules"] == rules]
    if not held:
        return frozenset()
    if all(name.endswith(PARQUET) for commit in held for name in commit.files(OBJECTS)):
        with open_tables(catalog, held) as base:
            found = base.execute(f"SELECT object FROM objects_all WHERE status IN {SETTLED}").fetchall()
            return {row[0] for row in found}
    return {str(row["object"]) for row in rows_of(catalog, held, OBJECTS) if row["status"] in SETTLED}


def rows_of(
    catalog: Catalog, commits: Iterable[Commit], table: str, where: Mapping[str, str] | None = None
) -> Iterator[Row]:
    """The rows of a table, in files of either form.

    Args:
        where: patterns of values, by column; ``*`` stands for anything.
    """
    held = list(commits)
    names = [name for commit in held for name in commit.files(table)]
    for name in names:
        if not name.endswith(PARQUET):
            rows = read_lines(catalog.folder / name)
            yield from (row for row in rows if _matches(row, where or {}))
    if any(name.endswith(PARQUET) for name in names):
        with open_tables(catalog, held) as base:
            yield from _rows_of_base(base, table, where or {})


def _matches(row: Row, where: Mapping[str, str]) -> bool:
    return all(fnmatchcase(str(row.get(name) or ""), pattern) for name, pattern in where.items())


def _rows_of_base(base: Any, table: str, where: Mapping[str, str]) -> Iterator[Row]:
    conditions = " AND ".join(f'"{name}" LIKE ?' for name in where) or "true"
    values = [pattern.replace("*", "%") for pattern in where.values()]
    result = base.execute(f"SELECT * FROM {table}_all WHERE {conditions}", values)
    columns: list[str] = [column[0] for column in result.description]
    while some := result.fetchmany(10_000):
        yield from (_row(columns, values) for values in some)


def _row(columns: Sequence[str], values: Sequence[JsonValue]) -> Row:
    return dict(zip(columns, values, strict=True))
