from __future__ import annotations

import json

import pytest

GO = [{"role": "user", "content": "go"}]
TOOLS = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]
NAMED = {"type": "function", "function": {"name": "now"}}


def call(arguments="{}", **more):
    return {"index": 0, "id": "c1", "type": "function", "function": {"name": "now", "arguments": arguments}, **more}


def chunk(delta=None, reason=None, **more):
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4.1",
        "choices": [{"index": 0, "delta": delta or {}, "finish_reason": reason}],
        **more,
    }


USAGE = {
    "id": "x",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "gpt-4.1",
    "choices": [],
    "usage": {"completion_tokens": 3},
}


def sse(*chunks, done=True):
    lines = [f"data: {json.dumps(c, ensure_ascii=False)}\n\n" for c in chunks] + ["data: [DONE]\n\n"] * done
    return "".join(lines).encode()


MADE = chunk({"tool_calls": [call()]})
SAID = chunk({"role": "assistant", "content": "hi"})

CHAT = [
    ("call, tool_calls", sse(MADE, chunk(reason="tool_calls")), []),
    ("text, stop", sse(SAID, chunk(reason="stop")), []),
    ("call, stop", sse(MADE, chunk(reason="stop")), [("stream.finish-reason", "error", (1,))]),
    (
        "call and reason in one chunk",
        sse(chunk({"tool_calls": [call()]}, "stop")),
        [("stream.finish-reason", "error", (0,))],
    ),
    ("text, tool_calls", sse(SAID, chunk(reason="tool_calls")), [("stream.finish-reason", "error", (1,))]),
    ("call, length", sse(MADE, chunk(reason="length")), []),
    ("usage", sse(SAID, chunk(reason="stop"), USAGE), [("stream.empty-choices", "warning", (2,))]),
    (
        "usage without the field",
        sse(SAID, chunk(reason="stop"), {"id": "x", "usage": {"total_tokens": 3}}),
        [("stream.empty-choices", "warning", (2,))],
    ),
    (
        "damaged text",
        sse(SAID, chunk({"content": "\ufffd\ufffd"}), chunk(reason="stop")),
        [("stream.encoding", "error", (1,))],
    ),
    (
        "one replacement character, which a model may write",
        sse(SAID, chunk({"content": "caf\ufffd"}), chunk(reason="stop")),
        [("stream.encoding", "warning", (1,))],
    ),
    (
        "an answer whose id a relay changes",
        sse(SAID, chunk(reason="stop", id="gen-2")),
        [("stream.id", "warning", (1,))],
    ),
    (
        "one id for two calls",
        sse(chunk({"tool_calls": [call(), call(index=1)]}, "tool_calls")),
        [("stream.id", "warning", (0,))],
    ),
    (
        "another id in mid-call",
        sse(chunk({"tool_calls": [call("{")]}), chunk({"tool_calls": [call("}", id="c2")]}, "tool_calls")),
        [("stream.name", "error", (1,)), ("stream.id", "error", (1,))],
    ),
    (
        "whole calls in one chunk, without an index",
        sse(chunk({"tool_calls": [call(index=None), call(index=None, id="c2")]}, "tool_calls")),
        [("stream.index", "warning", (0,))],
    ),
    (
        "a finish reason that is an empty string",
        sse(chunk({"content": "hi"}, ""), chunk({"content": "."}, ""), chunk(reason="stop")),
        [("stream.finish-reason", "info", (0,))],
    ),
    (
        "a finish reason that comes twice",
        sse(SAID, chunk(reason="stop"), chunk(reason="stop")),
        [("stream.finish-reason", "info", (2,))],
    ),
    (
        "whole calls in two chunks, without an index",
        sse(
            chunk({"tool_calls": [call(index=None)]}),
            chunk({"tool_calls": [call(index=None, id="c2")]}, "tool_calls"),
        ),
        [("stream.index", "error", (0, 1))],
    ),
]


@pytest.mark.parametrize(("response", "expected"), [r[1:] for r in CHAT], ids=[r[0] for r in CHAT])
def test_chat_streams(chat, response, expected):
    found = [f for f in chat(GO, response, tools=TOOLS) if f.rule.startswith("stream.")]
    assert [(f.rule, f.severity, f.events) for f in found] == expected
    assert all(f.span for f in found)


