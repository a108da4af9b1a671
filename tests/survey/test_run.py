"""A run of a survey: what is judged, nothing lost, nothing doubled, and only what is new the next time."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.formats.importers.store_samples import CHAT, SAMPLES
from tests.survey.conftest import Quiet, everything, in_process, rows
from workbench.errors import UsageError
from workbench.formats.importers import open_found
from workbench.rules import Inspector, by_cause
from workbench.survey import Catalog, SurveyOptions, commit_survey, run_survey
from workbench.survey import run as run_module
from workbench.survey.engines import BatchOutcome, Task, engine_of, share_of
from workbench.survey.parts import MOST_OBJECTS, Batch, batches_of, is_whole, part_of, read_part, write_part
from workbench.survey.places import StoredObject, list_objects
from workbench.survey.planning import ObjectSelection
from workbench.survey.run import RunResult, pending

Survey = Callable[..., RunResult]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "out")


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of two objects, so that a small store has many."""
    monkeypatch.setattr("workbench.survey.parts.MOST_OBJECTS", 2)


def test_the_findings_are_those_of_an_inspection(catalog: Catalog, survey: Survey, store: Path) -> None:
    result = survey(catalog)
    assert result.commit is not None and result.commit.is_complete
    expected = Counter[tuple[str, str]]()
    for path in store.rglob("*"):
        session = open_found(str(path)) if path.is_file() else None
        if session:
            findings = by_cause(Inspector(session).run().findings)
            expected.update((str(path), finding.rule) for finding in findings)
    names = {row[0]: row[1] for row in rows(catalog, "objects")}
    assert Counter((names[row[0]], row[3]) for row in rows(catalog, "findings")) == expected
    assert sum(expected.values()) > 30


