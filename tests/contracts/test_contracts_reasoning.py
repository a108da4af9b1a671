"""What the contracts of the providers with open models say of a request: accepted, or refused in which words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench import rules
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession

CHAT, MESSAGES, RESPONSES = "openai-chat", "anthropic-messages", "openai-responses"

GO = {"role": "user", "content": "go"}
SYSTEM = {"role": "system", "content": "be brief"}
BEGUN = {"role": "assistant", "content": "{"}
TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}
ON, OFF = {"type": "enabled"}, {"type": "disabled"}
NAMED = {"type": "function", "function": {"name": "ls"}}
THOUGHT = {"reasoning_content": "Look first."}
EMPTY = {"reasoning_content": ""}


def calls(*ids: str, arguments: str = "{}", **more: Any) -> dict[str, Any]:
    made = [{"id": n, "type": "function", "function": {"name": "ls", "arguments": arguments}} for n in ids]
    return {"role": "assistant", "content": None, "tool_calls": made, **more}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "a b"}


def loop(**more: Any) -> list[dict[str, Any]]:
    return [GO, calls("a", **more), result("a")]


def verdict(label: str, protocol: str, body: dict[str, Any]) -> tuple[str, str, str]:
    """(verdict, rule, text of the refusal) of a request under a contract."""
    request = HttpRequest(url="", body=Body(json.dumps(body).encode()))
    inspector = Inspector(MemorySession("test", (Exchange("1", request),)), provider=label, protocol=protocol)
    detail = inspector.detail(0)
    judged = rules.judge(detail.row.findings, detail.contract)
    refused = rules.refusal_of(judged.finding, detail.contract) if judged.finding else None
    text = json.dumps(refused.body, ensure_ascii=False) if refused else ""
    return judged.verdict.value, judged.finding.rule if judged.finding else "", text


def chat(*messages: dict[str, Any] | list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    flat = [m for one in messages for m in (one if isinstance(one, list) else [one])]
    return {"model": "m", "tools": [TOOL], "messages": flat, **more}


PASSED_BACK = "The `reasoning_content` in the thinking mode must be passed back to the API."
V32 = "Missing `reasoning_content` field in the assistant message at message index 1. For more information, please"
UNANSWERED = "(insufficient tool messages following tool_calls message)"
NO_CHOICE = "Thinking mode does not support this tool_choice"

DEEPSEEK = [
    ("deepseek:v4", chat(loop()), "reasoning.missing", PASSED_BACK),
    ("deepseek:beta", chat(loop()), "reasoning.missing", PASSED_BACK),
    ("deepseek:v4", chat(loop(**THOUGHT)), "", ""),
    ("deepseek:v4", chat(loop(), thinking=OFF), "", ""),
    ("deepseek:v4", chat(loop(), GO), "reasoning.missing", PASSED_BACK),  # for ever, not only in the open loop
    ("deepseek:v4", chat(loop(**THOUGHT), {"role": "assistant", "content": "done"}, GO), "", ""),
    ("deepseek:v4", chat(loop(**EMPTY), model="deepseek-v4-pro"), "reasoning.empty", PASSED_BACK),
    ("deepseek:v4", chat(GO, tool_choice="required"), "choice.thinking-conflict", NO_CHOICE),
    ("deepseek:v4", chat(GO, tool_choice=NAMED), "choice.thinking-conflict", NO_CHOICE),
    ("deepseek:v4", chat(GO, tool_choice=NAMED, thinking=OFF), "", ""),
    ("deepseek:v4", chat(GO, tool_choice="none"), "", ""),
    ("deepseek:v4", chat(GO, calls("a", "b"), result("a")), "closure.missing-result", UNANSWERED),  # before reasoning
    ("deepseek:v4", chat(GO, response_format={"type": "json_schema"}), "params.unsupported", "unavailable now"),
    ("deepseek:v4", chat({**GO, "role": "developer"}), "content.shape", "role: unknown variant `developer`"),
    ("deepseek:v3.2", chat(loop(), thinking=ON), "reasoning.missing", V32),
    ("deepseek:v3.2", chat(loop(), GO, thinking=ON), "", ""),  # a new question ends the debt
    ("deepseek:v3.2", chat(loop()), "", ""),
    ("deepseek:v3.2", chat(GO, tool_choice="required", thinking=ON), "choice.thinking-conflict", "deepseek-reasoner"),
    ("deepseek:reasoner", chat(GO, {**BEGUN, **THOUGHT}, GO), "reasoning.foreign", "is not known"),
    ("deepseek:reasoner", chat(GO, BEGUN, GO), "", ""),
    ("deepseek:reasoner", chat(SYSTEM, GO, GO), "content.role-order", "(messages[1] and messages[2] in your input)"),
]

SPLIT = {"reasoning_details": [{"type": "reasoning.text", "text": "Look."}]}
MINIMAX = [
    ("minimax:split", chat(loop(**SPLIT), reasoning_split=True), "", ""),
    ("minimax:split", chat(loop()), "", ""),
    ("minimax:text", chat(GO, calls("a", content="<think>Look.</think>"), result("a")), "", ""),
    ("minimax", chat(SYSTEM, GO), "", ""),
    ("minimax", chat(SYSTEM, SYSTEM, GO), "content.system-position", "invalid params, invalid chat setting (2013)"),
    ("minimax", chat(GO, result("b")), "closure.orphan-result", "tool result's tool id(b) not found (2013)"),
    ("minimax", chat(GO, calls("a", "b"), result("a")), "closure.missing-result", "tool call and result not match"),
    ("minimax", chat(GO, calls("a"), GO, result("a")), "closure.not-adjacent", "result does not follow tool call"),
    ("minimax", chat(loop(arguments='{"p": ')), "args.invalid-json", "json string, tool_call_id: a (2013)"),
    ("minimax", chat(GO, thinking=ON, model="MiniMax-M3"), "params.unsupported", "(allowed: adaptive, disabled)"),
    ("minimax", chat(GO, thinking=ON, model="MiniMax-M2.5"), "", ""),
]

GLM = [
    ("glm", chat(loop()), "", ""),
    ("glm:preserved", chat(loop(**THOUGHT)), "", ""),
    ("glm", chat(SYSTEM), "content.role-order", '"1214", "message": "The messages parameter is illegal.'),
    ("glm:coding", chat(SYSTEM), "content.role-order", '{"code": "1214", "message": "The messages parameter'),
    ("glm", chat(loop(arguments='{"p": ')), "args.invalid-json", '"1210", "message": "Invalid API parameter, please'),
    ("glm", chat(GO, tool_choice="required", model="glm-5.3-flash"), "choice.unsupported", "Tool choice must be auto"),
]

ALGO = "<400> InternalError.Algo.InvalidParameter: "
QWEN = [
    ("qwen", chat(loop(), enable_thinking=True), "", ""),
    ("qwen", chat(GO, tool_choice="required"), "", ""),
    (
        "qwen",
        chat(GO, tool_choice="required", enable_thinking=True),
        "choice.thinking-conflict",
        f"{ALGO}The tool_choice parameter does not support being set to required or object in thinking mode",
    ),
    ("qwen", chat(GO, tool_choice=NAMED, model="qwen3.5-plus"), "choice.thinking-conflict", "required or object"),
    ("qwen", chat(GO, result("b")), "closure.orphan-result", f'{ALGO}messages with role \\"tool\\" must be a response'),
    ("qwen", chat(GO, calls("a"), GO), "closure.missing-result", "did not have response messages: message["),
    ("qwen", chat(loop(arguments='{"p": ')), "args.invalid-json", "code model must be in JSON format."),
    ("qwen", chat(loop(arguments='"p"')), "args.not-object", "code model must be in JSON format."),
    (
        "qwen",
        chat({**GO, "role": "developer"}),
        "content.shape",
        "developer is not one of ['system', 'assistant',",
    ),
    ("qwen", chat(GO, model="qwq-plus"), "params.unsupported", "only support stream mode"),
    ("qwen", chat(GO, model="qwq-plus", stream=True), "", ""),
]

MISSING = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"
KIMI = [
    ("kimi", chat(loop(), model="kimi-k2.5"), "reasoning.missing", MISSING),
    ("kimi", chat(loop(), model="kimi-k2.5", thinking=OFF), "", ""),
    ("kimi", chat(loop(), model="kimi-k2-0905-preview"), "", ""),
    ("kimi", chat(loop(**THOUGHT), model="kimi-k2.5"), "", ""),
    ("kimi", chat(loop(**EMPTY), model="kimi-k2.6"), "reasoning.empty", MISSING),
    ("kimi", chat(GO, tool_choice="required", model="kimi-k2.6"), "choice.thinking-conflict", "tool_choice 'required'"),
    ("kimi", chat(GO, tool_choice=NAMED, model="kimi-k2.6"), "choice.thinking-conflict", "tool_choice 'specified' is"),
    ("kimi", chat(GO, tool_choice="required", model="kimi-k3"), "", ""),
    ("kimi", chat(GO, tool_choice=NAMED, model="kimi-k3"), "choice.thinking-conflict", "tool_choice 'specified' is"),
    (
        "kimi",
        chat(GO, calls("ls:0", "ls:0"), result("ls:0")),
        "closure.duplicate-id",
        "tool call id ls:0 is duplicated",
    ),
    ("kimi", chat(GO, result("")), "closure.id-format", "tool_call_id  is not found"),
    ("kimi", chat(GO, calls("a"), GO), "closure.missing-result", "did not have response messages: a"),
    (
        "kimi",
        chat(GO, {"role": "assistant", "content": ""}, GO),
        "content.empty",
        "at position 1 with role 'assistant'",
    ),
    ("kimi", chat(GO, temperature=0.3, model="kimi-k3"), "params.unsupported", "only 1 is allowed for this model"),
    ("kimi", chat(GO, temperature=1.0, model="kimi-k3"), "", ""),
    ("kimi", chat(GO, temperature=0.6, model="kimi-k2.6"), "params.unsupported", "only 1 is allowed for this model"),
    ("kimi", chat(GO, temperature=0.6, model="kimi-k2.6", thinking=OFF), "", ""),
    ("kimi", chat(GO, thinking=ON, reasoning_effort="low"), "params.unsupported", "cannot specify both 'thinking' and"),
]

ORDER = "Unexpected role '{}' after role '{}'"
NINE = "abcDEF123"
MISTRAL = [
    ("mistral", chat(GO, calls(NINE), result(NINE)), "", ""),
    (
        "mistral",
        chat(GO, calls("call_1"), result("call_1")),
        "closure.id-format",
        "Tool call id was call_1 but must be",
    ),
    ("mistral", chat(GO, calls(NINE), result(NINE), GO), "content.role-order", ORDER.format("user", "tool")),
    ("mistral", chat(GO, result(NINE)), "content.role-order", ORDER.format("tool", "user")),
    ("mistral", chat(GO, calls(NINE), BEGUN, GO), "closure.missing-result", "Not the same number of function calls"),
    ("mistral", chat(GO, {**BEGUN, **THOUGHT}, GO), "reasoning.foreign", '"messages", 1, "assistant", "reasoning_con'),
    ("mistral", chat({**GO, "name": "me"}), "gateway.unknown-field", '["body", "messages", 0, "user", "name"]'),
    ("mistral", chat(GO, max_completion_tokens=9), "gateway.unknown-field", '["body", "max_completion_tokens"]'),
    ("mistral", chat(GO, BEGUN), "content.assistant-last", "Expected last role User or Tool (or Assistant with prefix"),
    ("mistral", chat(GO, {**BEGUN, "prefix": True}), "", ""),
    ("mistral", chat(GO, calls(NINE)), "content.assistant-last", "for serving but got assistant"),
    ("mistral", chat(GO, {"role": "assistant", "content": ""}, GO), "content.empty", "either content or tool_calls"),
]

CLAIMS = [*DEEPSEEK, *MINIMAX, *GLM, *QWEN, *KIMI, *MISTRAL]


@pytest.mark.parametrize(("label", "body", "rule", "text"), CLAIMS, ids=[f"{c[0]} {n}" for n, c in enumerate(CLAIMS)])
def test_chat(label, body, rule, text):
    said, by, words = verdict(label, CHAT, body)
    assert (said == "refuses", by if said == "refuses" else "") == (bool(rule), rule), words
    assert text in words


USE = {"type": "tool_use", "id": "a", "name": "ls", "input": {}}
BLOCK = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
THINKING = {"type": "thinking", "thinking": "Look.", "signature": "s"}
LS = {"name": "ls", "input_schema": {"type": "object"}}


def message(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "tools": [LS], "messages": list(messages), **more}


def turns(*blocks: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    return GO, {"role": "assistant", "content": [*blocks, USE]}, {"role": "user", "content": [BLOCK]}


OTHERS = [
    ("deepseek", MESSAGES, message(*turns()), "reasoning.missing", "The `content[].thinking` in the thinking mode"),
    ("deepseek", MESSAGES, message(*turns(THINKING)), "", ""),
    ("deepseek", MESSAGES, message(GO, tool_choice={"type": "any"}), "", ""),
    ("deepseek", MESSAGES, message(SYSTEM, GO), "content.system-position", "unknown variant `system`, expected `user`"),
    ("minimax", MESSAGES, message(GO, system="be brief"), "", ""),
    ("minimax", MESSAGES, message(SYSTEM, GO), "content.system-position", "invalid message role: system (2013)"),
    ("minimax", MESSAGES, message(*turns()), "", ""),
    ("kimi", MESSAGES, message(GO, model="kimi-k2.6", tool_choice={"type": "any"}), "", ""),
    (
        "kimi",
        MESSAGES,
        message(GO, model="kimi-k2.6", tool_choice={"type": "tool", "name": "ls"}),
        "choice.thinking-conflict",
        "tool_choice 'specified' is incompatible with thinking enabled",
    ),
]


@pytest.mark.parametrize(("label", "protocol", "body", "rule", "text"), OTHERS)
def test_other_protocols(label, protocol, body, rule, text):
    said, by, words = verdict(label, protocol, body)
    assert (said == "refuses", by if said == "refuses" else "") == (bool(rule), rule), words
    assert text in words


def items(*kinds: str) -> dict[str, Any]:
    """A request of items: calls and outputs by their ids, ``said`` is a message, ``thought`` is reasoning."""
    special = {
        "said": {"role": "assistant", "content": "well"},
        "thought": {"type": "reasoning", "id": "r", "content": [{"type": "reasoning_text", "text": "Look."}]},
        "again": {"type": "reasoning", "id": "s", "content": [{"type": "reasoning_text", "text": "And there."}]},
    }
    made = [special.get(k) or {"type": "function_call", "call_id": k, "name": "ls", "arguments": "{}"} for k in kinds]
    outputs = [{"type": "function_call_output", "call_id": k, "output": "x"} for k in kinds if k not in special]
    return {"model": "deepseek-v4-flash", "input": [GO, *made, *outputs]}


@pytest.mark.parametrize(
    ("kinds", "refused"),
    [
        (("thought", "a", "b"), ""),
        (("thought", "again", "a", "b"), ""),
        (("thought", "a", "said", "b"), "No tool output found for tool call a."),
        (("thought", "a", "again", "b"), "No tool output found for tool call a."),
    ],
)
def test_calls_of_deepseek_responses_stand_together(kinds, refused):
    said, by, words = verdict("deepseek", RESPONSES, items(*kinds))
    assert (said, by) == (("refuses", "closure.not-adjacent") if refused else ("accepts", ""))
    assert refused in words


def test_strict_tools_are_read_at_the_beta_url_alone():
    loose = {"type": "function", "function": {**TOOL["function"], "strict": True}}
    loose["function"]["parameters"] = {"type": "object", "properties": {"p": {"type": "string"}}}
    assert verdict("deepseek:beta", CHAT, chat(GO, tools=[loose]))[:2] == ("refuses", "schema.strict")
    assert verdict("deepseek:v4", CHAT, chat(GO, tools=[loose]))[0] == "accepts"


SEEN = [
    ("glm:standard", {"thinking": {"type": "enabled", "clear_thinking": True}}, ""),
    ("glm:preserved", {"thinking": {"type": "enabled", "clear_thinking": False}}, ""),
    ("glm:coding", {}, "https://api.z.ai/api/coding/paas/v4/chat/completions"),
    ("minimax:split", {"reasoning_split": True}, ""),
    ("minimax:text", {"reasoning_split": False}, ""),
    ("qwen:preserved", {"preserve_thinking": True}, ""),
    ("kimi:coding", {}, "https://api.kimi.com/coding/v1/chat/completions"),
    ("deepseek:beta", {}, "https://api.deepseek.com/beta/chat/completions"),
]


@pytest.mark.parametrize(("label", "params", "url"), SEEN)
def test_variants_show_in_the_request(label, params, url):
    request = HttpRequest(url=url, body=Body(json.dumps(chat(GO, **params)).encode()))
    inspector = Inspector(MemorySession("test", (Exchange("1", request),)), provider=label.partition(":")[0])
    assert inspector.run().rows[0].provider == label
