"""What a survey found, at a glance: failures in groups with their weeks, and what was not judged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.survey.catalog import Catalog, Commit
from workbench.survey.object_listing import StoredObject
from workbench.survey.rows import Row
from workbench.survey.schema import EXCHANGES, FINDINGS, GROUPED, OBJECTS, STATUSES
from workbench.survey.tables import commits_of, open_tables, rows_of
from workbench.survey.views import lists_replaced

GROUPS = ("provider", "client", "model", "protocol")
"""Columns that failures can be grouped by, beside their rule."""

FILTERS = ("rule", "severity", *GROUPS, "week", "side", "basis")
"""Columns that a filter can name."""

_EXACT = 1_000_000
"""Findings up to which sessions are counted exactly. Beyond it that takes seconds: the counts of the run are added up,
where a session that fails in two weeks, or with two models, counts twice."""


_EXAMPLE = "printf('%010d', 9999999999 - run) || ' ' || object || ' ' || exchange"
"""Sorts the newest run first: objects of earlier ones may have been replaced."""


class FailureGroup(NamedTuple):
    """Findings of one rule in one group.

    Attributes:
        name: the group's own name, such as a provider; empty if it is not known.
        sessions: conversations with such a finding.
        weeks: findings by week.
        example: key of an object with one; ``exchange`` is its place there.
    """

    rule: str
    severity: str
    name: str
    findings: int
    sessions: int
    weeks: Mapping[str, int]
    example: str
    exchange: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What a survey found.

    Attributes:
        commit: the newest run.
        by: column of the groups.
        groups: the one with most sessions first.
        weeks: all weeks, in order.
        objects: numbers of objects by status.
        exchanges: numbers of exchanges by verdict.
        is_exact: sessions are counted one by one; else one that fails in two weeks or with two models counts twice.
    """

    commit: Commit
    by: str
    groups: Sequence[FailureGroup]
    weeks: Sequence[str]
    objects: Mapping[str, int]
    exchanges: Mapping[str, int]
    is_exact: bool = True

    @property
    def judged_exchanges(self) -> int:
        """Exchanges that were judged and decided."""
        return sum(number for verdict, number in self.exchanges.items() if verdict in ("ok", "warned", "broken"))

    @property
    def unjudged_objects(self) -> int:
        """Objects that were not judged, for whatever reason."""
        return sum(number for status, number in self.objects.items() if status in ("unreadable", "poison", "skipped"))


def overview(catalog: Catalog, by: str = "provider", where: Mapping[str, str] | None = None) -> Overview | None:
    """The overview of a survey; None if no run is committed.

    Args:
        by: one of ``GROUPS``.
        where: values by column (``FILTERS``); ``*`` stands for anything.
    """
    commits = commits_of(catalog)
    if not commits:
        return None
    try:
        import duckdb  # noqa: F401
    except ImportError:
        return _from_rows(catalog, commits, by, where or {})
    with open_tables(catalog, commits) as base:
        return _from_tables(base, commits, by, where or {})


def _from_tables(base: Any, commits: Sequence[Commit], by: str, where: Mapping[str, str]) -> Overview:
    commit = commits[-1]
    count = sum(c.about.get("findings", c.about["rows"][FINDINGS]) for c in commits)
    is_thinned = any(c.about.get("options", {}).get("per") for c in commits)
    is_exact = not lists_replaced(commits) or (count <= _EXACT and not is_thinned)
    conditions = ["severity <> 'info'", *(f'"{name}" LIKE ?' for name in where)]
    source = f"FROM {FINDINGS if is_exact else GROUPED} WHERE {' AND '.join(conditions)}"
    values = [pattern.replace("*", "%") for pattern in where.values()]
    number = "count(*)" if is_exact else "sum(findings)::BIGINT"
    sessions = "count(DISTINCT conversation)" if is_exact else "sum(sessions)::BIGINT"
    rows = base.execute(
        f"SELECT rule, severity, coalesce({by}, ''), {number}, {sessions}, min({_EXAMPLE}) "
        f"{source} GROUP BY 1, 2, 3 HAVING {number} > 0 ORDER BY 5 DESC, 4 DESC, 1, 3",
        values,
    ).fetchall()
    weeks: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    for rule, severity, name, week, findings in base.execute(
        f"SELECT rule, severity, coalesce({by}, ''), week, {number} {source} AND week IS NOT NULL GROUP BY 1, 2, 3, 4 "
        f"HAVING {number} > 0",
        values,
    ).fetchall():
        weeks[rule, severity, name][week] = findings
    objects, exchanges = _numbers(base, commits)
    groups = [
        FailureGroup(rule, severity, name, findings, several, weeks[rule, severity, name], *_place(example))
        for rule, severity, name, findings, several, example in rows
    ]
    return Overview(commit, by, groups, _all_weeks(groups), objects, exchanges, is_exact)


