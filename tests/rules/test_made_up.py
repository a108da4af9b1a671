"""Answers that are broken although they came with status 200."""

from __future__ import annotations

import pytest

TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
GO = {"role": "user", "content": "weather in Rome?"}
MADE_UP, PHANTOM = "content.made-up-result", "text.phantom-call"
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
OPEN = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "21"}
QUOTED = 'Write:\n```\n<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>\n```\nThat is all.'


def answer(content, *calls, finish="stop"):
    message = {"role": "assistant", "content": content}
    return {"choices": [{"message": message | ({"tool_calls": list(calls)} if calls else {}), "finish_reason": finish}]}


@pytest.fixture
def found(chat):
    def run(messages, response, tools=TOOLS, **more):
        wanted = (MADE_UP, PHANTOM)
        return [f for f in chat(messages, response, tools=tools, provider="generic", **more) if f.rule in wanted]

    return run


OPEN_CHAINS = [
    ("answered", [GO, OPEN, RESULT], 0),
    ("open at the end", [GO, OPEN], 1),
    ("a result for another call", [GO, OPEN, {**RESULT, "tool_call_id": "call_9"}], 0),
    ("an older question", [GO, OPEN, {"role": "user", "content": "thanks"}], 0),
]


@pytest.mark.parametrize(("messages", "count"), [r[1:] for r in OPEN_CHAINS], ids=[r[0] for r in OPEN_CHAINS])
def test_an_answer_over_an_open_chain(found, messages, count):
    findings = found(messages, answer("It is 21 degrees."))
    assert [(f.rule, f.side) for f in findings] == [(MADE_UP, "response")] * count


def test_it_names_the_call(found):
    (finding,) = found([GO, OPEN], answer("It is 21 degrees."))
    assert "without having seen the result of 'call_1' of 'weather'" in finding.message
    assert finding.evidence == "/messages/1/tool_calls/0 of the request"


def test_who_calls_again_makes_nothing_up(found):
    assert not found([GO, OPEN], answer("Once more.", {**CALL, "id": "call_2"}, finish="tool_calls"))


WRITTEN = [
    ("a template's tags", "I look.\n<tool_response>{}</tool_response>\nIt is 21.", 1),
    ("an agent's word", "Action: weather\nObservation: 21\nIt is 21.", 1),
    ("the name of what Gemini reads", "tools_output: It is 21.", 1),
    ("in a code block", "```\n<tool_response>\n```", 0),
    ("between backticks", "Results stand in `<tool_response>` tags.", 0),
    ("in a sentence", "My observation: it is warm.", 0),
]


@pytest.mark.parametrize(("text", "count"), [r[1:] for r in WRITTEN], ids=[r[0] for r in WRITTEN])
def test_results_that_the_model_wrote(found, text, count):
    assert [f.rule for f in found([GO], answer(text))] == [MADE_UP] * count


def test_without_tools_it_is_any_text(found):
    assert not found([GO], answer("Observation: 21"), tools=[])


QUOTES = [
    ("an open code block", "Write it like this:\n```xml\n", 1),
    ("an open backtick", "The call is `", 1),
    ("a closed code block", "See:\n```\nx\n```\n", 0),
    ("plain words", "I look it up.", 0),
    ("nothing", None, 0),
]


@pytest.mark.parametrize(("text", "count"), [r[1:] for r in QUOTES], ids=[r[0] for r in QUOTES])
def test_a_call_that_was_cut_out_of_a_quotation(found, text, count):
    assert [f.rule for f in found([GO], answer(text, CALL, finish="tool_calls"))] == [PHANTOM] * count


def test_a_quotation_that_the_client_took_for_a_call(inspect):
    body = {"model": "m", "tools": TOOLS, "messages": [GO]}
    taken = {"role": "assistant", "content": QUOTED, "tool_calls": [CALL]}
    later = {**body, "messages": [GO, taken, RESULT]}
    for text, expected in ((QUOTED, [PHANTOM]), ("No call here.", [])):
        pairs = [(body, answer(text)), (later, None)]
        found = [f for f in inspect(pairs, protocol="openai-chat") if f.rule == PHANTOM]
        assert [f.rule for f in found] == expected
        assert all(f.pointer == "/messages/1/tool_calls/0" for f in found)
