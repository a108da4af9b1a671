from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.library.samples import entries, put
from workbench.config import resources
from workbench.library import memory, shelf
from workbench.wire.session import store
from workbench.wire.session.writer import SessionWriter


def titles() -> list[str]:
    return [section.title for section in shelf.look()]


def test_at_first_there_are_examples_and_where_nobody_found_anything() -> None:
    assert [section.title for section in shelf.at_once()] == [shelf.EXAMPLES]
    examples, found = shelf.look()
    assert len(examples.items) >= 8
    assert found.notes == (shelf.NOTHING_FOUND,)


def test_recent_files_come_first_also_those_that_are_gone(home: Path) -> None:
    memory.remember(put(home / "a.jsonl", at=1000))
    memory.remember(home / "gone.jsonl")
    assert [item.name for item in shelf.at_once()[0].items] == ["gone.jsonl", "a.jsonl"]
    recent = shelf.look()[0]
    assert (recent.title, [item.modified for item in recent.items]) == (shelf.RECENT, [None, 1000])


def test_a_recording_is_live_while_it_is_written_and_recent_afterwards() -> None:
    folder = resources.state_folder("recordings")
    folder.mkdir(parents=True)
    writer = SessionWriter(folder / "1.wb")
    live = shelf.look()[0]
    assert (live.title, [item.name for item in live.items]) == (shelf.LIVE, ["1.wb"])
    writer.close()
    recent = shelf.look()[0]
    assert (recent.title, [item.name for item in recent.items]) == (shelf.RECENT, ["1.wb"])


def test_a_recording_that_was_opened_stands_there_once(home: Path) -> None:
    folder = resources.state_folder("recordings")
    folder.mkdir(parents=True)
    store.save((), folder / "1.wb")
    (folder / "torn.wb").write_bytes(b"nonsense")
    os.mkfifo(folder / "pipe.wb")
    memory.remember(folder / "1.wb")
    assert [item.name for item in shelf.look()[0].items] == ["1.wb", "torn.wb", "pipe.wb"]


def test_clients_are_found_unless_switched_off(home: Path) -> None:
    put(home / ".claude/projects/p/a.jsonl", entries())
    (item,) = shelf.found().items
    assert (item.name, item.client) == ("demo", "Claude Code")
    memory.show_clients(False)
    found = shelf.found()
    assert (found.items, found.notes) == ((), (shelf.SWITCHED_OFF,))


def test_without_examples_it_says_where_they_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "folder", lambda name: tmp_path)
    assert shelf.examples().notes == (f"there are no example sessions in {tmp_path}",)
