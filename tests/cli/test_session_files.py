"""``workbench import`` and ``workbench fsck``."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench.wire.exchange import Exchange
from workbench.wire.session import writer

BROKEN = SESSIONS / "deepseek-reasoning-lost.jsonl"


def test_import_then_check_says_the_same(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "session.wb"
    assert run("import", BROKEN, "-o", out).status == 0
    before, after = (json.loads(run("check", "--format", "json", p).out)["files"][0] for p in (BROKEN, out))
    assert before | {"path": ""} == after | {"path": ""}


def test_there_and_back_is_the_same_file(run: Run, tmp_path: Path) -> None:
    run("import", BROKEN, "-o", tmp_path / "a.wb")
    run("import", tmp_path / "a.wb", "-o", tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == BROKEN.read_bytes()


def test_an_existing_file_is_kept(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "mine.jsonl"
    out.write_text("precious", encoding="utf-8")
    assert run("import", BROKEN, "-o", out).status == 2
    assert out.read_text(encoding="utf-8") == "precious"
    assert run("import", BROKEN, "-o", out, "--force").status == 0


def test_a_source_is_never_replaced(run: Run, tmp_path: Path) -> None:
    source, link = tmp_path / "h.wb", tmp_path / "link.wb"
    run("import", BROKEN, "-o", source)
    link.symlink_to(source)
    before = source.read_bytes()
    for given in (source, link):
        done = run("import", given, "-o", source, "--force")
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert "never overwritten" in done.err
    assert source.read_bytes() == before


def test_a_folder_that_is_not_there_is_one_line(run: Run, tmp_path: Path) -> None:
    done = run("import", BROKEN, "-o", tmp_path / "no" / "such" / "x.wb")
    assert done.status == 4
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("name", ["a.wb", "a.jsonl"])
def test_fsck_of_a_whole_file(run: Run, tmp_path: Path, name: str) -> None:
    run("import", BROKEN, "-o", tmp_path / name)
    done = run("fsck", tmp_path / name)
    assert done.status == 0
    assert "2 exchanges" in done.out
    assert "whole" in done.out


@pytest.mark.parametrize("name", ["a.wb", "a.jsonl"])
def test_fsck_of_a_torn_file_names_what_is_torn_and_the_rest_opens(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    run("import", BROKEN, "-o", path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - len(data) // 10])
    done = run("fsck", "--format", "json", path)
    assert done.status == 1
    assert json.loads(done.out)["problems"]
    assert run("check", path).status in (0, 1, 3)


def test_fsck_of_something_else(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "x"
    other.write_bytes(b"hello")
    done = run("fsck", other)
    assert (done.status, done.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("share", [0.35, 0.5, 0.65, 0.8, 0.95])
def test_a_torn_recording_is_imported_as_far_as_it_goes_and_says_so(run: Run, tmp_path: Path, share: float) -> None:
    run("import", BROKEN, "-o", tmp_path / "a.wb")
    data = (tmp_path / "a.wb").read_bytes()
    (tmp_path / "a.wb").write_bytes(data[: int(len(data) * share)])
    done = run("import", tmp_path / "a.wb", "-o", tmp_path / "b.wb")
    assert done.status in (1, 2)
    assert done.err
    checked = run("check", tmp_path / "a.wb")
    assert checked.status != 0


@pytest.mark.parametrize("command", ["check", "fsck", "show", "matrix", "metrics"])
def test_a_recording_that_is_a_program_is_refused_in_one_line(command: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.wb"
    writer.write([Exchange("a")], path)
    with closing(sqlite3.connect(path)) as db:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS seq FROM n"
        db.executescript(f"DROP TABLE exchange; CREATE VIEW exchange AS {endless}")
    done = run(command, path)
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "the file has a view 'exchange' that Workbench did not create" in done.err
