"""The recorded answer has the last word: on the request, and on the contract."""

from __future__ import annotations

import json

import pytest

from workbench.contracts import Severity
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

GO = {"role": "user", "content": "go on"}


def use(name):
    return {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "ls", "input": {}}]}


def error(message, **more):
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message, **more}}


MISSING = (
    "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
OPEN = [GO, use("toolu_1"), GO, use("toolu_2"), GO]
ANSWER = {
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "done"}],
    "stop_reason": "end_turn",
}


def rules(findings):
    return [f.rule for f in findings]


def test_of_several_findings_the_one_that_the_text_names_says_so_and_comes_first(anthropic):
    first, second = anthropic(OPEN, error(MISSING.format(3, "toolu_2")), status=400)
    assert (first.rule, first.pointer) == ("closure.missing-result", "/messages/3/content/0")
    assert "provider error: 'messages.3: `tool_use` ids" in first.evidence
    assert "(provider's 'messages.3' = /messages/3)" in first.evidence
    assert (second.rule, second.pointer) == ("closure.missing-result", "/messages/1/content/0")
    assert "says so" not in second.evidence
    assert second.severity is Severity.WARNING  # broken too, and not what was refused
    assert "the provider names 'messages.3', not this" in second.evidence


def test_a_text_that_names_only_a_message_is_explained_with_its_bytes(chat):
    call = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    whole = [GO, {"role": "assistant", "content": None, "tool_calls": [call]}]
    whole.append({"role": "tool", "tool_call_id": "call_1", "content": "a"})
    text = "Missing `reasoning_content` field in the assistant message at message index 1."
    found = chat(whole, {"error": {"message": text}}, status=400, provider="deepseek:v3.2", model="deepseek-reasoner")
    (named,) = [f for f in found if f.rule == "reasoning.missing"]
    assert (named.severity, named.pointer) == (Severity.ERROR, "/messages/1")
    assert named.span is not None
    assert "answer.error" not in rules(found)


NEW = [
    ("a text of the contract", MISSING.format(1, "toolu_1"), ["closure.missing-result", "contract.disagrees"]),
    ("an unknown text", "I do not like this at all", ["answer.error"]),
]


@pytest.mark.parametrize(("text", "expected"), [n[1:] for n in NEW], ids=[n[0] for n in NEW])
def test_a_refusal_that_no_rule_predicted(anthropic, text, expected):
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}
    healthy = [GO, use("toolu_1"), {"role": "user", "content": [result]}]
    found = anthropic(healthy, error(text), status=400)
    assert rules(found) == expected
    if found[0].rule == "closure.missing-result":
        assert (found[0].severity, found[0].pointer) == (Severity.ERROR, "/messages/1")
        assert found[0].span
        assert found[0].source.startswith("recorded in exchange 1")
        assert "every tool call in this request has its tool result" in found[0].message
        assert (found[1].severity, found[1].side) == (Severity.INFO, "response")
        assert "this request does not have that fault" in found[1].message


DISAGREEMENTS = [
    ("it was answered", ANSWER, 200, "refuses this request (closure.missing-result, status 400), but the recorded"),
    ("another status", error(MISSING.format(1, "toolu_1")), 422, "has status 400 for closure.missing-result"),
    ("another text", error("calls want to be answered, dear friend"), 400, "has a different text for closure.missing"),
    ("all as it says", error(MISSING.format(1, "toolu_1")), 400, None),
    ("the beginning of it", error("messages.1: `tool_use` ids were found without"), 400, None),
    ("a limit says nothing", error("slow down"), 429, None),
    ("a server neither", error("sorry"), 500, None),
]


@pytest.mark.parametrize(
    ("body", "status", "expected"), [d[1:] for d in DISAGREEMENTS], ids=[d[0] for d in DISAGREEMENTS]
)
def test_where_contract_and_answer_disagree(anthropic, body, status, expected):
    found = anthropic([GO, use("toolu_1"), GO], body, status=status)
    assert rules(found)[0] == "closure.missing-result"
    told = [f for f in found if f.rule == "contract.disagrees"]
    assert len(told) == (expected is not None)
    for finding in told:
        assert expected in finding.message
        is_known = "different text" not in finding.message  # then the fault is found, and the contract is to be mended
        assert finding.severity is (Severity.INFO if is_known else Severity.WARNING)
        assert "(20" in finding.source  # the fact that is wrong, with its date


