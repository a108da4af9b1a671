from __future__ import annotations

import pytest

GO = {"role": "user", "content": "go"}
PROOF = "EqQBCkYIARgCKkD1sigA"


def calls(reasoning=None, *, call_id="call_00_a", content=None):
    made = {"id": call_id, "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    message = {"role": "assistant", "content": content, "tool_calls": [made]}
    return message if reasoning is None else {**message, "reasoning_content": reasoning}


def tool(call_id="call_00_a"):
    return {"role": "tool", "tool_call_id": call_id, "content": "a b"}


def answer(message):
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


ON = {"type": "enabled"}
V4, PRO = "deepseek-v4-flash", "deepseek-v4-pro"

DEEPSEEK = [
    ("sent back", V4, [GO, calls("List it."), tool()], []),
    ("not sent back", V4, [GO, calls(), tool()], [("reasoning.missing", "error", "/messages/1")]),
    ("not sent back, a question later", V4, [GO, calls(), tool(), GO], [("reasoning.missing", "error", "/messages/1")]),
    (
        "the second turn is bare",
        PRO,
        [GO, calls("One."), tool(), calls(call_id="c2"), tool("c2"), GO],
        [("reasoning.missing", "error", "/messages/3")],
    ),
    (
        "empty, refused by this model",
        PRO,
        [GO, calls(""), tool()],
        [("reasoning.empty", "error", "/messages/1/reasoning_content")],
    ),
    (
        "under the name that others give it",
        V4,
        [GO, {**calls(), "reasoning": "List it."}, tool()],
        [("reasoning.missing", "error", "/messages/1"), ("reasoning.foreign", "warning", "/messages/1/reasoning")],
    ),
]


@pytest.mark.parametrize(("model", "messages", "expected"), [r[1:] for r in DEEPSEEK], ids=[r[0] for r in DEEPSEEK])
def test_deepseek(chat, model, messages, expected):
    found = chat(messages, provider="deepseek", model=model, thinking=ON)
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


def test_thinking_is_on_by_default_in_the_current_era(chat):
    assert [f.rule for f in chat([GO, calls(), tool()], provider="deepseek", model=V4)] == ["reasoning.missing"]
    off = {"type": "disabled"}
    assert not chat([GO, calls(), tool()], provider="deepseek", model=V4, thinking=off)


def test_the_debt_of_the_older_era_ends_with_the_question(chat):
    assert not chat([GO, calls(), tool(), GO], provider="deepseek:v3.2", thinking=ON)
    found = chat([GO, calls(), tool()], provider="deepseek:v3.2", thinking=ON)
    assert [f.rule for f in found] == ["reasoning.missing"]


def session(sent, *, received="List it.", model=V4):
    request = {"model": model, "thinking": ON, "messages": [GO]}
    return [(request, answer(calls(received))), ({**request, "messages": [GO, sent, tool()]}, None)]


ACROSS = [
    ("as received", calls("List it."), []),
    ("missing", calls(), [("reasoning.missing", "error")]),
    ("altered", calls("List that."), [("reasoning.altered", "warning")]),
    ("a placeholder in its place", calls("[reasoning omitted]"), [("reasoning.fabricated", "warning")]),
]


@pytest.mark.parametrize(("sent", "expected"), [r[1:] for r in ACROSS], ids=[r[0] for r in ACROSS])
def test_across_exchanges(inspect, sent, expected):
    found = inspect(session(sent), protocol="openai-chat", provider="deepseek")
    assert [(f.rule, f.severity) for f in found] == expected


def test_reasoning_that_goes_on_as_plain_text_is_not_called_altered(inspect):
    told = calls(content="<think>\nList it, then.\n</think>\n\nI look.")
    found = inspect(session(told, model="any"), protocol="openai-chat", provider="generic")
    assert [f.rule for f in found] == []


def test_evidence_says_where_it_came_in(inspect):
    (finding,) = inspect(session(calls()), protocol="openai-chat", provider="deepseek")
    assert "received in exchange 1" in finding.evidence
    assert "must be passed back" in finding.refusal


def test_a_final_answer_that_leaves_its_reasoning_out_is_a_warning(inspect):
    tools = [{"type": "function", "function": {"name": "ls"}}]
    final = {"role": "assistant", "content": "Two files.", "reasoning_content": "Say it."}
    request = {"model": V4, "thinking": ON, "tools": tools, "messages": [GO]}
    body = {"choices": [{"message": final, "finish_reason": "stop"}]}
    bare = {"role": "assistant", "content": "Two files."}
    for sent, expected in ((final, []), (bare, [("reasoning.missing", "warning", "/messages/1")])):
        found = inspect(
            [(request, body), ({**request, "messages": [GO, sent, GO]}, None)],
            protocol="openai-chat",
            provider="deepseek",
        )
        assert [(f.rule, f.severity, f.pointer) for f in found] == expected


def think(text="I need it.", signature=PROOF):
    return {"type": "thinking", "thinking": text, "signature": signature}


def use(call_id="toolu_1"):
    return {"type": "tool_use", "id": call_id, "name": "ls", "input": {}}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def result(call_id="toolu_1"):
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": "a"}]}


SAY = {"type": "text", "text": "ok"}
MANUAL, ADAPTIVE = {"type": "enabled", "budget_tokens": 1024}, {"type": "adaptive"}
FIRST = "/messages/1/content/0"

ANTHROPIC = [
    ("sent back", MANUAL, [GO, assistant(think(), use()), result()], []),
    ("open turn without it", MANUAL, [GO, assistant(use()), result()], [("reasoning.missing", "error", FIRST)]),
    ("finished turn without it", MANUAL, [GO, assistant(use()), result(), assistant(SAY), GO], []),
    ("adaptive, all of it removed", ADAPTIVE, [GO, assistant(use()), result()], []),
    ("thinking off", None, [GO, assistant(use()), result()], []),
    ("omitted text with its signature", MANUAL, [GO, assistant(think(""), use()), result()], []),
    (
        "no signature",
        MANUAL,
        [GO, assistant({"type": "thinking", "thinking": "I need it."}, use()), result()],
        [("reasoning.empty", "error", FIRST)],
    ),
]


@pytest.mark.parametrize(
    ("thinking", "messages", "expected"), [r[1:] for r in ANTHROPIC], ids=[r[0] for r in ANTHROPIC]
)
def test_anthropic(anthropic, thinking, messages, expected):
    more = {"thinking": thinking} if thinking else {}
    found = [f for f in anthropic(messages, model="claude-sonnet-4-6", **more) if f.severity == "error"]
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


def replay(*sent, model="claude-opus-4-8"):
    body = {
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [think("I need it.\n"), use()],
        "stop_reason": "tool_use",
    }
    request = {"model": model, "max_tokens": 9, "thinking": ADAPTIVE, "messages": [GO]}
    return [(request, body), ({**request, "messages": [GO, assistant(*sent), result()]}, None)]


REPLAYS = [
    ("as received", [think("I need it.\n"), use()], []),
    ("all of it left out, adaptive", [use()], [("reasoning.missing", "warning", FIRST)]),
    ("trimmed", [think(), use()], [("reasoning.altered", "error", FIRST + "/thinking")]),
    (
        "another signature",
        [think("I need it.\n", "EqQBCkYIARgCKkD1sigB"), use()],
        [("reasoning.altered", "error", FIRST + "/signature")],
    ),
    ("empty signature", [think("I need it.\n", ""), use()], [("reasoning.empty", "error", FIRST + "/signature")]),
]


@pytest.mark.parametrize(("sent", "expected"), [r[1:] for r in REPLAYS], ids=[r[0] for r in REPLAYS])
def test_anthropic_across_exchanges(inspect, sent, expected):
    found = inspect(replay(*sent), protocol="anthropic-messages", provider="anthropic")
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected
