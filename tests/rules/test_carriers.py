"""Reasoning and its proofs in lone requests, on every wire: in the wrong object, of others, empty, or stand-ins."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

CLAUDE = "EqQBCkYIBxgCKkBm3Xw9" + "kQ7zY2a1Vh8Lr0PjTn5uWbEoGsKdMcXi4FqRyZl6NvCt+Jp/" * 4 + "AA=="
OPENAI = "gAAAAABo" + "x7Jk2LmQpRsTuVwXyZaBcDeFgHiJkLmNoPqRsTuVwXyZ012345678_-" * 4 + "Q=="
GOOGLE = "CiQB0e2Kb" + "2xvY2sxMjM0NTY3ODkwYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo/" * 3
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
TOOL = {"name": "look", "description": "Look", "parameters": {"type": "object", "properties": {}}}
CALL = {"id": "call_00_abcDEF123", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CHAT = {
    "messages": [
        {"role": "user", "content": "How is it in Rome?"},
        {"role": "assistant", "content": "", "reasoning_content": "I look it up for Rome.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": CALL["id"], "content": "21 C"},
    ],
    "tools": [{"type": "function", "function": TOOL}],
}
DETAIL = {"type": "reasoning.text", "text": "I look.", "signature": CLAUDE, "format": "anthropic-claude-v1", "index": 0}
THOUGHT = {"type": "thinking", "thinking": "I look it up.", "signature": CLAUDE}
SIGNED = {"reasoningContent": {"reasoningText": {"text": "I look it up.", "signature": CLAUDE}}}
WIRES = {
    "anthropic": (
        "anthropic-messages",
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 4000,
            "thinking": {"type": "enabled", "budget_tokens": 2000},
            "tools": [{"name": "look", "input_schema": TOOL["parameters"]}],
            "messages": [
                {"role": "user", "content": "How is it in Rome?"},
                {
                    "role": "assistant",
                    "content": [THOUGHT, {"type": "tool_use", "id": "toolu_01Abc", "name": "look", "input": {}}],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01Abc", "content": "21"}]},
            ],
        },
    ),
    "deepseek": ("openai-chat", {"model": "deepseek-v4", **CHAT}),
    "kimi": ("openai-chat", {"model": "kimi-k2.5", **CHAT}),
    "openrouter": ("openai-chat", {"model": "anthropic/claude-sonnet-4.5", **CHAT}),
    "openai": (
        "openai-responses",
        {
            "model": "gpt-5",
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "tools": [{"type": "function", **TOOL}],
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "How is it?"}]},
                {"type": "reasoning", "id": "rs_0a1b2c3d4e5f", "summary": [], "encrypted_content": OPENAI},
                {"type": "function_call", "id": "fc_0a1b", "call_id": "call_abc", "name": "look", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_abc", "output": "21 C"},
            ],
        },
    ),
    "gemini": (
        "gemini",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "How is it in Rome?"}]},
                {
                    "role": "model",
                    "parts": [
                        {"text": "I look.", "thought": True},
                        {"functionCall": {"name": "look", "args": {}}, "thoughtSignature": GOOGLE},
                    ],
                },
                {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"result": "21"}}}]},
            ],
            "tools": [{"functionDeclarations": [TOOL]}],
        },
    ),
    "bedrock": (
        "bedrock-converse",
        {
            "messages": [
                {"role": "user", "content": [{"text": "How is it in Rome?"}]},
                {
                    "role": "assistant",
                    "content": [SIGNED, {"toolUse": {"toolUseId": "tooluse_a", "name": "look", "input": {}}}],
                },
                {
                    "role": "user",
                    "content": [{"toolResult": {"toolUseId": "tooluse_a", "content": [{"text": "21 C"}]}}],
                },
            ],
            "toolConfig": {
                "tools": [
                    {
                        "toolSpec": {
                            "name": "look",
                            "description": "Look",
                            "inputSchema": {"json": TOOL["parameters"]},
                        }
                    }
                ]
            },
        },
    ),
    "cohere": (
        "cohere-v2",
        {
            "model": "command-a-reasoning-08-2025",
            "messages": [
                {"role": "user", "content": "How is it in Rome?"},
                {
                    "role": "assistant",
                    "content": [{"type": "thinking", "thinking": "I look."}],
                    "tool_calls": [CALL],
                },
                {"role": "tool", "tool_call_id": CALL["id"], "content": "21 C"},
            ],
            "tools": [{"type": "function", "function": TOOL}],
        },
    ),
}
WIRES["openrouter"][1]["messages"] = [
    CHAT["messages"][0],
    {"role": "assistant", "content": "", "reasoning_details": [DETAIL], "tool_calls": [CALL]},
    CHAT["messages"][2],
]
MISPLACED, FOREIGN, EMPTY, FABRICATED = (
    f"reasoning.{name}" for name in ("misplaced", "foreign", "empty", "fabricated")
)
FAULTS = [
    ("anthropic", "/messages/2/content/0/content", [THOUGHT], MISPLACED),
    ("anthropic", "/messages/0/content", [THOUGHT, {"type": "text", "text": "How?"}], MISPLACED),
    ("anthropic", "/messages/1/content/1/signature", CLAUDE, MISPLACED),
    ("bedrock", "/messages/1/content/0/reasoningContent/signature", CLAUDE, MISPLACED),
    ("bedrock", "/messages/1/content/1/toolUse/signature", CLAUDE, MISPLACED),
    ("cohere", "/messages/2/content", [{"type": "thinking", "thinking": "x"}], MISPLACED),
    ("cohere", "/messages/0/content", [{"type": "thinking", "thinking": "x"}], MISPLACED),
    ("gemini", "/contents/1/thoughtSignature", GOOGLE, MISPLACED),
    ("openai", "/input/2/encrypted_content", OPENAI, MISPLACED),
    ("deepseek", "/messages/2/reasoning_content", "I look.", MISPLACED),
    ("anthropic", "/messages/1/content/0/signature", OPENAI, FOREIGN),
    ("anthropic", "/messages/1/content/0/signature", GOOGLE, FOREIGN),
    ("anthropic", "/messages/1/content/0/signature", HEX, FOREIGN),
    ("bedrock", "/messages/1/content/0/reasoningContent/reasoningText/signature", OPENAI, FOREIGN),
    ("bedrock", "/messages/1/content/0/reasoningContent/reasoningText/signature", HEX, FOREIGN),
    ("gemini", "/contents/1/parts/1/thoughtSignature", OPENAI, FOREIGN),
    ("gemini", "/contents/1/parts/1/thoughtSignature", CLAUDE, FOREIGN),
    ("openai", "/input/1/encrypted_content", CLAUDE, FOREIGN),
    ("openai", "/input/1/encrypted_content", GOOGLE, FOREIGN),
    ("openrouter", "/messages/1/reasoning_details/0/signature", OPENAI, FOREIGN),
    ("openrouter", "/messages/1/reasoning_details/0/signature", GOOGLE, FOREIGN),
    ("anthropic", "/messages/1/content/0/signature", "", EMPTY),
    ("bedrock", "/messages/1/content/0/reasoningContent/reasoningText/signature", "", EMPTY),
    ("bedrock", "/messages/1/content/0/reasoningContent", {"reasoningText": {"text": ""}}, EMPTY),
    ("bedrock", "/messages/1/content/0/reasoningContent", {"redactedContent": ""}, EMPTY),
    ("openrouter", "/messages/1/reasoning_details/0/signature", "", EMPTY),
    ("anthropic", "/messages/1/content/0/signature", "placeholder", FABRICATED),
    ("gemini", "/contents/1/parts/1/thoughtSignature", "dummy_signature", FABRICATED),
    *(
        ("deepseek", "/messages/1/reasoning_content", text, FABRICATED)
        for text in (
            *("[thinking hidden]", "No reasoning available.", "<no reasoning>", "thinking...", "（无）", "无思考内容"),
            *("Calling tool look", "Reasoning not provided", "(empty)", "undefined", "思考过程已省略", "n/a"),
        )
    ),
]


def changed(body, pointer, value):
    *steps, last = (int(step) if step.isdecimal() else step for step in pointer.split("/")[1:])
    body = held = deepcopy(body)
    for step in steps:
        held = held[step]
    held[last] = value
    return body


@pytest.mark.parametrize("wire", WIRES)
def test_healthy_reasoning_is_silent(inspect, wire):
    protocol, body = WIRES[wire]
    found = inspect(body, protocol=protocol, provider=wire)
    assert [f for f in found if f.rule.startswith("reasoning.") and f.severity != "info"] == []


@pytest.mark.parametrize(
    ("wire", "pointer", "value", "rule"), FAULTS, ids=[f"{f[0]}, {f[3]}, {n}" for n, f in enumerate(FAULTS)]
)
def test_a_fault_of_a_carrier_is_named_at_its_place(inspect, wire, pointer, value, rule):
    protocol, body = WIRES[wire]
    found = inspect(changed(body, pointer, value), protocol=protocol, provider=wire)
    places = [f.pointer for f in found if f.rule == rule]
    assert any(f"{place}/".startswith(f"{pointer}/") or pointer.startswith(place) for place in places), found


THOUGHTS = [
    "Let me call the tool.",
    "I need the weather.",
    "None of these cities is in Italy.",
    "No tool is needed here, I know.",
]


@pytest.mark.parametrize("text", THOUGHTS)
def test_a_short_thought_is_no_stand_in(inspect, text):
    protocol, body = WIRES["deepseek"]
    found = inspect(changed(body, "/messages/1/reasoning_content", text), protocol=protocol, provider="deepseek")
    assert FABRICATED not in {f.rule for f in found}


def test_an_answer_after_calls_with_reasoning_leaves_its_own_out(inspect):
    protocol, body = WIRES["deepseek"]
    answer = {"role": "assistant", "content": "It is 21 C."}
    messages = [*body["messages"], answer, {"role": "user", "content": "And in Oslo?"}]
    found = inspect({**body, "messages": messages}, protocol=protocol, provider="deepseek")
    assert ("reasoning.missing", "/messages/3") in {(f.rule, f.pointer) for f in found}
    answer = {**answer, "reasoning_content": "I answer."}
    messages = [*body["messages"], answer, {"role": "user", "content": "And in Oslo?"}]
    found = inspect({**body, "messages": messages}, protocol=protocol, provider="deepseek")
    assert "reasoning.missing" not in {f.rule for f in found}


LOOK = {"name": "look", "input": {}}
ANSWERS = [
    ("Claude at Converse", "bedrock-converse", "us.anthropic.claude-sonnet-4-5-v1:0", ["/output/message/content/0"]),
    ("another model at Converse", "bedrock-converse", "us.deepseek.r1-v1:0", []),
    ("Claude at a gateway", "anthropic-messages", "claude-sonnet-4-5", ["/content/0"]),
    ("another model at a gateway", "anthropic-messages", "glm-5", []),
    ("Claude at OpenRouter", "openai-chat", "anthropic/claude-sonnet-4.5", ["/choices/0/message/reasoning_details/0"]),
    ("another model at OpenRouter", "openai-chat", "z-ai/glm-5", []),
]


def unsigned(protocol, model):
    """The URL of a request and its answer, in which reasoning comes before a call and has no signature."""
    if protocol == "bedrock-converse":
        content = [{"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"toolUse": {"toolUseId": "t_1", **LOOK}}]
        answer = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"}
        return f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/converse", answer
    if protocol == "anthropic-messages":
        content = [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "id": "toolu_01a", **LOOK}]
        return "https://gateway.example/v1/messages", {
            "type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use", "usage": {},
        }  # fmt: skip
    detail = {"type": "reasoning.text", "text": "hm", "index": 0}
    detail["format"] = "anthropic-claude-v1" if "claude" in model else "unknown"
    message = {"role": "assistant", "content": None, "reasoning": "hm", "reasoning_details": [detail]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": {**message, "tool_calls": [CALL]}}
    return "https://openrouter.ai/api/v1/chat/completions", {"choices": [choice]}


@pytest.mark.parametrize(("protocol", "model", "pointers"), [row[1:] for row in ANSWERS], ids=[r[0] for r in ANSWERS])
def test_reasoning_of_a_provider_that_signs_it_arrives_signed(protocol, model, pointers):
    url, answer = unsigned(protocol, model)
    body = {"messages": [{"role": "user", "content": [{"text": "go"}] if "converse" in protocol else "go"}]}
    body |= {} if "converse" in protocol else {"model": model, "max_tokens": 4000}
    asked = HttpRequest(url=url, body=Body(json.dumps(body).encode()))
    answered = HttpResponse(200, Headers((("content-type", "application/json"),)), Body(json.dumps(answer).encode()))
    result = Inspector(MemorySession("test", (Exchange("1", asked, answered),))).run()
    assert [f.pointer for f in result.findings if f.rule == "reasoning.empty"] == pointers
