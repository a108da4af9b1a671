"""History that was cut: the findings say which exchange still held what is missing."""

from __future__ import annotations

import pytest

GO, MORE = {"role": "user", "content": "go"}, {"role": "user", "content": "more"}
CALL = {"id": "call_abcdefgh12345678", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
MADE = {"role": "assistant", "content": None, "reasoning_content": "List it.", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": CALL["id"], "content": "a b"}
DONE = {"role": "assistant", "content": "Two files."}
BODY = {"model": "deepseek-v4-flash", "thinking": {"type": "enabled"}}
BARE = {key: value for key, value in MADE.items() if key != "reasoning_content"}

CUTS = [
    (
        "the call",
        [RESULT, DONE],
        "closure.orphan-result",
        "the call was received in exchange 1, but this request no longer contains it"
        ": the history was shortened from 3 to 2",
    ),
    (
        "the result",
        [GO, MADE, MORE],
        "closure.missing-result",
        "exchange 2 still had the result, but this request does",
    ),
    ("the reasoning", [GO, BARE, RESULT, DONE, MORE], "reasoning.missing", "exchange 2 still sent this reasoning"),
]


@pytest.mark.parametrize(("sent", "rule", "words"), [r[1:] for r in CUTS], ids=[r[0] for r in CUTS])
def test_what_was_cut_is_named_with_who_still_held_it(inspect, sent, rule, words):
    pairs = [
        ({**BODY, "messages": [GO]}, {"choices": [{"message": MADE, "finish_reason": "tool_calls"}]}),
        ({**BODY, "messages": [GO, MADE, RESULT]}, {"choices": [{"message": DONE, "finish_reason": "stop"}]}),
        ({**BODY, "messages": sent}, None),
    ]
    found = inspect(pairs, protocol="openai-chat", provider="deepseek")
    (finding,) = [f for f in found if f.rule == rule]
    assert words in finding.evidence
