from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui import samples
from workbench import notes
from workbench.notes import Note, Notebook, Place
from workbench.wire.session import MemorySession

HERE = Place("1", "request", "/messages/3")
EVIL = "\x1b]52;c;aGk=\x07 [/b] \ud800"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "abc.json"


def test_what_was_put_is_there_again(path: Path) -> None:
    note = Note(HERE, is_marked=True, text=EVIL, changed=1.0)
    Notebook(path, "s").put(note)
    again = Notebook(path, "s")
    assert again.at(HERE) == note
    assert again.of("1") == [note]
    assert again.of("2") == []
    assert not again.trouble
    assert path.stat().st_mode & 0o077 == 0
    assert {p.suffix for p in path.parent.iterdir()} == {".json", ".lock"}


def test_a_place_without_a_note_has_an_empty_one(path: Path) -> None:
    assert Notebook(path, "s").at(HERE) == Note(HERE)
    assert not Note(HERE).is_there


def test_two_instances_lose_nothing_and_the_newer_counts(path: Path) -> None:
    one, two = Notebook(path, "s"), Notebook(path, "s")
    one.put(Note(HERE, text="old", changed=1))
    two.put(Note(Place("2"), is_marked=True, changed=2))
    assert two.at(HERE).text == "old"
    two.put(Note(HERE, text="new", changed=3))
    one.put(Note(Place("3"), is_marked=True, changed=4))
    assert one.at(HERE).text == "new"
    assert {n.place for n in one.notes.values()} == {HERE, Place("2"), Place("3")}


def test_what_was_removed_does_not_come_back(path: Path) -> None:
    one, two = Notebook(path, "s"), Notebook(path, "s")
    one.put(Note(HERE, is_marked=True, changed=1))
    two.put(Note(Place("2"), is_marked=True, changed=2))
    one.put(Note(HERE, changed=3))
    two.put(Note(Place("3"), is_marked=True, changed=4))
    assert two.of("1") == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"version": 1}',
        b'{"version": 1, "notes": [1]}',
        b'{"version": 1, "notes": [{"place": ["a", "b", 1], "text": "", "is_marked": true, "changed": 1}]}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_a_broken_file_is_one_line_and_is_kept_aside(path: Path, data: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    book = Notebook(path, "s")
    aside = path.with_suffix(".broken-1.json")
    assert "could not be read" in book.trouble
    assert str(aside) in book.trouble
    assert aside.read_bytes() == data
    book.put(Note(HERE, is_marked=True, changed=1))
    assert Notebook(path, "s").at(HERE).is_marked


def test_a_newer_file_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 2, "notes": []}))
    book = Notebook(path, "s")
    assert "newer version" in book.trouble
    with pytest.raises(OSError, match="not written"):
        book.put(Note(HERE, is_marked=True, changed=1))
    assert book.at(HERE).is_marked
    assert json.loads(path.read_text())["version"] == 2


def test_a_long_note_is_cut(path: Path) -> None:
    book = Notebook(path, "s")
    book.put(Note(HERE, text="x" * 9999, changed=1))
    assert len(book.at(HERE).text) == notes.MAX_NOTE


def test_a_session_is_known_by_its_first_exchange() -> None:
    one, other = samples.exchange({"model": "a"}, {}), samples.exchange({"model": "b"}, {}, number=2)
    first = notes.identity(MemorySession("a", (one,)))
    assert notes.identity(MemorySession("renamed", (one, other))) == first
    assert notes.identity(MemorySession("a", (other,))) != first
    assert notes.identity(MemorySession("a", (samples.exchange({"model": "c"}, {}),))) != first
    timed = replace(one, started_at=1.5)
    answered = replace(timed, request=replace(timed.request, body=other.request.body))  # type: ignore[union-attr,arg-type]
    assert notes.identity(MemorySession("a", (timed,))) == notes.identity(MemorySession("a", (answered,)))
    assert notes.identity(MemorySession("a", ())) == ""


def test_it_is_kept_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    notes.open_notebook("abc", "s").put(Note(HERE, is_marked=True, changed=1))
    assert (tmp_path / "workbench" / "notes" / "abc.json").is_file()
