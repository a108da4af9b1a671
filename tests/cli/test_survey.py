"""``workbench survey``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.formats.importers.store_samples import CHAT
from tests.survey.conftest import Quiet, in_process
from workbench.survey import Catalog, SurveyOptions, run_survey


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "store"
    place.mkdir()
    for number in range(5):
        (place / f"{number}.json").write_text(json.dumps(CHAT | {"top_p": number / 10}), encoding="utf-8")
    (place / "ok.json").write_text(
        json.dumps(CHAT | {"messages": [{"role": "user", "content": "hi"}]}), encoding="utf-8"
    )
    return place


def test_a_folder_is_surveyed_and_answers_questions(run: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("survey", folder, "-o", out, "--engine", "local:1")
    assert done.status == 0
    assert done.out.startswith(f"run 1 of {folder}: 6 checked\n6 exchanges checked, 5 of them broken\n6 objects in ")
    assert "closure.missing-result" in done.out
    told = json.loads(run("survey", out, "--format", "json", "--fail-on", "error").out)
    [group] = [group for group in told["groups"] if group["rule"] == "closure.missing-result"]
    assert (group["sessions"], group["findings"], group["name"]) == (5, 5, "openai")
    assert told["counts"]["judged"] == told["counts"]["listed"] == 6
    assert run("survey", out, "--fail-on", "error").status == 1
    assert run("survey", out, "--budget", "closure.*=5").status == 0
    over = run("survey", out, "--budget", "closure.*=4")
    assert over.status == 1 and "budget exceeded: closure.*: 5 sessions" in over.out


def test_sql_and_ready_questions(run: Run, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB")
    out = tmp_path / "out"
    run("survey", folder, "-o", out, "--engine", "local:1", "--metrics")
    query = "SELECT rule, count(*) AS n FROM findings WHERE severity = 'error' GROUP BY rule"
    assert json.loads(run("survey", out, "--sql", query, "--format", "json").out) == {
        "columns": ["rule", "n"],
        "rows": [["closure.missing-result", 5]],
    }
    assert "closure.missing-result" in run("survey", out, "--question", "failures").out
    assert "unjudged" in run("survey", out, "--question", "list").out
    retries = json.loads(run("survey", out, "--question", "retries", "--format", "json").out)
    assert retries["columns"][:3] == ["provider", "model", "client"] and retries["rows"]
    assert run("survey", out, "--question", "none").status == 2
    refused = run("survey", out, "--sql", "SELEC")
    assert refused.status == 2 and refused.err.count("\n") == 1


def test_shares_are_committed_by_hand_and_a_report_is_written(run: Run, folder: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "out", tmp_path / "report.html"
    assert run("survey", folder, "-o", out, "--engine", "part:0/2").status == 0
    assert run("survey", out).status == 3
    done = run("survey", out, "--commit", "--html", page)
    assert done.status == 0 and "6 checked" in done.out
    assert "closure.missing-result" in page.read_text(encoding="utf-8")


def test_objects_of_no_known_format_are_no_clean_result_and_a_survey_is_verified(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "notes.json").write_text('{"a": 1}', encoding="utf-8")
    out = Catalog(tmp_path / "out")
    run_survey(out, SurveyOptions(str(tmp_path / "store"), "local:1"), Quiet(), in_process)
    done = run("survey", out.folder)
    assert done.status == 3 and "1 without exchanges" in done.out
    assert json.loads(run("survey", out.folder, "--rules", "--format", "json").out)["rules"][0]["is_installed"]
    assert run("fsck", out.folder).out.endswith("1 run, 1 object, 1 row: no problems\n")
    (out.folder / "_commits" / "000001.json").write_bytes(b"{")
    broken = run("fsck", out.folder)
    assert broken.status == 1 and "000001.json cannot be read" in broken.out


def test_an_object_that_is_not_judged_gives_status_3(run: Run, folder: Path, tmp_path: Path) -> None:
    done = run("survey", folder, "-o", tmp_path / "out", "--engine", "local:1", "--object-megabytes", "0")
    assert done.status == 3 and "6 skipped" in done.out


@pytest.mark.parametrize(
    "words",
    [
        ["nowhere", "-o", "out"],
        ["sessions"],
        [".", "-o", "out", "--engine", "spark://x"],
        [".", "-o", "x", "--sample", "2"],
        [".", "-o", "x", "--since", "yesterday"],
        [".", "-o", "x", "--store", "none"],
        [".", "-o", "x", "--per", "rule", "0"],
    ],
)
def test_what_cannot_be_done_is_one_line(
    run: Run, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("survey", *words)
    assert done.status == 2
    assert done.err.count("\n") == 1 and done.out == ""
