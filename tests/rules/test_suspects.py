"""A refusal that no rule explains names the places that most likely caused it."""

from __future__ import annotations

import pytest

from workbench.rules.suspects import suspects_of

GO = [{"role": "user", "content": "go"}]
OK = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]}
TURN = [*GO, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "on"}]
FIND = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}
OPEN = {"type": "function", "function": {"name": "open", "parameters": {"type": "object", "properties": {}}}}
BASE = {"model": "m", "messages": GO, "tools": [FIND]}


def refused(words="Invalid request", **more):
    return {"error": {"message": words, "type": "invalid_request_error", **more}}


@pytest.fixture
def suspected(chat_session):
    """(finding of the refusal) of a session of pairs; the last one is refused."""

    def run(*pairs):
        (finding,) = [f for f in chat_session(pairs) if f.rule in ("answer.error", "params.unsupported")]
        return finding

    return run


@pytest.fixture
def chat_session():
    from tests.rules.conftest import exchange
    from workbench.rules.inspection import Inspector
    from workbench.wire.session import MemorySession

    def run(pairs):
        made = [exchange(asked, said, protocol="openai-chat", status=status, name=str(n))
                for n, (asked, said, status) in enumerate(pairs)]  # fmt: skip
        result = Inspector(MemorySession("test", tuple(made)), provider="generic", protocol="openai-chat").run()
        return [f for f in result.findings if f.exchange == len(pairs) - 1]

    return run


NEW = {
    "a parameter": ({"logit_bias": {"5": 1}}, "/logit_bias"),
    "a tool": ({"tools": [FIND, OPEN]}, "/tools/1"),
    "a member of a tool": ({"tools": [{**FIND, "cache": True}]}, "/tools/0/cache"),
}


@pytest.mark.parametrize(("more", "pointer"), NEW.values(), ids=NEW)
def test_what_is_new_since_the_last_accepted_request(suspected, more, pointer):
    finding = suspected((BASE, OK, 200), ({**BASE, "messages": TURN, **more}, refused(), 400))
    assert (finding.side, finding.pointer) == ("request", pointer)
    assert finding.span
    assert f"suspected: 1. {pointer} (new since exchange 1, which was accepted)" in finding.message
    assert f"send the request without {pointer}" in finding.evidence
    assert "/messages/1" in finding.related


def test_the_text_decides_among_what_is_new(suspected):
    asked = {**BASE, "messages": TURN, "seed": 1, "logit_bias": {"5": 1}, "user": "u"}
    finding = suspected((BASE, OK, 200), (asked, refused("seed: not for you"), 400))
    assert (finding.rule, finding.pointer) == ("params.unsupported", "/seed")
    assert suspects_of(finding) == ("/seed",)


def test_the_text_may_write_a_name_as_words(suspected):
    asked = {**BASE, "messages": TURN, "seed": 1, "user": "u", "logit_bias": {"5": 1}}
    finding = suspected((BASE, OK, 200), (asked, refused("a logit bias that is no good"), 400))
    assert finding.pointer == "/logit_bias"


def test_words_of_a_gateway_with_the_status_of_a_refusal(suspected):
    asked = {**BASE, "messages": TURN, "seed": 1}
    finding = suspected((BASE, OK, 200), (asked, refused("Provider returned error"), 400))
    assert finding.pointer == "/seed"


def test_a_lone_request_has_what_the_text_names(suspected):
    finding = suspected(({**BASE, "seed": 1, "logit_bias": {"5": 1}}, refused("no `logit_bias` and `seed` today"), 400))
    assert finding.side == "request"
    assert {finding.pointer, *finding.related} == {"/seed", "/logit_bias"}


def test_a_place_that_the_finding_says_already_is_not_repeated(suspected):
    finding = suspected(({**BASE, "logit_bias": {"5": 1}}, refused("no `logit_bias` today"), 400))
    assert "suspected" not in finding.message


def test_a_refusal_that_was_also_accepted_in_vain_is_not_compared(suspected):
    finding = suspected((BASE, refused(), 400), ({**BASE, "messages": TURN, "seed": 1}, refused(), 400))
    assert (finding.side, finding.pointer) == ("response", "/error/message")


@pytest.mark.parametrize("status", [401, 429, 500])
def test_what_the_request_did_not_cause_has_no_suspects(suspected, status):
    words = refused("try again", code="rate_limit_exceeded" if status == 429 else None)
    finding = suspected((BASE, OK, 200), ({**BASE, "messages": TURN, "seed": 1}, words, status))
    assert "suspected" not in finding.message


def test_another_rule_that_explains_it_leaves_no_suspects(chat_session):
    call = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    broken = [*GO, {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "user", "content": "on"}]
    text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    found = chat_session([(BASE, OK, 200), ({**BASE, "messages": broken}, refused(text), 400)])
    assert "closure.missing-result" in {f.rule for f in found}
    assert not [f for f in found if "suspected" in f.message]
