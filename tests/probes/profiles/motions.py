"""Driving a motion by hand: simulators answer its requests, and tools of the test its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from workbench import probes
from workbench.ir import JsonValue, ModelRequest
from workbench.probes import Measurement, Subject
from workbench.probes.profiles import CapabilityProfile, key_of, of_measurement
from workbench.probes.profiles.tool_loop import Measure, ToolLoop, begin
from workbench.protocols.decode import DecodedExchange
from workbench.send.loop import AnswerCall, CallResult, ConversationLoop, Limits, LoopEnd, refusal_result
from workbench.send.outgoing import Outgoing, prepare
from workbench.send.target_names import resolve
from workbench.simulator import ScriptedModel, Simulator
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps

SEEN = 1_782_400_000.0
"""When profiles of these tests were measured."""

Server = Callable[[Outgoing], Exchange]
Tool = Callable[[AnswerCall], CallResult]

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "anthropic-messages": "/v1/messages",
    "ollama": "/api/chat",
    "openai-responses": "/v1/responses",
}


def measured(answer: Server, label: str, protocol: str, names: Iterable[str]) -> CapabilityProfile:
    """The profile that probes make of what answers, seen on the 25th of June 2026."""
    made = Measurement(Subject(resolve(f"sim:{label}"), protocol, Simulator(label).names()[0], ""))
    for number, probe in enumerate(probes.select(names)):
        run = probes.ProbeRun(
            probe, replace(made.subject, nonce=f"n{number}k", parser=str(made.facts.get("parser") or ""))
        )
        while run.pending:
            asked = DecodedExchange(0, Exchange("probe", run.pending.request), run.pending.protocol)
            run.after(answer(prepare(asked, made.subject.target, protocol=run.pending.protocol)))
        assert run.sample
        made.results.append(probes.verdict(probe.name, [run.sample], at=SEEN))
    key = key_of(made.subject.target, made.subject.contract.label, made)
    return of_measurement(key, made, at=SEEN)


def server(label: str, model: ScriptedModel) -> Server:
    """A simulator that answers."""
    simulator = Simulator(label, model=model)

    def answer(sent: Outgoing) -> Exchange:
        http = sent.request
        reply = simulator.send("POST", http.url, http.headers, http.body.raw)
        response = HttpResponse(reply.status, Headers(reply.headers), Body(reply.body()))
        return Exchange("sent", http, response)

    return answer


def asked(protocol: str, body: Mapping[str, JsonValue]) -> ConversationLoop:
    """A loop that begins with a body."""
    return ConversationLoop(
        Exchange("first", HttpRequest("POST", PATHS[protocol], Headers(), Body(dumps(body)))), protocol
    )


def usual(step: AnswerCall) -> CallResult:
    """A structured error where a call cannot be run, else a result."""
    return refusal_result(step.refusal) if step.refusal else CallResult("42")


def played(motion: ToolLoop, answer: Server, tool: Tool = usual) -> ToolLoop:
    """A motion, driven to its end."""
    while not isinstance(todo := motion.pending, LoopEnd):
        if isinstance(todo, Outgoing):
            motion = motion.after(answer(todo))
        elif isinstance(todo, AnswerCall):
            motion = motion.after(tool(todo))
        else:
            assert todo is None or isinstance(todo, Measure)
            motion = motion.after()
    return motion


def ended(motion: ToolLoop) -> str:
    """Why it ended."""
    step = motion.loop.step
    assert isinstance(step, LoopEnd)
    return step.reason.value


def begun(
    loop: ConversationLoop, label: str, profile: CapabilityProfile | None, off: Iterable[str] = (), **more: object
) -> ToolLoop:
    """The motion of a loop against a simulator, at the time when its profile was made."""
    loop = ConversationLoop(loop.exchange, loop.protocol, loop.contract, limits=Limits(turns=8))
    now = profile.verified_at if profile else 0.0
    return begin(loop, resolve(f"sim:{label}"), profile=profile, now=now, off=tuple(off), **more)  # type: ignore[arg-type]


def requests(motion: ToolLoop) -> ModelRequest:
    """The last request that was sent."""
    request = motion.loop.decoded_exchange.request
    assert request is not None
    return request
