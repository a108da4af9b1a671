"""A tree of edits and sends: walked, named, compared, opened again as it was left; the source is never changed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.edits.branches.stories import body, edit, exchange, source
from workbench.edits.branches import BranchNode, Workspace, open_for
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse, Origin, State
from workbench.wire.session import MemorySession
from workbench.wire.session.store import fsck, open_session, save

SESSIONS = Path(__file__).resolve().parents[3] / "sessions"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "work" / "known.session"


def titles(nodes: list[BranchNode]) -> list[str]:
    return [node.title for node in nodes]


def grown(workspace: Workspace) -> tuple[BranchNode, BranchNode, BranchNode, BranchNode]:
    """A root with an edit, and two edits of that."""
    root = workspace.root(1)
    first = edit(workspace, root, "hi", "ho")
    left, right = edit(workspace, first, "ho", "left"), edit(workspace, first, "ho", "right")
    return root, first, left, right


def test_a_tree_is_walked_up_and_down() -> None:
    workspace = Workspace(source())
    root, first, left, right = grown(workspace)
    assert [n.id for n in workspace.children(first)] == [left.id, right.id]
    assert titles(workspace.path(right)) == ["as recorded", "hi is ho", "ho is right"]
    assert workspace.subtree(root) == [root, first, left, right]
    assert workspace.branches(1) == [left, right]
    assert workspace.branches(0) == [workspace.root(0)]
    assert workspace.current(1) == right
    assert workspace.undo(left) == first == workspace.current(1)
    assert workspace.redo(first) == left, "what was undone, not what was made last"
    assert workspace.go(right) == right
    assert workspace.undo(right) == first
    assert workspace.undo(first) == root
    assert workspace.undo(root) is None
    assert workspace.redo(root) == first
    assert workspace.redo(first) == right
    assert workspace.redo(right) is None
    assert workspace.current(0) == workspace.root(0)


def test_what_is_the_same_is_no_edit() -> None:
    workspace = Workspace(source())
    root = workspace.root(0)
    assert root.exchange.request
    assert workspace.commit(root, root.exchange.request, "nothing") is root
    assert workspace.branches(0) == [root]


def test_an_answer_is_a_node_and_its_request_is_edited_further() -> None:
    workspace = Workspace(source())
    first = edit(workspace, workspace.root(0), "hi", "ho")
    answer = replace(first.exchange, id="sent", response=HttpResponse(400), meta={"target": "sim:openai"})
    sent = workspace.commit_response(first, answer)
    assert (sent.is_sent, sent.title, sent.parent) == (True, "sent to sim:openai → 400", first.id)
    assert sent.exchange.origin is Origin.RESENT
    again = workspace.commit_response(first, answer)
    assert again.id != sent.id
    assert titles(workspace.path(edit(workspace, again, "ho", "ha")))[-2:] == ["sent to sim:openai → 400", "ho is ha"]


def test_what_was_converted_to_be_sent_is_not_where_somebody_edits_on(file: Path) -> None:
    workspace = Workspace(source(), file)
    first = edit(workspace, workspace.root(0), "hi", "ho")
    meta = {"target": "sim:gemini", "converted": "gemini"}
    sent = workspace.commit_response(first, replace(first.exchange, id="sent", response=HttpResponse(200), meta=meta))
    assert workspace.children(first) == [sent]
    assert workspace.current(0) == first
    workspace.close()
    assert Workspace(source(), file).current(0).id == first.id


def test_everything_is_there_when_it_is_opened_again(file: Path) -> None:
    recorded = source()
    workspace = Workspace(recorded, file)
    _, first, left, right = grown(workspace)
    workspace.rename(left, "the <b>left</b> one")
    workspace.rename(first, "soon forgotten")
    workspace.rename(first, "")
    workspace.undo(left)
    edit(workspace, workspace.root(0), "hi", "other tree")
    workspace.close()
    again = Workspace(recorded, file)
    assert again.notices == []
    assert again.current(1) == again.node(first.id)
    assert again.node(first.id).name == ""
    assert [n.name for n in again.branches(1)] == ["the <b>left</b> one", ""]
    assert again.node(right.id) == right
    assert [body(n) for n in again.subtree(again.root(1))] == [body(n) for n in workspace.subtree(workspace.root(1))]
    assert titles(again.branches(0)) == ["hi is other tree"]
    assert again.current(0).title == "hi is other tree"
    assert edit(again, again.current(1), "ho", "more").parent == first.id
    again.close()
    assert len(Workspace(recorded, file).branches(1)) == 3


def test_titles_and_names_are_lines_that_a_file_takes(file: Path) -> None:
    workspace = Workspace(source(), file)
    made = workspace.commit(workspace.root(0), HttpRequest(body=Body(b"x")), "half \ud83d of\na ☃")
    assert workspace.rename(made, "\udcff\x00").name == "\\udcff\x00"
    workspace.close()
    again = Workspace(source(), file)
    assert again.trouble == workspace.trouble == ""
    assert again.node(made.id).title == "half \\ud83d of a ☃"


def test_a_source_that_changed_keeps_its_earlier_edits_in_a_tree_beside(file: Path) -> None:
    workspace = Workspace(source(), file)
    edit(workspace, workspace.root(1), "hi", "ho")
    workspace.close()
    changed = source(said="changed")
    again = Workspace(changed, file)
    told = "exchange 2 has changed since it was edited; the old edits are kept as a separate tree"
    assert again.notices == [told]
    assert body(again.root(1)) == body(Workspace(changed).root(1))
    assert again.branches(1) == [again.root(1)]
    assert [body(root) for root in again.roots()] == [body(Workspace(source()).root(1))]
    edit(again, again.root(1), "changed", "new")
    again.close()
    for recorded, ends in ((changed, ["changed is new"]), (source(), ["hi is ho"])):
        found = Workspace(recorded, file)
        assert titles(found.branches(1)) == ends
        assert len(found.roots()) == 2


def test_an_exchange_that_is_gone_keeps_its_tree(file: Path) -> None:
    workspace = Workspace(source(), file)
    edit(workspace, workspace.root(2), "hi", "ho")
    workspace.close()
    again = Workspace(source(count=2), file)
    assert [(root.id, root.index) for root in again.roots()] == [("e2", -1)]
    assert len(again.as_branch_session(again.node(again.subtree(again.roots()[0])[-1].id))) == 1


def test_an_exchange_that_was_still_open_is_read_again() -> None:
    recorded = source()
    whole = recorded.exchanges[0]
    recorded.exchanges = (replace(whole, response=None, state=State.OPEN), *recorded.exchanges[1:])
    workspace = Workspace(recorded)
    assert workspace.root(0).exchange.response is None
    made = edit(workspace, workspace.root(0), "hi", "ho")
    recorded.exchanges = (whole, *recorded.exchanges[1:])
    assert workspace.root(0).exchange.response == whole.response
    assert workspace.undo(made) == workspace.root(0)


def test_two_nodes_are_compared_in_bytes_and_meaning() -> None:
    workspace = Workspace(source())
    _, _, left, right = grown(workspace)
    found = workspace.compare(left, right)
    assert [change.after for change in found.changes] == ["/messages/0"]
    assert workspace.compare(left, left).hunks == ()


def test_a_tree_is_a_session_that_is_checked_and_saved_like_any_other(tmp_path: Path, file: Path) -> None:
    workspace = Workspace(source(), file)
    root, first, left, _ = grown(workspace)
    workspace.rename(left, "best")
    tree = workspace.as_session(root)
    assert [(e.parent, e.branch) for e in tree.exchanges] == [
        (None, ""),
        ("e1", ""),
        (first.id, "best"),
        (first.id, ""),
    ]
    assert len(Inspector(tree).run().rows) == 4
    save(tree.exchanges, tmp_path / "tree.jsonl", about=tree.about)
    assert [e.id for e in open_session(tmp_path / "tree.jsonl").exchanges] == [e.id for e in tree.exchanges]  # type: ignore[attr-defined]
    edit(workspace, workspace.root(0), "hi", "ho")
    assert len(workspace.as_session()) == 6
    workspace.close()
    kept = open_session(file)
    assert len(Inspector(kept).run().rows) == len(kept) == 6
    kept.close()
    assert fsck(file).problems == ()


def test_the_source_file_stays_as_it_is_to_the_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("anthropic-tool-loop.jsonl", "copy.session"):
        path = tmp_path / name
        if name.endswith(".jsonl"):
            shutil.copy(SESSIONS / name, path)
        else:
            save(source().exchanges, path)
        before = sha256(path.read_bytes()).digest()
        recorded = open_session(path)
        workspace = open_for(recorded)
        node = edit(workspace, workspace.root(0), "model", "mödel")
        workspace.undo(workspace.rename(node, "x"))
        workspace.close()
        recorded.close()
        assert sha256(path.read_bytes()).digest() == before
        assert sorted(p.name for p in tmp_path.glob(f"{name}*")) == [name], "nor does anything stand beside it"
        assert open_for(open_session(path)).branches(0)[0].name == "x"


def test_a_session_that_cannot_be_told_from_others_is_kept_in_memory() -> None:
    workspace = open_for(MemorySession("empty", ()))
    assert (workspace.trouble, workspace.notices, workspace.roots()) == ("", [], [])


@settings(max_examples=15)
@given(steps=st.lists(st.tuples(st.sampled_from("cgur"), st.integers(0, 9), st.binary(max_size=5)), max_size=12))
def test_undoing_everything_gives_the_recorded_bytes(steps: list[tuple[str, int, bytes]]) -> None:
    recorded = MemorySession("s", (Exchange("e", exchange(1).request, started_at=1.0),))
    workspace = Workspace(recorded)
    here = workspace.root(0)
    for what, n, new in steps:
        nodes = workspace.subtree(workspace.root(0))
        if what == "c":
            here = workspace.commit(here, HttpRequest(body=Body(new)), "edit")
        elif what == "g":
            here = workspace.go(nodes[n % len(nodes)])
        else:
            here = (workspace.undo(here) if what == "u" else workspace.redo(here)) or here
        assert workspace.current(0) == here
    made = [body(n) for n in workspace.path(here)]
    while (back := workspace.undo(here)) is not None:
        here = back
        made.pop()
        assert body(here) == made[-1]
    assert here.exchange == recorded.exchange(0)
