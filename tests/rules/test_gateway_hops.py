"""What a gateway did to a turn that was recorded on both of its sides."""

from __future__ import annotations

import json

import pytest

from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
CALL = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
ASKED = {
    "model": "m",
    "temperature": 0,
    "tools": [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}],
    "messages": [
        {"role": "user", "content": "list it"},
        {"role": "assistant", "content": None, "reasoning_content": "I list it.\n", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a"},
    ],
}
ANSWER = {
    "id": "c1",
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "It holds a."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 5},
}
REMOVED = object()


def changed(body, *edits):
    """A copy of a body with values put at paths, or removed."""
    made = json.loads(json.dumps(body))
    for path, value in edits:
        *steps, last = (int(s) if s.isdecimal() else s for s in path.split("/"))
        node = made
        for step in steps:
            node = node[step]
        if value is REMOVED:
            del node[last]
        else:
            node[last] = value
    return made


def sighting(hop, request, response=None, *, url=CHAT, status=200, headers=(("x", "y"),)):
    def body(value):
        return Body(value if isinstance(value, bytes) else json.dumps(value).encode())

    is_stream = isinstance(response, bytes) and response.startswith((b"data:", b"event:"))
    kind = (("content-type", "text/event-stream" if is_stream else "application/json"),)
    answer = None if response is None else HttpResponse(status, Headers(kind), body(response))
    return Exchange(hop, HttpRequest(url=url, headers=Headers(headers), body=body(request)), answer, hop=hop)


def found(client, upstream):
    findings = Inspector(MemorySession("s", (client, upstream)), provider="generic").run().findings
    return [f for f in findings if f.rule.startswith("gateway.")]


def brief(findings):
    return [(f.rule.removeprefix("gateway."), f.severity.value, f.pointer) for f in findings]


REQUESTS = [
    ("nothing", (), []),
    ("reasoning dropped", [("messages/1/reasoning_content", REMOVED)],
     [("dropped-field", "error", "/messages/1/reasoning_content")]),
    ("reasoning trimmed", [("messages/1/reasoning_content", "I list it.")],
     [("altered-bytes", "error", "/messages/1/reasoning_content")]),
    ("reasoning renamed", [("messages/1/reasoning_content", REMOVED), ("messages/1/thoughts", "I list it.\n")],
     [("altered-shape", "warning", "/messages/1/thoughts")]),
    ("an id changed on one side", [("messages/1/tool_calls/0/id", "c")],
     [("altered-bytes", "error", "/messages/1/tool_calls/0/id")]),
    ("an id mapped on both sides", [("messages/1/tool_calls/0/id", "c"), ("messages/2/tool_call_id", "c")],
     [("altered-bytes", "info", "/messages/1/tool_calls/0/id"), ("altered-bytes", "info", "/messages/2/tool_call_id")]),
    ("arguments changed", [("messages/1/tool_calls/0/function/arguments", '{"path": "/"}')],
     [("altered-bytes", "error", "/messages/1/tool_calls/0/function/arguments")]),
    ("arguments written anew", [("messages/1/tool_calls/0/function/arguments", '{"path":"."}')],
     [("altered-bytes", "info", "/messages/1/tool_calls/0/function/arguments")]),
    ("words changed", [("messages/0/content", "list them")], [("altered-bytes", "warning", "/messages/0/content")]),
    ("a text as blocks", [("messages/0/content", [{"type": "text", "text": "list it"}])],
     [("altered-shape", "info", "/messages/0/content")]),
    ("the tools dropped", [("tools", REMOVED)], [("dropped-field", "error", "/tools")]),
    ("a parameter dropped", [("temperature", REMOVED)], [("dropped-field", "warning", "/temperature")]),
    ("an empty one dropped", [("messages/1/content", REMOVED)], [("dropped-field", "info", "/messages/1/content")]),
    ("a parameter added", [("user", "u1")], [("altered-shape", "info", "/user")]),
    ("another model", [("model", "vendor/m")], [("altered-bytes", "info", "/model")]),
    ("instructions added", [("messages/0", {"role": "system", "content": "Be kind."})],
     [("dropped-field", "error", "/messages"), ("altered-shape", "warning", "/messages/0")]),
]  # fmt: skip


@pytest.mark.parametrize(("edits", "expected"), [r[1:] for r in REQUESTS], ids=[r[0] for r in REQUESTS])
def test_what_became_of_a_request(edits, expected):
    findings = found(sighting("client", ASKED), sighting("upstream", changed(ASKED, *edits)))
    assert sorted(brief(findings)) == sorted(expected)
    for finding in findings:
        assert (finding.exchange, finding.side) == (1, "request")
        assert (finding.origin.exchange, finding.origin.hop) == (1, "upstream")
        assert "exchange 1, recorded at 'client'" in finding.origin.words


