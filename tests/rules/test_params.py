"""Parameters that a contract refuses, requires or knows to have no effect."""

from __future__ import annotations

import pytest

from workbench.rules import params, relations

CHAT = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
REFUSED = [("params.unsupported", "{path} may not be {found} (limit {limit})")]
STRONG = {"type": "enabled", "budget_tokens": 100}

ROWS = [
    ("not there", {"at": "/top_k"}, {}, []),
    ("null is not there", {"at": "/top_k"}, {"top_k": None}, []),
    ("there, whatever it is", {"at": "/top_k"}, {"top_k": 3}, [("/top_k", "top_k may not be 3 (limit …)")]),
    ("the value", {"at": "/n", "is": 2}, {"n": 2}, [("/n", "n may not be 2 (limit …)")]),
    ("another value", {"at": "/n", "is": 2}, {"n": 1}, []),
    ("true is not 1", {"at": "/n", "is": 1}, {"n": True}, []),
    ("one of some", {"at": "/n", "in": ["a", "b"]}, {"n": "b"}, [("/n", "n may not be b (limit …)")]),
    ("none of some", {"at": "/n", "not-in": ["a", "b"]}, {"n": "c"}, [("/n", "n may not be c (limit …)")]),
    ("one of the allowed", {"at": "/n", "not-in": ["a", "b"]}, {"n": "a"}, []),
    ("too much", {"at": "/t", "above": 1}, {"t": 1.5}, [("/t", "t may not be 1.5 (limit 1)")]),
    ("just enough", {"at": "/t", "above": 1}, {"t": 1}, []),
    ("no number", {"at": "/t", "above": 1}, {"t": "2"}, []),
    ("too little, inside", {"at": "/thinking/budget_tokens", "below": 1024}, {"thinking": STRONG},
     [("/thinking/budget_tokens", "thinking.budget_tokens may not be 100 (limit 1024)")]),
    ("in every message", {"at": "/messages/*/content", "in": ["go"]}, {},
     [("/messages/0/content", "messages[0].content may not be go (limit …)")]),
    ("beside what is there", {"at": "/t", "with": {"at": "/tools/*"}}, {"t": 1, "tools": [{"type": "function"}]},
     [("/t", "t may not be 1 (limit …)")]),
    ("beside what is not there", {"at": "/t", "with": {"at": "/tools/*"}}, {"t": 1, "tools": []}, []),
    ("without what is there", {"at": "/t", "with": {"at": "/n", "absent": True}}, {"t": 1, "n": 1}, []),
    ("without what is not there", {"at": "/t", "with": {"at": "/n", "absent": True}}, {"t": 1},
     [("/t", "t may not be 1 (limit …)")]),
    ("of this model", {"at": "/n", "models": ["m*"]}, {"n": 1}, [("/n", "n may not be 1 (limit …)")]),
    ("of another model", {"at": "/n", "models": ["x*"]}, {"n": 1}, []),
    ("not below another field", {"at": "/n", "not-below-at": "/t"}, {"n": 2, "t": 2},
     [("/n", "n may not be 2 (limit 2)")]),
    ("below another field", {"at": "/n", "not-below-at": "/t"}, {"n": 1, "t": 2}, []),
    ("compared with nothing", {"at": "/n", "not-below-at": "/t"}, {"n": 1}, []),
    ("compared with no number", {"at": "/n", "not-below-at": "/t"}, {"n": 1, "t": True}, []),
    ("but with a beta", {"at": "/n", "without-beta": "free-*"}, {"n": 1, "betas": ["free-2026"]}, []),
    ("with another beta", {"at": "/n", "without-beta": "free-*"}, {"n": 1, "betas": ["x"]},
     [("/n", "n may not be 1 (limit …)")]),
    ("beside another value", {"at": "/t", "with": {"at": "/n", "is": "x"}}, {"t": 1, "n": "y"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "asked", "expected"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_conditions(under, entry, asked, expected):
    found = under(relations, {"params.refused": [entry]}, REFUSED, {**CHAT, **asked})
    assert [(f.pointer, f.refusal) for f in found] == expected
    assert all((f.rule, f.severity, bool(f.span)) == ("params.unsupported", "error", True) for f in found)


def test_a_condition_names_its_check(under):
    checks = [("params.unsupported", "one", "one"), ("params.unsupported", "two", "two")]
    terms = {"params.refused": [{"at": "/n", "when": "two"}, {"at": "/t", "when": "three"}]}
    known, unknown = under(relations, terms, checks, {**CHAT, "n": 1, "t": 1})
    assert (known.refusal, unknown.refusal, unknown.check, unknown.severity) == ("two", "", None, "error")


SIZES = [
    ("limits.body-bytes", 40, "body-bytes", ""),
    ("limits.messages", 2, "messages", "/messages"),
]


@pytest.mark.parametrize(("term", "most", "when", "pointer"), SIZES, ids=[r[2] for r in SIZES])
def test_sizes(under, term, most, when, pointer):
    checks = [("params.unsupported", "{found} > {limit}", when), ("params.unsupported", "other", "other")]
    body = {"model": "m", "messages": CHAT["messages"] * 3}
    (finding,) = under(params, {term: most}, checks, body)
    found = finding.values["found"]
    assert (finding.pointer, finding.severity, finding.refusal) == (pointer, "error", f"{found} > {most}")
    assert not under(params, {term: int(found)}, checks, body)


def test_the_budget_of_thinking_is_below_the_limit_unless_it_is_interleaved(inspect):
    body = {**CHAT, "model": "claude-sonnet-4-5", "max_tokens": 2048, "thinking": {**STRONG, "budget_tokens": 2048}}
    asked = {"protocol": "anthropic-messages", "provider": "anthropic"}
    (finding,) = [f for f in inspect(body, **asked) if f.severity == "error"]
    assert (finding.rule, finding.pointer) == ("params.unsupported", "/thinking/budget_tokens")
    assert finding.refusal == "`max_tokens` must be greater than `thinking.budget_tokens`"
    for fine in ({"max_tokens": 2049}, {"betas": ["interleaved-thinking-2025-05-14"]}):
        assert not [f for f in inspect({**body, **fine}, **asked) if f.rule == "params.unsupported"]


REQUIRED = {"params.required": ["/max_tokens", "/model"]}


def test_what_is_required(under):
    checks = [("params.missing", "{path}: Field required")]
    (finding,) = under(params, REQUIRED, checks, CHAT)
    assert (finding.pointer, finding.refusal) == ("/max_tokens", "max_tokens: Field required")
    assert not under(params, REQUIRED, checks, {**CHAT, "max_tokens": 1})
    anthropic = {"protocol": "anthropic-messages"}
    assert under(params, REQUIRED, checks, CHAT, url="/v1/messages", **anthropic)
    assert not under(params, REQUIRED, checks, CHAT, url="/v1/messages/count_tokens?beta=true", **anthropic)


def test_what_has_no_effect_is_told_and_no_fault(under):
    terms = {"params.ignored": ["top_k", "thinking.budget_tokens"], "params.ignored-while-thinking": ["temperature"]}
    body = {**CHAT, "top_k": 1, "thinking": STRONG, "temperature": 0}
    found = under(params, terms, [], body)
    assert [(f.pointer, f.severity) for f in found] == [
        ("/top_k", "info"),
        ("/thinking/budget_tokens", "info"),
        ("/temperature", "info"),
    ]
    assert not under(params, terms, [], {**CHAT, "temperature": 0, "thinking": {"type": "disabled"}})


def test_a_response_that_repeats_another_value_is_evidence_at_a_server_that_repeats_what_it_applies(inspect):
    body = {"model": "gpt-5.2", "input": "go", "temperature": 0.5, "max_output_tokens": 10**400}
    said = {"object": "response", "model": "gpt-5.2", "status": "completed", "temperature": 0, "max_output_tokens": 16,
            "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed",
                        "content": [{"type": "output_text", "text": "ok", "annotations": []}]}]}  # fmt: skip
    for host, pointers in (("api.openai.com", {"/temperature", "/max_output_tokens"}), ("gateway.example", set())):
        found = inspect(body, said, protocol="openai-responses", host=f"https://{host}")
        assert {f.pointer for f in found if f.rule == "params.ignored"} == pointers


GEMINI = {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}
SPELLINGS = [
    ("as documented", {**GEMINI, "generationConfig": {"topK": 1}}, "/generationConfig/topK"),
    ("as the messages are spelled", {**GEMINI, "generation_config": {"top_k": 1}}, "/generation_config/top_k"),
    ("in an envelope", {"model": "m", "request": {**GEMINI, "generationConfig": {"topK": 1}}},
     "/request/generationConfig/topK"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "pointer"), [r[1:] for r in SPELLINGS], ids=[r[0] for r in SPELLINGS])
def test_one_field_in_three_places(under, body, pointer):
    terms = {"params.refused": [{"at": "/generationConfig/topK"}]}
    (finding,) = under(relations, terms, [], body, protocol="gemini")
    assert (finding.pointer, bool(finding.span)) == (pointer, True)
