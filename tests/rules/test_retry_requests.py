"""Clients that ask again: the same, a ladder of changes, and without end."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.rules.conftest import exchange
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Headers, HttpRequest, Origin
from workbench.wire.session import MemorySession

GO = {"role": "user", "content": "go"}
LOOP = "retry.loop"
BODY = {"model": "m", "messages": [GO], "tools": [{"type": "function", "function": {"name": "ls"}}]}
ERROR = {"error": {"message": "no"}}
GOOD = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}


def loops(*tries, origin=Origin.IMPORTED):
    """Findings of a session of (body, answer, status), as (exchange from one, pointer, message, evidence)."""
    made = tuple(
        exchange(body, answer, protocol="openai-chat", status=status, name=str(n), origin=origin)
        for n, (body, answer, status) in enumerate(tries)
    )
    found = Inspector(MemorySession("test", made), provider="generic").run().findings
    return [(f.exchange + 1, f.pointer, f.message, f.evidence) for f in found if f.rule == LOOP]


SAME = [
    ("refused, and sent again", 400, ERROR, [2, 3, 4, 5]),
    ("failed", 529, ERROR, [4, 5]),
    ("an error with status 200", 200, ERROR, [4, 5]),
    ("answered", 200, GOOD, [4, 5]),
    ("answered without a finish reason", 200, {"choices": [{"message": GOOD["choices"][0]["message"]}]}, [4, 5]),
]


@pytest.mark.parametrize(("status", "answer", "expected"), [r[1:] for r in SAME], ids=[r[0] for r in SAME])
def test_the_same_request_again(status, answer, expected):
    assert [n for n, *_ in loops(*[(BODY, answer, status)] * 5)] == expected


def test_it_is_said_how_often_and_why():
    *_, (_, pointer, message, evidence) = loops(*[(BODY, ERROR, 400)] * 3)
    assert (
        message
        == "the same request is sent for the 3rd time; the previous one got status 400; expect the same response again"
    )
    assert (pointer, evidence) == ("", "since exchange 1")


def test_a_ladder_of_changed_requests():
    without = {k: v for k, v in BODY.items() if k != "tools"}
    rungs = [BODY, {**BODY, "thinking": {"type": "disabled"}}, without, {**without, "model": "small"}]
    found = loops(*((body, ERROR, 400) for body in rungs))
    assert [n for n, *_ in found] == [3, 4]
    _, pointer, message, evidence = found[-1]
    assert message == "attempt 4 in a row after a failure, each with a changed request"
    assert "exchange 4, after status 400: used model 'small' instead of 'm'" in evidence
    assert "exchange 3, after status 400: dropped all 1 tools, changed thinking from off to not set" in evidence
    assert "exchange 2, after status 400: changed thinking from not set to off" in evidence
    assert pointer == ""


def test_a_rung_is_shown_where_it_changed_something():
    more = {**BODY, "tools": [*BODY["tools"], {"type": "function", "function": {"name": "rm"}}]}
    found = loops((BODY, ERROR, 500), ({**BODY, "temperature": 0}, ERROR, 500), (more, ERROR, 500))
    assert [(n, pointer) for n, pointer, *_ in found] == [(3, "/tools")]


def test_compaction_that_does_not_help():
    long = [GO, {"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]
    bodies = [{**BODY, "messages": m} for m in (long, [*long[:1], long[2]], [GO])]
    found = loops(*((body, ERROR, 400) for body in bodies))
    assert all("messages" in evidence for *_, evidence in found)


def shortened(text, answers=(400, 400, 400, 400)):
    bodies = ({**BODY, "messages": [{"role": "user", "content": f"Summary {'x' * n}"}]} for n in (90, 50, 30, 20))
    answer = {"error": {"message": text}}
    return loops(*((body, answer, status) for body, status in zip(bodies, answers, strict=True)))


def test_a_history_that_is_begun_anew_and_stays_too_long():
    found = shortened("prompt is too long: 9 tokens > 8 maximum")
    assert [(n, message) for n, _, message, _ in found] == [
        (3, "attempt 3 with a rewritten history: earlier requests were refused as too long"),
        (4, "attempt 4 with a rewritten history: earlier requests were refused as too long"),
    ]
    assert found[0][-1].endswith(" bytes, since exchange 1")


def test_conversations_that_fail_each_for_itself_are_no_such_loop():
    assert not shortened("no such model")
    assert not shortened("prompt is too long", (400, 500, 500, 500))


GONE_ON = {**BODY, "messages": [GO, {"role": "assistant", "content": "hi"}, GO]}
HEALTHY = [
    ("a conversation", [(BODY, GOOD, 200), (GONE_ON, GOOD, 200)]),
    ("one retry of an overload", [(BODY, ERROR, 529), (BODY, GOOD, 200)]),
    ("one changed retry", [(BODY, ERROR, 400), ({**BODY, "temperature": 0}, GOOD, 200)]),
    ("another key", [(BODY, ERROR, 401), (BODY, GOOD, 200)]),
    ("a success between failures", [(BODY, ERROR, 500), (BODY, GOOD, 200), ({**BODY, "n": 1}, ERROR, 500)]),
]


@pytest.mark.parametrize("tries", [r[1] for r in HEALTHY], ids=[r[0] for r in HEALTHY])
def test_what_is_no_loop(tries):
    assert not loops(*tries)


def test_betas_that_are_dropped_one_by_one_are_a_ladder():
    tries = [
        replace(
            exchange(BODY, ERROR, protocol="openai-chat", status=400, name=betas),
            request=HttpRequest(
                "POST", "/v1", Headers((("anthropic-beta", betas),)), body=Body(json.dumps(BODY).encode())
            ),
        )
        for betas in ("a,b,c", "a,b", "a")
    ]
    inspector = Inspector(MemorySession("test", tuple(tries)), provider="generic", protocol="openai-chat")
    (finding,) = [f for f in inspector.run().findings if f.rule == LOOP]
    assert (finding.exchange, finding.pointer) == (2, "/headers/anthropic-beta")
    assert "exchange 3, after status 400: changed the header anthropic-beta" in finding.evidence


def test_a_transcript_shows_no_attempts():
    assert not loops(*[(BODY, None, 200)] * 6, origin=Origin.RECONSTRUCTED)


def test_the_same_json_in_another_order_is_the_same_request():
    """Clients that rebuild a body write its keys in any order: nothing was changed, and a limit may pass."""
    turned = dict(reversed(BODY.items()))
    assert loops((BODY, ERROR, 429), (turned, ERROR, 429), (BODY, GOOD, 200)) == []
    _, (exchange_, _, message, _) = loops((BODY, ERROR, 400), (turned, ERROR, 400), (BODY, ERROR, 400))
    assert exchange_ == 3 and message.startswith("the same request is sent for the 3rd time")


def test_a_plain_retry_is_no_rung_of_a_ladder():
    cooler = {**BODY, "temperature": 0}
    tries = ((BODY, ERROR, 429), (dict(reversed(BODY.items())), ERROR, 429), (cooler, ERROR, 429))
    assert loops(*tries) == []
    (found,) = loops(*tries, ({**cooler, "top_p": 1}, ERROR, 429))
    assert "attempt 3 in a row" in found[2] and "nothing visible" not in found[3]


FINAL = [
    ("a key", 400, {"error": {"message": "API key not valid"}}, [2, 3]),
    ("a quota that resets", 400, {"error": {"message": "quota exceeded", "code": "insufficient_quota"}}, []),
    ("a limit with another status", 403, {"error": {"message": "rate limit exceeded"}}, []),
]


@pytest.mark.parametrize(("status", "answer", "expected"), [r[1:] for r in FINAL], ids=[r[0] for r in FINAL])
def test_whether_a_refusal_is_final_follows_its_kind(status, answer, expected):
    assert [n for n, *_ in loops(*[(BODY, answer, status)] * 3)] == expected
