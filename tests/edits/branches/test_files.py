"""Edits on disk: no crash loses one, no secret gets there, and where nothing can be written editing goes on."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.edits.branches.stories import KEY, body, edit, exchange, files, source
from workbench.edits import with_body
from workbench.edits.branches import Workspace
from workbench.wire.exchange import Body, Headers, HttpResponse
from workbench.wire.session import MemorySession
from workbench.wire.session.store import fsck, open_session
from workbench.wire.session.writer import SessionWriter


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "work" / "known.session"


def everything(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())


CRASH = """
import sys
from pathlib import Path
from tests.edits.branches.stories import edit, source
from workbench.edits.branches import Workspace

workspace = Workspace(source(), Path(sys.argv[1]))
node = workspace.root(0)
for n in range(10_000):
    node = edit(workspace, node, "hi" if n == 0 else f"n{n - 1} ", f"n{n} ")
    workspace.rename(node, f"name {n}")
    print(n, flush=True)
"""


def test_a_process_that_is_killed_loses_nothing_that_was_done(file: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", CRASH, str(file)],
        cwd=root,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": "."},
    ) as process:
        assert process.stdout
        said = [int(process.stdout.readline()) for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        said += [int(line) for line in process.stdout.read().splitlines()]
    again = Workspace(source(), file)
    made = again.subtree(again.root(0))[1:]
    assert len(made) in (len(said), len(said) + 1), "what was said to be done, and the one it was in perhaps"
    assert [n.title for n in made[1:20]] == [f"n{n - 1} is n{n}" for n in range(1, 20)]
    assert [n.name for n in made[: len(said)]] == [f"name {n}" for n in said]
    assert again.current(0) in made[len(said) - 1 :]
    assert (again.trouble, again.notices) == ("", [])
    edit(again, again.current(0), "role", "rôle")
    assert files(file.parent) == [file.name], "the file of a dead process is written on"
    again.close()
    assert fsck(file).problems == ()


def test_secrets_do_not_reach_the_disk_and_the_bytes_come_back(file: Path) -> None:
    first = exchange(0, said=f"the key is {KEY},")
    assert first.request
    held = replace(first, request=replace(first.request, headers=Headers((("Authorization", f"Bearer {KEY}"),))))
    recorded = MemorySession("s", (held,))
    workspace = Workspace(recorded, file)
    made = edit(workspace, workspace.root(0), "the key", "my key")
    other = "sk-proj-" + "Zz9" * 14
    told = edit(workspace, made, "my key is", f"{other} is")
    workspace.rename(told, f"with {other}")
    assert KEY.encode() in body(made) and other.encode() in body(told)
    workspace.close()
    kept = everything(file.parent)
    assert KEY.encode() not in kept and other.encode() not in kept
    again = Workspace(recorded, file)
    assert body(again.node(made.id)) == body(made), "the source still holds the secret"
    assert other.encode() not in body(again.node(told.id)), "this one was nowhere else"
    assert len(body(again.node(told.id))) == len(body(told))
    assert body(again.undo(again.undo(again.node(told.id)) or made) or made) == body(workspace.root(0))


def test_a_second_instance_writes_a_file_beside_and_both_are_read(file: Path) -> None:
    one, two = Workspace(source(), file), Workspace(source(), file)
    a = edit(one, one.root(0), "hi", "one")
    b = edit(two, two.root(0), "hi", "two")
    three = Workspace(source(), file)
    assert [n.title for n in three.branches(0)] == ["hi is one", "hi is two"]
    c = edit(three, three.node(b.id), "two", "three")
    assert files(file.parent) == ["known-2.session", "known-3.session", "known.session"]
    for workspace in (one, two, three):
        workspace.close()
    last = Workspace(source(), file)
    d = edit(last, last.node(c.id), "three", "four")
    last.close()
    assert len(open_session(file)) == 3, "the first file is free again; its node was made of one in another file"
    again = Workspace(source(), file)
    assert [n.id for n in again.branches(0)] == [a.id, d.id]
    assert [n.id for n in again.path(again.node(d.id))][1:] == [b.id, c.id, d.id]
    assert again.notices == []


def test_a_file_that_another_instance_wrote_meanwhile_is_written_on(file: Path) -> None:
    one, two = Workspace(source(), file), Workspace(source(), file)
    edit(one, one.root(0), "hi", "one")
    one.close()
    edit(two, two.root(0), "hi", "two")
    assert two.trouble == ""
    two.close()
    assert files(file.parent) == [file.name]
    again = Workspace(source(), file)
    assert [n.title for n in again.branches(0)] == ["hi is one", "hi is two"]
    assert again.current(0).title == "hi is two"


def test_where_nothing_can_be_written_editing_goes_on_and_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    workspace = Workspace(source(), tmp_path / "file" / "known.session")
    made = edit(workspace, workspace.root(0), "hi", "ho")
    assert workspace.trouble.startswith("edits are only kept in memory: ")
    assert "\n" not in workspace.trouble
    assert workspace.undo(edit(workspace, made, "ho", "ha")) == made
    assert workspace.redo(workspace.root(0)) == made


def test_a_disk_that_was_full_gets_what_it_missed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(source(), file)
    first = edit(workspace, workspace.root(0), "hi", "ho")
    append = SessionWriter.append

    def full(*_: object) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(SessionWriter, "append", full)
    second = edit(workspace, first, "ho", "ha")
    assert "database or disk is full" in workspace.trouble
    monkeypatch.setattr(SessionWriter, "append", append)
    third = edit(workspace, second, "ha", "hu")
    assert workspace.trouble == ""
    workspace.close()
    assert [n.id for n in Workspace(source(), file).path(third)][1:] == [first.id, second.id, third.id]


@pytest.mark.parametrize("junk", [b"no session at all", b"SQLite format 3\x00" + b"x" * 200])
def test_a_file_that_is_none_of_ours_is_left_alone(file: Path, junk: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(junk)
    workspace = Workspace(source(), file)
    assert len(workspace.notices) == 1
    assert workspace.notices[0].startswith("earlier edits cannot be read: ")
    edit(workspace, workspace.root(0), "hi", "ho")
    workspace.close()
    assert file.read_bytes() == junk
    assert [n.title for n in Workspace(source(), file).branches(0)] == ["hi is ho"]


def test_a_file_that_was_cut_off_gives_what_is_whole(file: Path) -> None:
    workspace = Workspace(source(), file)
    node = workspace.root(0)
    for n in range(40):
        node = edit(workspace, node, "hi" if not n else f"n{n - 1} ", f"n{n} ")
    workspace.close()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) * 2 // 3])
    again = Workspace(source(), file)
    assert again.notices
    assert all("\n" not in line for line in again.notices)
    edit(again, again.root(1), "hi", "ho")
    assert again.trouble == ""
    again.close()
    assert files(file.parent) == ["known-2.session", "known.session"], "nobody writes on what is torn"
    assert Workspace(source(), file).current(1).title == "hi is ho"


def test_only_its_user_can_read_it(file: Path) -> None:
    workspace = Workspace(source(), file)
    edit(workspace, workspace.root(0), "hi", "ho")
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o077 for p in file.parent.glob("known.session*")} == {0}
    workspace.close()


def test_bytes_that_are_no_json_and_no_text_come_back(file: Path) -> None:
    workspace = Workspace(source(), file)
    root = workspace.root(0)
    assert root.exchange.request
    made = workspace.commit(root, with_body(root.exchange.request, b'{"a": \xff\xfe\x00'), "broken on purpose")
    workspace.close()
    again = Workspace(source(), file).node(made.id)
    assert again.exchange.request == made.exchange.request
    assert made.exchange.request and made.exchange.request.body == Body(b'{"a": \xff\xfe\x00')


def test_what_no_file_can_hold_is_told_once_and_holds_nothing_back(file: Path) -> None:
    workspace = Workspace(source(), file)
    first = edit(workspace, workspace.root(0), "hi", "ho")
    assert first.exchange.request
    answered = replace(first.exchange, id="odd", response=HttpResponse(status=2**64))
    edit(workspace, workspace.commit_response(first, answered), "ho", "ha")
    assert (len(workspace.notices), workspace.trouble) == (1, "")
    assert workspace.notices[0].startswith("an edit is only kept in memory: it cannot be written (")
    last = edit(workspace, first, "ho", "hu")
    assert len(workspace.notices) == 1
    workspace.close()
    again = Workspace(source(), file)
    assert [n.id for n in again.path(again.node(last.id))][1:] == [first.id, last.id]
    assert "odd" not in [e.id for e in again.as_session().exchanges]


def test_half_a_character_in_a_url_is_kept(file: Path) -> None:
    workspace = Workspace(source(), file)
    root = workspace.root(0)
    assert root.exchange.request
    made = workspace.commit(root, replace(root.exchange.request, url="https://h/\ud800"), "odd")
    workspace.close()
    again = Workspace(source(), file)
    assert again.node(made.id).exchange.request == made.exchange.request
    assert (again.trouble, again.notices) == ("", [])
