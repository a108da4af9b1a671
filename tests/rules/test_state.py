"""What the server is trusted to hold: it does, it does not, and it shows."""

from __future__ import annotations

import pytest

from tests.rules.conftest import brief, exchange
from workbench.rules.inspection import Inspector
from workbench.wire.session import MemorySession

TOOLS = [{"name": "ls", "input_schema": {"type": "object", "properties": {}}}]
USE = {"type": "tool_use", "id": "toolu_abcdefgh12345678", "name": "ls", "input": {}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": USE["id"], "content": "a b"}]}
AT = "/thread/previous_message_id"


def said(name, *content, tokens=None):
    body = {"id": name, "type": "message", "role": "assistant", "model": "m", "content": list(content)}
    usage = {} if tokens is None else {"usage": {"input_tokens": tokens, "output_tokens": 9}}
    return {**body, "stop_reason": "end_turn", "stop_sequence": None, **usage}


def text(words):
    return {"type": "text", "text": words}


FIRST = {"model": "m", "max_tokens": 9, "thread": {"type": "create"}, "tools": TOOLS}
FIRST |= {"messages": [{"role": "user", "content": "which files are there?"}]}
FOLLOW = {"model": "m", "max_tokens": 9, "thread": {"type": "continue", "previous_message_id": "msg_1"}}
FOLLOW |= {"messages": [RESULT]}

THREADS = [
    ("it is held", 412, said("msg_2", text("Two files."), tokens=460), []),
    ("fewer input tokens", 412, said("msg_2", text("Two files."), tokens=31), [("state.lost", "error", AT)]),
    ("the model asks", None, said("msg_2", text("What would you like me to do?")), [("state.lost", "warning", AT)]),
    ("nothing tells", None, said("msg_2", text("Two files.")), []),
]


@pytest.mark.parametrize(("tokens", "answer", "expected"), [r[1:] for r in THREADS], ids=[r[0] for r in THREADS])
def test_threads(inspect, tokens, answer, expected):
    pairs = [(FIRST, said("msg_1", USE, tokens=tokens)), (FOLLOW, answer)]
    assert brief(inspect(pairs, protocol="anthropic-messages")) == expected


def test_the_evidence_says_what_was_read(inspect):
    pairs = [(FIRST, said("msg_1", USE, tokens=412)), (FOLLOW, said("msg_2", text("Two."), tokens=31))]
    (finding,) = inspect(pairs, protocol="anthropic-messages")
    assert finding.evidence == "exchange 1 reported 412 input tokens, this one 31"


def test_who_sends_the_history_too_loses_nothing(inspect):
    whole = {
        **FOLLOW,
        "tools": TOOLS,
        "messages": [*FIRST["messages"], {"role": "assistant", "content": [USE]}, RESULT],
    }
    pairs = [(FIRST, said("msg_1", USE, tokens=412)), (whole, said("msg_2", text("Two."), tokens=31))]
    assert not inspect(pairs, protocol="anthropic-messages")


CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_k", "name": "ls", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_k", "output": "a b"}
ASKED = {"model": "gpt-5-mini", "input": "which files?"}
LATER = {"model": "gpt-5-mini", "previous_response_id": "resp_1", "input": [OUTPUT]}


def response(name="resp_1", *, tokens=None, **more):
    body = {"object": "response", "id": name, "status": "completed", "model": "gpt-5-mini", "output": [CALL], **more}
    return body if tokens is None else {**body, "usage": {"input_tokens": tokens, "output_tokens": 5}}


FAILED = {"code": "server_error", "message": "no"}
RESPONSES = [
    ("stored", ASKED, response(), None, 200, []),
    ("store false", {**ASKED, "store": False}, response(), None, 200, ["error"]),
    ("the answer says so", ASKED, response(store=False), None, 200, ["error"]),
    ("an answer that failed", ASKED, response(status="failed", error=FAILED), None, 200, ["error"]),
    ("tools are not inherited", {**ASKED, "tools": [{"type": "function", "name": "ls"}]}, response(tokens=900),
     response("resp_2", tokens=90, output=[]), 200, []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "answer", "after", "status", "expected"), [r[1:] for r in RESPONSES], ids=[r[0] for r in RESPONSES]
)
def test_answers_that_are_named(inspect, asked, answer, after, status, expected):
    found = inspect([(asked, answer), (LATER, after)], protocol="openai-responses", provider="openai", status=status)
    lost = [f for f in found if f.rule == "state.lost"]
    assert [f.severity for f in lost] == expected
    assert all(f.pointer == "/previous_response_id" for f in lost)
    assert all(f.refusal == "Previous response with id 'resp_1' not found." for f in lost)


ASKS = [{"type": "output_text", "text": "What is this?"}]


