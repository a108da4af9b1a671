"""Facts of models: what the table says, and that rules say the same."""

from __future__ import annotations

import json

import pytest

from workbench.contracts import model_facts
from workbench.contracts.model_facts import OUTPUT, RETIRED, WORDS, facts_of
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

GO = {"messages": [{"role": "user", "content": "go"}]}
TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
LACKS = [
    ("openai", "gpt-4o", {"max_completion_tokens": 20000}, "params.unsupported", "/max_completion_tokens"),
    ("openrouter", "liquid/lfm-2-24b-a2b", {"tools": [TOOL]}, "tools.unsupported", "/tools"),
    ("copilot", "claude-haiku-4.5", {"reasoning_effort": "low"}, "params.unsupported", "/reasoning_effort"),
    ("openai", "gpt-5", {"presence_penalty": 0.5}, "params.unsupported", "/presence_penalty"),
    ("openai", "o4-mini-2025-04-16", {"top_p": 0.5}, "params.unsupported", "/top_p"),
    ("openai", "gpt-4.1-nano", {"reasoning_effort": "low"}, "params.unsupported", "/reasoning_effort"),
    (
        "groq",
        "llama3-70b-8192",
        {"messages": [{"role": "user", "content": [IMAGE]}]},
        "content.unsupported-part",
        "/messages/0/content/0",
    ),
    ("xai", "grok-4.20-multi-agent", {"tools": [TOOL]}, "tools.unsupported", "/tools"),
    (
        "vercel",
        "openai/gpt-oss-20b",
        {"messages": [{"role": "user", "content": [IMAGE]}]},
        "content.unsupported-part",
        "/messages/0/content/0",
    ),
]


def found(provider, body, status=None, url="/v1/chat/completions"):
    answer = None if status is None else HttpResponse(status, body=Body(b"{}"))
    exchange = Exchange("1", HttpRequest("POST", url, body=Body(json.dumps(body).encode())), answer)
    findings = Inspector(MemorySession("models", (exchange,)), provider=provider).run().findings
    return {(f.rule, f.severity.value, f.pointer): f for f in findings}


@pytest.mark.parametrize(("provider", "model", "asked", "rule", "pointer"), LACKS)
def test_what_a_model_lacks_is_a_warning_with_its_source(provider, model, asked, rule, pointer):
    made = found(provider, {**GO, "model": model, **asked})[rule, "warning", pointer]
    assert "this model" in made.message
    assert made.source and made.check is None


@pytest.mark.parametrize(("provider", "model", "asked", "rule", "pointer"), LACKS)
def test_a_model_that_nothing_is_known_of_is_left_alone(provider, model, asked, rule, pointer):
    assert rule not in {key[0] for key in found(provider, {**GO, "model": "some-new-model", **asked})}


def test_values_that_change_nothing_are_no_sampling():
    body = {**GO, "model": "gpt-5", "temperature": 1, "presence_penalty": 0, "logprobs": False}
    assert found("openai", body) == {}


def test_a_forced_choice_of_a_model_that_takes_none():
    tools = {"tools": [{"name": "find", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"}}
    body = {**GO, "model": "claude-opus-5-5", "max_tokens": 64, **tools}
    assert ("choice.unsupported", "error", "/tool_choice") in found("anthropic", body, url="/v1/messages")


def test_what_the_provider_is_known_to_say_is_told_once():
    """The contract knows of the refusal: the list, which says the same, adds nothing."""
    (finding,) = found(
        "openai", {**GO, "model": "o3-mini", "messages": [{"role": "user", "content": [IMAGE]}]}
    ).values()
    assert (finding.rule, finding.pointer) == ("content.unsupported-part", "/messages/0/content/0/type")


def test_a_report_overrules_the_list():
    assert "tools" not in {fact.name for fact in facts_of("deepseek", "deepseek-reasoner")}


@pytest.mark.parametrize("name", ["anthropic.claude-opus-5-5", "eu.anthropic.claude-opus-5-5"])
def test_a_region_of_bedrock_is_no_part_of_the_name(name):
    assert {fact.name for fact in facts_of("bedrock", name)} >= {"sampling", "forced"}


def test_each_fact_has_words_a_source_and_a_date():
    listed = {
        (contract, name) for t in model_facts._tables() for contract, held in t["models"].items() for name in held
    }
    for contract, name in listed:
        for fact in facts_of(contract, name):
            assert fact.name in (*WORDS, RETIRED, OUTPUT)
            assert fact.words() and fact.source and len(fact.date) == 10
            assert fact.value is False or fact.name in (RETIRED, OUTPUT)
