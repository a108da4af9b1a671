"""One cause is one finding, however often a client repeats it, with the range of exchanges in which it holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from workbench.contracts import Basis, Finding, Severity
from workbench.rules import Causes, by_cause
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

GO = {"role": "user", "content": "go on"}
OPEN = {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}]}
REFUSED = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)


def said(number: int) -> dict[str, Any]:
    return {"role": "assistant", "content": f"answer {number}"}


def session(histories: list[list[dict[str, Any]]], statuses: dict[int, int] | None = None) -> MemorySession:
    """One exchange for each history, answered with the next message of it."""
    made = []
    for number, messages in enumerate(histories):
        status = (statuses or {}).get(number, 200)
        body: dict[str, Any] = {"type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
        body |= {"content": [{"type": "text", "text": f"answer {number}"}], "stop_reason": "end_turn"}
        if status >= 400:
            body = {"type": "error", "error": {"type": "invalid_request_error", "message": REFUSED}}
        sent = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}
        request = HttpRequest(url="https://api.anthropic.com/v1/messages", body=Body(json.dumps(sent).encode()))
        made.append(Exchange(str(number), request, HttpResponse(status, body=Body(json.dumps(body).encode()))))
    return MemorySession("s", tuple(made))


def growing(count: int, first: int = 0) -> list[list[dict[str, Any]]]:
    """Histories in which the call is never answered: each is the one before with a turn more."""
    turns = [message for n in range(count) for message in (said(n), GO)]
    return [[GO, OPEN, GO, *turns[: 2 * n]] for n in range(first, count)]


def found(made: MemorySession, rule: str = "closure.missing-result") -> list[Finding]:
    return [f for f in Inspector(made).run().findings if f.rule == rule]


def test_a_fault_that_every_request_repeats_is_one_finding() -> None:
    repeated = found(session(growing(5)))
    assert [f.exchange for f in repeated] == [0, 1, 2, 3, 4]
    (one,) = by_cause(repeated)
    assert (one.exchange, one.last) == (0, 4)
    assert one.pointer == repeated[0].pointer


def test_a_history_that_is_trimmed_still_holds_the_same_fault() -> None:
    histories = growing(4)
    histories[3] = [GO, *histories[3][3:5], OPEN, *histories[3][4:]]
    (one,) = by_cause(found(session(histories)))
    assert (one.exchange, one.last) == (0, 3)


def test_two_faults_in_one_request_stay_two() -> None:
    other = {"role": "assistant", "content": [{**OPEN["content"][0], "id": "toolu_2"}]}
    histories = [[GO, OPEN, GO, other, GO], [GO, OPEN, GO, other, GO, said(0), GO]]
    assert [(f.pointer, f.last) for f in by_cause(found(session(histories)))] == [
        ("/messages/1/content/0", 1),
        ("/messages/3/content/0", 1),
    ]


def test_parts_that_say_the_same_stay_two() -> None:
    empty = {"role": "assistant", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "x"}]}
    histories = [[GO, empty, GO, empty, GO], [GO, empty, GO, empty, GO, said(0), GO]]
    once = by_cause(f for f in Inspector(session(histories), "anthropic").run().findings if f.rule == "content.empty")
    assert [(f.pointer, f.last) for f in once] == [("/messages/1/content/0", 1), ("/messages/3/content/0", 1)]


def test_another_conversation_is_another_cause() -> None:
    other = [{"role": "user", "content": "another matter"}, OPEN, GO]
    assert [f.exchange for f in by_cause(found(session([*growing(2), other])))] == [0, 2]


def test_a_cause_keeps_what_the_provider_said_of_it_later() -> None:
    (one,) = by_cause(found(session(growing(3), {2: 400})))
    assert (one.exchange, one.last, one.severity) == (0, 2, Severity.ERROR)
    assert "exchange 3: " in one.evidence
    assert "`tool_use` ids were found without" in one.evidence


def test_a_note_on_what_was_accepted_is_a_cause_of_its_own() -> None:
    tool = {"name": "list files", "input_schema": {"type": "object"}}
    exchanges = []
    for one in session([[GO], [GO, said(0), GO], [GO, said(0), GO, said(1), GO]]).exchanges:
        assert one.request
        body = json.loads(one.request.body.raw) | {"tools": [tool]}
        request = HttpRequest(url=one.request.url, body=Body(json.dumps(body).encode()))
        exchanges.append(Exchange(one.id, request, one.response))
    (note,) = by_cause(found(MemorySession("s", tuple(exchanges)), "contract.disagrees"))
    assert (note.exchange, note.last, note.basis) == (0, 2, Basis.RECORDING)


def test_findings_without_a_cause_stand_for_themselves_and_none_is_lost() -> None:
    event = Finding("answer.error", Severity.WARNING, 0, "response", "/error", "refused")
    findings = [event, event, *found(session(growing(3)))]
    assert sum(map(len, Causes(findings).members)) == len(findings)
    assert [f.last for f in by_cause(findings)] == [None, None, 2]


def test_what_is_taken_back_leaves_no_trace() -> None:
    findings = found(session(growing(4)))
    grown, afresh = Causes(findings), Causes(findings[:2])
    grown.cut(2)
    assert grown.members == afresh.members
    assert [f.last for f in grown.findings()] == [1]
    for finding in findings[2:]:
        grown.add(finding)
    assert grown.findings() == Causes(findings).findings()
    assert [f.last for f in grown.findings()] == [3]
    grown.cut(0)
    assert (grown.members, grown.findings(), grown.of(1)) == ([], [], [])


def test_each_exchange_knows_which_causes_hold_in_it() -> None:
    made = Causes(found(session(growing(3))))
    assert [made.of(n)[0][0] for n in range(3)] == [0, 0, 0]
    assert [made.of(n)[0][1].exchange for n in range(3)] == [0, 1, 2]


def unsigned(turns: int, lost: Callable[[int], bool]) -> MemorySession:
    """A tool loop with thinking, whose client loses the signature of some turns."""
    made, history = [], [GO]
    for number in range(turns):
        call = {"type": "tool_use", "id": f"toolu_{number:04}aQ7x", "name": "ls", "input": {"n": number}}
        thought = {"type": "thinking", "thinking": f"thought {number}", "signature": f"EqoB{number:08}aQ7x"}
        answer = {"type": "message", "role": "assistant", "content": [thought, call], "stop_reason": "tool_use"}
        sent = {"model": "claude-sonnet-4-5", "max_tokens": 4096, "messages": history}
        sent["thinking"] = {"type": "enabled", "budget_tokens": 2048}
        request = HttpRequest(url="https://api.anthropic.com/v1/messages", body=Body(json.dumps(sent).encode()))
        made.append(Exchange(str(number), request, HttpResponse(200, body=Body(json.dumps(answer).encode()))))
        kept = {**thought, "signature": ""} if lost(number) else thought
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": f"result {number}"}
        history = [*history, {"role": "assistant", "content": [kept, call]}, {"role": "user", "content": [result]}]
    return MemorySession("s", tuple(made))


def test_one_lost_signature_is_one_finding_and_one_note() -> None:
    once = by_cause(Inspector(unsigned(8, lambda turn: turn == 0)).run().findings)
    empty, note = [f for f in once if f.rule in ("reasoning.empty", "contract.disagrees")]
    assert [(f.exchange, f.last, f.places) for f in (empty, note)] == [(1, 7, ()), (1, 7, ())]


def test_a_fault_that_each_new_turn_repeats_is_one_finding_with_its_places() -> None:
    once = by_cause(Inspector(unsigned(6, lambda turn: True)).run().findings)
    empty, note = [f for f in once if f.rule in ("reasoning.empty", "contract.disagrees")]
    for finding in (empty, note):
        assert (finding.exchange, finding.last, finding.pointer) == (1, 5, "/messages/1/content/0/signature")
        assert [(p.exchange, p.pointer) for p in finding.places] == [
            (n, f"/messages/{2 * n - 1}/content/0/signature") for n in range(1, 6)
        ]
        assert [p.last for p in finding.places] == [5, 5, 5, 5, None]
    assert (empty.rule, empty.severity) == ("reasoning.empty", Severity.WARNING)


def test_a_fault_that_ended_before_it_came_again_is_another() -> None:
    made = unsigned(7, lambda turn: turn in (0, 4))
    compacted = []
    for exchange in made.exchanges[:3] + made.exchanges[5:]:
        assert exchange.request
        body = json.loads(exchange.request.body.raw)
        if int(exchange.id) >= 5:
            body["messages"] = [GO, *body["messages"][9:]]
        request = replace(exchange.request, body=Body(json.dumps(body).encode()))
        compacted.append(replace(exchange, request=request))
    once = [f for f in by_cause(found(MemorySession("s", tuple(compacted)), "reasoning.empty"))]
    assert [(f.exchange, f.last, f.places) for f in once] == [(1, 2, ()), (3, 4, ())]


def adapted(identity: str = "toolu_1", name: str = "ls", refused: str = "") -> MemorySession:
    """A conversation of two requests at both places of an adapter; the client never answers its call."""
    inner = {"role": "assistant", "content": None, "tool_calls": [called(identity, name)]}
    outer_error = {"type": "error", "error": {"type": "api_error", "message": refused}}
    answers = [
        HttpResponse(503, body=Body(json.dumps(e).encode())) for e in (outer_error, {"error": {"message": refused}})
    ]
    made: list[Exchange] = []
    for number, outer in enumerate(growing(2)):
        body = {"model": "m", "max_tokens": 9, "messages": outer}
        request = HttpRequest(url="https://api.anthropic.com/v1/messages", body=Body(json.dumps(body).encode()))
        made.append(Exchange(f"c{number}", request, answers[0] if refused else None, hop="client"))
        spoken = [inner if message is OPEN else message for message in outer]
        request = HttpRequest(
            url="https://x.test/v1/chat/completions", body=Body(json.dumps({"model": "m", "messages": spoken}).encode())
        )
        branch = "anthropic-messages to openai-chat at deepseek"
        came = answers[1] if refused else None
        made.append(Exchange(f"u{number}", request, came, hop="upstream", parent=f"c{number}", branch=branch))
    return MemorySession("s", tuple(made))


def called(identity: str, name: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": "{}"}}


@pytest.mark.parametrize("identity", ["toolu_1", "aB3dE5gH7"], ids=["the same id", "an id that the upstream takes"])
def test_a_fault_that_an_adapter_passes_on_is_one_finding(identity: str) -> None:
    both = found(adapted(identity))
    assert [f.exchange for f in both] == [0, 1, 2, 3]
    (one,) = by_cause(both)
    assert (one.exchange, one.last) == (0, 3)


def test_a_fault_that_an_adapter_makes_is_a_finding_of_its_own() -> None:
    outer, inner = by_cause(found(adapted(name="cat")))
    assert (outer.exchange, outer.last) == (0, 2) and (inner.exchange, inner.last) == (1, 3)


def test_two_hops_that_weigh_a_fault_differently_count_it_once_by_the_worse() -> None:
    outer, inner, *_ = found(adapted())
    light = [replace(outer, severity=Severity.WARNING, counts_as=Severity.WARNING)]
    heavy = [replace(inner, counts_as=Severity.WARNING)]
    assert [(f.severity, f.exchange, f.last) for f in by_cause(light + heavy)] == [(Severity.ERROR, 0, 1)]


def test_an_error_that_an_adapter_passes_on_counts_where_the_provider_gave_it() -> None:
    errors = found(adapted(refused="no room"), "answer.error")
    weights = {f.exchange: f.severity for f in errors}
    assert weights[0] == Severity.INFO and weights[1] != Severity.INFO
    assert errors[0].origin and (errors[0].origin.exchange, errors[0].origin.hop) == (1, "upstream")
