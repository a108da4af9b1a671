"""What a provider accepted in this recording is the better witness: a fact that says it refuses that becomes a note."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from workbench.contracts import Basis, Finding, Severity, Verdict
from workbench.rules import contradicted_facts
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin, State
from workbench.wire.session import MemorySession

URL = "https://api.anthropic.com/v1/messages"
ODD_TOOL = {"name": "list files", "input_schema": {"type": "object"}}
"""Its name breaks the provider's rule for names, which its contract enforces."""
GO = {"role": "user", "content": "go on"}
REQUEST = {"model": "claude-sonnet-4-5", "max_tokens": 64, "tools": [ODD_TOOL], "messages": [GO]}
DONE = {
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "done"}],
    "stop_reason": "end_turn",
}
REFUSED = {"type": "error", "error": {"type": "invalid_request_error", "message": "I do not like this at all"}}
BEGUN = (
    b"event: message_start\ndata: " + json.dumps({"type": "message_start", "message": {**DONE, "content": []}}).encode()
)
WORD = b"".join(
    b"\n\nevent: %s\ndata: %s" % (event["type"].encode(), json.dumps({**event, "index": 0}).encode())
    for event in (
        {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}},
    )
)
OVERLOADED = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'


def exchange(
    request: Mapping[str, Any] = REQUEST,
    answer: Mapping[str, Any] | bytes | None = DONE,
    status: int = 200,
    *,
    name: str = "1",
    headers: Sequence[tuple[str, str]] = (),
    url: str = URL,
    **more: Any,
) -> Exchange:
    kind = "text/event-stream" if isinstance(answer, bytes) else "application/json"
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    head = Headers((("content-type", kind), *headers))
    response = None if answer is None else HttpResponse(status, head, Body(body))
    return Exchange(name, HttpRequest(url=url, body=Body(json.dumps(request).encode())), response, **more)


def found(*exchanges: Exchange, provider: str | None = None) -> list[Finding]:
    """Findings of the last exchange."""
    named = tuple(replace(one, id=str(n)) for n, one in enumerate(exchanges))
    findings = Inspector(MemorySession("s", named), provider).run().findings
    return [f for f in findings if f.exchange == len(exchanges) - 1 and f.rule != "cost.tool-overhead"]


WITNESSES = [
    ("an answer", exchange(), True),
    ("imported", exchange(origin=Origin.IMPORTED), True),
    ("recorded", exchange(origin=Origin.RECORDED), True),
    ("sent again", exchange(origin=Origin.RESENT, meta={"target": "anthropic"}), True),
    ("sent to a simulator", exchange(origin=Origin.RESENT, meta={"target": "sim:anthropic"}), False),
    ("sent in other words", exchange(origin=Origin.RESENT, meta={"converted": "openai-chat"}), False),
    ("edited, and nobody sent it", exchange(origin=Origin.EDITED), False),
    ("a probe", exchange(origin=Origin.PROBE), False),
    ("made up at a breakpoint", exchange(headers=(("X-Workbench-Breakpoint", "sim:anthropic"),)), False),
    ("recorded in front of a simulator", exchange(headers=[("server", "workbench-simulator/anthropic")]), False),
    ("translated", exchange(branch="openai-chat to anthropic-messages at anthropic"), False),
    ("a stream that has begun", exchange(answer=BEGUN + b"\n\n"), True),
    ("and was cut off", exchange(answer=BEGUN + b"\n\n", state=State.ABORTED), True),
    ("a stream with nothing in it", exchange(answer=b": ping\n\n"), False),
    ("a stream that is an error", exchange(answer=OVERLOADED), False),
    ("a stream that became an error before a word", exchange(answer=BEGUN + b"\n\n" + OVERLOADED), False),
    ("and behind one", exchange(answer=BEGUN + WORD + b"\n\n" + OVERLOADED), True),
    ("an error with status 200", exchange(answer=REFUSED), False),
    ("an empty object", exchange(answer={}), False),
    ("no answer", exchange(answer=None), False),
    ("a refusal", exchange(answer=REFUSED, status=400), False),
]


@pytest.mark.parametrize(("sent", "is_accepted"), [w[1:] for w in WITNESSES], ids=[w[0] for w in WITNESSES])
def test_only_what_a_provider_accepted_on_the_wire_contradicts_a_fact(sent: Exchange, is_accepted: bool) -> None:
    told = [f for f in found(sent) if "schema.name" in (f.rule, f.contradicts and f.contradicts.rule)]
    (finding,) = told
    assert (finding.severity, finding.rule) == (
        (Severity.INFO, "contract.disagrees") if is_accepted else (Severity.ERROR, "schema.name")
    )


