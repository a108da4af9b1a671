from __future__ import annotations

import pytest

GO = {"role": "user", "content": "go"}
SAY = {"type": "text", "text": "ok"}
THINK = {"type": "thinking", "thinking": "I need it.", "signature": "EqQBCkYIARgCKkD1sigA"}
USE = {"type": "tool_use", "id": "toolu_abcdefgh12345678", "name": "ls", "input": {}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": USE["id"], "content": "a"}]}
MANUAL, ADAPTIVE = {"type": "enabled", "budget_tokens": 1024}, {"type": "adaptive"}
SECOND = [("reasoning.order", "error", "/messages/1/content/1")]


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


BLOCKS = [
    ("leading", MANUAL, [GO, assistant(THINK, SAY, USE), RESULT], []),
    ("leading, in two messages", MANUAL, [GO, assistant(THINK), assistant(SAY, USE), RESULT], []),
    ("not leading", MANUAL, [GO, assistant(SAY, THINK, USE), RESULT], SECOND),
    ("not leading, adaptive", ADAPTIVE, [GO, assistant(SAY, THINK, USE), RESULT], []),
    ("last block", ADAPTIVE, [GO, assistant(SAY, THINK), GO], SECOND),
]


@pytest.mark.parametrize(("thinking", "messages", "expected"), [r[1:] for r in BLOCKS], ids=[r[0] for r in BLOCKS])
def test_the_place_of_blocks(anthropic, thinking, messages, expected):
    found = anthropic(messages, thinking=thinking, model="claude-sonnet-4-6")  # takes either kind of thinking
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


MOVED = [
    ("as received", [THINK, SAY, USE], []),
    ("text removed", [THINK, USE], []),
    ("behind the call", [USE, THINK], SECOND),
    ("behind the text", [SAY, THINK, USE], SECOND),
]


@pytest.mark.parametrize(("sent", "expected"), [r[1:] for r in MOVED], ids=[r[0] for r in MOVED])
def test_a_block_that_was_received_stays_before_what_it_came_before(inspect, sent, expected):
    body = {**assistant(THINK, SAY, USE), "type": "message", "model": "claude-opus-4-8", "stop_reason": "tool_use"}
    request = {"model": "claude-opus-4-8", "max_tokens": 9, "thinking": ADAPTIVE, "messages": [GO]}
    pairs = [(request, body), ({**request, "messages": [GO, assistant(*sent), RESULT]}, None)]
    found = inspect(pairs, protocol="anthropic-messages", provider="anthropic")
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


FUNCTION = {"name": "ls", "arguments": "{}"}
FIELD = {"reasoning_content": "I list the folder."}
MISPLACED = [
    ("inside the call", {"function": FUNCTION, **FIELD}, {}, "/messages/1/tool_calls/0/reasoning_content"),
    ("beside the name", {"function": {**FUNCTION, **FIELD}}, {}, "/messages/1/tool_calls/0/function/reasoning_content"),
    ("on the result", {"function": FUNCTION}, FIELD, "/messages/2/reasoning_content"),
]


@pytest.mark.parametrize(("call", "more", "pointer"), [r[1:] for r in MISPLACED], ids=[r[0] for r in MISPLACED])
def test_a_field_in_the_wrong_object(chat, call, more, pointer):
    turn = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", **call}]}
    result = {"role": "tool", "tool_call_id": "a", "content": "x", **more}
    found = chat([GO, turn, result], provider="deepseek", model="deepseek-v4-flash")
    assert [f.pointer for f in found if f.rule == "reasoning.misplaced" and f.span] == [pointer]
    assert [f.pointer for f in found if f.rule == "reasoning.missing"] == ["/messages/1"]
