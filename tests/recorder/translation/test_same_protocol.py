"""Clients that speak as the upstream does and forget its reasoning: that comes back, and no other byte changes."""

from __future__ import annotations

import json

import pytest

from tests.recorder.translation.bridging import BLOCK_TOOL, CHAT_TOOL, SCHEMA, bench
from workbench.recorder.translation.memory import ResponseMemory
from workbench.recorder.translation.requests import TranslatedRequest
from workbench.recorder.translation.responses import TranslatedResponse
from workbench.wire.exchange import Headers, HttpRequest

ASKED = {"role": "user", "content": "what is here?"}
CHAT = {"model": "deepseek-v4-flash", "tools": [CHAT_TOOL]}
MESSAGES = {
    "model": "claude-opus-5-5", "max_tokens": 3000, "tools": [BLOCK_TOOL], "thinking": {"type": "adaptive"},
}  # fmt: skip
ITEMS = {
    "model": "gpt-5.2", "tools": [{"type": "function", "name": "list_dir", "parameters": SCHEMA}], "store": False,
    "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "low"},
}  # fmt: skip


def chat(body=None):
    if body is None:
        return CHAT | {"messages": [ASKED]}
    said = json.loads(body)["choices"][0]["message"]
    del said["reasoning_content"]
    result = {"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "a  b"}
    return CHAT | {"messages": [ASKED, said, result]}


def messages(body=None):
    if body is None:
        return MESSAGES | {"messages": [ASKED]}
    said = [part for part in json.loads(body)["content"] if part["type"] != "thinking"]
    call = next(part for part in said if part["type"] == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "a  b"}
    more = [{"role": "assistant", "content": said}, {"role": "user", "content": [result]}]
    return MESSAGES | {"messages": [ASKED, *more]}


def items(body=None):
    if body is None:
        return ITEMS | {"input": [ASKED]}
    said = [item for item in json.loads(body)["output"] if item["type"] != "reasoning"]
    call = next(item for item in said if item["type"] == "function_call")
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "a  b"}
    return ITEMS | {"input": [ASKED, *said, result]}


@pytest.mark.parametrize(
    ("label", "protocol", "path", "made", "back"),
    [
        ("deepseek", "openai-chat", "/v1/chat/completions", chat, ',"reasoning_content":'),
        ("anthropic", "anthropic-messages", "/v1/messages", messages, '"type":"thinking"'),
        ("openai", "openai-responses", "/v1/responses", items, '"encrypted_content":'),
    ],
)
def test_what_a_client_leaves_out_comes_back_and_nothing_else_changes(label, protocol, path, made, back):
    one = bench(label, protocol)
    status, first = one.ask(path, made())
    assert status == 200 and one.turn.is_passed
    body = json.dumps(made(first), indent=1).encode()
    status, second = one.ask(path, body)
    assert status == 200 and "reasoning: restored unchanged in the response with" in one.lines, second
    assert not one.turn.is_passed and one.turn.contract == label
    sent = one.turn.request.body.raw
    assert back in "".join(sent.decode().split())
    start = next(n for n, (a, b) in enumerate(zip(body, sent, strict=False)) if a != b)
    assert sent.startswith(body[:start]) and sent.endswith(body[start:].lstrip()), "one insertion"


def test_a_client_that_brings_all_of_it_passes_byte_for_byte():
    one = bench("deepseek", "openai-chat")
    _, first = one.ask("/v1/chat/completions", chat())
    body = chat(first)
    body["messages"][1] = json.loads(first)["choices"][0]["message"]
    raw = json.dumps(body).encode()
    status, _ = one.ask("/v1/chat/completions", raw)
    assert status == 200 and one.turn.is_passed and one.turn.request.body.raw == raw
    assert one.lines == "passed: unchanged: already in openai-chat"


def test_what_nobody_says_is_owed_stays_out_unless_it_is_asked_for():
    answer = {"id": "c", "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {}}]}
    call = {"id": "c1", "type": "function", "function": {"name": "list_dir", "arguments": "{}"}}
    answer["choices"][0]["message"] = {"role": "assistant", "content": None, "reasoning": "hm", "tool_calls": [call]}
    body = {"model": "m", "messages": [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}]}
    for on, expected in (((), None), (("reasoning-replay=verbatim",), "hm")):
        one = bench("generic", "openai-chat", on=on)
        turn = TranslatedRequest("openai-chat", "openai-chat", HttpRequest(), is_plain=True, is_kept=True)
        made = TranslatedResponse(turn, 200, Headers((("content-type", "application/json"),)), one.memory, "a9")
        assert made.feed(json.dumps(answer).encode()) and made.end() == b""
        one.ask("/v1/chat/completions", body)
        assert one.sent["messages"][1].get("reasoning") == expected


def test_an_answer_that_is_an_error_is_not_remembered():
    memory = ResponseMemory()
    turn = TranslatedRequest("openai-chat", "openai-chat", HttpRequest(), is_plain=True, is_kept=True)
    made = TranslatedResponse(turn, 200, Headers((("content-type", "application/json"),)), memory, "a1")
    assert made.feed(b'{"error": {"message": "no"}}') and not made.end() and not len(memory)
