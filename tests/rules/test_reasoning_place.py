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


SEARCH = {"type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": SEARCH["id"], "content": []}
AGAIN = {"type": "thinking", "thinking": "Now list.", "signature": "EqQBCkYIARgCKkD2sigB"}
LOST = [
    ("as received", [THINK, SEARCH, FOUND, AGAIN, USE], [], []),
    ("the blocks between are lost", [THINK, AGAIN, USE], [], SECOND),
    ("so in an earlier turn", [THINK, AGAIN, USE], [assistant(SAY), GO], [(SECOND[0][0], "warning", SECOND[0][2])]),
]


@pytest.mark.parametrize(("sent", "more", "expected"), [r[1:] for r in LOST], ids=[r[0] for r in LOST])
def test_a_call_that_was_received_between_two_blocks_stays_there(inspect, sent, more, expected):
    """oh-my-pi issue 6495: a client that drops the blocks of server tools."""
    body = {**assistant(*LOST[0][1]), "type": "message", "model": "claude-sonnet-4-6", "stop_reason": "tool_use"}
    tools = [{"type": "web_search_20250305", "name": "web_search"}, {"name": "ls", "input_schema": {"type": "object"}}]
    request = {"model": "claude-sonnet-4-6", "max_tokens": 9, "tools": tools, "messages": [GO]}
    pairs = [(request, body), ({**request, "messages": [GO, assistant(*sent), RESULT, *more]}, None)]
    found = inspect(pairs, protocol="anthropic-messages", provider="anthropic")
    assert [(f.rule, f.severity, f.pointer) for f in found if f.rule.startswith("reasoning.")] == expected


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


PROOF = "EvcDCvQDAb4+9vtKOirtCQROXb6SGZXrAzu"
CALLED = {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}
ANSWERED = {"type": "function_call_output", "call_id": "c", "output": "a"}
CALLING = {"functionCall": {"name": "ls", "args": {}}}


def gemini(part, **content):
    said = {"role": "user", "parts": [{"text": "go"}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"a": 1}}}]}
    return {"contents": [said, {"role": "model", "parts": [part], **content}, result]}


def responses(call):
    return {"model": "m", "input": [{"role": "user", "content": "go"}, call, ANSWERED]}


def messages(*turns, **turn):
    return {"model": "m", "max_tokens": 9, "messages": [*turns, {**assistant(SAY, USE), **turn}, RESULT]}


def ollama(**more):
    call = {"function": {"name": "ls", "arguments": {}, **more}}
    turn = {"role": "assistant", "content": "", "tool_calls": [call]}
    return {"model": "m", "messages": [GO, turn, {"role": "tool", "tool_name": "ls", "content": "a"}]}


def converse(**more):
    use = {"toolUse": {"toolUseId": "a", "name": "ls", "input": {}}, **more}
    result = {"toolResult": {"toolUseId": "a", "content": [{"text": "a"}]}}
    said = {"role": "user", "content": [{"text": "go"}]}
    turns = [said, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {"modelId": "m", "messages": turns}


WIRES = [
    ("gemini", gemini({"functionCall": {**CALLING["functionCall"], "thoughtSignature": PROOF}}),
     "/contents/1/parts/0/functionCall/thoughtSignature"),
    ("gemini", gemini(CALLING, thoughtSignature=PROOF), "/contents/1/thoughtSignature"),
    ("openai-responses", responses({**CALLED, "encrypted_content": "gAAAAAB"}), "/input/1/encrypted_content"),
    ("openai-responses", responses({**CALLED, "reasoning_content": "I list."}), "/input/1/reasoning_content"),
    ("anthropic-messages", messages(GO, reasoning_content="I list."), "/messages/1/reasoning_content"),
    ("anthropic-messages", messages({"role": "user", "content": [THINK, SAY]}), "/messages/0/content/0"),
    ("ollama", ollama(thinking="I list."), "/messages/1/tool_calls/0/function/thinking"),
    ("bedrock-converse", converse(signature=PROOF), "/messages/1/content/0/signature"),
]  # fmt: skip


@pytest.mark.parametrize(("protocol", "body", "pointer"), WIRES, ids=[f"{row[0]} {row[2]}" for row in WIRES])
def test_a_field_in_the_wrong_object_of_every_wire(inspect, protocol, body, pointer):
    found = [f for f in inspect(body, protocol=protocol) if f.rule == "reasoning.misplaced"]
    assert [f.pointer for f in found] == [pointer]
    assert all("does not read it" in f.message for f in found)


OWN_PLACES = [
    ("gemini", gemini({**CALLING, "thoughtSignature": PROOF})),
    ("anthropic-messages", {"model": "m", "max_tokens": 9, "messages": [GO, assistant(THINK, SAY, USE), RESULT]}),
    ("ollama", {"model": "m", "messages": [GO, {"role": "assistant", "content": "", "thinking": "I list."}, GO]}),
]


@pytest.mark.parametrize(("protocol", "body"), OWN_PLACES, ids=[row[0] for row in OWN_PLACES])
def test_a_field_at_its_own_place(inspect, protocol, body):
    assert not [f for f in inspect(body, protocol=protocol) if f.rule == "reasoning.misplaced"]
