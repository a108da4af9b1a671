"""Tests in several processes are reported as if they had run in one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import os, pytest

@pytest.fixture(scope="module")
def place(tmp_path_factory):
    yield tmp_path_factory.mktemp("place")
    print("torn down")

@pytest.mark.parametrize("number", range(40))
def test_many(number, place):
    (place / str(number)).touch(exist_ok=False)

def test_wrong(place):
    print("said before")
    assert [1] == [2]

@pytest.mark.skip(reason="no matter")
def test_left_out(): pass

def test_died():
    if os.environ.get("DIE"):
        os._exit(7)
"""


def _run(folder: Path, *options: str, **environment: str) -> tuple[int, str]:
    (folder / "test_toy.py").write_text(TESTS)
    words = ["-p", "tests.forking", "-p", "no:cacheprovider", "-c", "/dev/null", "--processes", "3", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(folder)],
        capture_output=True,
        text=True,
        env={"HOME": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
    )
    assert not done.stderr
    return done.returncode, done.stdout


def test_what_fails_is_reported_with_what_it_printed(tmp_path: Path) -> None:
    status, said = _run(tmp_path)
    assert status == 1
    assert "1 failed, 41 passed, 1 skipped" in said
    assert "said before" in said and "assert [1] == [2]" in said


def test_a_process_that_ends_fails_the_test_that_it_ran(tmp_path: Path) -> None:
    status, said = _run(tmp_path, "--deselect", f"{tmp_path}/test_toy.py::test_wrong", DIE="1")
    assert status == 1
    assert "test_died" in said and "ended (exit status 7)" in said


@pytest.mark.parametrize(("options", "status"), [(("-k", "many"), 0), (("-x",), 1), (("-k", "nothing"), 5)])
def test_its_status_is_that_of_one_process(tmp_path: Path, options: tuple[str, ...], status: int) -> None:
    assert _run(tmp_path, *options)[0] == status
