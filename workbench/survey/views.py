"""Views of DuckDB over the files that commits name: ``findings_all`` has all runs, ``findings`` what still holds.

Of an object that several runs have judged, the newest one holds. A commit lists the objects of earlier runs that it
replaces; for commits without such a list the names of all objects are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.survey.catalog import Commit
from workbench.survey.schema import ADDED, GROUPED, OBJECTS, PARQUET, REPLACED, TABLES


def create_views(base: Any, folder: Path, commits: Sequence[Commit]) -> None:
    """Create the views of all tables.

    Args:
        base: a connection of DuckDB.
        folder: of the survey.
        commits: the runs that are read, in order.
    """
    for table, columns in TABLES.items():
        base.execute(f"CREATE VIEW {table}_all AS {_source(folder, commits, table, columns)}")
    for table in TABLES:
        base.execute(f"CREATE VIEW {table} AS {_view(table, commits)}")


def lists_replaced(commits: Sequence[Commit]) -> bool:
    """True if each of these runs but the first says which objects of earlier ones it replaces."""
    return all(commit.about.get("replaced") is not None for commit in commits[1:])


def _source(folder: Path, commits: Sequence[Commit], table: str, columns: Mapping[str, str]) -> str:
    """A query for the rows of a table in the files of commits, which may have the columns of earlier versions."""
    sources: list[str] = []
    files: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
    for commit in commits:
        present = tuple(name for name in columns if ADDED.get((table, name), 1) <= commit.about["schema"])
        for name in commit.files(table):
            files.setdefault((name.endswith(PARQUET), present), []).append(str(folder / name))
    for (is_parquet, present), names in files.items():
        selection = ", ".join(f'"{n}"' if n in present else f'NULL::{kind} AS "{n}"' for n, kind in columns.items())
        typed = ", ".join(f"'{n}': '{columns.get(n, 'BIGINT')}'" for n in ("run", *present))
        paths = f"[{', '.join(map(_literal, names))}]"
        lines = f"read_json({paths}, format = 'newline_delimited', compression = 'zstd', columns = {{{typed}}})"
        sources.append(f"SELECT run, {selection} FROM " + (f"read_parquet({paths})" if is_parquet else lines))
    kinds = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in {"run": "BIGINT", **columns}.items())
    return " UNION ALL ".join(sources) or f"SELECT {kinds} WHERE false"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _view(table: str, commits: Sequence[Commit]) -> str:
    if len(commits) == 1 or table in (GROUPED, REPLACED) or "object" not in TABLES[table]:
        return f"SELECT * FROM {table}_all"
    if lists_replaced(commits):
        return f"SELECT t.* FROM {table}_all t ANTI JOIN {REPLACED}_all r ON t.object = r.object AND t.run = r.of_run"
    if table == OBJECTS:
        return "SELECT * FROM objects_all QUALIFY row_number() OVER (PARTITION BY uri ORDER BY run DESC) = 1"
    return f"SELECT t.* FROM {table}_all t SEMI JOIN objects o ON t.object = o.object AND t.run = o.run"