def test_a_provider_that_holds_nothing_loses_everything(inspect):
    after = response("resp_2", tokens=31, output=[{"type": "message", "role": "assistant", "content": ASKS}])
    found = inspect([(ASKED, response()), (LATER, after)], protocol="openai-responses", provider="llama.cpp")
    (finding,) = [f for f in found if f.rule == "state.lost"]
    assert "stores no conversation: the server receives only this request" in finding.message
    assert finding.evidence == "the response reports 31 input tokens · the response asks: 'What is this?'"


def test_an_answer_of_another_server():
    first = exchange(ASKED, response(), protocol="openai-responses", name="1")
    later = exchange(LATER, protocol="openai-responses", name="2")
    hosts = ("https://a.example", "https://b.example")
    made = tuple(_at(e, host) for e, host in zip((first, later), hosts, strict=True))
    findings = Inspector(MemorySession("test", made), provider="openai").run().findings
    (finding,) = [f for f in findings if f.rule == "state.lost"]
    assert (finding.exchange, "a.example" in finding.message, "b.example" in finding.message) == (1, True, True)


def _at(made, host):
    from dataclasses import replace

    return replace(made, request=replace(made.request, url=host + made.request.url))


def test_an_answer_that_nobody_saw_may_be_older_than_the_recording(inspect):
    found = inspect(LATER, response("resp_2", output=[]), protocol="openai-responses", provider="openai")
    (finding,) = [f for f in found if f.rule != "content.empty"]
    assert (finding.rule, finding.severity, finding.check) == ("state.lost", "info", None)


def test_an_answer_that_the_server_does_not_know(inspect):
    error = {
        "error": {"message": "Previous response with id 'resp_1' not found.", "code": "previous_response_not_found"}
    }
    found = inspect(LATER, error, protocol="openai-responses", provider="openai", status=400)
    assert ("state.lost", "error", "/previous_response_id") in brief(found)


def test_a_result_for_a_call_that_the_previous_response_did_not_make(inspect):
    other = {**LATER, "input": [{**OUTPUT, "call_id": "call_z"}]}
    found = inspect([(ASKED, response()), (other, None)], protocol="openai-responses", provider="openai")
    (finding,) = [f for f in found if f.rule == "closure.orphan-result"]
    assert (finding.exchange, finding.pointer, finding.severity) == (1, "/input/0", "error")
    assert "the call with id 'call_k'" in finding.evidence


def test_a_thread_that_the_server_made_and_does_not_know_is_lost():
    gone = {"type": "error", "error": {"type": "not_found_error", "message": "Thread not found",
                                       "details": {"error_code": "thread_not_found"}}}  # fmt: skip
    made = (
        exchange(FIRST, said("msg_1", USE, tokens=400), protocol="anthropic-messages", name="0"),
        exchange(FOLLOW, gone, protocol="anthropic-messages", status=404, name="1"),
    )
    found = Inspector(MemorySession("test", made), provider="anthropic").run().findings
    (lost,) = [f for f in found if f.rule == "state.lost"]
    assert (lost.exchange, lost.pointer, lost.severity) == (1, AT, "error")
    assert "does not know the response that this request continues" in lost.message


STEP = {"type": "function_call", "id": "c1", "name": "ls", "arguments": {}}
GIVEN = {"type": "function_result", "call_id": "c1", "name": "ls", "result": "a b"}
BEFORE = {"model": "gemini-3-flash", "input": "which files?"}
NEXT = {"model": "gemini-3-flash", "previous_interaction_id": "v1_1", "input": [GIVEN]}
INTERACTION = {"object": "interaction", "id": "v1_1", "status": "requires_action", "steps": [STEP]}
INTERACTIONS = [
    ("kept", BEFORE, INTERACTION, []),
    ("store false", {**BEFORE, "store": False}, INTERACTION, ["state.lost"]),
    ("an interaction that failed", BEFORE, {**INTERACTION, "status": "failed", "errors": [FAILED]}, ["state.lost"]),
]


@pytest.mark.parametrize(
    ("asked", "answer", "expected"), [r[1:] for r in INTERACTIONS], ids=[r[0] for r in INTERACTIONS]
)
def test_an_interaction_that_goes_on_from_another(inspect, asked, answer, expected):
    """The result comes alone: its call is on the server, unless that does not keep it."""
    after = {**INTERACTION, "id": "v1_2", "status": "completed", "steps": []}
    found = inspect([(asked, answer), (NEXT, after)], protocol="gemini-interactions", provider="gemini-interactions")
    errors = [f for f in found if f.exchange == 1 and f.severity == "error"]
    assert [f.rule for f in errors] == expected
    assert all(f.pointer == "/previous_interaction_id" for f in errors)
