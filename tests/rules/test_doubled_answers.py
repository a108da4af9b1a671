"""Answers that hold the text of a failed attempt, on every wire; and streams whose indices do not count."""

from __future__ import annotations

import json

import pytest

TEXT = "I will look up the weather in Rome now and tell you what I find there."
HALF = TEXT[:40]
ASK = [{"role": "user", "content": "How is it in Rome?"}]


def events(*said, named=False, done=False):
    lines = [f"event: {e['type']}\n" if named else "" for e in said]
    body = "".join(f"{line}data: {json.dumps(e)}\n\n" for line, e in zip(lines, said, strict=True))
    return (body + "data: [DONE]\n\n" * done).encode()


def chunk(delta, reason=None):
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "gpt-4.1", "choices": [choice]}


def chat(*pieces):
    return events(*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop"), done=True)


def anthropic(*pieces):
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    start = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    usage = {"input_tokens": 9, "output_tokens": 9}
    deltas = (
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}} for piece in pieces
    )
    return events(
        {"type": "message_start", "message": {**start, "stop_reason": None, "usage": usage}},
        *(block, *deltas, {"type": "content_block_stop", "index": 0}),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
        named=True,
    )


def gemini(*pieces):
    made = [{"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": p}]}}]} for p in pieces]
    made[-1]["candidates"][0]["finishReason"] = "STOP"
    return events(*made)


def ollama(*pieces):
    made = [{"model": "q", "message": {"role": "assistant", "content": piece}, "done": False} for piece in pieces]
    made.append({"model": "q", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})
    return "".join(json.dumps(line) + "\n" for line in made).encode()


def whole(*pieces):
    message = {"role": "assistant", "content": "".join(pieces)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": "c1", "object": "chat.completion", "model": "gpt-4.1", "choices": [choice]}).encode()


WIRES = {
    "chat": ("openai-chat", chat, {"model": "gpt-4.1", "stream": True, "messages": ASK}),
    "chat, whole": ("openai-chat", whole, {"model": "gpt-4.1", "messages": ASK}),
    "anthropic": (
        "anthropic-messages", anthropic,
        {"model": "claude-sonnet-4-5", "max_tokens": 99, "stream": True, "messages": ASK},
    ),
    "gemini": ("gemini", gemini, {"contents": [{"role": "user", "parts": [{"text": "How is it in Rome?"}]}]}),
    "ollama": ("ollama", ollama, {"model": "q", "messages": ASK}),
}  # fmt: skip


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("first", [HALF, TEXT], ids=["half", "all"])
def test_a_text_of_two_attempts_is_named(inspect, wire, first):
    protocol, make, request = WIRES[wire]
    found = inspect(request, make(first[:11], first[11:], TEXT[:7], TEXT[7:]), protocol=protocol)
    (stale,) = (f for f in found if f.rule == "retry.stale-partial")
    assert (stale.side, stale.severity) == ("response", "warning")
    assert "starts again in the middle" in stale.message


ONCE = [
    TEXT,
    "Ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha, that is very funny indeed, ha ha ha ha ha ha ha ha ha!",
    "To be, or not to be, that is the question. He said: To be, or not to be, that is the question, in Hamlet.",
    "| one column | another column | a third |\n" * 4,
    "I will look. I will look at Rome. I will look at Oslo.",
    "cobalt " * 15,
    f"\n{TEXT}\n{TEXT}",
    f"{TEXT} " * 9,
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("text", ONCE)
def test_a_text_that_repeats_words_is_not(inspect, wire, text):
    protocol, make, request = WIRES[wire]
    found = inspect(request, make(text[:9], text[9:]), protocol=protocol)
    assert "retry.stale-partial" not in {f.rule for f in found}


def call(index, call_id):
    function = {"name": "look", "arguments": "{}"}
    return {"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]}


INDICES = [
    ((0, 1), []),
    ((1, 2), [("info", "the first call has index 1")]),
    ((0, 2), [("info", "an index is missing before 2")]),
    ((-1,), [("error", "the index of a call is -1")]),
]


@pytest.mark.parametrize(("indices", "expected"), INDICES)
def test_indices_that_do_not_count_are_told(inspect, indices, expected):
    made = [chunk(call(index, f"call_{n}")) for n, index in enumerate(indices)]
    answer = events(*made, chunk({}, "tool_calls"), done=True)
    found = inspect({"model": "gpt-4.1", "stream": True, "messages": ASK}, answer, protocol="openai-chat")
    assert [(f.severity, f.message) for f in found if f.rule == "stream.index"] == expected
