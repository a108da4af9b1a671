"""A recording is opened without importers, and its first rows are listed without the others."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession, beginning, open_recording, store, writer

ASKED = HttpRequest("POST", "https://api.example.com/v1/messages", body=Body(b"{}"))


def recording(path: Path, count: int) -> Path:
    writer.write([Exchange(f"e{n}", ASKED) for n in range(count)], path)
    return path


def test_the_first_rows_are_those_of_the_list(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.wb", 5)
    for count in (1, 4, 5, 9):
        session = open_recording(path)
        assert session
        assert list(beginning(session, count)) == list(session.summaries()[:count])
        session.close()
    known = store.open_session(path)
    assert list(beginning(known, 2)) == list(known.summaries()[:2])
    known.close()


def test_other_sessions_have_a_beginning_too() -> None:
    session = MemorySession("m", tuple(Exchange(f"e{n}", ASKED) for n in range(3)))
    assert [row.id for row in beginning(session, 2)] == ["e0", "e1"]


def test_the_beginning_of_a_torn_recording_is_that_of_its_list(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.wb", 40)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    session = open_recording(path)
    assert session and session.damage
    assert list(beginning(session, 3)) == list(session.summaries()[:3])
    session.close()


def test_only_a_recording_is_opened(tmp_path: Path) -> None:
    text, other, pipe = tmp_path / "a.jsonl", tmp_path / "b.db", tmp_path / "pipe"
    text.write_text("{}")
    other.write_bytes(b"SQLite format 3\x00" + bytes(100))
    os.mkfifo(pipe)
    for path in (text, other, pipe, tmp_path, tmp_path / "missing", Path("a\0b")):
        assert open_recording(path) is None
