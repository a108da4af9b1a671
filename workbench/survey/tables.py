"""Answers from the tables of a survey: ready questions, SQL, and rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.survey.catalog import Catalog, Commit
from workbench.survey.committing import read_lines
from workbench.survey.planning import KnownObjects
from workbench.survey.rows import Row
from workbench.survey.schema import FINDINGS, OBJECTS, PARQUET, SETTLED
from workbench.survey.version import rules_version
from workbench.survey.views import create_views

NEEDED = "SQL queries need DuckDB"
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
        "failures per rule, provider, client and week",
        "SELECT rule, provider, client, week, count(*) AS findings, count(DISTINCT conversation) AS sessions "
        "FROM findings WHERE severity <> 'info' GROUP BY ALL ORDER BY sessions DESC, findings DESC, rule",
    ),
    "new": Question(
        "kinds of failures that occur only in the newest run",
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
        "what providers accepted and refused, by contract term",
        "SELECT contract, rule, fact, basis, count(*) FILTER (outcome = 'accepted') AS accepted, "
        "count(*) FILTER (outcome = 'refused') AS refused, any_value(e.answered) AS accepted_requests FROM facts "
        "LEFT JOIN (SELECT provider, count(*) FILTER (http_status BETWEEN 200 AND 299) AS answered FROM exchanges "
        "GROUP BY 1) e ON contract = e.provider GROUP BY ALL ORDER BY contract, rule, fact, basis",
    ),
    "terms": Question(
        "contract terms that accepted requests contradict, with the number of requests that each term applies to "
        "(needs --terms)",
        "SELECT contract, fact, family, coalesce(sum(broken) FILTER (outcome = 'accepted'), 0) AS accepted_broken, "
        "coalesce(sum(exchanges) FILTER (outcome = 'accepted'), 0) AS accepted, "
        "coalesce(sum(broken) FILTER (outcome = 'refused'), 0) AS refused_broken, "
        "coalesce(sum(exchanges) FILTER (outcome = 'refused'), 0) AS refused FROM terms GROUP BY ALL "
        "HAVING accepted_broken > 0 ORDER BY accepted_broken DESC, contract, fact, family",
    ),
    "unjudged": Question(
        "objects that were not checked, and why",
        "SELECT status, error, count(*) AS objects, sum(bytes) AS bytes FROM objects WHERE status <> 'judged' "
        "GROUP BY ALL ORDER BY objects DESC",
    ),
    "fidelity": Question(
        "fidelity of the exchanges: how close they are to the original bytes",
        "SELECT fidelity, verdict, count(*) AS exchanges FROM exchanges GROUP BY ALL ORDER BY exchanges DESC",
    ),
    "sessions": Question(
        "sessions with the most errors",
        "SELECT conversation, sum(objects) AS objects, sum(exchanges) AS exchanges, sum(errors) AS errors, "
        "sum(warnings) AS warnings FROM sessions GROUP BY ALL ORDER BY errors DESC, warnings DESC LIMIT 50",
    ),
}
"""Name → question, for ``workbench survey OUT --question NAME``."""


def commits_of(catalog: Catalog, rules: str | None = None) -> list[Commit]:
    """The commits under one version of the rules, by default that of the newest one."""
    commits = list(catalog.commits())
    version = rules or (commits[-1].about["rules"] if commits else None)
    return [commit for commit in commits if commit.about["rules"] == version]


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
        create_views(base, catalog.folder, used)
        yield base


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


def settled_objects(catalog: Catalog, rules: str) -> KnownObjects:
    """Keys of the objects that were settled under a version of the rules."""
    known = KnownObjects()
    commits = [commit for commit in catalog.commits() if commit.about["rules"] == rules]
    if commits and all(name.endswith(PARQUET) for commit in commits for name in commit.files(OBJECTS)):
        with open_tables(catalog, commits) as base:
            found = base.execute(f"SELECT object FROM objects_all WHERE status IN {SETTLED}")
            while some := found.fetchmany(_AT_ONCE):
                for row in some:
                    known.add(row[0])
        return known
    for row in rows_of(catalog, commits, OBJECTS):
        if row["status"] in SETTLED:
            known.add(str(row["object"]))
    return known


_AT_ONCE = 10_000


def rows_of(
    catalog: Catalog, commits: Iterable[Commit], table: str, where: Mapping[str, str] | None = None
) -> Iterator[Row]:
    """The rows of a table, in files of either form.

    Args:
        where: patterns of values, by column; ``*`` stands for anything.
    """
    commit_list = list(commits)
    names = [name for commit in commit_list for name in commit.files(table)]
    for name in names:
        if not name.endswith(PARQUET):
            rows = read_lines(catalog.folder / name)
            yield from (row for row in rows if _matches(row, where or {}))
    if any(name.endswith(PARQUET) for name in names):
        with open_tables(catalog, commit_list) as base:
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


class RulesVersion(NamedTuple):
    """A version of the rules in a survey, and what was judged under it.

    Attributes:
        rules: digest of the code and the facts that decide.
        is_installed: it is the version of this program.
        runs: numbers of its runs.
        committed: time of the newest one, in seconds since the epoch.
    """

    rules: str
    is_installed: bool
    runs: Sequence[int]
    objects: int
    findings: int
    committed: float


def rules_of(catalog: Catalog) -> list[RulesVersion]:
    """The versions of the rules under which a survey has runs, the oldest first."""
    by_rules: dict[str, list[Commit]] = {}
    for commit in catalog.commits():
        by_rules.setdefault(str(commit.about["rules"]), []).append(commit)
    return [
        RulesVersion(
            rules,
            rules == rules_version(),
            [commit.number for commit in commits],
            sum(sum(commit.about["statuses"].values()) for commit in commits),
            sum(commit.about.get("findings", commit.about["rows"][FINDINGS]) for commit in commits),
            commits[-1].about["committed"],
        )
        for rules, commits in by_rules.items()
    ]