def test_what_a_call_lacks_went_to_one_that_never_began(chat):
    begun, stray = call(""), {"index": 1, "function": {"arguments": '{"city": "Oslo"}'}}
    tools = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "required": ["city"]}}}]
    answer = sse(chunk({"tool_calls": [begun]}), chunk({"tool_calls": [stray]}), chunk(reason="tool_calls"))
    found = [f for f in chat(GO, answer, tools=tools) if f.severity == "error"]
    assert [(f.rule, f.pointer, f.events) for f in found] == [("stream.index", "/choices/0/message/tool_calls/1", (1,))]


def test_a_prefix_that_stands_twice_hides_nothing_else(chat):
    answer = sse(SAID, chunk(reason="stop")).replace(b"data: ", b"data: data: ")
    (finding,) = chat(GO, answer)
    assert (finding.rule, finding.severity, finding.events) == ("stream.framing", "error", (0, 1, 2))


def test_an_answer_that_says_nothing_has_a_place(chat):
    (finding,) = chat(GO, sse(chunk({"role": "assistant", "reasoning_content": "hm"}), chunk(reason="stop")))
    assert (finding.rule, finding.events) == ("content.empty", (1,))
    assert finding.span


@pytest.mark.parametrize("choice", [NAMED, "required"])
def test_a_forced_choice_ends_with_stop(chat, choice):
    assert not [
        f for f in chat(GO, sse(MADE, chunk(reason="stop")), tools=TOOLS, tool_choice=choice) if f.severity == "error"
    ]


def test_usage_that_was_asked_for_is_no_finding(chat):
    response = sse(SAID, chunk(reason="stop"), USAGE)
    assert not chat(GO, response, stream=True, stream_options={"include_usage": True})


def test_the_reason_of_a_body_counts_too(chat):
    message = {"role": "assistant", "content": None, "tool_calls": [call()]}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    found = [f for f in chat(GO, body, tools=TOOLS) if f.severity == "error"]
    assert [(f.rule, f.pointer) for f in found] == [("stream.finish-reason", "/choices/0/finish_reason")]


def test_the_reason_of_an_anthropic_body_counts_too(anthropic):
    content = [{"type": "tool_use", "id": "a", "name": "now", "input": {}}]
    body = {"type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "end_turn"}
    found = [f for f in anthropic(None, body) if f.severity == "error"]
    assert [(f.rule, f.pointer) for f in found] == [("stream.finish-reason", "/stop_reason")]


def test_a_replacement_character_that_was_sent_may_come_back(chat):
    asked = [{"role": "user", "content": "what is \ufffd?"}]
    (finding,) = chat(asked, sse(chunk({"content": "\ufffd\ufffd!"}), chunk(reason="stop")))
    assert (finding.rule, finding.severity) == ("stream.encoding", "warning")


def test_damaged_arguments(anthropic):
    delta = {"type": "input_json_delta", "partial_json": '{"city": "\ufffd\ufffd\ufffd京"}'}
    start = {"type": "message", "role": "assistant", "model": "m", "content": []}
    events = [
        {"type": "message_start", "message": start},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "a", "name": "w", "input": {}},
        },
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    body = b"".join(f"event: {e['type']}\ndata: {json.dumps(e, ensure_ascii=False)}\n\n".encode() for e in events)
    found = [f for f in anthropic(None, body) if f.severity == "error"]
    assert [(f.rule, f.events) for f in found] == [("stream.encoding", (2,))]


def test_an_error_answer_is_no_fault_of_the_stream(chat):
    found = chat(GO, {"error": {"message": "slow down", "type": "rate_limit_error"}}, status=429)
    assert not [f for f in found if f.rule.startswith("stream.")]


def test_one_body_in_place_of_a_stream(inspect):
    choice = {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    (finding,) = inspect({"model": "m", "stream": True, "messages": GO}, body, protocol="openai-chat")
    assert (finding.rule, finding.severity) == ("stream.framing", "warning")


def test_an_error_in_a_field_of_its_own_is_found(chat):
    answer = sse(SAID).replace(b"data: [DONE]", b'error: {"code": 500, "message": "failed to decode"}')
    (error,) = [f for f in chat(GO, answer) if f.rule == "stream.error-event"]
    assert error.severity == "error" and "failed to decode" in error.evidence and error.events == (1,)


def test_another_field_is_shown_and_breaks_nothing(chat):
    answer = sse(SAID, chunk(reason="stop")).replace(b"data: [DONE]", b"note: hi\ndata: [DONE]")
    assert [(f.rule, f.severity, f.message) for f in chat(GO, answer)] == [
        ("stream.unknown-field", "info", "event streams have no field 'note', so clients ignore it")
    ]