def test_json_that_is_written_anew_means_the_same():
    spaced = json.dumps(ASKED, indent=2, sort_keys=True).encode()
    (finding,) = found(sighting("client", ASKED), sighting("upstream", spaced))
    assert brief([finding]) == [("altered-bytes", "info", "")]
    assert "whitespace, key order" in finding.message


def test_many_places_of_one_kind_are_one_finding():
    more = {**ASKED, "messages": [*ASKED["messages"], *ASKED["messages"][1:]]}
    edits = [(f"messages/{n}/reasoning_content", REMOVED) for n in (1, 3)]
    (finding,) = found(sighting("client", more), sighting("upstream", changed(more, *edits)))
    assert finding.related == ("/messages/3/reasoning_content",)
    assert "and in 1 other place" in finding.message


HEADERS = [
    ("kept", "context-1m", []),
    ("lost", "", [("dropped-field", "error", "/headers/anthropic-beta")]),
    ("changed", "other", [("altered-bytes", "error", "/headers/anthropic-beta")]),
]


@pytest.mark.parametrize(("value", "expected"), [h[1:] for h in HEADERS], ids=[h[0] for h in HEADERS])
def test_the_beta_header(value, expected):
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    went = (("anthropic-beta", value),) if value else (("x", "y"),)
    sent = sighting("client", body, url=MESSAGES, headers=(("Anthropic-Beta", "context-1m"),))
    findings = found(sent, sighting("upstream", body, url=MESSAGES, headers=went))
    assert [(r, p) for r, _, p in brief(findings)] == [(r, p) for r, _, p in expected]


ANSWERS = [
    ("nothing", ANSWER, []),
    ("other words", changed(ANSWER, ("choices/0/message/content", "It holds b.")),
     [("altered-bytes", "error", "/choices/0/message/content")]),
    ("wrapped", {"success": True, "data": ANSWER}, [("altered-shape", "warning", "/data")]),
    ("counts dropped", changed(ANSWER, ("usage", REMOVED)), [("dropped-field", "info", "/usage")]),
    ("its own model name", changed(ANSWER, ("model", "n")), [("altered-bytes", "info", "/model")]),
]  # fmt: skip


@pytest.mark.parametrize(("got", "expected"), [a[1:] for a in ANSWERS], ids=[a[0] for a in ANSWERS])
def test_what_became_of_an_answer(got, expected):
    findings = found(sighting("client", ASKED, got), sighting("upstream", ASKED, ANSWER))
    assert [(r, p) for r, _, p in brief(findings)] == [(r, p) for r, _, p in expected]
    for finding in findings:
        assert (finding.exchange, finding.side, finding.origin.hop) == (0, "response", "client")


def test_answers_of_different_attempts_are_not_compared():
    refused = sighting("upstream", ASKED, {"error": {"message": "busy"}}, status=429)
    assert found(sighting("client", ASKED, ANSWER), refused) == []


ANTHROPIC = {
    "model": "m",
    "max_tokens": 9,
    "tools": [{"name": "ls", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "list it"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "ls", "input": {"path": "."}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "a"}]},
    ],
}
USE, RESULT = "messages/1/content/0", "messages/2/content/0"
CONVERTED = [
    ("its reasoning lost", (), [("dropped-field", "warning", "/messages/1")]),
    ("arguments changed", [(f"{USE}/input", {"path": "/"})],
     [("dropped-field", "warning", "/messages/1"), ("altered-bytes", "error", "/messages/1/content/0/input")]),
    ("ids mapped", [(f"{USE}/id", "toolu_9"), (f"{RESULT}/tool_use_id", "toolu_9")],
     [("dropped-field", "warning", "/messages/1")]),
    ("an id changed on one side", [(f"{USE}/id", "toolu_9")],
     [("dropped-field", "warning", "/messages/1"), ("altered-bytes", "error", "/messages/1/content/0/id")]),
]  # fmt: skip


@pytest.mark.parametrize(("edits", "expected"), [c[1:] for c in CONVERTED], ids=[c[0] for c in CONVERTED])
def test_between_protocols_what_is_said_counts(edits, expected):
    converted = sighting("upstream", changed(ANTHROPIC, *edits), url=MESSAGES)
    assert sorted(brief(found(sighting("client", ASKED), converted))) == sorted(expected)
