"""What every conversation has: a list of messages, each with a role and a content, made of parts that are known."""

from __future__ import annotations

import json

import pytest

from workbench import contracts
from workbench.contracts import Severity, refusal_of
from workbench.rules import judge
from workbench.simulator import Simulator

GO = {"role": "user", "content": "go"}
JSON = ("content-type", "application/json")
PATHS = {
    "openai": "/v1/chat/completions",
    "deepseek": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/gemini-2.5-pro:generateContent",
}
PROTOCOLS = {"anthropic": "anthropic-messages", "gemini": "gemini"}

CHAT = {"model": "gpt-4.1"}
CLAUDE = {"model": "claude-sonnet-4-5", "max_tokens": 100}
PART = [{"type": "txt", "text": "go"}]
EMPTY = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
USR = "Invalid value: 'usr'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."
STRING = "Invalid type for 'messages': expected an array of objects, but got a string instead."

REFUSED = [
    ("openai", "unknown role", CHAT | {"messages": [{**GO, "role": "usr"}]}, "/messages/0/role", USR),
    ("openai", "no messages", CHAT | {"messages": []}, "/messages", EMPTY),
    ("openai", "text", CHAT | {"messages": "go"}, "/messages", STRING),
    ("openai", "no role", CHAT | {"messages": [GO, {"content": "go"}]}, "/messages/1", "'messages[1].role'"),
    ("openai", "no content", CHAT | {"messages": [{"role": "user"}]}, "/messages/0", "is not known"),
    ("openai", "part", CHAT | {"messages": [{**GO, "content": PART}]}, "/messages/0/content/0", "Invalid value: 'txt'"),
    ("anthropic", "unknown role", CLAUDE | {"messages": [{**GO, "role": "usr"}]}, "/messages/0/role", 'role "usr"'),
    ("anthropic", "no messages", CLAUDE | {"messages": []}, "/messages", "messages: at least one message is required"),
    ("anthropic", "text", CLAUDE | {"messages": "go"}, "/messages", "messages: Input should be a valid array"),
    ("anthropic", "no role", CLAUDE | {"messages": [{"content": "go"}]}, "/messages/0", "messages.0.role: Field req"),
    ("anthropic", "no content", CLAUDE | {"messages": [{"role": "user"}]}, "/messages/0", "messages.0.content: Field"),
    ("anthropic", "part", CLAUDE | {"messages": [{**GO, "content": PART}]}, "/messages/0/content/0", "Input tag 'txt'"),
    ("deepseek", "no messages", {"model": "deepseek-chat", "messages": []}, "/messages", "Empty input messages"),
    ("deepseek", "no role", {"model": "deepseek-chat", "messages": [{"content": "go"}]}, "/messages/0", "field `role`"),
    ("deepseek", "text", {"model": "deepseek-chat", "messages": "go"}, "/messages", "is not known"),
    ("gemini", "no messages", {"contents": []}, "/contents", "contents is not specified"),
    ("gemini", "role", {"contents": [{"role": "usr", "parts": [{"text": "go"}]}]}, "/contents/0/role", "a valid role"),
]


@pytest.mark.parametrize(
    ("provider", "body", "pointer", "text"), [(p, *r) for p, _, *r in REFUSED], ids=[f"{r[0]}: {r[1]}" for r in REFUSED]
)
def test_a_request_that_is_no_conversation_is_refused(inspect, provider, body, pointer, text):
    """By ``check``, with the words of the provider, and by the simulator with the same."""
    protocol = PROTOCOLS.get(provider, "openai-chat")
    found = inspect(body, protocol=protocol, provider=provider)
    judged = judge(found, contracts.get(provider, protocol=protocol)).finding
    rule = "content.unsupported-part" if pointer.endswith("/content/0") else "content.shape"
    assert (judged.rule, judged.severity, judged.pointer) == (rule, Severity.ERROR, pointer)
    answer = refusal_of(judged, contracts.get(provider, protocol=protocol))
    assert text in json.dumps(answer.body, ensure_ascii=False).replace('\\"', '"')
    reply = Simulator(provider).send("POST", PATHS[provider], (JSON,), json.dumps(body).encode())
    assert reply.status == answer.status == 400
    assert text in reply.body().decode().replace('\\"', '"')


COMPACTED = {"role": "assistant", "content": [{"type": "compaction", "content": "so far"}]}

TAKEN = [
    ("every role", "openai", CHAT | {"messages": [{**GO, "role": r} for r in ("developer", "system", "user")]}),
    ("an answer without content", "openai", CHAT | {"messages": [GO, {"role": "assistant", "refusal": "no"}]}),
    ("a block of a beta", "anthropic", CLAUDE | {"messages": [GO, COMPACTED, GO]}),
    ("no role", "gemini", {"contents": [{"parts": [{"text": "go"}]}]}),
    ("to load the model", "ollama", {"model": "llama3.2:3b", "messages": []}),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "body"), [r[1:] for r in TAKEN], ids=[r[0] for r in TAKEN])
def test_what_is_one_is_left_alone(inspect, provider, body):
    protocol = {**PROTOCOLS, "ollama": "ollama"}.get(provider, "openai-chat")
    found = inspect(body, protocol=protocol, provider=provider)
    assert [f.pointer for f in found if f.rule == "content.shape" and f.severity == "error"] == []


def test_where_no_refusal_is_known_it_is_a_warning(inspect):
    found = inspect({"model": "m", "messages": []}, protocol="openai-chat")
    assert [(f.rule, f.severity, f.check) for f in found] == [("content.shape", "warning", None)]


def test_nobody_takes_messages_that_are_no_list(inspect):
    found = inspect({"model": "m", "messages": {"role": "user"}}, protocol="openai-chat")
    assert [(f.rule, f.severity, f.message) for f in found] == [
        ("content.shape", "error", "messages is an object, not a list")
    ]


@pytest.mark.parametrize(
    ("tool", "expected"),
    [({"name": "x"}, ["/tools/0"]), ({"type": "computer_20251124", "name": "computer"}, [])],
    ids=["of the client", "that the provider defines"],
)
def test_a_tool_without_a_schema(inspect, tool, expected):
    found = inspect(CLAUDE | {"tools": [tool], "messages": [GO]}, protocol="anthropic-messages", provider="anthropic")
    assert [f.pointer for f in found if f.rule == "schema.missing-parameters"] == expected
    assert all(f.refusal == "tools.0.custom.input_schema: Field required" for f in found if f.pointer in expected)
