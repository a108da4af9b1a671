from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from tests.tui import samples
from workbench.edits import notes
from workbench.edits.notes import Notebook, NotePlace, UserNote
from workbench.wire.session import MemorySession

HERE = NotePlace("1", "request", "/messages/3")
EVIL = "\x1b]52;c;aGk=\x07 [/b] \ud800"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "abc.json"


def test_what_was_put_is_there_again(path: Path) -> None:
    note = UserNote(HERE, is_marked=True, text=EVIL, changed=1.0)
    Notebook(path, "s").put(note)
    again = Notebook(path, "s")
    assert again.at(HERE) == note
    assert again.of("1") == [note]
    assert again.of("2") == []
    assert not again.trouble
    assert path.stat().st_mode & 0o077 == 0
    assert {p.suffix for p in path.parent.iterdir()} == {".json", ".lock"}


def test_a_place_without_a_note_has_an_empty_one(path: Path) -> None:
    assert Notebook(path, "s").at(HERE) == UserNote(HERE)
    assert not UserNote(HERE).has_content


def test_two_instances_lose_nothing_and_the_newer_counts(path: Path) -> None:
    one, two = Notebook(path, "s"), Notebook(path, "s")
    one.put(UserNote(HERE, text="old", changed=1))
    two.put(UserNote(NotePlace("2"), is_marked=True, changed=2))
    assert two.at(HERE).text == "old"
    two.put(UserNote(HERE, text="new", changed=3))
    one.put(UserNote(NotePlace("3"), is_marked=True, changed=4))
    assert one.at(HERE).text == "new"
    assert {n.place for n in one.notes.values()} == {HERE, NotePlace("2"), NotePlace("3")}


def test_what_was_removed_does_not_come_back(path: Path) -> None:
    one, two = Notebook(path, "s"), Notebook(path, "s")
    one.put(UserNote(HERE, is_marked=True, changed=1))
    two.put(UserNote(NotePlace("2"), is_marked=True, changed=2))
    one.put(UserNote(HERE, changed=3))
    two.put(UserNote(NotePlace("3"), is_marked=True, changed=4))
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
    book.put(UserNote(HERE, is_marked=True, changed=1))
    assert Notebook(path, "s").at(HERE).is_marked


def test_a_newer_file_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 2, "notes": []}))
    book = Notebook(path, "s")
    assert "newer version" in book.trouble
    with pytest.raises(OSError, match="not saved"):
        book.put(UserNote(HERE, is_marked=True, changed=1))
    assert book.at(HERE).is_marked
    assert json.loads(path.read_text())["version"] == 2


def test_a_long_note_is_cut(path: Path) -> None:
    book = Notebook(path, "s")
    book.put(UserNote(HERE, text="x" * 9999, changed=1))
    assert len(book.at(HERE).text) == notes.MAX_NOTE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "workbench" / "notes"


def session(name: str, model: str, *, id: str = "", exchange_id: str = "1") -> MemorySession:
    """Sessions that differ in their bytes alone, as those of a script with fixed times."""
    return MemorySession(
        name, (replace(samples.exchange({"model": model}, {}), id=exchange_id, started_at=9.0),), id=id
    )


def of_before(folder: Path, session: MemorySession, *, place: NotePlace = HERE) -> Path:
    """Notes as an earlier version kept them: under what all sessions have in common that began at that time."""
    first = session.exchange(0)
    assert first.request
    told = "\0".join([first.id, "POST", first.request.url, "", "9.0"])
    path = folder / f"{sha256(told.encode()).hexdigest()[:32]}.json"
    Notebook(path, session.name).put(UserNote(place, text="old", changed=1))
    return path


def texts(session: MemorySession) -> list[str]:
    return [note.text for note in notes.open_notebook(session).notes.values()]


def test_notes_are_kept_in_the_state_folder_by_the_id_of_the_session(folder: Path) -> None:
    known = "0123456789abcdef0123456789abcdef"
    notes.open_notebook(session("s", "a", id=known)).put(UserNote(HERE, is_marked=True, changed=1))
    assert (folder / f"{known}.json").is_file()


def test_notes_of_one_session_are_not_in_another(folder: Path) -> None:
    notes.open_notebook(session("a", "a")).put(UserNote(HERE, text="of a", changed=1))
    assert texts(session("renamed", "a")) == ["of a"]
    assert texts(session("a", "b")) == []


@pytest.mark.parametrize("hostile", ["../../../evil", "/etc/x", "a\0b"])
def test_an_id_leads_to_no_other_folder(hostile: str, folder: Path) -> None:
    notes.open_notebook(session("s", "a", id=hostile)).put(UserNote(HERE, text="x", changed=1))
    assert len(list(folder.glob("*.json"))) == 1


def test_notes_of_an_earlier_version_go_to_the_session_of_that_name_once(folder: Path) -> None:
    path = of_before(folder, session("mine", "a"))
    other = notes.open_notebook(session("other", "b"))
    assert not other.notes
    assert "'mine'" in other.trouble
    assert texts(session("mine", "a")) == ["old"]
    assert not path.exists()
    assert texts(session("mine", "a")) == ["old"]
    assert notes.open_notebook(session("mine", "b")).notes == {}
    assert not notes.open_notebook(session("other", "b")).trouble


def test_notes_of_an_earlier_version_on_other_exchanges_stay_where_they_are(folder: Path) -> None:
    path = of_before(folder, session("mine", "a"))
    Notebook(path, "mine").put(UserNote(NotePlace("not here"), text="of another", changed=1))
    assert texts(session("mine", "a")) == ["old"]
    assert [note.text for note in Notebook(path, "").notes.values()] == ["of another"]


def test_a_renamed_recording_of_ours_finds_them_too(folder: Path) -> None:
    """Two recordings never have an exchange id in common."""
    recorded = session("mine", "a", exchange_id="0a1b2c3d-1")
    of_before(folder, recorded, place=NotePlace("0a1b2c3d-1"))
    assert texts(replace(recorded, name="renamed", id="abc")) == ["old"]


def test_what_was_noted_since_outlives_what_was_noted_before(folder: Path) -> None:
    book = notes.open_notebook(session("mine", "a"))
    book.put(UserNote(HERE, text="newer", changed=2))
    of_before(folder, session("mine", "a"))
    assert texts(session("mine", "a")) == ["newer"]
