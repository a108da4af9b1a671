"""What is known of a request before it is sent, and of its answer behind it."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.targets.conftest import BLOCK_TOOL
from workbench import resources
from workbench.importers import open_input
from workbench.inspection import Inspector
from workbench.rules import Verdict
from workbench.targets.outgoing import prepare
from workbench.targets.preflight import judged, preflight
from workbench.targets.sending import Sender
from workbench.targets.target import Target, resolve
from workbench.targets.unbound import unbound
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

SESSIONS = resources.folder("sessions")


@pytest.fixture(scope="module")
def broken():
    return Inspector(open_input(str(SESSIONS / "deepseek-reasoning-lost.jsonl")))


def sent(inspector, outgoing):
    async def run():
        async with Sender(known=inspector.session) as sender:
            return await sender.send(outgoing)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("index", "target", "verdict", "rule"),
    [
        (0, "sim:deepseek", Verdict.ACCEPTS, None),
        (1, "sim:deepseek", Verdict.REFUSES, "reasoning.missing"),
        (1, "sim:generic", Verdict.ACCEPTS, None),
        (1, "sim:anthropic", Verdict.ACCEPTS, None),
        (1, "deepseek", Verdict.REFUSES, "reasoning.missing"),
    ],
)
def test_the_contract_of_the_target_judges_what_will_be_sent(broken, index, target, verdict, rule):
    outgoing = prepare(broken.detail(index).decoded, resolve(target))
    seen = preflight(broken, index, outgoing)
    assert (seen.verdict, seen.finding.rule if seen.finding else None) == (verdict, rule)
    if verdict is Verdict.REFUSES:
        assert seen.refusal.status == 400
    if outgoing.target.is_simulator:
        answer = sent(broken, outgoing)
        assert (answer.response.status >= 400) == (verdict is Verdict.REFUSES), "the simulator does as was said"


def test_a_target_without_a_contract_is_judged_by_its_host_and_model(broken):
    decoded = broken.detail(1).decoded
    own = prepare(decoded, Target("t", "openai-chat", "http://127.0.0.1:8000/v1"))
    assert preflight(broken, 1, own).contract.name == "deepseek", "by the model"
    assert preflight(broken, 1, prepare(decoded, Target("t", "openai-chat", "https://api.x.ai"))).contract.name == "xai"


def test_nothing_is_known_of_what_cannot_be_read():
    request = HttpRequest("POST", "/v1/chat/completions", body=Body(b'{"messages": ['))
    inspector = Inspector(MemorySession("s", (Exchange("a", request),)))
    seen = preflight(inspector, 0, prepare(inspector.detail(0).decoded, resolve("sim:openai")))
    assert seen.verdict is Verdict.UNKNOWN and seen.finding is None


def test_the_answer_is_decoded_and_checked_in_its_place(broken):
    outgoing = prepare(broken.detail(0).decoded, resolve("sim:deepseek"))
    trial = judged(broken, 0, outgoing, sent(broken, outgoing))
    assert trial.contract.label == "deepseek:v4"
    assert trial.decoded.response.finish_reason == "tool_calls"
    assert [f.rule for f in trial.findings] == ["closure.pending"]


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
    seen = preflight(signed, 1, prepare(own, target), own, before)
    assert seen.unbound and seen.unbound.pointers == ("/messages/1/content/0",)
    assert seen.unbound.without is not None and SIGNED.encode() not in seen.unbound.without.body.raw
    again = signed.trial(1, seen.unbound.without).decoded
    assert unbound(signed, again, target, before) is None


def test_what_was_not_edited_is_bound(signed):
    own = signed.detail(1).decoded
    assert preflight(signed, 1, prepare(own, resolve("sim:anthropic")), own, own).unbound is None


def test_other_providers_bind_nothing(signed):
    own = signed.trial(1, history("list all of it")).decoded
    generic = Inspector(signed.session, provider="generic")
    generic.detail(1)
    assert unbound(generic, own, resolve("sim:generic")) is None
