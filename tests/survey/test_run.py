"""A run of a survey: what is judged, nothing lost, nothing doubled, and only what is new the next time."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.formats.importers.store_samples import CHAT, SAMPLES
from tests.survey.conftest import Quiet, Truth, everything, in_process, rows
from workbench.errors import UsageError
from workbench.formats.importers import open_found
from workbench.rules import Inspector, by_cause
from workbench.survey import (
    TABLES,
    Catalog,
    Examples,
    SurveyOptions,
    ask,
    check_survey,
    commit_survey,
    overview,
    rules_of,
    run_survey,
    time_of,
)
from workbench.survey import run as run_module
from workbench.survey.engines import BatchOutcome, Task, engine_of, share_of
from workbench.survey.object_listing import Listing, StoredObject, list_objects
from workbench.survey.parts import MOST_OBJECTS, Batch, batches_of, is_whole, part_of, read_part, write_part
from workbench.survey.planning import KnownObjects, ObjectSelection
from workbench.survey.run import RunResult, pending

Survey = Callable[..., RunResult]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "out")


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of two objects, so that a small store has many."""
    monkeypatch.setattr("workbench.survey.parts.MOST_OBJECTS", 2)


def test_the_findings_are_those_of_an_inspection(truth: Truth, store: Path) -> None:
    assert truth.result.commit is not None and truth.result.commit.is_complete
    expected = Counter[tuple[str, str]]()
    for path in store.rglob("*"):
        session = open_found(str(path)) if path.is_file() else None
        if session:
            findings = by_cause(Inspector(session).run().findings)
            expected.update((str(path), finding.rule) for finding in findings)
    names = {row[0]: row[1] for row in truth.rows["objects"]}
    assert Counter((names[row[0]], row[3]) for row in truth.rows["findings"]) == expected
    assert sum(expected.values()) > 30


def test_every_listed_object_has_a_status(
    catalog: Catalog, survey: Survey, own_store: Path, own_options: SurveyOptions
) -> None:
    (own_store / "notes.txt").write_text("nothing for us\n", encoding="utf-8")
    (own_store / "empty.json").write_bytes(b"")
    (own_store / "torn.json.gz").write_bytes(SAMPLES["litellm-s3.json.gz"].data[:-20])
    result = survey(catalog, own_options)
    assert result.commit is not None
    counts = result.commit.about["counts"]
    statuses = Counter(row[7] for row in rows(catalog, "objects"))
    assert counts["listed"] == sum(statuses.values()) == len(list(list_objects(str(own_store))))
    assert statuses["nothing"] >= 2
    assert counts["lost"] == 0
    assert check_survey(catalog).problems == []


