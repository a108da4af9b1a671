"""An error instead of a response is said, once, with its reason."""

from __future__ import annotations

import json

import pytest

from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspector

HELLO = [{"role": "user", "content": "hello"}]


def error(message="no", **more):
    return {"error": {"message": message, **more}}


HTML = b"<html><head><title>502 Bad Gateway</title></head></html>"

MAY_PASS = "nothing in the request causes this; the same request may succeed later"
ROWS = [
    ("refused", error(type="invalid_request_error"), 400, "/error/message", "status 400: the request is refused",
     "request-refused"),
    ("rate", error(code="rate_limit_exceeded"), 429, "/error/message",
     f"status 429: a rate limit is reached; {MAY_PASS}", "rate-limit"),
    ("key", {"detail": "bad key"}, 401, "/detail",
     "status 401: the API key is missing or not valid; nothing in the request causes this", "key"),
    ("overload", [error()], 529, "/0/error/message", f"status 529: the server is overloaded; {MAY_PASS}", "overload"),
    ("relay that says 200", error(code=502), 200, "/error/message",
     f"a gateway in front of the provider failed; {MAY_PASS}", "gateway"),
    ("unknown", error(), 200, "/error/message", "the provider returned an error instead of a message", ""),
    ("page", HTML, 502, "", "status 502: a gateway in front of the provider failed; the body is not JSON; "
     f"from the gateway; {MAY_PASS}", "gateway"),
    ("nothing at all", b"", 500, "", f"status 500: the server failed; {MAY_PASS}", "provider-failed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status", "pointer", "message", "kind"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS]
)
def test_error_answers(chat, body, status, pointer, message, kind):
    (finding,) = chat(HELLO, body, status=status)
    assert (finding.rule, finding.severity, finding.side) == ("answer.error", "warning", "response")
    assert (finding.pointer, finding.message, finding.kind) == (pointer, message, kind)


FAILED = [
    ("MALFORMED_FUNCTION_CALL", "the model wrote a call that the provider could not read"),
    ("UNEXPECTED_TOOL_CALL", "the model called a tool where none is enabled, or one that is not declared"),
]


@pytest.mark.parametrize(("reason", "words"), FAILED)
def test_an_answer_that_says_it_failed(inspect, reason, words):
    body = {"candidates": [{"content": {"parts": [{"text": "ok"}], "role": "model"}, "finishReason": reason}]}
    asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    found = [f for f in inspect(asked, body, protocol="gemini", provider="gemini") if f.rule == "answer.error"]
    assert [(f.pointer, f.message) for f in found] == [
        ("/candidates/0/finishReason", f"the finish reason is '{reason}': {words}")
    ]


def test_the_reason_is_shown(anthropic):
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "too\nlong " * 60, "hint": "cut it"}}
    (finding,) = anthropic(HELLO, body, status=400)
    assert finding.evidence.startswith("'invalid_request_error': 'too\\nlong too")
    assert finding.evidence.endswith("…'; 'hint': 'cut it'")


def test_a_known_text_names_its_rule(chat):
    text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    found = chat(HELLO, error(text), status=503, provider="deepseek")
    assert [f.message for f in found] == [
        "status 503: a tool call has no tool result; deepseek uses this text for closure.missing-result"
    ]


TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}
ASKED = {"top_p": 0.5, "response_format": {"type": "text"}, "tools": [TOOL]}
PLACES = [
    ("messages[0].content is not what I like", "content.shape", "/messages/0/content"),
    ("messages[0].role is not what I like", "content.role-order", "/messages/0/role"),
    ("I do not like this top_p", "params.unsupported", "/top_p"),
    ("I do not like response_format", "params.unsupported", "/response_format"),
    ("tools[0].function.name is not what I like", "schema.name", "/tools/0/function/name"),
    ("tools[0].function is not what I like", "schema.malformed", "/tools/0/function"),
]


