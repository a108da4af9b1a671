"""Trees that an earlier version kept under what several sessions have in common."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from tests.edits.branches.stories import edit, source
from workbench.edits import with_body
from workbench.edits.branches import Workspace, open_for
from workbench.wire.session import MemorySession
from workbench.wire.session.store import fsck


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "workbench" / "work"


def session(words: bytes) -> MemorySession:
    """A session as a script with fixed times makes it: they differ in the words of their first request alone."""
    exchanges = [replace(exchange, started_at=9.0) for exchange in source().exchanges]
    request = exchanges[0].request
    assert request
    exchanges[0] = replace(exchanges[0], request=with_body(request, request.body.raw.replace(b"hi", words)))
    return MemorySession("s", tuple(exchanges))


def former(folder: Path, session: MemorySession) -> Path:
    first = session.exchange(0)
    assert first.request
    told = "\0".join([first.id, first.request.method, first.request.url, first.hop, "9.0"])
    return folder / f"{sha256(told.encode()).hexdigest()[:32]}.session"


def titles(session: MemorySession, index: int = 0) -> list[str]:
    workspace = open_for(session)
    assert workspace.notices == []
    return [node.title for node in workspace.subtree(workspace.root(index))[1:]]


def edited_before(folder: Path, session: MemorySession, old: str, new: str) -> None:
    workspace = Workspace(session, former(folder, session))
    edit(workspace, edit(workspace, workspace.root(0), old, new), new, "more")
    workspace.rename(workspace.current(0), "a name")
    workspace.close()


def test_a_tree_goes_to_the_session_whose_request_it_begins_with(folder: Path) -> None:
    mine, other = session(b"mine"), session(b"other")
    edited_before(folder, mine, "mine", "ho")
    assert titles(other) == []
    assert titles(mine) == ["mine is ho", "ho is more"]
    assert not former(folder, mine).exists()
    again = open_for(mine)
    assert again.current(0).name == "a name"
    assert titles(other) == []


def test_trees_of_two_sessions_in_one_file_are_parted(folder: Path) -> None:
    mine, other = session(b"mine"), session(b"other")
    edited_before(folder, mine, "mine", "ho")
    edited_before(folder, other, "other", "x")
    assert titles(mine) == ["mine is ho", "ho is more"]
    assert not fsck(former(folder, mine)).problems
    assert titles(other) == ["other is x", "x is more"]
    assert not former(folder, mine).exists()


def test_nothing_is_moved_while_somebody_writes_it(folder: Path) -> None:
    mine = session(b"mine")
    busy = Workspace(mine, former(folder, mine))
    edit(busy, busy.root(0), "mine", "ho")
    assert titles(mine) == []
    busy.close()
    assert titles(mine) == ["mine is ho"]


def test_a_torn_file_is_left_alone(folder: Path) -> None:
    mine = session(b"mine")
    edited_before(folder, mine, "mine", "ho")
    path = former(folder, mine)
    path.write_bytes(path.read_bytes()[:5000])
    assert titles(mine) == []
    assert path.exists()
