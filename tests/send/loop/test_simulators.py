"""The loop over the simulator of every contract: no request of it is refused, whatever the protocol."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench import contracts, protocols
from workbench.probes.selftest.healthy import QUESTIONS, first_request
from workbench.send.loop import AnswerCall, CallResult, ConversationLoop, EndReason, Limits, LoopEnd, Say, Send
from workbench.send.matrix import labels
from workbench.simulator import Dials, ScriptedModel, Simulator
from workbench.wire import dumps, loads
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse


def continued(simulator: Simulator, loop: ConversationLoop, waiting: list[str]) -> ConversationLoop:
    """To the end, every call answered, then the user's next words."""
    while True:
        step = loop.step
        if isinstance(step, AnswerCall):
            loop = loop.after(CallResult(f"result {step.number}"))
        elif isinstance(step, Send):
            http = step.request
            reply = simulator.send("POST", simulator_path(http.url), http.headers, http.body.raw)
            response = HttpResponse(reply.status, Headers(reply.headers), Body(reply.body()))
            loop = loop.after(Exchange(f"exchange-{loop.turns}", http, response))
        elif step.reason is EndReason.DONE and waiting:
            loop = loop.after(Say(waiting.pop(0)))
        else:
            return loop


def simulator_path(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def without_a_limit_that_is_refused(simulator: Simulator, protocol: str, *, stream: bool) -> HttpRequest:
    """The first request; without its limit of tokens where the contract refuses that (ChatGPT's Codex endpoint)."""
    http = first_request(simulator, protocols.get(protocol), QUESTIONS[0], stream=stream)
    asked = Simulator(simulator.label, model=ScriptedModel(Dials()))
    asked.send("POST", simulator_path(http.url), http.headers, http.body.raw)
    refused = [served.finding.pointer[1:] for served in asked.served if served.finding]
    if refused != ["max_output_tokens"]:
        return http
    body = {key: value for key, value in loads(http.body.raw).items() if key not in refused}
    return replace(http, body=Body(dumps(body)))


def begun(simulator: Simulator, protocol: str, *, stream: bool, parser: str = "") -> ConversationLoop:
    exchange = Exchange("exchange-0", without_a_limit_that_is_refused(simulator, protocol, stream=stream))
    return ConversationLoop(exchange, protocol, simulator.label, parser, Limits(turns=8))


NAMES = contracts.names()
DOUBTED = {
    ("perplexity", "openai-chat"): {("tools.unsupported", "/tools")},
    ("qwen", "anthropic-messages"): {("params.unsupported", "/thinking/type")},
    ("xinference", "anthropic-messages"): {("params.unsupported", "/thinking/type")},
}
"""Contract and protocol → its doubts: Perplexity documents no tools there, Qwen and Xinference no adaptive thinking."""
DONE = LoopEnd(EndReason.DONE, "the model answered without a call")


def check_end(name: str, loop: ConversationLoop, protocol: str) -> bool:
    """True if the loop came to its end. Cloudflare refuses the null of its own answers, which a client sends back."""
    if (name, protocol) == ("cloudflare", "openai-chat"):
        assert isinstance(loop.step, LoopEnd) and loop.step.reason is EndReason.REFUSED and "'null'" in loop.step.text
        return False
    assert loop.step == DONE, (name, protocol)
    return True


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", NAMES)
def test_no_contract_refuses_it(name: str) -> None:
    for label in labels([name]):
        for protocol in contracts.protocols(label) or protocols.protocols():
            for stream in (False, True) if protocol in protocols.protocols() else ():
                simulator = Simulator(label, model=ScriptedModel(Dials(parallel=2)))
                loop = continued(simulator, begun(simulator, protocol, stream=stream), [*QUESTIONS[1:]])
                if not check_end(name, loop, protocol):
                    continue
                assert loop.turns == 4
                found = {(s.finding.rule, s.finding.pointer) for s in simulator.served if s.finding}
                assert found == DOUBTED.get((name, protocol), set())


@pytest.mark.parametrize("calls", ["hermes", "qwen3-coder", "harmony", "pythonic"])
def test_calls_in_text_are_answered_too(calls: str) -> None:
    simulator = Simulator("generic", model=ScriptedModel(Dials(calls=calls, parallel=2)))
    loop = begun(simulator, "openai-chat", stream=True, parser=calls)
    first = continued(simulator, replace(loop, limits=Limits(turns=1)), [])
    assert [call.name for call in first.calls] == ["read_file", "list_dir"]
    unread = continued(simulator, replace(loop, parser=""), [])
    assert isinstance(unread.step, LoopEnd) and unread.step.reason is EndReason.TEXT_CALL