def test_every_listed_object_has_a_status(catalog: Catalog, survey: Survey, store: Path) -> None:
    (store / "notes.txt").write_text("nothing for us\n", encoding="utf-8")
    (store / "empty.json").write_bytes(b"")
    (store / "torn.json.gz").write_bytes(SAMPLES["litellm-s3.json.gz"].data[:-20])
    result = survey(catalog)
    assert result.commit is not None
    counts = result.commit.about["counts"]
    statuses = Counter(row[7] for row in rows(catalog, "objects"))
    assert counts["listed"] == sum(statuses.values()) == len(list(list_objects(str(store))))
    assert statuses["nothing"] >= 2
    assert counts["lost"] == 0


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("point", range(0, 20, 4))  # 20 real kills: python -m tests.real survey kills
def test_a_driver_that_dies_at_any_point_loses_and_doubles_nothing(
    point: int, catalog: Catalog, survey: Survey, tmp_path: Path
) -> None:
    def dies(batches: Sequence[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        for number, outcome in enumerate(in_process(batches, task, tries)):
            if number == point:
                raise KeyboardInterrupt
            yield outcome

    with pytest.raises(KeyboardInterrupt):
        survey(catalog, engine=dies)
    left = len(list(pending(catalog)))
    again = Quiet()
    options = _options_of(survey)
    result = run_survey(catalog, options, again, in_process)
    assert result.commit is not None and result.commit.is_complete
    assert 0 < result.judged <= again.total
    assert left and not list(catalog.parts.iterdir())
    whole = Catalog(tmp_path / "whole")
    survey(whole)
    assert everything(catalog) == everything(whole)


def _options_of(survey: Any) -> SurveyOptions:
    given: SurveyOptions = survey.__defaults__[0]
    return given


@pytest.mark.usefixtures("small_batches")
def test_a_batch_that_is_done_twice_counts_once(catalog: Catalog, survey: Survey, tmp_path: Path) -> None:
    def twice(batches: Sequence[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        yield from in_process(batches, task, tries)
        yield from in_process(batches, task, tries)

    survey(catalog, engine=twice)
    whole = Catalog(tmp_path / "whole")
    survey(whole)
    assert everything(catalog) == everything(whole)


@pytest.mark.usefixtures("small_batches")
def test_a_torn_part_is_made_again(catalog: Catalog, survey: Survey) -> None:
    def torn(batches: Sequence[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
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
    def fails(batches: Sequence[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        yield from (BatchOutcome(batch, error="WorkerLost") for batch in batches)

    result = survey(catalog, engine=fails)
    assert result.commit is None and result.left and result.errors == ("WorkerLost",) * result.left
    commit = commit_survey(catalog)
    assert not commit.is_complete
    assert commit.about["counts"]["lost"] == commit.about["counts"]["planned"]


def test_the_second_run_judges_what_is_new_or_changed(catalog: Catalog, survey: Survey, store: Path) -> None:
    first = survey(catalog)
    assert survey(catalog).judged == 0
    assert len(list(catalog.commits())) == 1
    (store / "new.json").write_text(json.dumps(CHAT), encoding="utf-8")
    (store / "deep" / "00.json").write_text(json.dumps(CHAT | {"top_p": 0.5}), encoding="utf-8")
    second = survey(catalog)
    assert first.judged > 30 and second.judged == 2
    assert second.commit is not None and second.commit.number == 2


def test_the_newest_version_of_an_object_counts(catalog: Catalog, survey: Survey, store: Path) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB")
    from workbench.survey import ask

    survey(catalog)
    query = "SELECT count(*) FROM findings SEMI JOIN objects USING (object) WHERE rule = 'closure.missing-result'"
    before = ask(catalog, query).rows[0][0]
    (store / "deep" / "00.json").write_text(json.dumps(CHAT | {"messages": CHAT["messages"][:1]}), encoding="utf-8")
    survey(catalog)
    assert ask(catalog, query).rows[0][0] == before - 1
    assert ask(catalog, "SELECT count(DISTINCT uri) = count(*) FROM objects").rows == [(True,)]


def test_other_rules_judge_everything_again(catalog: Catalog, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    first = survey(catalog)
    monkeypatch.setattr(run_module, "rules_version", lambda: "newer")
    assert survey(catalog).judged == first.judged


@pytest.mark.usefixtures("small_batches")
def test_shares_of_a_plan_make_the_whole(
    catalog: Catalog, survey: Survey, options: SurveyOptions, tmp_path: Path
) -> None:
    judged = 0
    for index in range(3):
        result = survey(catalog, replace(options, engine=f"part:{index}/3"))
        assert result.commit is None
        judged += result.judged
    commit = commit_survey(catalog)
    whole = Catalog(tmp_path / "whole")
    assert commit.is_complete and judged == survey(whole).judged
    assert everything(catalog) == everything(whole)


def test_a_sample_is_the_same_in_every_run(survey: Survey, options: SurveyOptions, tmp_path: Path) -> None:
    half = replace(options, selection=ObjectSelection(sample=0.5))
    one, other = Catalog(tmp_path / "one"), Catalog(tmp_path / "other")
    first, second = survey(one, half), survey(other, half)
    assert first.commit is not None
    assert 0 < first.judged == second.judged < first.commit.about["counts"]["listed"]
    assert everything(one) == everything(other)


def test_another_command_on_a_run_that_is_going_on_is_refused(
    catalog: Catalog, survey: Survey, options: SurveyOptions
) -> None:
    survey(catalog, replace(options, engine="part:1/2"))
    with pytest.raises(UsageError, match="other options"):
        survey(catalog, replace(options, selection=ObjectSelection(sample=0.5)))


def test_a_folder_that_is_no_survey_is_left_alone(survey: Survey, store: Path) -> None:
    with pytest.raises(UsageError, match="is not empty and is not a survey"):
        survey(Catalog(store))


def test_tables_are_the_same_without_duckdb(
    catalog: Catalog, survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB")
    survey(catalog)
    expected = everything(catalog)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    plain = Catalog(tmp_path / "plain")
    result = survey(plain)
    assert result.commit is not None
    assert {name.rpartition(".")[2] for name in result.commit.files("objects")} == {"zst"}
    assert everything(plain) == expected
    assert survey(plain).judged == 0


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
    with pytest.raises(UsageError, match="not a share"):
        share_of(text)


@pytest.mark.parametrize("text", ["spark://x", "local:0", "local:x", "nothing"])
def test_an_engine_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        engine_of(text)
