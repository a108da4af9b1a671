"""A branch in the place of what was recorded, behind the answers that led to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.edits.branches.stories import body, edit, exchange, source
from workbench.edits import with_body
from workbench.edits.branches import BranchNode, Workspace, open_for
from workbench.protocols.decode import REQUEST
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import HttpResponse


def test_a_branch_stands_in_the_place_of_what_was_recorded() -> None:
    recorded = source()
    workspace = Workspace(recorded)
    first = edit(workspace, workspace.root(1), "hi", "ho")
    placed = workspace.as_branch_session(first)
    assert [placed.exchange(n) for n in range(len(placed))] == [
        recorded.exchange(0),
        replace(first.exchange, parent=None),
    ]
    assert [s.id for s in placed.summaries()] == ["e0", first.id]
    assert Inspector(placed).detail(1).decoded.messages(REQUEST)[0].parts[0].text == "ho 1"  # type: ignore[union-attr]
    assert workspace.as_branch_session(workspace.root(1)).exchange(1) == recorded.exchange(1)
    placed.close()
    assert recorded.exchange(0)


def continued(node: BranchNode) -> bytes:
    more = b', {"role": "assistant", "content": "ho"}, {"role": "user", "content": "and?"}]'
    return body(node).replace(b"]", more)


def test_answers_that_led_to_a_request_stand_before_it() -> None:
    workspace = Workspace(source())
    refused = workspace.commit_response(workspace.root(1), replace(exchange(7), response=HttpResponse(400)))
    sent = workspace.commit_response(refused, exchange(8))
    assert sent.exchange.request
    went_on = workspace.commit(sent, with_body(sent.exchange.request, continued(sent)), "go on")
    placed = workspace.as_branch_session(went_on)
    assert [placed.exchange(n).id for n in range(len(placed))] == ["e0", sent.id, went_on.id]
    other = edit(workspace, sent, "hi", "another try")
    assert len(workspace.as_branch_session(other)) == 2


def test_a_branch_has_trees_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    recorded = source()
    workspace = open_for(recorded)
    first = edit(workspace, workspace.root(1), "hi", "ho")
    placed = workspace.as_branch_session(first, "a branch")
    assert (placed.name, workspace.as_branch_session(first).name) == ("a branch", recorded.name)
    beside = open_for(placed)
    assert beside.notices == []
    edit(beside, beside.root(1), "ho", "ha")
    beside.close()
    assert [n.title for n in open_for(placed).branches(1)] == ["ho is ha"]
    workspace.close()
    assert [n.id for n in open_for(recorded).branches(1)] == [first.id]
