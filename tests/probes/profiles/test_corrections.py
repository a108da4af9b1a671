"""Corrections: each turns a model that fails into a loop that works, and switched off it fails again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import pytest

from tests.probes.profiles.motions import Server, Tool, asked, begun, ended, measured, played, requests, server, usual
from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.probes.profiles import CapabilityProfile
from workbench.probes.profiles.choosing import of_target
from workbench.probes.profiles.conservative import CautionLevel, fall
from workbench.probes.profiles.corrections import KINDS, apply_switches, corrections
from workbench.probes.profiles.corrector import correct, correct_outgoing, protocol_of
from workbench.probes.profiles.tool_loop import LoopState, ToolLoop
from workbench.protocols.decode import DecodedExchange
from workbench.rules.metrics.tool_use_counts import Counts
from workbench.send.loop import AnswerCall as Step
from workbench.send.loop import CallResult, ConversationLoop, refusal_result
from workbench.send.outgoing import Outgoing, prepare
from workbench.send.target_names import resolve
from workbench.simulator import Dials, RequestMatch, ScriptedAnswer, ScriptedCall, ScriptedModel, ScriptTurn, Simulator
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps, loads

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "place": {"type": "object", "properties": {"line": {"type": "integer", "minimum": 1}}, "required": ["line"]},
    },
    "required": ["path"],
}


def function(name: str, schema: JsonValue = SCHEMA) -> JsonValue:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


USER = {"role": "user", "content": "Please read_file notes.txt."}
CHAT = {"model": "m", "messages": [USER], "tools": [function("read_file")]}
CALL = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}
ASTRAY = [
    USER,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "user", "content": "Hurry."},
    {"role": "tool", "tool_call_id": "c1", "content": "42"},
]


def refusing(answer: Server, is_wrong: Callable[[JsonValue], bool], message: str) -> Server:
    """A server that refuses some bodies, as its chat template or its grammar does."""

    def answered(sent: Outgoing) -> Exchange:
        if not is_wrong(loads(sent.request.body.raw)):
            return answer(sent)
        said = dumps({"error": {"message": message, "type": "invalid_request_error"}})
        return Exchange("refused", sent.request, HttpResponse(400, Headers(), Body(said)))

    return answered


def has_two_calls(body: JsonValue) -> bool:
    return any(len(message.get("tool_calls") or ()) > 1 for message in body["messages"])


def single(answer: Server) -> Server:
    """What the chat template of Llama 3.1 says to two calls."""
    return refusing(answer, has_two_calls, "This model only supports single tool-calls at once!")


def is_nested(body: JsonValue) -> bool:
    schemas = [tool["function"]["parameters"] for tool in body.get("tools", ())]
    return any("properties" in held for schema in schemas for held in schema["properties"].values())


def thinks_aloud(body: JsonValue) -> bool:
    return any("reasoning_content" in message for message in body["messages"])


def by_protocol(sent_by: Mapping[str, Server]) -> Server:
    return lambda sent: sent_by[sent.protocol](sent)


def mended(step: Step) -> CallResult:
    """A tool that wants an absolute path."""
    path = step.arguments.get("path") if isinstance(step.arguments, dict) else ""
    return usual(step) if str(path).startswith("/") else CallResult("Error: the path has to be absolute", is_error=True)


@dataclass(frozen=True)
class Case:
    """A model that fails, and the correction that helps.

    Attributes:
        answer: what answers.
        probes: that measure what is wrong.
        fails: why the loop ends without the correction.
    """

    answer: Server
    fails: str
    probes: tuple[str, ...]
    label: str = "openai"
    protocol: str = "openai-chat"
    body: Mapping[str, JsonValue] = field(default_factory=lambda: CHAT)
    contract: str = ""
    tool: Tool = usual


def model(label: str = "openai", turns: tuple[ScriptTurn, ...] = (), **dials: object) -> Server:
    return server(label, ScriptedModel(Dials(**{"mends": 1, **dials}), turns))  # type: ignore[arg-type]


def permissive(label: str) -> Server:
    simulator = Simulator(label, permissive=True)

    def answer(sent: Outgoing) -> Exchange:
        reply = simulator.send("POST", sent.request.url, sent.request.headers, sent.request.body.raw)
        return Exchange("sent", sent.request, HttpResponse(reply.status, Headers(reply.headers), Body(reply.body())))

    return answer


IN_TEXTS = ScriptTurn(
    RequestMatch(tool="read_file", results=False),
    answer=ScriptedAnswer(calls=(ScriptedCall("read_file", {"path": "a", "place": '{"line": 7}'}),)),
)
OLLAMA = {"model": "m", "messages": [USER], "tools": [function("read_file")], "stream": False}
TWO_SIDES = by_protocol(
    {"openai-chat": model("kimi", calls="hermes"), "anthropic-messages": model("kimi")},
)

CASES: dict[str, tuple[str, Case]] = {
    "a stream that breaks off": (
        "streaming-off",
        Case(model(stream="cut"), "cut", ("streaming",), body={**CHAT, "stream": True}),
    ),
    "calls in the text": ("parser", Case(model(calls="hermes"), "text-call", ("format",))),
    "another protocol works": ("encoding", Case(TWO_SIDES, "text-call", ("format",), "kimi", "anthropic-messages")),
    "one call at a time, by the switch": (
        "serial-calls",
        Case(single(model(parallel=2)), "refused", ("parallel",)),
    ),
    "one call at a time, by a word and the loop": (
        "serial-calls",
        Case(single(model("ollama", parallel=2)), "refused", ("parallel",), "ollama", "ollama", OLLAMA),
    ),
    "nested schemas are refused": (
        "schema-level",
        Case(
            refusing(model(turns=(IN_TEXTS,)), is_nested, "schema too complex for the grammar"), "refused", ("schema",)
        ),
    ),
    "reasoning is needed": (
        "reasoning-replay",
        Case(model("deepseek"), "refused", ("reasoning",), "deepseek", contract="groq"),
    ),
    "reasoning is refused": (
        "reasoning-replay",
        Case(
            refusing(permissive("deepseek"), thinks_aloud, "unknown field reasoning_content"),
            "refused",
            ("reasoning",),
            "deepseek",
        ),
    ),
    "results stand astray": (
        "result-placement",
        Case(model(), "refused", ("closure",), body={**CHAT, "messages": ASTRAY}),
    ),
    "it mends late": ("error-feedback", Case(model(mends=3), "repeated", ("repair",), tool=mended)),
}


def motion(case: Case, profile: CapabilityProfile, off: tuple[str, ...] = ()) -> ToolLoop:
    body = {**case.body, "model": profile.key.model}
    spoken = "openai-chat" if case.protocol == "anthropic-messages" else case.protocol
    loop = ConversationLoop(asked(spoken, body).exchange, spoken, case.contract)
    return played(begun(loop, case.label, profile, off), case.answer, case.tool)


@pytest.mark.parametrize("name", CASES)
def test_a_correction_makes_it_work_and_switched_off_it_fails(name: str) -> None:
    correction, case = CASES[name]
    profile = measured(case.answer, case.label, case.protocol, case.probes)
    corrected_by = {each.name: each for each in corrections(profile)}
    assert correction in corrected_by, profile.facts
    assert "measured 2026-06-25" in corrected_by[correction].why
    works = motion(case, profile)
    assert ended(works) == "done", works.loop.step
    assert ended(motion(case, profile, (correction,))) == case.fails


def test_every_correction_is_in_the_table() -> None:
    assert {correction for correction, _ in CASES.values()} | {"read-only-tools", "no-tools"} == set(KINDS)


# -- falling back

DELETES = (
    ScriptTurn(
        RequestMatch(tool="delete_all", results=False), answer=ScriptedAnswer(calls=(ScriptedCall("delete_all", {}),))
    ),
    ScriptTurn(RequestMatch(results=False), answer=ScriptedAnswer(calls=(ScriptedCall("read_file", {"path": "a"}),))),
)
BAD = {"type": "object"}
TWO_TOOLS = {**CHAT, "tools": [function("read_file"), function("delete_all", BAD)]}


def test_tools_that_write_are_neither_declared_nor_run_once_broken_calls_were_run() -> None:
    run: list[str] = []

    def tool(step: Step) -> CallResult:
        if step.refusal is None:
            run.append(step.call.name or "")
        return usual(step)

    counts = Counts(calls=5, parsed=5, fitting=5, executed=1)
    answer = server("openai", ScriptedModel(turns=DELETES))
    careful = played(begun(asked("openai-chat", TWO_TOOLS), "openai", None, counts=counts), answer, tool)
    assert (ended(careful), run) == ("done", ["read_file"])
    assert [t.name for t in requests(careful).tools] == ["read_file"]
    run.clear()
    off = ("read-only-tools",)
    played(begun(asked("openai-chat", TWO_TOOLS), "openai", None, off, counts=counts), answer, tool)
    assert run == ["delete_all"]


def test_a_model_that_calls_all_the_same_is_told_that_the_tool_is_not_enabled() -> None:
    """It saw the tool in its history, or made the name up."""
    told: list[str] = []

    def tool(step: Step) -> CallResult:
        assert step.refusal
        told.append(step.refusal.code.value)
        return refusal_result(step.refusal)

    deletes = ScriptTurn(RequestMatch(results=False), answer=ScriptedAnswer(calls=(ScriptedCall("delete_all", {}),)))
    answer = server("openai", ScriptedModel(turns=(deletes,)))
    made = played(begun(asked("openai-chat", TWO_TOOLS), "openai", None, on=("read-only-tools",)), answer, tool)
    assert (ended(made), told) == ("done", ["TOOL_NOT_ENABLED"])


def test_a_model_whose_calls_cannot_be_read_does_not_drive_tools() -> None:
    counts = Counts(calls=20, parsed=3, fitting=3)
    answer = model(arguments="truncated", mends=100)
    assert ended(played(begun(asked("openai-chat", CHAT), "openai", None, counts=counts), answer)) == "done"
    off = ("no-tools",)
    failing = played(begun(asked("openai-chat", CHAT), "openai", None, off, counts=counts), answer)
    assert ended(failing) == "repeated"


def test_a_session_that_goes_wrong_holds_back_more_while_it_runs() -> None:
    """Every call is unreadable: after a few of them tool calls forbidden, and the model answers."""
    loop = asked("openai-chat", CHAT)
    answer = model(arguments="truncated", mends=100)
    made = begun(loop, "openai", None)
    made = replace(made, loop=made.loop.with_limits(replace(made.loop.limits, repeats=0, turns=20)))
    ends = played(made, answer)
    assert ended(ends) == "done"
    assert "no-tools" in {each.name for each in ends.decided}
    assert "(below 50%, with 95 % confidence)" in next(each.why for each in ends.decided if each.name == "no-tools")


FALLS = {
    "all is well": (Counts(calls=50, parsed=50, fitting=50), CautionLevel.NORMAL),
    "one flaky call": (Counts(calls=4, parsed=3, fitting=3), CautionLevel.NORMAL),
    "calls left open": (Counts(histories=40, unclosed=12), CautionLevel.SERIAL),
    "some unreadable": (Counts(calls=100, parsed=80, fitting=80), CautionLevel.STRICT),
    "many do not fit": (Counts(calls=100, parsed=100, fitting=75), CautionLevel.STRICT),
    "not mended": (Counts(calls=99, parsed=99, fitting=99, broken=20, repaired=2), CautionLevel.READ_ONLY),
    "run although broken": (Counts(calls=99, parsed=99, fitting=99, executed=1), CautionLevel.READ_ONLY),
    "hardly any": (Counts(calls=30, parsed=6, fitting=6), CautionLevel.NO_TOOLS),
}


@pytest.mark.parametrize("name", FALLS)
def test_how_far_to_fall_back_follows_the_metrics(name: str) -> None:
    counts, level = FALLS[name]
    found = fall(counts=counts)
    assert found.level is level
    assert bool(found.reasons) == (level is not CautionLevel.NORMAL)
    asked_for = {each.name for each in corrections(None, found)}
    steps = ["serial-calls", "streaming-off", "schema-level", "read-only-tools", "no-tools"]
    assert asked_for == set(steps[: int(level)])


def test_what_was_measured_decides_too() -> None:
    reads_nothing = measured(model(reads=False), "openai", "openai-chat", ("closure",))
    assert fall(reads_nothing).level is CautionLevel.NO_TOOLS
    gives_up = measured(model(mends=0), "openai", "openai-chat", ("repair",))
    assert fall(gives_up).level is CautionLevel.READ_ONLY
    assert "1 of" not in fall(gives_up).reasons[0].text


# -- one request


def corrected_chat(on: tuple[str, ...], **more: JsonValue) -> tuple[HttpRequest, HttpRequest, tuple[str, ...]]:
    body = {**CHAT, "stream": True, "temperature": 0.5, **more}
    http = HttpRequest(
        "POST", "/v1/chat/completions", Headers(), Body(dumps(body).replace(b'"temperature"', b' "temperature" '))
    )
    made = correct(http, "openai-chat", apply_switches((), on))
    return http, made.request, tuple(name for name, _ in made.done)


ON = ("streaming-off", "schema-level=string-only", "serial-calls", "result-placement=openai", "read-only-tools")


@pytest.mark.parametrize("on", [*((one,) for one in ON), ON, ("no-tools",)], ids=lambda on: "+".join(on))
def test_only_what_is_corrected_changes_and_twice_is_once(on: tuple[str, ...]) -> None:
    before, after, done = corrected_chat(on, tools=[function("read_file"), function("delete_all")], messages=ASTRAY)
    assert set(done) == {name.partition("=")[0] for name in on}
    assert after != before and b' "temperature" ' in after.body.raw
    again = correct(after, "openai-chat", apply_switches((), on))
    assert (again.request, again.done) == (after, ())


def test_what_needs_no_correction_says_nothing() -> None:
    http = HttpRequest("POST", "/v1/chat/completions", Headers(), Body(dumps({"model": "m", "messages": [USER]})))
    assert correct(http, "openai-chat", apply_switches((), (*ON, "no-tools"))).notes == ()


def test_a_stream_goes_off_in_the_url_too() -> None:
    """Gemini says it in the path, and the path of a target stays."""
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    tools = [{"functionDeclarations": [{"name": "f", "parameters": {"type": "object"}}]}]
    url = "https://x.test/base/v1beta/models/g:streamGenerateContent?alt=sse&region=a"
    http = HttpRequest("POST", url, Headers(), Body(dumps({**body, "tools": tools})))
    made = correct(http, "gemini", apply_switches((), ["streaming-off"]))
    assert made.request.url == "https://x.test/base/v1beta/models/g:generateContent?region=a"
    assert made.request.body == http.body


def test_a_word_to_the_model_joins_its_system_prompt() -> None:
    for messages in ([USER], [{"role": "system", "content": "Be brief."}, USER]):
        http = HttpRequest("POST", "/api/chat", Headers(), Body(dumps({**OLLAMA, "messages": messages})))
        made = correct(http, "ollama", apply_switches((), ["serial-calls"]))
        first = loads(made.request.body.raw)["messages"][0]
        assert first["role"] == "system" and "one tool call at a time" in first["content"]
        assert len(loads(made.request.body.raw)["messages"]) == 2
        assert correct(made.request, "ollama", apply_switches((), ["serial-calls"])).done == ()


def test_a_body_that_nobody_can_read_goes_as_it_is() -> None:
    broken = DecodedExchange(
        0, Exchange("e", HttpRequest("POST", "/v1/chat/completions", Headers(), Body(b"{"))), "openai-chat"
    )
    sent = prepare(broken, resolve("sim:openai"), protocol="openai-chat")
    made = correct_outgoing(sent, apply_switches((), ["serial-calls"]))
    assert made.request == sent.request
    assert any("serial-calls: failed" in note for note in made.notes)


# -- names


def test_corrections_are_switched_by_name() -> None:
    assert [(c.name, c.value, c.why) for c in apply_switches((), ["error-feedback=5"])] == [
        ("error-feedback", 5, "requested")
    ]
    assert [c.is_on for c in apply_switches(apply_switches((), ["serial-calls"]), off=["serial-calls"])] == [False]
    for text, said in (
        ("weather", "no correction named 'weather'"),
        ("parser", "parser needs a value"),
        ("parser=weather", "weather"),
        ("schema-level=high", "unknown value 'high'"),
        ("serial-calls=yes", "does not accept a value"),
        ("error-feedback=0", "not a number of errors"),
        ("encoding=smtp", "smtp"),
    ):
        with pytest.raises(UsageError, match=said):
            apply_switches((), [text])
    with pytest.raises(UsageError, match="no correction named"):
        apply_switches((), off=["weather"])


def test_the_protocol_that_drives_tools_best_is_chosen() -> None:
    profiles = [
        measured(TWO_SIDES, "kimi", protocol, ("format",)) for protocol in ("openai-chat", "anthropic-messages")
    ]
    target, name = resolve("sim:kimi"), profiles[0].key.model
    found = of_target(profiles, target, name, "openai-chat")
    assert found is profiles[1]
    assert protocol_of(corrections(found), target.protocols) == "anthropic-messages"
    assert protocol_of(corrections(found), ("openai-chat",)) == ""
    assert of_target(profiles, target, "another") is None
    assert of_target(profiles[1:], target, name, "openai-chat") is None
    assert of_target(profiles, resolve("sim:openai"), name) is None


# -- the motion


def test_every_state_is_seen_in_its_order() -> None:
    profile = measured(model(), "openai", "openai-chat", ("format", "closure", "parallel"))
    at, seen = begun(asked("openai-chat", {**CHAT, "model": profile.key.model}), "openai", profile), list[LoopState]()
    answer = model()
    while True:
        seen.append(at.state)
        assert at.lines or at.state in (LoopState.ANSWER,), at.state
        if at.state is LoopState.ENDED:
            break
        todo = at.pending
        at = at.after(answer(todo) if isinstance(todo, Outgoing) else usual(todo) if isinstance(todo, Step) else None)
    turn = [LoopState.ENCODED, LoopState.RECEIVED, LoopState.PARSED]
    called = [LoopState.VALIDATED, LoopState.ANSWER, LoopState.RESULTS, LoopState.KEPT, LoopState.RECORDED]
    before = [LoopState.SELECTED, LoopState.PROFILE, LoopState.PROBE, LoopState.CHOSEN]
    assert seen == [*before, *turn, *called, *turn, LoopState.RECORDED, LoopState.ENDED]
    with pytest.raises(TypeError):
        at.after(CallResult("late"))


def test_a_switch_that_is_taken_and_not_looked_at_is_no_switch() -> None:
    """The template server behind the contract ``ollama`` ignores both parameters."""
    url = "http://127.0.0.1:11434/v1/chat/completions"
    http = HttpRequest("POST", url, Headers(), Body(dumps(CHAT)))
    body = loads(correct(http, "openai-chat", apply_switches((), ["serial-calls", "no-tools"])).request.body.raw)
    assert "parallel_tool_calls" not in body and "tools" not in body
    assert body["messages"][0]["role"] == "system"
