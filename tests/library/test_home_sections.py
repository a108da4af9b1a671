from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.library.samples import entries, put
from workbench.config import resources
from workbench.library import home_sections, home_state
from workbench.wire.session import store
from workbench.wire.session.writer import SessionWriter


def titles() -> list[str]:
    return [section.title for section in home_sections.all_sections()]


def test_at_first_there_are_examples_and_where_nobody_found_anything() -> None:
    assert [section.title for section in home_sections.first_sections()] == [home_sections.EXAMPLES]
    examples, found = home_sections.all_sections()
    assert len(examples.items) >= 8
    assert found.notes == (home_sections.NOTHING_FOUND,)


def test_examples_are_in_their_order_the_sound_ones_last() -> None:
    folder = resources.folder("sessions")
    order = (folder / "order.txt").read_text(encoding="utf-8").split()
    assert sorted(order) == sorted(path.stem for path in folder.glob("*.jsonl"))
    assert [item.name for item in home_sections.examples().items] == order
    assert order[-2:] == ["anthropic-tool-loop", "anthropic-long-session"]


def test_recent_files_come_first_also_those_that_are_gone(home: Path) -> None:
    home_state.remember(put(home / "a.jsonl", at=1000))
    home_state.remember(home / "gone.jsonl")
    assert [item.name for item in home_sections.first_sections()[0].items] == ["gone.jsonl", "a.jsonl"]
    recent = home_sections.all_sections()[0]
    assert (recent.title, [item.modified for item in recent.items]) == (home_sections.RECENT, [None, 1000])


def test_a_recording_is_live_while_it_is_written_and_recent_afterwards() -> None:
    folder = resources.state_folder("recordings")
    folder.mkdir(parents=True)
    writer = SessionWriter(folder / "1.wb")
    live = home_sections.all_sections()[0]
    assert (live.title, [item.name for item in live.items]) == (home_sections.LIVE, ["1.wb"])
    writer.close()
    recent = home_sections.all_sections()[0]
    assert (recent.title, [item.name for item in recent.items]) == (home_sections.RECENT, ["1.wb"])


def test_a_recording_that_was_opened_stands_there_once(home: Path) -> None:
    folder = resources.state_folder("recordings")
    folder.mkdir(parents=True)
    store.save((), folder / "1.wb")
    (folder / "torn.wb").write_bytes(b"nonsense")
    os.mkfifo(folder / "pipe.wb")
    home_state.remember(folder / "1.wb")
    assert [item.name for item in home_sections.all_sections()[0].items] == ["1.wb", "torn.wb", "pipe.wb"]


def test_clients_are_found_unless_switched_off(home: Path) -> None:
    put(home / ".claude/projects/p/a.jsonl", entries())
    (item,) = home_sections.client_sessions().items
    assert (item.name, item.client) == ("demo", "Claude Code")
    home_state.show_clients(False)
    found = home_sections.client_sessions()
    assert (found.items, found.notes) == ((), (home_sections.SWITCHED_OFF,))


def test_without_examples_it_says_where_they_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "folder", lambda name: tmp_path)
    assert home_sections.examples().notes == (f"no example sessions in {tmp_path}",)
