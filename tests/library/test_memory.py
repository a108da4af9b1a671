from __future__ import annotations

import os
from pathlib import Path

from workbench.config import resources
from workbench.library import memory


def test_the_last_file_comes_first_and_once(home: Path) -> None:
    for name in ("a", "b", "a"):
        memory.remember(home / name)
    assert memory.recent() == (home / "a", home / "b")


def test_paths_are_absolute_and_any_name_is_kept(home: Path) -> None:
    names = [b"new\nline", b"\xff\xfe", b"\x1b[2J", b" space ", "日本".encode()]
    for name in names:
        memory.remember(Path(os.fsdecode(name)))
    assert [os.fsencode(path.name) for path in memory.recent()] == names[::-1]
    assert all(path.parent == home for path in memory.recent())


def test_no_more_than_some_are_kept(home: Path) -> None:
    for n in range(memory.MOST + 5):
        memory.remember(home / str(n))
    assert len(memory.recent()) == memory.MOST
    assert memory.recent()[0].name == str(memory.MOST + 4)


def test_examples_are_no_news() -> None:
    memory.remember(next(resources.folder("sessions").glob("*.jsonl")))
    assert memory.recent() == ()


def test_what_cannot_be_written_is_not_remembered(home: Path) -> None:
    (home / ".local").write_text("a file in the way")
    memory.remember(home / "a")
    assert memory.recent() == ()


def test_clients_are_shown_until_switched_off() -> None:
    assert memory.shows_clients()
    memory.show_clients(False)
    assert not memory.shows_clients()
    memory.show_clients(True)
    memory.show_clients(True)
    assert memory.shows_clients()
    assert not list(resources.state_folder("home").iterdir())