def test_the_note_keeps_the_place_the_fact_its_source_and_who_accepted_it() -> None:
    (note,) = found(exchange())
    (error,) = found(exchange(answer=None))
    assert (note.pointer, note.span, note.side) == (error.pointer, error.span, error.side)
    assert note.basis is Basis.RECORDING
    assert error.basis is Basis.CONTRACT
    against = note.contradicts
    assert against
    assert (against.contract, against.rule, against.exchange, against.by) == (
        "anthropic",
        "schema.name",
        0,
        "api.anthropic.com",
    )
    assert error.check
    assert (against.source, against.date) == (error.check.source, error.check.date)
    assert note.message.startswith("api.anthropic.com accepted this (status 200), but anthropic should refuse this")
    assert error.message in note.message
    assert note.refusal == ""


def test_what_breaks_the_conversation_stays_an_error_and_the_disagreement_is_kept() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}
    lost = [GO, {"role": "assistant", "content": [call]}, GO]
    broken, note = found(exchange({**REQUEST, "tools": [], "messages": lost}))
    assert (broken.rule, broken.severity) == ("closure.missing-result", Severity.ERROR)
    assert (note.rule, note.severity) == ("contract.disagrees", Severity.INFO)
    assert broken.refusal == ""  # nobody answers so: it was accepted
    assert note.contradicts


def test_a_contract_that_was_asked_for_judges_as_before_and_says_who_accepted_it() -> None:
    error = found(exchange(), provider="anthropic")[0]
    assert (error.rule, error.severity) == ("schema.name", Severity.ERROR)
    assert "accepted by api.anthropic.com, status 200" in error.evidence
    assert error.check


def test_a_rebuilt_request_that_was_answered_is_a_warning_at_most() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}
    lost = {**REQUEST, "messages": [GO, {"role": "assistant", "content": [call]}, GO]}
    rules = {f.rule: f for f in found(exchange(lost, origin=Origin.RECONSTRUCTED))}
    assert rules["closure.missing-result"].severity is Severity.WARNING
    assert "reconstructed from a transcript" in rules["closure.missing-result"].evidence
    refused = {f.rule: f for f in found(exchange(lost, REFUSED, 400, origin=Origin.RECONSTRUCTED))}
    assert refused["closure.missing-result"].severity is Severity.ERROR


OPUS = {**REQUEST, "model": "claude-opus-4-5"}
LATER = [
    ("a server error", exchange(answer=REFUSED, status=500), True),
    ("a rate limit", exchange(answer=REFUSED, status=429), True),
    ("open", exchange(answer=None, state=State.OPEN), True),
    ("cut off", exchange(answer=None, state=State.ABORTED), True),
    (
        "with more history",
        exchange({**REQUEST, "messages": [GO, {"role": "assistant", "content": "x"}, GO]}, None),
        True,
    ),
    ("refused", exchange(answer=REFUSED, status=400), False),
    ("another model", exchange(OPUS, None), False),
    ("another endpoint", exchange(answer=None, url="https://api.anthropic.com/v2/v1/messages"), False),
    ("another host", exchange(answer=None, url="https://eu-aiplatform.googleapis.com/v1/messages"), False),
    ("other bytes", exchange({**REQUEST, "tools": [{**ODD_TOOL, "description": "x"}]}, None), False),
    ("another parameter", exchange({**REQUEST, "temperature": 0}, None), False),
    ("a further tool", exchange({**REQUEST, "tools": [ODD_TOOL, {**ODD_TOOL, "name": "ls"}]}, None), False),
]


@pytest.mark.parametrize(("sent", "is_lowered"), [x[1:] for x in LATER], ids=[x[0] for x in LATER])
def test_a_later_request_is_spoken_for_where_all_that_matters_is_equal(sent: Exchange, is_lowered: bool) -> None:
    told = [f for f in found(exchange(), sent) if f.side == "request" and f.rule != "cost.cache-break"]
    assert ["schema.name" not in (f.rule for f in told)] == [is_lowered], told
    if is_lowered:
        (note,) = told
        assert note.contradicts
        assert note.contradicts.exchange == 0
        assert "the same bytes, in exchange 1" in note.message


