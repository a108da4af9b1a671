"""Signed blocks that an edit before them has made worthless."""

from __future__ import annotations

import json

import pytest

from tests.simulator.conftest import BLOCK_TOOL
from workbench.rules.inspection import Inspector
from workbench.send.outgoing import prepare
from workbench.send.preflight import find_unbound, run_preflight
from workbench.send.target_names import resolve
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

SIGNED = "c2lnbmF0dXJl" * 12


THINK = {"type": "thinking", "thinking": "hm", "signature": SIGNED}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "list_dir", "input": {"path": "."}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]}


def request(*messages):
    head = {"model": "claude-opus-5-5", "max_tokens": 4000, "thinking": {"type": "adaptive"}, "tools": [BLOCK_TOOL]}
    body = json.dumps({**head, "messages": messages}).encode()
    return HttpRequest("POST", "https://api.anthropic.com/v1/messages", body=Body(body))


def history(words):
    """A turn that is over, and the next question: its thinking may be sent back, and need not be."""
    then = ({"role": "assistant", "content": "a"}, {"role": "user", "content": "and now?"})
    return request({"role": "user", "content": words}, {"role": "assistant", "content": [THINK, CALL]}, RESULT, *then)


@pytest.fixture
def signed():
    """A conversation whose first answer is signed over what stands before it."""
    answer = {"type": "message", "role": "assistant", "id": "m", "content": [THINK, CALL], "stop_reason": "tool_use"}
    first = Exchange("a", request({"role": "user", "content": "list it"}), HttpResponse(200, body=Body(dumps(answer))))
    return Inspector(MemorySession("s", (first, Exchange("b", history("list it")))))


def test_signed_blocks_that_an_edit_unbound_can_be_left_out(signed):
    before = signed.detail(1).decoded
    own = signed.trial(1, history("list all of it")).decoded
    target = resolve("sim:anthropic")
    seen = run_preflight(signed, 1, prepare(own, target), own, before)
    assert seen.unbound and seen.unbound.pointers == ("/messages/1/content/0",)
    assert seen.unbound.without is not None and SIGNED.encode() not in seen.unbound.without.body.raw
    again = signed.trial(1, seen.unbound.without).decoded
    assert find_unbound(signed, again, target, before) is None


def test_what_was_not_edited_is_bound(signed):
    own = signed.detail(1).decoded
    assert run_preflight(signed, 1, prepare(own, resolve("sim:anthropic")), own, own).unbound is None


def test_other_providers_bind_nothing(signed):
    own = signed.trial(1, history("list all of it")).decoded
    generic = Inspector(signed.session, provider="generic")
    generic.detail(1)
    assert find_unbound(generic, own, resolve("sim:generic")) is None
