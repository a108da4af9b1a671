"""Probes against simulators: every verdict follows the dial, whatever the contract says."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.probes.measuring import measured, outcomes, second, words
from workbench import probes
from workbench.errors import UsageError
from workbench.probes import CORE, Outcome, Subject, schema
from workbench.send.sending import Sender
from workbench.send.target_names import resolve
from workbench.simulator import HttpFault, ScriptedModel
from workbench.wire.exchange import Body, Exchange, HttpResponse

PASS, PARTIAL, FAIL, UNCLEAR = "pass", "partial", "fail", "inconclusive"

NOT_REPLAYED = {("llama.cpp", "openai-responses"): PARTIAL}
"""The server reads reasoning from the content of its item, and the scripted model writes a summary."""


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("label", "protocol"), second(), ids=lambda word: word)
def test_a_model_that_can_everything_passes_under_every_contract(label: str, protocol: str) -> None:
    made = measured(label, protocol)
    found = outcomes(made)
    reasons = made.facts["reasoning_carrier"] != "none"
    replayed = NOT_REPLAYED.get((label, protocol), PASS)
    assert found == {**dict.fromkeys(CORE, PASS), "reasoning": replayed if reasons else UNCLEAR}, words(made)
    assert made.facts["supports_parallel_tool_use"] is True
    assert made.facts["schema_level"] == "strict-json-schema"
    assert made.facts["error_repair"] == "reliable"


DIALS: dict[str, tuple[dict[str, Any], str, str, dict[str, object]]] = {
    "one call at a time": ({"parallel": 1}, "parallel", FAIL, {"supports_parallel_tool_use": False}),
    "several at once": ({"parallel": 3}, "parallel", PASS, {"supports_parallel_tool_use": True}),
    "it gives up": ({"mends": 0}, "repair", FAIL, {"error_repair": "none"}),
    "it mends late": ({"mends": 2, "parallel": 1}, "repair", PARTIAL, {"error_repair": "limited"}),
    "it never mends": ({"mends": 100, "parallel": 1}, "repair", FAIL, {"error_repair": "none"}),
    "it does not read results": ({"reads": False}, "closure", FAIL, {"closes": False}),
    "calls in text": ({"calls": "hermes"}, "format", PARTIAL, {"tool_call_format": "json-text", "parser": "hermes"}),
    "calls as XML": ({"calls": "qwen3-coder"}, "format", PARTIAL, {"tool_call_format": "xml"}),
    "wrong types": ({"arguments": "wrong-type"}, "schema", FAIL, {"schema_level": "string-only"}),
    "no JSON": ({"arguments": "invalid-json"}, "format", PARTIAL, {"tool_call_format": "openai"}),
    "streams are cut": ({"stream": "cut"}, "streaming", FAIL, {"supports_streaming_tool_use": False}),
    "streams do not end": ({"stream": "no-terminator"}, "streaming", FAIL, {"supports_streaming_tool_use": False}),
    "no stream comes": ({"stream": "json-body"}, "streaming", FAIL, {"supports_streaming_tool_use": False}),
    "characters are cut": ({"stream": "split-utf8"}, "streaming", PASS, {"supports_streaming_tool_use": True}),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", DIALS)
@pytest.mark.parametrize("label", ["openai", "deepseek"])
def test_the_verdict_follows_the_dial(label: str, name: str) -> None:
    dials, probe, outcome, facts = DIALS[name]
    made = measured(label, "openai-chat", **dials)
    assert outcomes(made)[probe] == outcome, next(r.words for r in made.results if r.probe == probe)
    assert {key: made.facts[key] for key in facts} == facts


def test_calls_in_text_are_read_by_the_parser_that_was_found() -> None:
    made = measured("qwen3-coder", "openai-chat", calls="qwen3-coder")
    found = outcomes(made)
    assert (found["closure"], found["parallel"], found["repair"], found["streaming"]) == (PASS, PASS, PASS, PASS)


IGNORED, REFUSED = "ignored", "refused"
REPLAY = {
    "deepseek": (
        "reasoning_content",
        "conversation",
        {"missing": REFUSED, "empty": IGNORED, "altered": IGNORED, "stale": IGNORED, "forgotten": REFUSED},
    ),
    "anthropic": (
        "thinking",
        "optional",
        {"missing": IGNORED, "empty": REFUSED, "altered": REFUSED, "stale": IGNORED, "forgotten": IGNORED},
    ),
    "openai": (
        "encrypted_item",
        "optional",
        {"missing": IGNORED, "empty": "not tried", "altered": IGNORED, "stale": IGNORED, "forgotten": IGNORED},
    ),
}


@pytest.mark.parametrize("label", REPLAY)
def test_how_reasoning_comes_back_is_tried_in_every_way(label: str) -> None:
    carrier, scope, fates = REPLAY[label]
    made = measured(label, "openai-responses" if label == "openai" else "", ("reasoning",))
    assert made.facts["reasoning_replay"] == {"verbatim": "taken", **fates}
    assert (made.facts["reasoning_carrier"], made.facts["reasoning_replay_scope"]) == (carrier, scope)
    assert made.facts["requires_reasoning_replay"] is (fates["missing"] == REFUSED)


REPLAY_DIALS: dict[str, tuple[tuple[str, ...], str, dict[str, object]]] = {
    "refused as it came": (("reasoning",), "partial", {"reasoning_replay_scope": "never"}),
    "refused in every way": (("reasoning", "reasoning-missing"), "fail", {"reasoning_replay_scope": "never"}),
    "refused when missing": (("reasoning-missing",), "pass", {"requires_reasoning_replay": True}),
    "refused when forgotten": (("reasoning-forgotten",), "pass", {"reasoning_replay_scope": "conversation"}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REPLAY_DIALS)
@pytest.mark.parametrize("label", ["generic", "deepseek", "anthropic", "groq", "kimi"])
def test_the_endpoint_decides_how_reasoning_comes_back(label: str, name: str) -> None:
    """With the contract's own refusals off: what is measured is what the dial says."""
    refuses, outcome, facts = REPLAY_DIALS[name]
    made = measured(label, "", ("reasoning",), thinks=True, enforces=False, refuses=refuses)
    assert outcomes(made) == {"reasoning": outcome}, words(made)
    assert {key: made.facts[key] for key in facts} == facts


