"""What is known of a request before it is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import samples
from tests.tui.screens.test_send import thinking_session
from workbench.edits import apply_changes
from workbench.edits.branches import Workspace
from workbench.errors import LocalProtocolError, UsageError
from workbench.rules.inspection import Inspector
from workbench.send.target_names import resolve
from workbench.tui.preflight import preview_request
from workbench.wire.patch import Replace
from workbench.wire.session import MemorySession


def test_what_goes_out_is_judged_by_the_targets_contract() -> None:
    session = samples.example(samples.LOST_RESULT)
    inspector, root = Inspector(session), Workspace(session).root(2)
    for target, verdict in (("sim:anthropic", "refuses"), ("sim:generic", "suspicious")):
        shown = preview_request(inspector, root, resolve(target))
        assert shown.trial.judgement.verdict.value == verdict
        assert shown.outgoing.request.body == shown.own.exchange.request.body  # not a byte changes


def test_an_edit_before_a_signed_block_unbinds_it_until_it_is_left_out() -> None:
    session = thinking_session()
    workspace, inspector = Workspace(session), Inspector(session)
    root = workspace.root(0)
    shown = preview_request(inspector, root, resolve("sim:anthropic"))
    assert shown.unbound is None
    later = workspace.root(1)
    shown = preview_request(inspector, later, resolve("sim:anthropic"))
    assert shown.unbound and shown.unbound.pointers == ("/messages/1/content/0",)
    assert shown.unbound.without
    node = workspace.commit(later, shown.unbound.without, "removed")
    assert preview_request(inspector, node, resolve("sim:anthropic")).unbound is None
    assert preview_request(inspector, later, resolve("sim:openai")).unbound is None  # none of them goes there


def test_an_edit_is_what_goes_out() -> None:
    session = samples.example(samples.LOST_RESULT)
    workspace, inspector = Workspace(session), Inspector(session)
    root = workspace.root(2)
    asked = root.exchange.request
    assert asked
    node = workspace.commit(root, apply_changes(asked, asked.body.raw, [Replace("/max_tokens", 7)]), "fewer tokens")
    assert b'"max_tokens":7' in preview_request(
        inspector, node, resolve("sim:anthropic")
    ).outgoing.request.body.raw.replace(b" ", b"")


def test_what_cannot_be_sent_says_why() -> None:
    session = samples.example(samples.LOST_RESULT)
    inspector, root = Inspector(session), Workspace(session).root(2)
    with pytest.raises(UsageError, match="does not support gemini"):
        preview_request(inspector, root, resolve("sim:anthropic"), "gemini")
    unasked = MemorySession("unasked", (replace(root.exchange, request=None),))
    with pytest.raises(LocalProtocolError, match="no request was recorded"):
        preview_request(Inspector(unasked), Workspace(unasked).root(0), resolve("sim:anthropic"))
