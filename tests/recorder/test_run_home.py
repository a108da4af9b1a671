"""A home for one run: what it made is where the person has it afterwards, and nothing of theirs is lost."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.config import resources
from workbench.recorder import hand_back_leftovers, private_home, run_home

TEXT = '{"servers": "tapped"}'


class Person:
    """A person's home with a client's folder, and what a run says."""

    def __init__(self, home: Path) -> None:
        self.home, self.folder, self.lines = home, home / ".gemini", list[str]()
        for name in (".gemini/settings.json", ".gemini/login", ".gemini/history/old", ".agents/skill", ".env"):
            self.write(home / name, f"old {name}")

    @staticmethod
    def write(path: Path, text: str) -> None:
        """A new file takes the place of one, as careful programs write."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name("x.tmp").write_text(text, encoding="utf-8")
        os.replace(path.with_name("x.tmp"), path)

    def read(self) -> dict[str, str]:
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.home)): path.read_text(encoding="utf-8") for path in files}

    def run(self, *acts: Callable[[Path], object]) -> str:
        """One run with a client that does these things in its home; what remains in the home."""
        with private_home(TEXT, self.folder / "settings.json", ".gemini", self.lines.append) as home:
            for act in acts:
                act(Path(home))
        return home if Path(home).exists() else ""


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Person(tmp_path / "home")


def anew(home: Path) -> None:
    (home / ".gemini/history").unlink()
    (home / ".gemini/history").mkdir()


def rename(old: str, new: str) -> Callable[[Path], object]:
    return lambda home: (home / old).rename(home / new)


def write(name: str, text: str) -> Callable[[Path], object]:
    return lambda home: Person.write(home / name, text)


OUTCOMES: dict[str, tuple[list[Callable[[Path], object]], dict[str, str], str]] = {
    "nothing": ([], {}, ""),
    "through a link": ([lambda home: (home / ".gemini/login").write_text("in")], {".gemini/login": "in"}, ""),
    "in the place of a link": ([write(".gemini/login", "in")], {".gemini/login": "in"}, ""),
    "new folders": ([write(".gemini/a/b/c", "c"), write(".local/d", "d")], {".gemini/a/b/c": "c", ".local/d": "d"}, ""),
    "a folder made anew": ([anew, write(".gemini/history/new", "n")], {".gemini/history/new": "n"}, "still exist"),
    "beside the folder": ([write(".agents/more", "m"), write(".env", "e")], {".agents/more": "m", ".env": "e"}, ""),
    "a folder that is read-only": (
        [write(".gemini/a/b", "b"), lambda home: (home / ".gemini/a").chmod(0o500)],
        {".gemini/a/b": "b"},
        "",
    ),
    "a link to a new file": (
        [write(".gemini/v2", "v"), lambda home: (home / ".gemini/newest").symlink_to(home / ".gemini/v2")],
        {".gemini/v2": "v", ".gemini/newest": "v"},
        "",
    ),
    "removed": ([lambda home: (home / ".gemini/login").unlink()], {}, "your own copies still exist"),
    "our text under another name": (
        [rename(".gemini/settings.json", ".gemini/settings.json.orig"), write(".gemini/settings.json", TEXT)],
        {},
        "",
    ),
    "renamed, and written anew": (
        [rename(".gemini/login", ".gemini/login.bak"), write(".gemini/login", "in")],
        {".gemini/login": "in", ".gemini/login.bak": "old .gemini/login"},
        "",
    ),
}


@pytest.mark.parametrize(("acts", "changes", "line"), OUTCOMES.values(), ids=OUTCOMES)
def test_what_a_run_made_is_where_the_person_has_it(
    person: Person, acts: list[Callable[[Path], object]], changes: dict[str, str], line: str
) -> None:
    before = person.read()
    assert person.run(*acts) == ""
    assert person.read() == {**before, **changes}
    assert line in "".join(person.lines) and len(person.lines) == bool(line)


def test_what_cannot_be_copied_stays_and_is_told(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*files: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = person.read()
    changed = person.run(write(".gemini/login", "in"), lambda _: person.write(person.folder / "login", "theirs"))
    set_anew = person.run(write(".gemini/settings.json", "{}"))
    at_once = person.run(write(".gemini/a/b", "1"), lambda _: person.write(person.folder / "a/b", "2"))
    with monkeypatch.context() as disk:
        disk.setattr(shutil, "copyfileobj", full)
        too_large = person.run(write(".gemini/history2", "long"))
    assert person.read() == {**before, ".gemini/login": "theirs", ".gemini/a/b": "2"}
    held = {changed: ".gemini/login", set_anew: ".gemini/settings.json", at_once: ".gemini/a/b"}
    assert [Path(home, name).read_text() for home, name in held.items()] == ["in", "{}", "1"]
    assert all(home in line for home, line in zip([*held, too_large], person.lines, strict=True))
    assert "No space left" in person.lines[-1]
    person.lines.clear()
    hand_back_leftovers(person.lines.append)
    assert (person.folder / "history2").read_text() == "long" and not Path(too_large).exists()
    assert sum(home in line for line in person.lines for home in held) == 3


def test_a_run_that_was_killed_is_handed_back_by_the_next(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(run_home, "_hand_back", lambda root, say: None)
        person.run(write(".gemini/login", "in"), lambda _: hand_back_leftovers(person.lines.append))
    assert "in" not in person.read().values() and not person.lines  # while it is used
    hand_back_leftovers(person.lines.append)
    assert person.read()[".gemini/login"] == "in" and "earlier run" in "".join(person.lines)
    assert not list(resources.state_folder("homes").iterdir())