def test_an_earlier_request_is_judged_by_what_was_known_then() -> None:
    findings = Inspector(MemorySession("s", (exchange(answer=None), exchange(name="2")))).run().findings
    assert [f.severity for f in findings if f.side == "request" and not f.rule.startswith("cost.")] == [
        Severity.ERROR,
        Severity.INFO,
    ]


def test_facts_are_counted_by_the_exchanges_that_contradict_them() -> None:
    session = MemorySession("s", tuple(exchange(name=str(n)) for n in range(3)))
    (fact,) = contradicted_facts(Inspector(session).run().findings)
    assert (fact.contract, fact.rule, fact.by, fact.exchanges) == (
        "anthropic",
        "schema.name",
        "api.anthropic.com",
        (0, 1, 2),
    )


def test_a_gateway_speaks_for_itself() -> None:
    shown = [("anthropic-organization-id", "1")]
    outer = exchange(url="http://localhost:4321/v1/messages", headers=shown, hop="client", started_at=1.0, duration=3.0)
    inner = exchange(
        {**REQUEST, "tools": [{**ODD_TOOL, "name": "ls"}]}, name="2", hop="upstream", started_at=1.5, duration=1.0
    )
    findings = Inspector(MemorySession("s", (outer, inner))).run().findings
    (note,) = [f for f in findings if f.rule == "contract.disagrees"]
    assert note.contradicts
    assert note.contradicts.by == "the gateway localhost:4321 (hop 'client')"


def test_a_trial_of_what_was_accepted_is_accepted_and_one_under_another_contract_is_not() -> None:
    inspector = Inspector(MemorySession("s", (exchange(),)))
    inspector.run()
    request = inspector.session.exchange(0).request
    assert request
    assert inspector.trial(0, request).judgement.verdict is not Verdict.REFUSES
    assert inspector.trial(0, request, provider="anthropic").judgement.verdict is Verdict.REFUSES
    assert inspector.trial(0, request, provider="anthropic", is_own=True).judgement.verdict is not Verdict.REFUSES


STAND_INS = [
    ("REDACTED", True),
    ("<scrubbed>", True),
    ("***", True),
    ("[redacted id]", True),
    ("call_1", False),
    ("redactedness of 4", False),
]


@pytest.mark.parametrize(("name", "is_one"), STAND_INS)
def test_an_error_on_a_stand_in_is_a_warning_that_says_so(name: str, is_one: bool) -> None:
    calls = [{"type": "tool_use", "id": name, "name": "ls", "input": {"path": p}} for p in "ab"]
    results = [{"type": "tool_result", "tool_use_id": name, "content": p} for p in "ab"]
    history = [GO, {"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    (twin,) = [f for f in found(exchange({**REQUEST, "messages": history})) if f.rule == "closure.duplicate-id"]
    assert twin.severity is (Severity.WARNING if is_one else Severity.ERROR)
    assert ("stand-in" in twin.evidence) == is_one


def test_a_request_that_ends_with_open_calls_and_was_accepted_has_lost_nothing() -> None:
    call = {"id": "call_0123456789abcdef", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    tool = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}
    asked = [GO, {"role": "assistant", "content": None, "tool_calls": [call]}]
    sent = {"model": "gpt-5", "messages": asked, "tools": [tool]}
    answer = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}}]}
    url = "https://api.openai.com/v1/chat/completions"
    before = found(exchange(sent, None, url=url))
    assert [f.severity for f in before if f.rule == "closure.missing-result"] == [Severity.ERROR]
    accepted = found(exchange(sent, answer, url=url))
    assert [f.rule for f in accepted if f.severity is Severity.ERROR] == []
    assert "contract.disagrees" in [f.rule for f in accepted]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (exchange({**REQUEST, "tools": [], "top_k": -2}, None), ("params.unsupported", Severity.WARNING)),
        (exchange({**REQUEST, "tools": [], "top_k": -2}), ("contract.disagrees", Severity.INFO)),
        (exchange({**REQUEST, "tools": [], "top_k": -2}, url=""), ("contract.disagrees", Severity.INFO)),
    ],
    ids=["unanswered", "accepted", "accepted by a host that is not recorded"],
)
def test_a_relation_that_rests_on_types_or_documents_is_refuted_too(
    sent: Exchange, expected: tuple[str, Severity]
) -> None:
    (finding,) = (f for f in found(sent) if "/top_k" in f.pointer)
    assert (finding.rule, finding.severity) == expected
    if finding.contradicts:
        assert (finding.contradicts.rule, finding.contradicts.fact) == (
            "params.unsupported",
            "params.unsupported:top-k-below-0",
        )