@pytest.mark.parametrize(("host", "is_witness"), [("api.anthropic.com", True), ("localhost:8080", False)])
def test_only_the_provider_itself_contradicts_its_contract(host, is_witness):
    request = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [GO, use("toolu_1"), GO]}
    sent = HttpRequest(url=f"http://{host}/v1/messages", body=Body(json.dumps(request).encode()))
    one = Exchange("1", sent, HttpResponse(body=Body(json.dumps(ANSWER).encode())))
    found = Inspector(MemorySession("s", (one,)), provider="anthropic").run().findings
    assert ("contract.disagrees" in rules(found)) == is_witness


def test_a_refusal_that_a_gateway_passed_on_blames_what_the_gateway_sent():
    call = {"id": "call_00_abcdefghijkl", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    bare = {"role": "assistant", "content": None, "tool_calls": [call]}
    reply = {"role": "tool", "tool_call_id": call["id"], "content": "a"}
    text = "The `reasoning_content` in the thinking mode must be passed back to the API."
    refused = HttpResponse(400, body=Body(json.dumps({"error": {"message": text}}).encode()))

    def sighting(hop, turn):
        body = json.dumps({"model": "deepseek-v4-pro", "messages": [GO, turn, reply]}).encode()
        return Exchange(hop, HttpRequest(url="/chat/completions", body=Body(body)), refused, hop=hop)

    session = sighting("client", {**bare, "reasoning_content": "I list it."}), sighting("gateway", bare)
    found = Inspector(MemorySession("s", session), provider="deepseek:v4").run().findings
    assert [(f.exchange, f.rule) for f in found if f.severity is Severity.ERROR] == [
        (1, "reasoning.missing"),
        (1, "gateway.dropped-field"),
    ]


def test_what_the_model_made_of_it_is_no_fault_of_the_request(recordings):
    from workbench.formats.importers import open_input

    name = "pydantic-ai/groq/test_groq__test_tool_use_failed_error.yaml"
    findings = Inspector(open_input(str(recordings / name))).run().findings
    assert not [f for f in findings if f.severity is Severity.ERROR]


ELSEWHERE = "toolu_01Elsewhere9"


def test_an_id_that_is_not_in_the_request_is_no_finding_of_ours(anthropic):
    first, second, note = anthropic(OPEN, error(MISSING.format(9, ELSEWHERE)), status=400)[:3]
    assert (first.rule, first.severity) == ("closure.missing-result", Severity.ERROR)
    assert f"'{ELSEWHERE}' does not occur in this request" in first.message
    assert "compare with the request that the next hop sent upstream" in first.message
    assert (second.severity, second.pointer) == (Severity.WARNING, "/messages/1/content/0")
    assert f"the provider names '{ELSEWHERE}', which is not in this request" in second.evidence
    told = [f for f in anthropic(OPEN, error(MISSING.format(9, ELSEWHERE)), status=400) if f.severity is Severity.INFO]
    assert [(f.rule, f.side) for f in told if f.rule == "contract.disagrees"] == [("contract.disagrees", "response")]
    assert note.severity is not Severity.ERROR


def test_an_index_far_from_what_a_rule_has_found_outranks_it(anthropic):
    said = [{"role": "assistant", "content": "x"}, GO] * 4
    found = anthropic([*OPEN[:3], *said], error("messages.10: this is refused"), status=400)
    broken = next(f for f in found if f.rule == "closure.missing-result")
    assert (broken.severity, broken.pointer) == (Severity.WARNING, "/messages/1/content/0")
    assert "the provider names 'messages.10', not this" in broken.evidence
    assert [f.pointer for f in found if f.rule == "content.shape"] == ["/messages/10"]  # and that is the cause


def test_both_calls_of_the_turn_that_the_text_names_are_the_cause(anthropic):
    both = {"role": "assistant", "content": [*use("toolu_1")["content"], *use("toolu_2")["content"]]}
    found = anthropic([GO, both, GO], error(MISSING.format(1, "toolu_1, toolu_2")), status=400)
    assert [f.severity for f in found if f.rule == "closure.missing-result"] == [Severity.ERROR, Severity.ERROR]


def test_a_text_that_names_no_place_outranks_nothing(anthropic):
    found = anthropic(OPEN, error("I do not like this at all"), status=400)
    assert [f.severity for f in found if f.rule == "closure.missing-result"] == [Severity.ERROR, Severity.ERROR]


def test_a_word_of_an_error_code_is_no_id(anthropic):
    text = "call_limit_exceeded: " + MISSING.format(1, "toolu_1")
    first = anthropic(OPEN[:3], error(text), status=400)[0]
    assert (first.rule, first.pointer) == ("closure.missing-result", "/messages/1/content/0")
    assert "provider error" in first.evidence
