"""What is known of a request before it is sent, and of its answer behind it."""

from __future__ import annotations

import asyncio

import pytest

from workbench.config import resources
from workbench.contracts import Verdict
from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspector
from workbench.send.outgoing import prepare
from workbench.send.preflight import judge_exchange, run_preflight
from workbench.send.sending import Sender
from workbench.send.target import Target
from workbench.send.target_names import resolve
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
    seen = run_preflight(broken, index, outgoing)
    assert (seen.verdict, seen.finding.rule if seen.finding else None) == (verdict, rule)
    if verdict is Verdict.REFUSES:
        assert seen.refusal.status == 400
    if outgoing.target.is_simulator:
        answer = sent(broken, outgoing)
        assert (answer.response.status >= 400) == (verdict is Verdict.REFUSES), "the simulator does as was said"


def test_a_target_without_a_contract_is_judged_by_its_host_and_model(broken):
    decoded = broken.detail(1).decoded
    own = prepare(decoded, Target("t", "openai-chat", "http://127.0.0.1:8000/v1"))
    assert run_preflight(broken, 1, own).contract.label == "generic:deepseek", "the model is known, the host is not"
    assert (
        run_preflight(broken, 1, prepare(decoded, Target("t", "openai-chat", "https://api.x.ai"))).contract.name
        == "xai"
    )


def test_nothing_is_known_of_what_cannot_be_read():
    request = HttpRequest("POST", "/v1/chat/completions", body=Body(b'{"messages": ['))
    inspector = Inspector(MemorySession("s", (Exchange("a", request),)))
    seen = run_preflight(inspector, 0, prepare(inspector.detail(0).decoded, resolve("sim:openai")))
    assert seen.verdict is Verdict.UNKNOWN and seen.finding is None


def test_the_answer_is_decoded_and_checked_in_its_place(broken):
    outgoing = prepare(broken.detail(0).decoded, resolve("sim:deepseek"))
    trial = judge_exchange(broken, 0, outgoing, sent(broken, outgoing))
    assert trial.contract.label == "deepseek:v4"
    assert trial.decoded.response.finish_reason == "tool_calls"
    assert [f.rule for f in trial.findings] == ["closure.pending"]
