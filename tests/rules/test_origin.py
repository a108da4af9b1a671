"""A finding names the exchange and the hop where the damage was done."""

from __future__ import annotations

import json

import pytest

from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

ANTHROPIC, DEEPSEEK = "https://api.anthropic.com/v1/messages", "https://api.deepseek.com/chat/completions"
GATEWAY = "http://localhost:8080/chat/completions"
GO = {"role": "user", "content": "list both folders"}
THOUGHT = {"type": "thinking", "thinking": "I list them.", "signature": "EqQBCkYIARgCKkD1sigA"}


def exchange(number, url, messages, answer=None, *, hop="", **more):
    request = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": messages, **more}
    kind = Headers((("content-type", "application/json"),))
    return Exchange(
        f"e{number}",
        HttpRequest(url=url, body=Body(json.dumps(request).encode())),
        answer and HttpResponse(200, kind, Body(json.dumps(answer).encode())),
        hop=hop,
    )


def use(n, name=None, **more):
    return {"type": "tool_use", "id": name or f"toolu_01abcdefghijklmn{n}", "name": "ls", "input": {"n": n}, **more}


def said(*blocks):
    return {
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": list(blocks),
        "stop_reason": "tool_use",
    }


def turn(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def result(n, name=None):
    block = {"type": "tool_result", "tool_use_id": name or f"toolu_01abcdefghijklmn{n}", "content": f"result {n}"}
    return {"role": "user", "content": [block]}


def found(rule, *exchanges, **more):
    findings = Inspector(MemorySession("s", exchanges), **more).run().findings
    return [f for f in findings if f.rule == rule]


WHOLE = (
    exchange(1, ANTHROPIC, [GO], said(use(1))),
    exchange(2, ANTHROPIC, [GO, turn(use(1)), result(1)], said(use(2))),
)
CUT = [GO, result(1), turn(use(2)), result(2)]
LATER = [*CUT, turn(use(3)), result(3)]


def test_the_request_that_cut_the_pair_is_named_by_all_that_follow():
    third = exchange(3, ANTHROPIC, CUT, said(use(3)))
    first, later = found("closure.orphan-result", *WHOLE, third, exchange(4, ANTHROPIC, LATER))
    assert (first.exchange, later.exchange) == (2, 3)
    assert first.origin.exchange == later.origin.exchange == 2
    assert later.origin.pointer == first.pointer
    assert "the call was received in exchange 1" in later.origin.words


def test_it_is_found_again_where_it_moved():
    third = exchange(3, ANTHROPIC, CUT, said(use(3)))
    moved = [GO, {"role": "assistant", "content": "well"}, *LATER]
    _, later = found("closure.orphan-result", *WHOLE, third, exchange(4, ANTHROPIC, moved))
    assert later.pointer == "/messages/3/content/0"
    assert (later.origin.exchange, later.origin.pointer) == (2, "/messages/1/content/0")


def test_the_compaction_that_cut_the_result_says_how_much_it_cut():
    long = [GO, turn(use(1)), result(1), turn(use(2)), result(2), {"role": "user", "content": "and now?"}]
    third = exchange(3, ANTHROPIC, long, said(use(3)))
    cut = [GO, turn(use(2)), turn(use(3)), result(3)]
    (finding,) = found("closure.missing-result", *WHOLE, third, exchange(4, ANTHROPIC, cut))
    assert finding.origin.exchange == 3
    assert "exchange 3 still had the result" in finding.origin.words
    assert "shortened from 6 to 4 messages" in finding.origin.words


@pytest.mark.parametrize(("again", "is_known"), [(False, True), (True, False)], ids=["one call", "a counter"])
def test_a_history_that_was_begun_anew_by_a_compaction(again, is_known):
    first = exchange(1, ANTHROPIC, [GO], said(use(1, "toolu_1")))
    other = exchange(
        2, ANTHROPIC, [{"role": "user", "content": "Sum it up."}], said(use(1, "toolu_1" if again else "x"))
    )
    anew = exchange(3, ANTHROPIC, [{"role": "user", "content": "This is what was done."}, result(1, "toolu_1")])
    (finding,) = found("closure.orphan-result", first, other, anew)
    assert (finding.origin is not None) == is_known
    if finding.origin:
        assert finding.origin.exchange == 2
        assert "exchange 1 made the call; the history was compacted here" in finding.origin.words


def test_the_request_that_changed_an_id_is_named():
    changed = [GO, turn(use(1, "toolu_01changed00000000")), result(1)]
    more = [*changed, turn(use(2)), result(2)]
    second = exchange(2, ANTHROPIC, changed, said(use(2)))
    findings = found("closure.id-mismatch", WHOLE[0], second, exchange(3, ANTHROPIC, more))
    assert [f.exchange for f in findings] == [1, 2]
    assert {f.origin.exchange for f in findings} == {1}


def test_the_request_that_first_dropped_the_reasoning_is_named_with_what_the_answer_brought():
    first = exchange(1, ANTHROPIC, [GO], said(THOUGHT, use(1)), thinking={"type": "enabled", "budget_tokens": 2000})
    bare = [GO, turn(use(1)), result(1)]
    second = exchange(2, ANTHROPIC, bare, said(use(2)), thinking={"type": "enabled", "budget_tokens": 2000})
    third = [*bare, turn(use(2)), result(2)]
    last = exchange(3, ANTHROPIC, third, thinking={"type": "enabled", "budget_tokens": 2000})
    findings = found("reasoning.missing", first, second, last)
    assert {f.exchange for f in findings} == {1, 2}
    for finding in findings:
        if finding.pointer.startswith("/messages/1"):
            assert finding.origin.exchange == 1
            assert "exchange 1 returned the reasoning" in finding.origin.words


def test_a_fault_that_an_answer_brought_began_there():
    call = {"id": "call_00_abcdefghijkl", "type": "function", "function": {"name": "ls", "arguments": '{"a": '}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"model": "m", "choices": [{"message": message, "finish_reason": "tool_calls"}]}
    reply = {"role": "tool", "tool_call_id": call["id"], "content": "a"}
    url = "https://example.org/v1/chat/completions"
    findings = found("args.invalid-json", exchange(1, url, [GO], answer), exchange(2, url, [GO, message, reply]))
    replayed = [f for f in findings if f.side == "request"]
    for finding in replayed:
        assert (finding.origin.exchange, finding.origin.side) == (0, "response")


def test_the_gateway_is_named_where_the_client_sent_it_whole():
    call = {"id": "call_00_abcdefghijkl", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    bare = {"role": "assistant", "content": None, "tool_calls": [call]}
    reply = {"role": "tool", "tool_call_id": call["id"], "content": "a"}
    whole = [GO, {**bare, "reasoning_content": "I list them."}, reply]
    sent = exchange(1, GATEWAY, whole, hop="client", model="deepseek-v4-pro")
    went = exchange(2, DEEPSEEK, [GO, bare, reply], hop="gateway", model="deepseek-v4-pro")
    (finding,) = found("reasoning.missing", sent, went, provider="deepseek:v4")
    assert (finding.exchange, finding.origin.exchange, finding.origin.hop) == (1, 1, "gateway")
    assert "exchange 1, recorded at 'client', does not have this fault" in finding.origin.words


@pytest.mark.parametrize("same", [True, False])
def test_what_the_client_did_is_not_the_gateways(same):
    broken = [GO, turn(use(1)), {"role": "user", "content": "stop"}]
    sent = exchange(1, GATEWAY.replace("chat/completions", "v1/messages"), broken, hop="client")
    went = exchange(2, ANTHROPIC, broken, hop="gateway" if same else "client")
    findings = found("closure.missing-result", sent, went, provider="anthropic")
    last = findings[-1]
    assert last.origin.exchange == 0
    assert last.origin.hop == "client"


def test_the_first_request_of_a_recording_has_no_origin():
    (finding,) = found("closure.missing-result", exchange(1, ANTHROPIC, [GO, turn(use(1)), GO]))
    assert finding.origin is None
