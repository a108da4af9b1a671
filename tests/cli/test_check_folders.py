"""``workbench check FOLDER``: a folder or a pattern stands for its files."""

from __future__ import annotations

import argparse
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench.cli._check import files_check

BROKEN, HEALTHY = "deepseek-reasoning-lost.jsonl", "anthropic-tool-loop.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two recordings in folders, and other files beside them."""
    top = tmp_path / "logs"
    (top / "deep" / "deeper").mkdir(parents=True)
    (top / ".hidden").mkdir()
    shutil.copy(SESSIONS / HEALTHY, top / "b.jsonl")
    shutil.copy(SESSIONS / BROKEN, top / "deep" / "deeper" / "a.jsonl")
    shutil.copy(SESSIONS / BROKEN, top / ".hidden" / "c.jsonl")
    shutil.copy(SESSIONS / BROKEN, top / ".d.jsonl")
    (top / "README.md").write_text("Not a recording, but `curl https://api.openai.com/v1/chat/completions` is in it.\n")
    (top / "package.json").write_text('{"name": "x", "version": "1"}')
    (top / "deep" / "empty.json").write_bytes(b"")
    (top / "deep" / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    os.symlink(SESSIONS, top / "link")
    os.symlink(SESSIONS / BROKEN, top / "link.jsonl")
    return top


def checked(run: Run, *words: object) -> tuple[int, dict[str, Any]]:
    done = run("check", "--format", "json", *words)
    return done.status, json.loads(done.out)


def test_every_recording_in_a_folder_is_checked_and_the_rest_counted(run: Run, folder: Path) -> None:
    status, found = checked(run, folder)
    assert status == 1
    assert [Path(f["path"]).relative_to(folder).as_posix() for f in found["files"]] == [
        "b.jsonl",
        "deep/deeper/a.jsonl",
    ]
    assert {Path(path).name for path in found["unclaimed"]} == {"README.md", "package.json", "empty.json", "image.png"}
    assert found["errors"] == []
    said = run("check", folder).out
    assert said.endswith("2 files, 4 exchanges: 1 error, 0 warnings; 4 other files in the folder\n"), said


def test_a_pattern_stands_for_what_matches(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    _, found = checked(run, "**/*.jsonl")
    assert [f["path"] for f in found["files"]] == ["b.jsonl", "deep/deeper/a.jsonl", "link.jsonl"]
    (folder / "[x].jsonl").write_bytes((folder / "b.jsonl").read_bytes())
    _, found = checked(run, "[x].jsonl")
    assert [f["path"] for f in found["files"]] == ["[x].jsonl"], "a file of this name is no pattern"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("empty", "empty: this folder contains no files"),
        ("*.nothing", "*.nothing: no file matches this pattern"),
        ("other", "other: the only file is not a recording"),
    ],
)
def test_nothing_to_check_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("nothing\n")
    done = run("check", path)
    assert done.status == 2
    assert said in done.err


def test_a_damaged_recording_in_a_folder_is_an_error_and_the_others_are_checked(run: Run, folder: Path) -> None:
    (folder / "torn.har").write_text('{"log": {"version": "1.2", "entries": [')
    status, found = checked(run, folder)
    assert status == 2
    assert [Path(e["path"]).name for e in found["errors"]] == ["torn.har"]
    assert len(found["files"]) == 2


def test_many_files_in_several_processes_give_the_same(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(40):
        shutil.copy(SESSIONS / (BROKEN if n % 3 else HEALTHY), folder / "deep" / f"{n:02}.jsonl")
    (folder / "torn.har").write_text('{"log": {"version": "1.2", "entries": [')
    alone = run("check", "--format", "json", folder)
    monkeypatch.setattr(files_check, "MANY_FILES", 8)
    monkeypatch.setattr(files_check.os, "cpu_count", lambda: 2)
    at_once = run("check", "--format", "json", folder)
    assert at_once == alone
    assert len(json.loads(alone.out)["files"]) == 42


def test_a_process_that_dies_is_an_error_of_its_files(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_check, "MANY_FILES", 1)
    monkeypatch.setattr(files_check, "AT_ONCE", 1)
    monkeypatch.setattr(files_check.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(files_check, "check_file", lambda *_: os._exit(9))
    status, found = checked(run, folder)
    assert status == 4
    assert found["files"] == []
    assert all("the checking process died" in e["message"] for e in found["errors"])


def test_few_batches_wait_for_their_turn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool that dies at once fails every batch, however many are submitted after that."""
    monkeypatch.setattr(files_check, "AT_ONCE", 1)
    monkeypatch.setattr(files_check.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(files_check, "check_file", lambda *_: os._exit(9))
    body = next(folder.glob("*.jsonl"))
    files = [files_check.FileToCheck(str(body), is_found=True)] * 60
    args = argparse.Namespace(provider=None, protocol=None)
    outcomes = list(files_check._check_many(files, args, None))
    assert [outcome.status for outcome in outcomes] == [4] * 60
