"""The overview, ready questions, budgets and comparisons of runs answer from the tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.formats.importers.store_samples import CHAT
from tests.survey.conftest import KEY, Truth
from workbench.errors import UsageError
from workbench.survey import (
    QUESTIONS,
    TABLES,
    Catalog,
    JudgeOptions,
    SurveyOptions,
    ask,
    budget_of,
    compare_runs,
    find_exceeded,
    html_report,
    overview,
)
from workbench.survey import run as run_module
from workbench.survey.judging import judge_unit
from workbench.survey.object_listing import StoredObject
from workbench.survey.run import RunResult


@pytest.fixture
def catalog(truth: Truth) -> Catalog:
    return truth.catalog


def test_a_filter_narrows_the_overview(catalog: Catalog) -> None:
    found = overview(catalog, "provider", {"rule": "closure.*", "provider": "bedrock"})
    assert found is not None
    assert {(group.rule, group.name) for group in found.groups} == {("closure.missing-result", "bedrock")}


def test_budgets_are_sessions_or_shares(catalog: Catalog) -> None:
    found = overview(catalog)
    assert found is not None
    assert find_exceeded(found, [budget_of("closure.*=1000"), budget_of("closure.*=100%")]) == []
    [few, share] = find_exceeded(found, [budget_of("closure.missing-result=3"), budget_of("closure.*=1.5%")])
    assert few.startswith("closure.missing-result: ") and few.endswith("sessions; the budget is 3")
    assert "the budget is 1.50%" in share


@pytest.mark.parametrize("text", ["closure.*", "=3", "a=b", "a=-1"])
def test_a_budget_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a budget"):
        budget_of(text)


def test_runs_are_compared_by_rate(
    tmp_path: Path,
    own_store: Path,
    own_options: SurveyOptions,
    survey: Callable[..., RunResult],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog = Catalog(tmp_path / "out")
    survey(catalog, own_options)
    whole = CHAT | {"messages": CHAT["messages"][:1]}  # type: ignore[index]
    for path in sorted((own_store / "deep").iterdir()):
        path.write_text(json.dumps(whole), encoding="utf-8")
    monkeypatch.setattr(run_module, "rules_version", lambda: "newer")
    survey(catalog, own_options)
    first, second = catalog.commits()
    changes = {change.rule: change for change in compare_runs(catalog, first, second)}
    assert not changes["closure.missing-result"].is_worse
    assert changes["closure.missing-result"].after < changes["closure.missing-result"].before
    back = {change.rule: change for change in compare_runs(catalog, second, first)}
    assert back["closure.missing-result"].is_worse


def test_every_ready_question_is_answered(catalog: Catalog) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB")
    for name, question in QUESTIONS.items():
        answer = ask(catalog, question.sql)
        assert answer.columns
        assert answer.rows or name in ("new", "retries", "terms", "text-calls", "gateways", "unjudged"), name


def test_facts_tell_what_was_accepted_and_what_was_refused(truth: Truth) -> None:
    columns = list(TABLES["facts"])
    held = [dict(zip(columns, row, strict=True)) for row in truth.rows["facts"]]
    found = Counter((row["contract"], row["fact"], row["basis"], row["outcome"]) for row in held)
    assert found["openai", "closure.missing-result", "recording", "refused"] == 1  # the answer names it
    assert found["bedrock", "closure.missing-result", "contract", "accepted"] >= 1  # against what the contract says
    names = {row[0]: row[1] for row in truth.rows["objects"]}
    assert not [row for row in held if "litellm" in names[row["object"]]]  # a rebuilt request proves nothing


def test_terms_tell_how_many_requests_could_break_a_fact(store: Path) -> None:
    """Accepted requests with an open call; that of a rebuilt log proves nothing."""
    found: Counter[tuple[object, ...]] = Counter()
    for name in ("cloudflare.json", "litellm-s3.json", "bedrock.json.gz"):
        path = store / name
        for row in judge_unit([StoredObject(str(path), path.stat().st_size, "")], JudgeOptions(KEY, terms=1.0)):
            if row["t"] == "terms":
                counts = row["contract"], row["family"], row["fact"], row["outcome"], row["exchanges"], row["broken"]
                found[counts] += 1
    assert found["openai", "gpt-4", "closure.missing-result", "accepted", 2, 2] == 1
    assert found["openai", "gpt-4", "closure.orphan-result", "accepted", 2, 0] == 1
    assert {key[1] for key in found if key[0] == "bedrock"} == {"claude-sonnet-4"}
    for fact in ("params.unsupported:highest-temperature", "content.shape:role", "gateway.unknown-field"):
        assert found["openai", "gpt-4", fact, "accepted", 2, 0] == 1


def test_sql_that_is_none_is_refused_in_one_line(catalog: Catalog) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB")
    with pytest.raises(UsageError, match="the query is refused: "):
        ask(catalog, "SELECT nothing FROM nowhere")


def test_a_column_of_one_name_has_one_type() -> None:
    """A part holds rows of several tables, which are read with one list of columns."""
    kinds: dict[str, str] = {}
    for columns in TABLES.values():
        for name, kind in columns.items():
            assert kinds.setdefault(name, kind) == kind, name


def test_the_guide_lists_the_columns_of_every_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "survey.md").read_text()
    sections = page.partition("\n## Columns\n")[2].partition("\n## ")[0].split("\n### `")[1:]
    listed = {section.partition("`")[0]: re.findall(r"(?m)^\| `(\w+)` \| (\w+) \|", section) for section in sections}
    assert listed == {table: list(columns.items()) for table, columns in TABLES.items()}


def test_the_report_names_rules_and_what_was_not_judged(catalog: Catalog) -> None:
    found = overview(catalog)
    assert found is not None
    page = html_report(found)
    assert "closure.missing-result" in page and "have no clear verdict" in page and page.endswith("</html>\n")
