"""What a backend does not take of a request: fields, keys of messages, cache marks, betas."""

from __future__ import annotations

import pytest

from workbench.rules import gateway

ASKED = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}]}
UNKNOWN = [("gateway.unknown-field", "{path}: Extra inputs are not permitted")]
STRICT = {
    "params.unknown-fields": "refused",
    "params.fields": ["model", "max_tokens", "messages", "temperature"],
    "params.beta-fields": {"context_management": ["context-management-*"]},
}
HEADERS = [("anthropic-version", "2023-06-01")]
BETA = [*HEADERS, ("Anthropic-Beta", "interleaved-thinking-2025-05-14, context-management-2025-06-27")]

FIELDS = [
    ("known", {"temperature": 1}, HEADERS, []),
    ("unknown", {"x": 1}, HEADERS, [("/x", "error", "x: Extra inputs are not permitted")]),
    (
        "of a beta that was not announced",
        {"context_management": {}},
        HEADERS,
        [("/context_management", "error", "context_management: Extra inputs are not permitted")],
    ),
    ("of a beta", {"context_management": {}}, BETA, []),
    ("of a beta, announced in the body", {"context_management": {}, "anthropic_beta": ["context-management-1"]}, [],
     [("/anthropic_beta", "error", "anthropic_beta: Extra inputs are not permitted")]),
    ("of a beta, headers unknown", {"context_management": {}}, [], [("/context_management", "warning", "")]),
    ("of a beta, headers left out", {"context_management": {}}, [("Host", "api.anthropic.com")],
     [("/context_management", "warning", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("more", "headers", "expected"), [r[1:] for r in FIELDS], ids=[r[0] for r in FIELDS])
def test_fields(under, more, headers, expected):
    found = under(gateway, STRICT, UNKNOWN, {**ASKED, **more}, protocol="anthropic-messages", headers=headers)
    assert [(f.pointer, f.severity, f.refusal) for f in found] == expected


def test_nobody_refuses_unknown_fields_by_default(under):
    body = {**ASKED, "x": 1, "context_management": {}}
    assert not under(gateway, STRICT | {"params.unknown-fields": "ignored"}, UNKNOWN, body, headers=HEADERS)


def test_keys_of_messages(under):
    terms = {"content.message-fields": {"assistant": ["role", "content", "tool_calls"]}}
    said = {"role": "assistant", "content": "a", "reasoning_content": "r", "tool_calls": []}
    body = {"model": "m", "messages": [{"role": "user", "content": "go", "x": 1}, said, {**said, "y": 1}]}
    found = under(gateway, terms, [("gateway.unknown-field", "{path} of {role}", "message-field")], body)
    assert [f.refusal for f in found] == [
        "messages[1].reasoning_content of assistant",
        "messages[2].reasoning_content of assistant",
        "messages[2].y of assistant",
    ]
    found = under(gateway, {**terms, "reasoning.refused-carriers": ["reasoning_content"]}, [], body)
    assert [f.pointer for f in found] == ["/messages/2/y"]


MARK = {"cache_control": {"type": "ephemeral"}}


def marked(text="a"):
    return {"type": "text", "text": text, **MARK}


LIMIT = {"gateway.max-cache-marks": 4}
FOUR = {
    "messages": [{"role": "user", "content": [marked(), marked()]}],
    "system": [marked()],
    "tools": [{"name": "t", "input_schema": {}, **MARK}],
}
IN_RESULT = {"type": "tool_result", "tool_use_id": "a", "content": [marked()]}
SPOKEN = {"role": "user", "content": [{"type": "text", "text": '"cache_control": {'}]}
SCHEMA = {"name": "t", "input_schema": {"properties": {"cache_control": {"type": "string"}}}}
MARKS = [
    ("as many as there may be", FOUR, None),
    ("none of them are null", {**FOUR, "cache_control": None}, None),
    ("words are no marks", {**FOUR, "messages": [*FOUR["messages"], SPOKEN]}, None),
    ("nor are properties", {**FOUR, "tools": [*FOUR["tools"], SCHEMA]}, None),
    ("one for the whole request", {**FOUR, **MARK}, "/cache_control"),
    ("one in a result", {**FOUR, "messages": [*FOUR["messages"], {"role": "user", "content": [IN_RESULT]}]},
     "/messages/1/content/0/content/0/cache_control"),
    ("tools come first", {**FOUR, "tools": [*FOUR["tools"], {**FOUR["tools"][0], "name": "u"}]},
     "/messages/0/content/1/cache_control"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "pointer"), [r[1:] for r in MARKS], ids=[r[0] for r in MARKS])
def test_cache_marks(under, more, pointer):
    checks = [("gateway.cache-limit", "A maximum of {limit}. Found {found}.")]
    found = under(gateway, LIMIT, checks, {**ASKED, **more}, protocol="anthropic-messages")
    assert [(f.pointer, f.refusal) for f in found] == ([(pointer, "A maximum of 4. Found 5.")] if pointer else [])
    assert all(len(f.related) == 4 for f in found)


def test_bedrock_has_blocks_of_their_own_for_marks(under):
    point = {"cachePoint": {"type": "default"}}
    body = {"system": [{"text": "s"}, point], "messages": [{"role": "user", "content": [{"text": "a"}, point]}]}
    found = under(gateway, {"gateway.max-cache-marks": 1}, [], body, protocol="bedrock-converse")
    assert [f.pointer for f in found] == ["/messages/0/content/1/cachePoint"]


ONLY = {"gateway.betas": ["interleaved-thinking-*"]}
BETAS = [
    ("nothing is known", {}, BETA, []),
    ("only these", ONLY, BETA, ["context-management-2025-06-27"]),
    ("not these", {"gateway.refused-betas": ["interleaved-*"]}, BETA, ["interleaved-thinking-2025-05-14"]),
    ("none announced", ONLY, HEADERS, []),
]


@pytest.mark.parametrize(("terms", "headers", "expected"), [r[1:] for r in BETAS], ids=[r[0] for r in BETAS])
def test_betas(under, terms, headers, expected):
    checks = [("gateway.beta-header", "the value {found} is rejected")]
    found = under(gateway, terms, checks, ASKED, protocol="anthropic-messages", headers=headers)
    assert [f.refusal for f in found] == [f"the value {name} is rejected" for name in expected]
    assert all((f.pointer, f.span, f.severity) == ("/headers/anthropic-beta", None, "error") for f in found)


def test_betas_of_a_body(under):
    body = {**ASKED, "anthropic_beta": ["a-1", "interleaved-thinking-1"]}
    (finding,) = under(gateway, ONLY, [], body, protocol="bedrock-invoke")
    assert (finding.pointer, bool(finding.span)) == ("/anthropic_beta/0", True)


def test_an_answer_that_names_a_beta_refuses_it(inspect):
    refusal = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "the value context-1 is rejected"},
    }
    body = {**ASKED, "anthropic_beta": ["context-1", "other-1"]}
    found = inspect(body, refusal, protocol="anthropic-messages", provider="generic", status=400)
    assert [(f.rule, f.severity, f.pointer) for f in found] == [("gateway.beta-header", "error", "/anthropic_beta/0")]
