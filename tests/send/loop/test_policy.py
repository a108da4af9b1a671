"""Policies: what a loop does otherwise for a model that cannot do everything; no contract refuses it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.send.loop.samples import answered, call, chat, exchanged
from tests.send.loop.test_simulators import DOUBTED, NAMES, begun, check_end, continued
from workbench import contracts, protocols
from workbench.send.loop import (
    AnswerCall,
    CallResult,
    ConversationLoop,
    EndReason,
    Limits,
    LoopEnd,
    LoopPolicy,
    Send,
    refusal_result,
)
from workbench.simulator import Dials, ScriptedModel, Simulator
from workbench.wire.jsontext import dumps, loads

SERIAL = LoopPolicy(is_serial=True)
ASKED = chat({"role": "user", "content": "read"})


def loop_of(answer: bytes, policy: LoopPolicy, body: bytes = ASKED, **more: object) -> ConversationLoop:
    return ConversationLoop(exchanged(body, answer), "openai-chat", "generic", policy=policy, **more)  # type: ignore[arg-type]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", NAMES)
def test_calls_behind_the_first_are_left_out_under_every_contract(name: str) -> None:
    spoken = contracts.protocols(name) or protocols.protocols()
    for protocol in (p for p in spoken if p in protocols.protocols()):
        for stream in (False, True):
            simulator = Simulator(name, model=ScriptedModel(Dials(parallel=3)))
            loop = continued(simulator, replace(begun(simulator, protocol, stream=stream), policy=SERIAL), [])
            if not check_end(name, loop, protocol):
                continue
            history = loop.decoded_exchange.request
            assert history and sum(len(list(m.tool_calls())) for m in history.messages) == 1, (protocol, stream)
            found = {(s.finding.rule, s.finding.pointer) for s in simulator.served if s.finding}
            assert found == DOUBTED.get((name, protocol), set())


def test_what_is_left_out_is_said() -> None:
    loop = loop_of(answered(call(), call("c2"), call("c3")), SERIAL)
    assert [c.id for c in loop.calls] == ["c1"]
    step = loop.after(CallResult("x")).step
    assert isinstance(step, Send) and step.notes == ("one call at a time: 2 further calls removed",)


@pytest.mark.parametrize("calls", ["hermes", "qwen3-coder"])
def test_of_calls_in_text_the_others_are_told_to_come_one_at_a_time(calls: str) -> None:
    simulator = Simulator("generic", model=ScriptedModel(Dials(calls=calls, parallel=2)))
    loop = replace(begun(simulator, "openai-chat", stream=False, parser=calls), limits=Limits(turns=1), policy=SERIAL)
    loop = replace(continued(simulator, loop, []), results=(), limits=Limits())
    codes = []
    while isinstance(step := loop.step, AnswerCall):
        codes.append(step.refusal.code.value if step.refusal else "")
        loop = loop.after(refusal_result(step.refusal) if step.refusal else CallResult("x"))
    assert codes == ["", "ONE_CALL_AT_A_TIME"]


def test_an_answer_that_the_server_keeps_has_every_call_answered() -> None:
    asked = {"model": "gpt-5", "previous_response_id": "resp_0", "input": [{"role": "user", "content": "read"}]}
    items = [{"type": "function_call", "call_id": f"c{n}", "name": "read", "arguments": "{}"} for n in (1, 2)]
    answer = {"id": "resp_1", "object": "response", "status": "completed", "output": items}
    loop = ConversationLoop(exchanged(dumps(asked), dumps(answer)), "openai-responses", "openai", policy=SERIAL)
    told = []
    while isinstance(step := loop.step, AnswerCall):
        told.append(step.refusal.code.value if step.refusal else "")
        loop = loop.after(refusal_result(step.refusal) if step.refusal else CallResult("x"))
    assert told == ["", "ONE_CALL_AT_A_TIME"]


def test_people_are_asked_after_errors_in_a_row_and_may_let_it_go_on() -> None:
    failed = CallResult("no", is_error=True)
    loop = loop_of(answered(call()), LoopPolicy(), limits=Limits(errors=2, repeats=0)).after(failed)
    assert isinstance(loop.step, Send)
    again = loop.after(exchanged(chat({"role": "user", "content": "read"}), answered(call("c2")))).after(failed)
    assert again.step == LoopEnd(EndReason.ERRORS, "all calls in 2 consecutive responses failed, which is the limit")
    assert isinstance(again.after(Limits(errors=4)).step, Send)
    well = loop.after(exchanged(ASKED, answered(call("c2")))).after(CallResult("yes"))
    assert isinstance(well.step, Send) and well.after(exchanged(ASKED, answered(call("c3")))).errors == 0


SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "line": {"type": "integer", "minimum": 1}}}
LOWERED = LoopPolicy(level="string-only", schemas={"read": SCHEMA})


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ('{"path": "a", "line": "7"}', {"path": "a", "line": 7}),
        ('{"path": "a", "line": 7}', {"path": "a", "line": 7}),
        ('{"path": "7"}', {"path": "7"}),
        ('{"path": "a", "line": "0"}', None),
        ('{"path": "a", "line": "seven"}', None),
        ("", {}),
    ],
)
def test_arguments_are_checked_by_the_schema_as_it_was(arguments: str, read: object) -> None:
    step = loop_of(answered(call(arguments=arguments)), LOWERED).step
    assert isinstance(step, AnswerCall)
    assert (step.refusal is None) == (read is not None)
    assert read is None or step.arguments == read


def test_a_tool_that_is_not_enabled_is_not_run() -> None:
    for closed in ({"read": "destructive"}, {"*": "no tools"}):
        step = loop_of(answered(call()), LoopPolicy(closed=closed)).step
        assert isinstance(step, AnswerCall) and step.refusal
        assert step.refusal.as_json()["error_code"] == "TOOL_NOT_ENABLED"
        assert not step.refusal.retryable


def test_reasoning_goes_back_as_the_policy_says_whatever_the_contract_does() -> None:
    thought = answered(call(), reasoning_content="because")
    for policy, contract, is_kept in (
        (LoopPolicy(), "groq", False),
        (LoopPolicy(reasoning="verbatim"), "groq", True),
        (LoopPolicy(reasoning="left-out"), "deepseek", False),
    ):
        loop = replace(loop_of(thought, policy), contract=contract).after(CallResult("x"))
        step = loop.step
        assert isinstance(step, Send)
        assert ("reasoning_content" in loads(step.request.body.raw)["messages"][1]) is is_kept
        assert bool(step.notes) is not is_kept


def test_a_policy_survives_being_written_down() -> None:
    from workbench.send.loop import plain

    for policy in (LoopPolicy(), SERIAL, LOWERED, LoopPolicy(reasoning="verbatim", closed={"*": "why"})):
        loop = loop_of(answered(call()), policy, limits=Limits(errors=3), errors=1)
        assert plain.load(loads(dumps(plain.dump(loop)))) == loop
