"""The extended probes against simulators: every verdict can be had, and follows the dial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.probes.measuring import measured, outcomes, words
from workbench import contracts, probes
from workbench.probes import CORE, FACTS, context, large_results

PASS, PARTIAL, FAIL, UNCLEAR = "pass", "partial", "fail", "inconclusive"
EXTENDED = tuple(probe.name for probe in probes.all_probes() if probe.name not in CORE)

Case = tuple[str, dict[str, Any], str, dict[str, Any]]

CASES: dict[str, Case] = {
    "texts are kept": ("arguments", {}, PASS, {"argument_text": "strict"}),
    "arguments in a string": (
        "arguments",
        {"arguments": "double-encoded"},
        PARTIAL,
        {"argument_text": "double-encoded"},
    ),
    "arguments are cut": ("arguments", {"arguments": "truncated"}, FAIL, {"argument_text": "broken"}),
    "native calls": ("text-format", {}, PASS, {"text_formats": {"native": 3}, "text_format": ""}),
    "calls in content": ("text-format", {"calls": "hermes"}, PARTIAL, {"text_formats": {"hermes in content": 3}}),
    "calls in reasoning": (
        "text-format",
        {"calls": "hermes", "calls_in": "reasoning"},
        PARTIAL,
        {"text_formats": {"hermes in reasoning": 3}},
    ),
    "tools are refused": ("text-format", {"refuses": ("tools",)}, FAIL, {}),
    "every choice": ("choice", {}, PASS, {"tool_choice": dict.fromkeys(("auto", "none", "any", "tool"), "honoured")}),
    "a choice is refused": (
        "choice",
        {"refuses": ("choice-any",)},
        PARTIAL,
        {"tool_choice": {"auto": "honoured", "none": "honoured", "any": "refused", "tool": "honoured"}},
    ),
    "a choice is ignored": (
        "choice",
        {"ignores": ("choice-none", "choice-tool")},
        PARTIAL,
        {"tool_choice": {"auto": "honoured", "none": "ignored", "any": "honoured", "tool": "ignored"}},
    ),
    "no choice is honoured": ("choice", {"ignores": ("choice-none", "choice-any", "choice-tool")}, FAIL, {}),
    "every keyword": ("keywords", {}, PASS, {"refused_keywords": [], "ignored_keywords": []}),
    "two keywords are refused": (
        "keywords",
        {"refuses": ("schema:pattern", "schema:oneOf")},
        PARTIAL,
        {"refused_keywords": ["oneOf", "pattern"]},
    ),
    "a keyword is ignored": ("keywords", {"ignores": ("schema:enum",)}, PARTIAL, {"ignored_keywords": ["enum"]}),
    "strict tools are refused": ("keywords", {"refuses": ("strict",)}, PARTIAL, {"strict_tools": "refused"}),
    "no keyword at all": ("keywords", {"refuses": ("schema:required",)}, FAIL, {}),
    "every name": ("names", {}, PASS, {}),
    "short names": ("names", {"name_limit": 64}, PARTIAL, {}),
    "very short names": ("names", {"name_limit": 12}, FAIL, {}),
    "odd ids are refused": ("names", {"refuses": ("odd-ids",), "id_limit": 100}, PARTIAL, {}),
    "large results": ("large-results", {}, PASS, {"large_results": {"accepted": 65536, "read": 65536, "tried": 65536}}),
    "results are cut": (
        "large-results",
        {"result_limit": 10_000},
        PARTIAL,
        {"large_results": {"accepted": 16384, "read": 8192, "tried": 16384}},
    ),
    "results are refused": (
        "large-results",
        {"result_limit": 10_000, "refuses": ("results",)},
        PARTIAL,
        {"large_results": {"accepted": 8192, "read": 8192, "tried": 16384}},
    ),
    "no result is read": ("large-results", {"result_limit": 100}, FAIL, {}),
    "a long history": ("context", {}, PASS, {"context": {"kept": 16000, "tried": 16000, "trimming": "none"}}),
    "a history is trimmed": (
        "context",
        {"context": 6_000},
        PARTIAL,
        {"context": {"kept": 4000, "tried": 16000, "trimming": "silent"}},
    ),
    "a history is refused": (
        "context",
        {"context": 6_000, "refuses": ("context",)},
        PARTIAL,
        {"context": {"kept": 4000, "tried": 16000, "trimming": "refused"}},
    ),
    "a history of nothing": ("context", {"context": 100}, FAIL, {}),
    "no request is taken": ("context", {"context": 1, "refuses": ("context",)}, UNCLEAR, {}),
    "instructions are seen": ("system", {}, PASS, {}),
    "instructions in between are ignored": ("system", {"ignores": ("mid-system",)}, PARTIAL, {}),
    "instructions are ignored": ("system", {"ignores": ("system",)}, FAIL, {}),
    "instructions are refused": ("system", {"refuses": ("system",)}, FAIL, {}),
    "pictures are seen": ("media", {}, PASS, {"media_in_results": "seen"}),
    "pictures are ignored": ("media", {"ignores": ("media",)}, PARTIAL, {"media_in_results": "ignored"}),
    "pictures are refused": ("media", {"refuses": ("media",)}, FAIL, {"media_in_results": "refused"}),
    "it goes on": ("cancelled", {}, PASS, {"cancelled_calls": "taken"}),
    "it does not stop": ("cancelled", {"stops": False, "mends": 1}, FAIL, {"cancelled_calls": "repeated"}),
    "errors are refused": ("cancelled", {"refuses": ("errors",)}, FAIL, {"cancelled_calls": "refused"}),
    "thoughts are seen": ("canary", {"thinks": True}, PASS, {"reasoning_seen": {"turn": "seen", "later": "seen"}}),
    "thoughts are dropped": (
        "canary",
        {"thinks": True, "ignores": ("reasoning",)},
        FAIL,
        {"reasoning_seen": {"turn": "unseen", "later": "unseen"}},
    ),
    "changed thoughts are refused": ("canary", {"thinks": True, "refuses": ("reasoning-altered",)}, UNCLEAR, {}),
    "there are no thoughts": ("canary", {"thinks": False}, UNCLEAR, {}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_the_verdict_follows_the_dial(name: str) -> None:
    probe, dials, outcome, facts = CASES[name]
    label, protocol = ("generic", "anthropic-messages") if probe == "media" else ("generic", "openai-chat")
    made = measured(label, protocol, (probe,), **dials)
    assert outcomes(made) == {probe: outcome}, words(made)
    assert {key: made.facts[key] for key in facts} == facts, words(made)


def test_every_probe_has_a_case_for_each_verdict() -> None:
    given = {(probe, outcome) for probe, _, outcome, _ in CASES.values()}
    assert given >= {(probe, outcome) for probe in EXTENDED for outcome in (PASS, FAIL)}


AGAINST: dict[str, tuple[str, str, dict[str, Any], str, dict[str, Any]]] = {
    "deepseek takes a forced call": (
        "deepseek",
        "choice",
        {"enforces": False},
        PASS,
        {"tool_choice": dict.fromkeys(("auto", "none", "any", "tool"), "honoured")},
    ),
    "openai refuses a forced call": (
        "openai",
        "choice",
        {"refuses": ("choice-any", "choice-tool")},
        PARTIAL,
        {"tool_choice": {"auto": "honoured", "none": "honoured", "any": "refused", "tool": "refused"}},
    ),
    "mistral takes any name and id": ("mistral", "names", {"enforces": False}, PASS, {}),
    "glm takes few names": ("glm", "names", {"name_limit": 64, "refuses": ("odd-names",)}, PARTIAL, {}),
    "minimax sees instructions in between": (
        "minimax",
        "system",
        {"enforces": False},
        PASS,
        {"system_placement": {"top": "seen", "first": "as top", "middle": "seen", "developer": "seen"}},
    ),
    "anthropic takes no pictures": ("anthropic", "media", {"refuses": ("media",)}, FAIL, {}),
    "anthropic takes altered thinking": (
        "anthropic",
        "reasoning",
        {"enforces": False},
        PASS,
        {"requires_reasoning_replay": False, "reasoning_replay_scope": "optional"},
    ),
    "deepseek does without reasoning": (
        "deepseek",
        "reasoning",
        {"enforces": False},
        PASS,
        {"requires_reasoning_replay": False, "reasoning_replay_scope": "optional"},
    ),
    "llama.cpp demands reasoning": (
        "llama.cpp",
        "reasoning",
        {"thinks": True, "refuses": ("reasoning-missing",)},
        PASS,
        {"requires_reasoning_replay": True, "reasoning_replay_scope": "turn"},
    ),
    "openai calls one at a time": ("openai", "parallel", {"parallel": 1}, FAIL, {"supports_parallel_tool_use": False}),
    "anthropic refuses tools": ("anthropic", "format", {"refuses": ("tools",)}, FAIL, {"tool_call_format": "none"}),
    "gemini refuses streams": ("gemini", "streaming", {"refuses": ("stream",)}, FAIL, {}),
}


@pytest.mark.parametrize("name", AGAINST)
def test_what_is_measured_wins_over_what_the_contract_says(name: str) -> None:
    label, probe, dials, outcome, facts = AGAINST[name]
    made = measured(label, "", (probe,), **dials)
    assert outcomes(made) == {probe: outcome}, words(made)
    assert {key: made.facts[key] for key in facts} == facts, words(made)


OWN_WAY: dict[str, dict[str, Any]] = {
    "canary": {"thinks": True, "ignores": ("reasoning",)},
    "cancelled": {"refuses": ("errors",)},
    "choice": {"ignores": ("choice-none", "choice-any", "choice-tool")},
    "arguments": {"arguments": "truncated"},
    "closure": {"reads": False},
    "context": {"context": 100},
    "format": {"refuses": ("tools",)},
    "keywords": {"refuses": ("schema:required",)},
    "large-results": {"result_limit": 100},
    "media": {"refuses": ("media",)},
    "names": {"refuses": ("tools",)},
    "parallel": {"parallel": 1},
    "reasoning": {"thinks": True, "refuses": ("reasoning", "reasoning-missing")},
    "repair": {"mends": 0},
    "schema": {"arguments": "wrong-type"},
    "streaming": {"stream": "json-body"},
    "system": {"refuses": ("system",)},
    "text-format": {"refuses": ("tools",)},
}
"""Probe → dials under which it fails, whoever the provider is."""

SIGNS = {PASS: "+", PARTIAL: "!", FAIL: "x", UNCLEAR: "?"}
UNSEEN = {"canary", "media", "reasoning", "choice"}
"""Probes that may find nothing to see: no reasoning, or signed; no place for pictures; no word for a choice."""

HEALTHY_VERDICTS = {
    ("cohere", "names"): FAIL,  # letters, digits and underscores alone
    ("gemini-live", "keywords"): PARTIAL,
}
"""Contract and probe → what a healthy server of this provider measures, where it is not a pass."""
REFUSES_ITS_NULL = "cloudflare"
"""Contract of a provider that refuses the null content of its own answers (sure pull request 467), so that no probe
with a second turn gets an answer."""
MADE_VERDICTS = {("koboldcpp", "cancelled"): UNCLEAR}
"""Contract and probe → what the dial measures: KoboldCpp's errors all say that the service is unavailable."""


