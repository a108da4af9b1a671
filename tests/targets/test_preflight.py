"""What is known of a request before it is sent, and of its answer behind it."""

from __future__ import annotations

import asyncio
import json

import pytest

from workbench import resources
from workbench.importers import open_input
from workbench.inspection import Inspector
from workbench.rules import Verdict
from workbench.targets.outgoing import prepare
from workbench.targets.preflight import judged, preflight
from workbench.targets.sending import Sender
from workbench.targets.target import Target, resolve
from workbench.targets.unbound import unbound
from workbench.wire.exchange import Body, Exchange, HttpRequest
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


def signed_session(first):
    """A conversation whose answer was signed over other words than the request now begins with."""
    think = {"type": "thinking", "thinking": "hm", "signature": SIGNED}
    call = {"type": "tool_use", "id": "toolu_1", "name": "list_dir", "input": {"path": "."}}
    tool = {"name": "list_dir", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}
    head = {"model": "claude-opus-5-5", "max_tokens": 4000, "thinking": {"type": "adaptive"}, "tools": [tool]}
    answered = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "content": [think, call],
        "stop_reason": "tool_use",
    }
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]}

    def exchange(name, messages, answer=None):
        url = "https://api.anthropic.com/v1/messages"
        from workbench.wire.exchange import HttpResponse

        response = HttpResponse(200, body=Body(json.dumps(answer).encode())) if answer else None
        return Exchange(
            name, HttpRequest("POST", url, body=Body(json.dumps({**head, "messages": messages}).encode())), response
        )

    asked = [{"role": "user", "content": "list it"}]
    then = [{"role": "user", "content": first}, {"role": "assistant", "content": [think, call]}, result]
    return MemorySession("s", (exchange("a", asked, answered), exchange("b", then)))


def test_signed_blocks_that_an_edit_unbound_can_be_left_out():
    inspector = Inspector(signed_session("list all of it"))
    own = inspector.detail(1).decoded
    target = resolve("sim:anthropic")
    seen = preflight(inspector, 1, prepare(own, target), own)
    assert seen.unbound and [f.pointer for f in seen.unbound.findings] == ["/messages/1/content/0"]
    assert seen.unbound.without is not None and SIGNED.encode() not in seen.unbound.without.body.raw
    again = inspector.trial(1, seen.unbound.without).decoded
    assert unbound(inspector, again, target) is None


def test_what_was_not_edited_is_bound():
    inspector = Inspector(signed_session("list it"))
    own = inspector.detail(1).decoded
    assert preflight(inspector, 1, prepare(own, resolve("sim:anthropic")), own).unbound is None