@pytest.mark.usefixtures("small_batches")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("point", range(0, 20, 4))  # 20 real kills: python -m tests.real survey kills
def test_a_driver_that_dies_at_any_point_loses_and_doubles_nothing(
    point: int, catalog: Catalog, survey: Survey, options: SurveyOptions, truth: Truth
) -> None:
    def dies(batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        for number, outcome in enumerate(in_process(batches, task, tries)):
            if number == point:
                raise KeyboardInterrupt
            yield outcome

    with pytest.raises(KeyboardInterrupt):
        survey(catalog, engine=dies)
    left = len(list(pending(catalog)))
    again = Quiet()
    result = run_survey(catalog, options, again, in_process)
    assert result.commit is not None and result.commit.is_complete
    assert 0 < result.checked_objects <= again.total
    assert left and not list(catalog.parts.iterdir())
    assert everything(catalog) == truth.rows


@pytest.mark.usefixtures("small_batches")
def test_a_batch_that_is_done_twice_counts_once(catalog: Catalog, survey: Survey, truth: Truth) -> None:
    def twice(batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        held = list(batches)
        yield from in_process(held, task, tries)
        yield from in_process(held, task, tries)

    survey(catalog, engine=twice)
    assert everything(catalog) == truth.rows


@pytest.mark.usefixtures("small_batches")
def test_a_torn_part_is_made_again(catalog: Catalog, survey: Survey) -> None:
    def torn(batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        for number, outcome in enumerate(in_process(batches, task, tries)):
            if number == 3:
                path = write_part(catalog.parts, outcome.batch, outcome.part)
                path.write_bytes(outcome.part[:-7])
                assert not is_whole(path) and read_part(path) is None
                raise KeyboardInterrupt
            yield outcome

    with pytest.raises(KeyboardInterrupt):
        survey(catalog, engine=torn)
    result = survey(catalog)
    assert result.commit is not None and result.commit.is_complete


def test_a_batch_that_fails_is_named_and_the_run_is_not_committed(catalog: Catalog, survey: Survey) -> None:
    def fails(batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        yield from (BatchOutcome(batch, error="WorkerLost") for batch in batches)

    result = survey(catalog, engine=fails)
    assert result.commit is None and result.open_batches and result.errors == ("WorkerLost",) * result.open_batches
    commit = commit_survey(catalog)
    assert not commit.is_complete
    assert commit.about["counts"]["lost"] == commit.about["counts"]["planned"]


def test_later_runs_judge_what_is_new_or_changed_and_the_newest_version_counts(
    catalog: Catalog, survey: Survey, own_store: Path, own_options: SurveyOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB")
    first = survey(catalog, own_options)
    assert survey(catalog, own_options).checked_objects == 0
    assert len(list(catalog.commits())) == 1
    (own_store / "new.json").write_text(json.dumps(CHAT), encoding="utf-8")
    whole = CHAT | {"messages": CHAT["messages"][:1]}  # type: ignore[index]
    (own_store / "deep" / "00.json").write_text(json.dumps(whole), encoding="utf-8")
    second = survey(catalog, own_options)
    assert first.checked_objects == 7 and second.checked_objects == 2
    assert second.commit is not None and second.commit.number == 2
    found = overview(catalog)
    assert found is not None and found.objects == {"judged": 8}
    monkeypatch.setattr("workbench.survey.failure_groups._EXACT", 0)
    from_counts = overview(catalog)
    assert from_counts is not None and not from_counts.is_exact
    assert [group[:4] for group in from_counts.groups] == [group[:4] for group in found.groups]
    assert (from_counts.objects, from_counts.exchanges) == (found.objects, found.exchanges)
    assert ask(catalog, "SELECT count(DISTINCT uri) = count(*) FROM objects").rows == [(True,)]
    query = "SELECT uri FROM objects WHERE errors + warnings = 0"
    assert ask(catalog, query).rows == [(str(own_store / "deep" / "00.json"),)]
    monkeypatch.setattr(run_module, "rules_version", lambda: "newer")
    assert survey(catalog, own_options).checked_objects == 8
    assert [(list(each.runs), each.objects) for each in rules_of(catalog)] == [([1, 2], 9), ([3], 8)]


@pytest.mark.usefixtures("small_batches")
def test_shares_of_a_plan_make_the_whole(
    catalog: Catalog, survey: Survey, options: SurveyOptions, truth: Truth
) -> None:
    judged = 0
    for index in range(3):
        result = survey(catalog, replace(options, engine=f"part:{index}/3"))
        assert result.commit is None
        judged += result.checked_objects
    commit = commit_survey(catalog)
    assert commit.is_complete and judged == truth.result.checked_objects
    assert everything(catalog) == truth.rows


def test_a_sample_is_the_same_in_every_run(survey: Survey, options: SurveyOptions, tmp_path: Path) -> None:
    half = replace(options, selection=ObjectSelection(sample=0.5))
    one, other = Catalog(tmp_path / "one"), Catalog(tmp_path / "other")
    first, second = survey(one, half), survey(other, half)
    assert first.commit is not None
    assert 0 < first.checked_objects == second.checked_objects < first.commit.about["counts"]["listed"]
    assert everything(one) == everything(other)


def test_another_command_on_a_run_that_is_going_on_is_refused(
    catalog: Catalog, survey: Survey, options: SurveyOptions
) -> None:
    survey(catalog, replace(options, engine="part:1/2"))
    with pytest.raises(UsageError, match="different options"):
        survey(catalog, replace(options, selection=ObjectSelection(sample=0.5)))


def test_a_folder_that_is_no_survey_is_left_alone(survey: Survey, store: Path) -> None:
    with pytest.raises(UsageError, match="is not empty and is not a survey"):
        survey(Catalog(store))


def test_tables_are_the_same_without_duckdb(
    survey: Survey, truth: Truth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB")
    expected, with_base = truth.rows, overview(truth.catalog, "model")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    plain = Catalog(tmp_path / "plain")
    result = survey(plain)
    assert result.commit is not None
    assert {name.rpartition(".")[2] for name in result.commit.files("objects")} == {"zst"}
    assert everything(plain) == expected
    assert survey(plain).checked_objects == 0
    without = overview(plain, "model")
    assert with_base is not None and without is not None
    assert [group[:6] for group in without.groups] == [group[:6] for group in with_base.groups]
    assert (without.objects, without.exchanges) == (with_base.objects, with_base.exchanges)
    assert check_survey(plain).problems == []


@pytest.mark.usefixtures("small_batches")
def test_an_object_that_ends_its_worker_is_found_by_halves(
    catalog: Catalog, survey: Survey, options: SurveyOptions, truth: Truth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.survey.parts.MOST_OBJECTS", 9)
    names = [found.uri for found in list_objects(options.root)]
    poison = {name for name in names if name.endswith(("05.json", "cut.jsonl"))}
    ran = []

    def dies(batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        for batch in batches:
            ran.append(batch.name)
            if poison & {found.uri for unit in batch.units for found in unit}:
                yield BatchOutcome(batch, error="KilledWorker")
            else:
                yield from in_process([batch], task, tries)

    result = survey(catalog, engine=dies)
    assert len(poison) == 2 and result.commit is not None and result.commit.is_complete
    found = {row[1]: (row[7], row[8]) for row in rows(catalog, "objects")}
    assert {name for name, about in found.items() if about == ("poison", "worker:KilledWorker")} == poison
    assert sum(status == "poison" for status, _ in found.values()) == 2
    assert len(found) == len(truth.rows["objects"]) and len(ran) < 35


def test_a_listing_that_breaks_off_goes_on_behind_its_last_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"logs/{n:03}.json" for n in range(25)]
    asked = []

    class Store:
        """A bucket whose listing ends with an error after each second page of five names."""

        def head(self, name: str) -> Any:
            raise FileNotFoundError(name)

        def list(self, prefix: str | None, offset: str | None, chunk_size: int) -> Iterator[list[dict[str, Any]]]:
            asked.append(offset)
            left = [name for name in names if name > (offset or "")]
            for page in range(0, len(left), 5):
                if page == 10:
                    raise OSError("503 SlowDown")
                when = datetime(2026, 9, 1 + (page // 5), tzinfo=UTC)
                yield [{"path": n, "size": 1, "e_tag": '"v"', "last_modified": when} for n in left[page : page + 5]]

    monkeypatch.setattr("workbench.survey.object_listing._store", lambda path: (Store(), "logs"))
    monkeypatch.setattr("workbench.survey.object_listing.time.sleep", lambda seconds: None)
    found = list(Listing("s3://b/logs"))
    assert [one.uri for one in found] == [f"s3://b/{name}" for name in names]
    assert asked == [None, "logs/009.json", "logs/019.json"] and found[0].etag == "v"
    recent = Listing("s3://b/logs", since=time_of("2026-09-02T00:00+00:00"))
    assert (len(list(recent)), recent.older) == (10, 15)
    names.reverse()
    with pytest.raises(OSError, match="cannot be listed"):
        list(Listing("s3://b/logs"))


def test_findings_are_thinned_filtered_and_pointed_at_as_asked(
    catalog: Catalog, tmp_path: Path, survey: Survey, options: SurveyOptions, truth: Truth
) -> None:
    judge = replace(options.judge, keeps_pointers=True, store="litellm_log")
    survey(catalog, replace(options, judge=judge, examples=Examples("rule", 2)))
    assert {(row[7], row[8]) for row in rows(catalog, "objects")} == {("judged", None), ("nothing", "other-store")}
    columns = list(TABLES["findings"])
    kept = [dict(zip(columns, row, strict=True)) for row in rows(catalog, "findings")]
    assert [row["pointer"] for row in kept if row["rule"] == "closure.missing-result"] == [
        "/messages/1/tool_calls/0"
    ] * 2
    assert all(row[columns.index("pointer")] is None for row in truth.rows["findings"])
    found = overview(catalog)
    assert found is not None and found.groups[0].findings > 2 and not found.is_exact
    failed = Catalog(tmp_path / "failed")
    survey(failed, replace(options, judge=replace(options.judge, filter="status:4xx")))
    assert len(rows(failed, "exchanges")) == len(truth.rows["exchanges"])
    assert 0 < len(rows(failed, "findings")) < len(truth.rows["findings"])


def test_keys_of_settled_objects_are_found_among_others() -> None:
    known = KnownObjects()
    keys = [f"{n % 3:04x}{n:028x}" for n in range(0, 300, 2)]
    for key in keys:
        known.add(key)
    assert all(key in known for key in keys) and len(known) == 150
    assert not any(f"{n % 3:04x}{n:028x}" in known for n in range(1, 300, 2))


def test_a_damaged_survey_is_described_line_by_line(
    catalog: Catalog, survey: Survey, own_options: SurveyOptions
) -> None:
    survey(catalog, own_options)
    last = catalog.last()
    assert last is not None
    (catalog.folder / last.files("findings")[0]).write_bytes(b"PAR1")
    (catalog.folder / last.files("facts")[0]).unlink()
    (catalog.folder / "objects" / "000009.parquet").write_bytes(b"")
    [missing, loose] = check_survey(catalog).problems
    assert missing.endswith("is missing") and loose.startswith("objects/000009.parquet belongs to no finished run")
    shutil.copy(catalog.folder / last.files("metrics")[0], catalog.folder / last.files("facts")[0])
    assert any("findings: the table cannot be read" in line for line in check_survey(catalog).problems)


@pytest.mark.parametrize("text", ["yesterday", "7x", "", "d", "2026-13-01"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="neither a date nor an age"):
        time_of(text)


def test_batches_are_named_after_what_they_read() -> None:
    objects = [StoredObject(f"/s/{n}", 10, f"v{n}") for n in range(MOST_OBJECTS + 1)]
    first, second = batches_of((found,) for found in objects)
    assert [len(first.units), len(second.units)] == [MOST_OBJECTS, 1]
    assert first.name == next(batches_of((found,) for found in objects)).name
    changed = [objects[0]._replace(etag="v"), *objects[1:]]
    assert first.name != next(batches_of((found,) for found in changed)).name


def test_a_part_is_whole_only_with_its_trailer(tmp_path: Path) -> None:
    batch = Batch("b1", [[StoredObject("/s/1", 1, "v")]])
    part = part_of(batch, [[{"t": "objects", "object": "o"}]])
    path = write_part(tmp_path, batch, part)
    assert read_part(path) == [{"t": "objects", "object": "o"}]
    for cut in range(1, len(part), 5):
        path.write_bytes(part[:cut])
        assert read_part(path) is None and not is_whole(path)


@pytest.mark.parametrize("text", ["part:2/2", "part:x/2", "part:1", "part:-1/2"])
def test_a_share_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a valid share of the work"):
        share_of(text)


@pytest.mark.parametrize("text", ["spark://x", "local:0", "local:x", "nothing"])
def test_an_engine_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        engine_of(text)