@pytest.mark.sampled(20)
@pytest.mark.parametrize("label", contracts.names())
def test_every_verdict_follows_its_dial_under_every_contract(
    label: str, record_property: Callable[[str, object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Healthy, and with the dial of a probe turned against it: half of the probes for each contract, in turn."""
    monkeypatch.setattr(large_results, "SIZES", large_results.SIZES[:2])  # as telling, and faster
    monkeypatch.setattr(context, "SIZES", context.SIZES[:2])
    row: list[str] = []
    for number, probe in enumerate(probes.all_probes(), contracts.names().index(label)):
        if number % 2 and label != contracts.GENERIC:
            row.append("..")
            continue
        seen = PARTIAL if probe.name in ("names", "choice") else PASS
        well = measured(label, "", (probe.name,))
        (healthy,) = outcomes(well).values()
        made = measured(label, "", (probe.name,), **OWN_WAY[probe.name])
        (ill,) = outcomes(made).values()
        place = (label, probe.name)
        if label == REFUSES_ITS_NULL and "'null' not in 'string'" in words(well):
            assert healthy is FAIL and probe.requests > 1
            row.append("..")
            continue
        known = (HEALTHY_VERDICTS[place],) if place in HEALTHY_VERDICTS else (PASS, seen)
        assert healthy in known or probe.name in UNSEEN, words(well)
        assert ill in ((FAIL, UNCLEAR) if probe.name in UNSEEN else (MADE_VERDICTS.get(place, FAIL),)), words(made)
        for each in (well, made):
            assert len(each.exchanges) <= probe.requests, f"{probe.name} sent {len(each.exchanges)} requests"
            size = sum(len(side.body.raw) for e in each.exchanges for side in (e.request, e.response) if side)
            assert size // 4 <= probe.tokens, f"{probe.name} took about {size // 4} tokens"
            assert set(each.facts) <= set(FACTS), "every fact is in FACTS"
        row.append(SIGNS[healthy] + SIGNS[ill])
    record_property("score", f"{label:<13} {' '.join(row)}")
