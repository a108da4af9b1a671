from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.library.samples import put
from workbench.library.paths import complete, expand, why_not


@pytest.fixture(autouse=True)
def tree(home: Path) -> None:
    put(home / "sessions/one.jsonl")
    put(home / "sessions/only.wb")
    put(home / "setup.py")
    put(home / ".hidden")


@pytest.mark.parametrize(
    ("typed", "names", "common"),
    [
        ("", ["sessions", "setup.py"], "se"),
        ("se", ["sessions", "setup.py"], "se"),
        ("ses", ["sessions"], "sessions/"),
        ("sessions/", ["one.jsonl", "only.wb"], "sessions/on"),
        ("~/set", ["setup.py"], "~/setup.py"),
        (".h", [".hidden"], ".hidden"),
    ],
)
def test_a_path_goes_on(typed: str, names: list[str], common: str) -> None:
    found = complete(typed)
    assert [entry.name for entry in found.entries] == names
    assert found.common() == common


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("nothing", "no entry in this folder begins with nothing"),
        ("nowhere/x", "nowhere/: No such file or directory"),
        ("setup.py/x", "setup.py/: Not a directory"),
        ("a\0b/", "a\0b/: not a valid folder name"),
        ("~nobody-of-this-name/", "~nobody-of-this-name/: No such file or directory"),
    ],
)
def test_or_says_why_not(typed: str, said: str) -> None:
    assert complete(typed).why_not == said


def test_an_empty_folder_says_so(home: Path) -> None:
    (home / "empty").mkdir()
    assert complete("empty/").why_not == "empty/ is empty"


@pytest.mark.parametrize("typed", ["~/setup.py", " ~/setup.py ", "'setup.py'", '"setup.py"', "setup.py"])
def test_what_people_type_is_understood(typed: str) -> None:
    assert expand(typed).is_file()


def test_quotes_and_space_of_a_name_are_kept(home: Path) -> None:
    put(home / " odd' ")
    assert expand(" odd' ").is_file()


def test_why_a_file_cannot_be_opened(home: Path) -> None:
    assert why_not(home) == "this is a folder: choose a file in it"
    assert why_not(home / "x") == "no such file"
    assert why_not(Path("a" * 5000)) in ("not a valid file name", "no such file")
    assert why_not(home / "setup.py") == ""
    if os.geteuid():
        os.chmod(home / "setup.py", 0)
        assert "permission denied" in why_not(home / "setup.py")
