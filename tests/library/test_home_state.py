from __future__ import annotations

import os
from pathlib import Path

from workbench.config import resources
from workbench.library import home_state


def test_the_last_file_comes_first_and_once(home: Path) -> None:
    for name in ("a", "b", "a"):
        home_state.remember(home / name)
    assert home_state.recent() == (home / "a", home / "b")


def test_paths_are_absolute_and_any_name_is_kept(home: Path) -> None:
    names = [b"new\nline", b"\xff\xfe", b"\x1b[2J", b" space ", "日本".encode()]
    for name in names:
        home_state.remember(Path(os.fsdecode(name)))
    assert [os.fsencode(path.name) for path in home_state.recent()] == names[::-1]
    assert all(path.parent == home for path in home_state.recent())


def test_no_more_than_some_are_kept(home: Path) -> None:
    for n in range(home_state.MOST + 5):
        home_state.remember(home / str(n))
    assert len(home_state.recent()) == home_state.MOST
    assert home_state.recent()[0].name == str(home_state.MOST + 4)


def test_examples_are_no_news() -> None:
    home_state.remember(next(resources.folder("sessions").glob("*.jsonl")))
    assert home_state.recent() == ()


def test_what_cannot_be_written_is_not_remembered(home: Path) -> None:
    (home / ".local").write_text("a file in the way")
    home_state.remember(home / "a")
    assert home_state.recent() == ()


def test_clients_are_shown_until_switched_off() -> None:
    assert home_state.shows_clients()
    home_state.show_clients(False)
    assert not home_state.shows_clients()
    home_state.show_clients(True)
    home_state.show_clients(True)
    assert home_state.shows_clients()
    assert not list(resources.state_folder("home").iterdir())
