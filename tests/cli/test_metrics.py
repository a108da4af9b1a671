"""``workbench metrics``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from workbench.config import resources

SESSIONS = resources.folder("sessions")


def test_a_folder_is_counted_by_provider_and_as_a_whole(run: Run) -> None:
    done = run("metrics", SESSIONS)
    lines = done.out.splitlines()
    assert done.status == 0
    assert lines[0] == f"{len(list(SESSIONS.glob('*.jsonl')))} sessions, 58 exchanges with a model"
    assert lines[2].split()[:4] == ["provider", "exchanges", "calls", "parsed"]
    assert lines[-3].startswith("all")
    assert "list prices of" in lines[-1]


def test_json_has_groups_and_turns(run: Run) -> None:
    told = json.loads(run("metrics", SESSIONS / "anthropic-prompt-cache-broken.jsonl", "--format", "json").out)
    (session,) = told["sessions"]
    assert [turn["prompt"] for turn in session["turns"]] == [1144, 1234, 1324]
    assert told["total"]["exchanges"] == told["groups"][0]["exchanges"] == 3
    for turn in session["turns"]:
        assert sum(turn[part] for part in ("system", "overhead", "tools", "history", "new")) == turn["prompt"]
    assert {saving["place"] for saving in session["savings"]} == {"tools", "system"}


def test_turns_are_shown_on_demand(run: Run) -> None:
    file = SESSIONS / "anthropic-tool-loop.jsonl"
    assert "overhead" not in run("metrics", file).out
    out = run("metrics", file, "--turns").out
    assert "exchange  system  overhead  tools  history" in out
    assert "a cache breakpoint at the end of tools" in out


def test_what_cannot_be_read_is_said_and_the_rest_is_counted(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.har"
    bad.write_bytes(b'{"log": 7}')
    done = run("metrics", bad, SESSIONS / "anthropic-tool-loop.jsonl")
    assert done.status == 2
    assert "bad.har" in done.err
    assert "1 session, 2 exchanges" in done.out


def test_other_files_of_a_folder_are_left_out(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    (tmp_path / "a.jsonl").write_bytes((SESSIONS / "anthropic-tool-loop.jsonl").read_bytes())
    done = run("metrics", tmp_path, "--by", "day")
    assert (done.status, done.err) == (0, "")
    assert "1 session, 2 exchanges" in done.out


def test_an_empty_folder_holds_nothing(run: Run, tmp_path: Path) -> None:
    done = run("metrics", tmp_path)
    assert (done.status, done.out.splitlines()[0]) == (0, "0 sessions, 0 exchanges with a model")
    assert run("metrics", tmp_path / "none").status == 2