def _numbers(base: Any, commits: Sequence[Commit]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """(objects by status, exchanges by verdict), from manifests if they tell what was replaced."""
    if lists_replaced(commits):
        return _sum_of(commits, "statuses"), _sum_of(commits, "verdicts")
    objects = dict(base.execute("SELECT status, count(*) FROM objects GROUP BY 1").fetchall())
    return objects, dict(base.execute("SELECT verdict, count(*) FROM exchanges GROUP BY 1").fetchall())


def _sum_of(commits: Sequence[Commit], name: str) -> Mapping[str, int]:
    """Counts of all runs, less those of objects that a later run has judged again."""
    total = Counter[str]()
    for commit in commits:
        total.update(commit.about[name])
        total.subtract((commit.about.get("replaced") or {}).get(name, {}))
    return {key: number for key, number in total.items() if number}


def _place(example: str) -> tuple[str, int]:
    _, key, exchange = example.split(" ")
    return key, int(exchange)


def _all_weeks(groups: Sequence[FailureGroup]) -> list[str]:
    return sorted({week for group in groups for week in group.weeks})


def _from_rows(catalog: Catalog, commits: Sequence[Commit], by: str, where: Mapping[str, str]) -> Overview:
    """The same without DuckDB."""
    from fnmatch import fnmatchcase

    newest: dict[JsonValue, Row] = {}
    for row in rows_of(catalog, commits, OBJECTS):
        newest[row["uri"]] = row
    used = {(row["object"], row["run"]) for row in newest.values()}
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows_of(catalog, commits, FINDINGS):
        matches = all(fnmatchcase(str(row.get(name) or ""), pattern) for name, pattern in where.items())
        if (row["object"], row["run"]) in used and row["severity"] != "info" and matches:
            found[str(row["rule"]), str(row["severity"]), str(row.get(by) or "")].append(row)
    groups = [_group(*key, rows) for key, rows in found.items()]
    groups.sort(key=lambda g: (-g.sessions, -g.findings, g.rule, g.name))
    verdicts = Counter(
        str(row["verdict"]) for row in rows_of(catalog, commits, EXCHANGES) if (row["object"], row["run"]) in used
    )
    objects = Counter(str(row["status"]) for row in newest.values())
    return Overview(commits[-1], by, groups, _all_weeks(groups), objects, verdicts)


def _group(rule: str, severity: str, name: str, rows: Sequence[Row]) -> FailureGroup:
    first = min(rows, key=lambda row: (row["object"], row["exchange"]))
    weeks = Counter(str(row["week"]) for row in rows if row["week"])
    sessions = len({row["conversation"] for row in rows})
    return FailureGroup(rule, severity, name, len(rows), sessions, weeks, str(first["object"]), int(first["exchange"]))


class FailurePlace(NamedTuple):
    """An object with a failure: where it is stored, and the first exchange of it that fails so."""

    object: StoredObject
    exchange: int
    findings: int
    path: str


MOST_PLACES = 500
"""Places that are listed of one group."""


def places_of(
    catalog: Catalog, group: FailureGroup, by: str, where: Mapping[str, str] | None = None
) -> list[FailurePlace]:
    """Objects with the failures of a group, in the order of their names."""
    commits = commits_of(catalog)
    conditions = {**(where or {}), "rule": group.rule, "severity": group.severity}
    findings: dict[tuple[JsonValue, JsonValue], list[Row]] = defaultdict(list)
    for row in rows_of(catalog, commits, FINDINGS, conditions):
        if str(row.get(by) or "") == group.name:
            findings[row["object"], row["run"]].append(row)
    newest: dict[JsonValue, Row] = {}
    for row in rows_of(catalog, commits, OBJECTS):
        newest[row["uri"]] = row
    places = [
        _place_of(row, findings[row["object"], row["run"]])
        for row in newest.values()
        if (row["object"], row["run"]) in findings
    ]
    return sorted(places)[:MOST_PLACES]


def _place_of(about: Row, rows: Sequence[Row]) -> FailurePlace:
    first = min(rows, key=lambda row: int(row["exchange"]))
    found = StoredObject(str(about["uri"]), int(about["bytes"]), str(about["etag"]))
    return FailurePlace(found, int(first["exchange"]), len(rows), str(first["path"]))


_STATUS_WORDS = {"judged": "checked", "nothing": "without exchanges", "unreadable": "not readable"}


def status_words(objects: Mapping[str, int]) -> str:
    """The numbers of objects by status, in the order of ``STATUSES``."""
    return (
        ", ".join(
            f"{objects[status]:,} {_STATUS_WORDS.get(status, status)}" for status in STATUSES if objects.get(status)
        )
        or "no objects"
    )