def test_reasoning_is_needed_where_the_answer_degrades_without_it() -> None:
    made = measured("generic", "openai-chat", ("reasoning",), thinks=True, needs_reasoning=True)
    assert made.facts["reasoning_replay"]["missing"] == "needed"
    assert made.facts["requires_reasoning_replay"] is True


@pytest.mark.parametrize("status", [401, 429, 500, 529])
def test_what_is_not_about_the_model_is_never_a_failure(status: int) -> None:
    made = measured("openai", "openai-chat", ("format", "closure"), samples=5, http=HttpFault(status))
    assert outcomes(made) == {"format": UNCLEAR, "closure": UNCLEAR}
    assert made.results[0].words.startswith(f"status {status}")
    assert made.results[0].unmeasured == 2  # after two in a row it is left
    assert made.facts == {}


def test_a_refusal_for_a_while_leaves_fewer_samples() -> None:
    made = measured("openai", "openai-chat", ("format",), samples=4, http=HttpFault(429, times=1))
    (result,) = made.results
    assert (result.outcome, result.n, result.unmeasured) == (Outcome.PASS, 3, 1)


def test_evidence_counts_the_exchanges_of_the_probe() -> None:
    made = measured("openai", "openai-chat", ("format", "closure"), samples=2)
    assert [result.evidence for result in made.results] == [(0, 1), (2, 3, 4, 5)]
    assert {e.origin.value for e in made.exchanges} == {"probe"}
    assert [e.meta["probe"] for e in made.exchanges] == ["format"] * 2 + ["closure"] * 4


def test_probes_are_chosen_by_name() -> None:
    assert tuple(probe.name for probe in probes.select()) == CORE
    assert [probe.name for probe in probes.select(["streaming", "format"])] == ["format", "streaming"]
    assert probes.select(["all"]) == probes.all_probes()
    with pytest.raises(UsageError, match="no probe named 'weather'"):
        probes.select(["weather"])


def test_a_pending_request_may_be_changed_before_it_is_sent() -> None:
    """What was sent decides: a request without its tool gets no call."""
    subject = Subject(resolve("sim:openai"), "openai-chat", "gpt-4.1", "n1k")
    run = probes.ProbeRun(probes.select(["format"])[0], subject)
    assert run.pending and b"probe_echo" in run.pending.request.body.raw

    async def send(request: object) -> object:
        async with Sender(model=ScriptedModel()) as sender:
            return await probes.send(request, subject, sender)  # type: ignore[arg-type]

    bare = subject.request("Say hello.")
    exchange = asyncio.run(send(probes.Ask("changed", bare, "openai-chat")))
    run.after(exchange)  # type: ignore[arg-type]
    assert run.sample and run.sample.outcome is Outcome.FAIL
    assert run.sample.words == "the model answered without a tool call"


def test_a_call_that_was_cut_at_the_token_limit_measures_no_schema() -> None:
    subject = Subject(resolve("sim:anthropic"), "anthropic-messages", "m", "n")
    steps = schema.script(subject)
    sent = next(steps).request
    answer = {"type": "message", "role": "assistant", "model": "m", "stop_reason": "max_tokens", "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "probe_echo", "input": {}}]}  # fmt: skip
    with pytest.raises(StopIteration) as ended:
        steps.send(Exchange("1", sent, HttpResponse(200, body=Body(json.dumps(answer).encode()))))
    assert (ended.value.value.outcome, dict(ended.value.value.facts)) == (Outcome.INCONCLUSIVE, {})