@pytest.mark.parametrize(("text", "rule", "pointer"), PLACES)
def test_a_text_that_only_names_a_place_is_a_finding_of_the_rule_of_that_place(inspect, text, rule, pointer):
    body = {"model": "gpt-4.1", "messages": HELLO, **ASKED}
    (finding,) = inspect(body, error(text), protocol="openai-chat", provider="openai", status=400)
    assert (finding.rule, finding.pointer, finding.severity) == (rule, pointer, "error")
    assert finding.message.endswith("the error text gives no reason")
    assert text in finding.evidence


def test_a_text_that_only_names_a_place_is_about_what_is_wrong_there(inspect):
    body = {"model": "o3", "messages": HELLO, "temperature": 0.5}
    text = error("I do not like this temperature")
    found = inspect(body, text, protocol="openai-chat", provider="openai", status=400)
    (finding,) = [f for f in found if f.pointer == "/temperature"]
    assert finding.message.startswith("temperature: this model") and "I do not like" in finding.evidence


def test_a_text_that_names_nothing_of_the_request_stays_unexplained(inspect):
    body = {"model": "gpt-4.1", "messages": HELLO, **ASKED}
    (finding,) = inspect(body, error("I do not like this"), protocol="openai-chat", provider="openai", status=400)
    assert finding.rule == "answer.error"


def test_a_page_shows_its_title(anthropic):
    (finding,) = anthropic(HELLO, HTML, status=502)
    assert (finding.rule, finding.evidence) == ("answer.error", "'502 Bad Gateway'")


UNANSWERED = [
    *HELLO,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
    {"role": "user", "content": "next"},
]


OF_THE_BREAK = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."
REFUSALS = [
    (400, "no", set()),
    (400, OF_THE_BREAK, set()),
    (400, "the colour of this request is not to our liking", {"answer.error"}),
    (429, "no", {"answer.error"}),
]


@pytest.mark.parametrize(("status", "text", "expected"), REFUSALS)
def test_a_refusal_that_a_break_explains_is_no_finding_of_its_own(anthropic, status, text, expected):
    found = {f.rule for f in anthropic(UNANSWERED, error(text), status=status)}
    assert "closure.missing-result" in found
    assert {r for r in found if r.startswith("answer.")} == expected


def test_the_error_of_a_stream_is_said_once_with_its_reason(anthropic):
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    stream = b"event: error\ndata: " + json.dumps(body).encode() + b"\n\n"
    (finding,) = [f for f in anthropic(HELLO, stream) if "error" in f.rule]
    assert (finding.rule, finding.evidence) == ("stream.error-event", "'overloaded_error': 'Overloaded'")


def test_the_reason_in_a_chat_stream_is_cut_with_an_ellipsis(chat):
    (finding,) = chat(HELLO, b"data: " + json.dumps(error("x" * 300)).encode() + b"\n\n")
    assert finding.evidence == f"'{'x' * 200}…'"


def test_a_recorded_refusal(recordings):
    name = "pydantic-ai/groq/test_groq__test_tool_use_failed_error.yaml"
    findings = Inspector(open_input(str(recordings / name))).run().findings
    (finding,) = [f for f in findings if f.rule == "answer.error"]
    assert (finding.exchange, finding.message) == (
        0,
        "status 400: the model did not make a valid tool call, and the server refused what it wrote; "
        "groq uses this text for args.schema; the request is not at fault",
    )
    assert finding.evidence.startswith("'tool_use_failed': \"Tool call validation failed")
    assert "'failed_generation': '{\"name\"" in finding.evidence


EMPTY_HANDED = [
    ("openai-chat", {"object": "chat.completion", "choices": []}),
    ("openai-responses", {"object": "response", "status": "completed", "output": []}),
    ("gemini", {"candidates": []}),
]


@pytest.mark.parametrize(("protocol", "answer"), EMPTY_HANDED)
def test_an_answer_without_a_message_is_empty(inspect, protocol, answer):
    found = inspect(None, answer, protocol=protocol)
    assert [(f.rule, f.severity, f.message) for f in found] == [
        ("content.empty", "warning", "the response contains no message")
    ]
