"""Verifies the folder of a survey: commits against their tables, the plan and the parts of an open run, loose files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import zstandard

from workbench.errors import WireError
from workbench.survey.catalog import COMMITS, Catalog, Commit
from workbench.survey.parts import is_whole
from workbench.survey.schema import OBJECTS, PARQUET, STATUSES, TABLES
from workbench.survey.tables import open_tables, rows_of


class SurveyReport(NamedTuple):
    """What was verified.

    Attributes:
        version: of the tables.
        rows: of all tables.
        is_open: a run is not committed yet.
        problems: one line each; empty if nothing is wrong.
    """

    version: int
    runs: int
    objects: int
    rows: int
    is_open: bool
    problems: Sequence[str]


def check_survey(catalog: Catalog) -> SurveyReport:
    """Verify a survey. Raises UsageError for a folder that is none."""
    version = catalog.version
    problems: list[str] = []
    commits = list(_commits(catalog, problems))
    rows = objects = 0
    named: set[str] = set()
    for commit in commits:
        where = f"run {commit.number}"
        named.update(name for table in TABLES for name in commit.files(table))
        counts = commit.about["counts"]
        ends = sum(counts[status] for status in STATUSES) + counts["lost"]
        if ends != counts.get("planned", 0):
            problems.append(f"{where}: {counts.get('planned', 0):,} objects were planned, {ends:,} have a result")
        if missing := [name for t in TABLES for name in commit.files(t) if not (catalog.folder / name).is_file()]:
            problems += (f"{where}: {name} is missing" for name in missing)
            continue
        rows += sum(_check_table(catalog, commit, table, problems) for table in TABLES)
        objects += commit.about["rows"][OBJECTS]
    problems += _loose(catalog, named)
    is_open = _check_plan(catalog, problems)
    return SurveyReport(version, len(commits), objects, rows, is_open, problems)


def _commits(catalog: Catalog, problems: list[str]) -> Iterator[Commit]:
    for number, path in enumerate(sorted((catalog.folder / COMMITS).glob("*.json")), 1):
        try:
            commit = catalog.read_commit(path)
            commit.about["counts"], commit.about["tables"], commit.about["rows"]
        except (OSError, WireError, KeyError, TypeError) as error:
            problems.append(f"{COMMITS}/{path.name} cannot be read ({type(error).__name__})")
            continue
        if (commit.number, path.name) != (number, f"{number:06}.json"):
            problems.append(f"{COMMITS}/{path.name} is run {commit.number}; run {number} is expected")
        yield commit


def _check_table(catalog: Catalog, commit: Commit, table: str, problems: list[str]) -> int:
    """Rows of a table of a run."""
    if not commit.files(table):
        return 0
    where = f"run {commit.number}, {table}"
    try:
        if all(name.endswith(PARQUET) for name in commit.files(table)):
            count, different, statuses = _read_table(catalog, commit, table)
        else:
            rows = list(rows_of(catalog, [commit], table))
            statuses = Counter(str(row["status"]) for row in rows if table == OBJECTS)
            count, different = len(rows), len({row["object"] for row in rows}) if table == OBJECTS else len(rows)
    except Exception as error:  # whatever a damaged table makes of its reader
        problems.append(f"{where}: the table cannot be read ({type(error).__name__})")
        return 0
    if count != commit.about["rows"][table]:
        problems.append(f"{where}: {count:,} rows, but the commit lists {commit.about['rows'][table]:,}")
    if table == OBJECTS and different != count:
        problems.append(f"{where}: {count - different:,} objects are in the table twice")
    if table == OBJECTS and dict(statuses) != commit.about["statuses"]:
        problems.append(f"{where}: the object counts by status differ from those in the commit")
    return count


def _read_table(catalog: Catalog, commit: Commit, table: str) -> tuple[int, int, Counter[str]]:
    """(rows, different objects of the table of objects, numbers of objects by status) of a Parquet table."""
    with open_tables(catalog, [commit]) as base:
        columns = ", ".join(f'count("{name}")' for name in TABLES[table])  # so that every column is read
        count = int(base.execute(f"SELECT count(*), {columns} FROM {table}_all").fetchone()[0])
        if table != OBJECTS:
            return count, count, Counter()
        different = int(base.execute("SELECT count(DISTINCT object) FROM objects_all").fetchone()[0])
        return (
            count,
            different,
            Counter(dict(base.execute("SELECT status, count(*) FROM objects_all GROUP BY 1").fetchall())),
        )


def _loose(catalog: Catalog, named: set[str]) -> Iterator[str]:
    for table in TABLES:
        for path in sorted((catalog.folder / table).glob("*")):
            if f"{table}/{path.name}" not in named:
                yield f"{table}/{path.name} belongs to no finished run (harmless: queries ignore it)"


def _check_plan(catalog: Catalog, problems: list[str]) -> bool:
    """True if a run is open."""
    try:
        plan = catalog.plan()
        for batch in plan.batches() if plan else ():
            if plan and (path := catalog.part(batch)).exists() and not is_whole(path):
                problems.append(f"parts/{path.name} is incomplete (harmless: its batch is checked again)")
    except (OSError, ValueError, WireError, zstandard.ZstdError) as error:
        problems.append(f"the plan of the open run cannot be read ({type(error).__name__})")
        return True
    return plan is not None
