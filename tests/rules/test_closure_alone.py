from __future__ import annotations

import pytest

from workbench.rules import closure_alone

CHECKS = [("closure.result-not-first", "mixed")]
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
TEXT = {"type": "text", "text": "and?"}

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}

MIXED = [
    ("results alone", [RESULT, RESULT], None),
    ("no result", [TEXT, TEXT], None),
    ("text behind", [RESULT, TEXT], "/messages/1/content/1"),
    ("text between", [RESULT, TEXT, RESULT], "/messages/1/content/1"),
    ("text in front is told by its own rule", [TEXT, RESULT], None),
]


@pytest.mark.parametrize(("content", "pointer"), [row[1:] for row in MIXED], ids=[row[0] for row in MIXED])
def test_nothing_stands_beside_results(under, content, pointer):
    said = [{"role": "assistant", "content": [TEXT]}, {"role": "user", "content": content}]
    body = {"model": "m", "max_tokens": 9, "messages": said}
    found = under(closure_alone, {"closure.results-alone": True}, CHECKS, body, protocol="anthropic-messages")
    assert [(f.pointer, f.refusal) for f in found] == ([(pointer, "mixed")] if pointer else [])
    assert not under(closure_alone, {}, CHECKS, body, protocol="anthropic-messages")


def test_media_may_stand_beside_results_where_the_contract_says_so(under):
    said = [{"role": "assistant", "content": [TEXT]}, {"role": "user", "content": [RESULT, IMAGE, TEXT]}]
    body = {"model": "m", "max_tokens": 9, "messages": said}
    for value, pointer in ((True, "/messages/1/content/1"), ("unless-media", "/messages/1/content/2")):
        found = under(closure_alone, {"closure.results-alone": value}, CHECKS, body, protocol="anthropic-messages")
        assert [f.pointer for f in found] == [pointer]


TURN = {"role": "assistant", "content": "I open it."}
CALL = {"id": "call_1", "type": "function", "function": {"name": "shell", "arguments": '{"c": "ls"}'}}
ANSWER = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {**TURN, "tool_calls": [CALL]}}]}
USER = {"role": "user", "content": "open the browser"}
RENAMED = {**TURN, "tool_calls": [{**CALL, "id": "other"}]}
NEXT = [
    ("the text without the call", [USER, TURN, USER], ["/messages/1"]),
    ("the call under another id", [USER, RENAMED, {"role": "tool", "tool_call_id": "other", "content": "ok"}], []),
    ("another text", [USER, {**TURN, "content": "I opened it."}, USER], []),
    ("asked again", [USER, USER], []),
]


@pytest.mark.parametrize(("messages", "pointers"), [row[1:] for row in NEXT], ids=[row[0] for row in NEXT])
def test_a_history_with_the_text_of_an_answer_has_its_calls_too(inspect, messages, pointers):
    pairs = [({"model": "m", "messages": [USER]}, ANSWER), ({"model": "m", "messages": messages}, None)]
    found = inspect(pairs, protocol="openai-chat")
    assert [f.pointer for f in found if f.rule == "closure.missing-result"] == pointers
