"""Bodies held to the grammar: where this family speaks, how loud, and where it is silent."""

from __future__ import annotations

import copy
import json
from collections import Counter
from contextlib import closing

import pytest

from workbench.formats.importers import open_input
from workbench.protocols.grammars import NULL, WRONG_VALUE, grammar_of
from workbench.rules import accepted_by
from workbench.rules.grammar import request_faults
from workbench.rules.inspection import Inspector

CHAT = {
    "model": "gpt-4.1",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_aaaaa1", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_aaaaa1", "content": "x"},
    ],
    "tools": [{"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}],
}
MESSAGES = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 4096,
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_01A", "name": "find", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01A", "content": "x"}]},
    ],
    "tools": [{"name": "find", "input_schema": {"type": "object", "properties": {}}}],
}
RESPONSES = {
    "model": "gpt-5",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "call_1", "name": "find", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "x"},
    ],
    "tools": [{"type": "function", "name": "find", "parameters": {"type": "object", "properties": {}}}],
}
GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"r": 1}}}]},
    ],
    "tools": [{"functionDeclarations": [{"name": "find", "description": "d"}]}],
    "generationConfig": {"temperature": 1},
}
CONVERSE = {
    "messages": [
        {"role": "user", "content": [{"text": "hi"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "find", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "x"}]}}]},
    ],
    "toolConfig": {"tools": [{"toolSpec": {"name": "find", "inputSchema": {"json": {"type": "object"}}}}]},
}
OLLAMA = {
    "model": "qwen3:8b",
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "find", "arguments": {}}}]},
        {"role": "tool", "content": "x", "tool_name": "find"},
    ],
    "tools": CHAT["tools"],
}
BODIES = {
    "openai-chat": CHAT,
    "anthropic-messages": MESSAGES,
    "openai-responses": RESPONSES,
    "gemini": GEMINI,
    "bedrock-converse": CONVERSE,
    "ollama": OLLAMA,
}


def planted(protocol, pointer, value):
    """A whole body with a value at a pointer."""
    body = copy.deepcopy(BODIES[protocol])
    *steps, last = pointer[1:].split("/")
    node = body
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node[step]
    node[last] = value
    return body


@pytest.mark.parametrize("protocol", BODIES)
def test_whole_bodies_have_no_fault(inspect, protocol):
    provider = grammar_of(protocol).provider
    found = inspect(BODIES[protocol], protocol=protocol, provider=provider)
    assert [(f.rule, f.pointer) for f in found if f.severity != "info" and "reasoning" not in f.rule] == []


@pytest.mark.parametrize(
    ("protocol", "provider", "pointer", "value", "rule", "severity"),
    [
        ("anthropic-messages", "anthropic", "/messages/0/content/0/note", 1, "gateway.unknown-field", "error"),
        ("anthropic-messages", "anthropic", "/messages/1/content/0/index", 0, "gateway.unknown-field", "error"),
        ("anthropic-messages", "anthropic", "/messages/2/content/0/name", "x", "gateway.unknown-field", "error"),
        ("anthropic-messages", "anthropic", "/tools/0/parameters", {}, "gateway.unknown-field", "error"),
        ("anthropic-messages", "anthropic", "/messages/1/content/0/caller", 3, "content.shape", "error"),
        ("anthropic-messages", "anthropic", "/stop_sequences", "a", "params.unsupported", "warning"),
        ("openai-chat", "openai", "/messages/1/tool_calls/0/index", 0, "gateway.unknown-field", "warning"),
        ("openai-chat", "openai", "/messages/2/is_error", True, "gateway.unknown-field", "warning"),
        ("openai-chat", "openai", "/tools/0/function/input_schema", {}, "gateway.unknown-field", "warning"),
        ("openai-chat", "openai", "/temprature", 1, "gateway.unknown-field", "error"),
        ("openai-chat", "openai", "/messages/0/name", 3, "content.shape", "error"),
        ("openai-chat", "openai", "/tools/0/function/description", {}, "schema.malformed", "error"),
        ("openai-chat", "groq", "/temprature", 1, "gateway.unknown-field", "error"),
        ("openai-chat", "groq", "/messages/1/tool_calls/0/index", 0, "gateway.unknown-field", "warning"),
        ("openai-chat", "deepseek", "/temprature", 1, "gateway.unknown-field", "warning"),
        ("openai-chat", "deepseek", "/max_tokens", "many", "params.unsupported", "warning"),
        ("openai-chat", "vllm", "/temprature", 1, "gateway.unknown-field", "warning"),
        ("openai-chat", "fireworks", "/note", 1, "gateway.unknown-field", "error"),
        ("openai-chat", "fireworks", "/top_k", 101, "params.unsupported", "warning"),
        ("openai-chat", "together", "/temprature", 1, "gateway.unknown-field", "warning"),
        ("openai-chat", "perplexity", "/search_mode", "image", "params.unsupported", "warning"),
        ("openai-chat", "openrouter", "/metadata", {"k": "v" * 513}, "params.unsupported", "warning"),
        ("anthropic-messages", "vllm", "/top_p", "high", "params.unsupported", "warning"),
        ("openai-responses", "openai", "/input/1/index", 0, "gateway.unknown-field", "error"),
        ("openai-responses", "openai", "/reasoning", {"efort": "low"}, "gateway.unknown-field", "error"),
        ("gemini", "gemini", "/contents/0/parts/0/note", 1, "gateway.unknown-field", "error"),
        ("gemini", "gemini", "/contents/2/parts/0/functionResponse/content", "x", "gateway.unknown-field", "error"),
        ("gemini", "gemini", "/generationConfig/max_tokens", 3, "gateway.unknown-field", "error"),
        ("gemini", "gemini", "/generationConfig/temperature", "warm", "params.unsupported", "warning"),
        ("bedrock-converse", "bedrock", "/messages/1/content/0/toolUse/index", 0, "gateway.unknown-field", "warning"),
        ("bedrock-converse", "bedrock", "/inferenceConfig", {"max_tokens": 3}, "gateway.unknown-field", "warning"),
        ("bedrock-converse", "bedrock", "/inferenceConfig", {"temperature": 2}, "params.unsupported", "error"),
        (
            "bedrock-converse",
            "bedrock",
            "/additionalModelResponseFieldPaths",
            ["/a"] * 11,
            "params.unsupported",
            "error",
        ),
        ("ollama", "ollama", "/optons", {}, "gateway.unknown-field", "warning"),
    ],
)
def test_a_difference_is_named_at_its_place(inspect, protocol, provider, pointer, value, rule, severity):
    found = inspect(planted(protocol, pointer, value), protocol=protocol, provider=provider)
    place = f"{pointer}/{next(iter(value))}" if isinstance(value, dict) and value else pointer
    assert [(f.rule, f.severity) for f in found if f.pointer == place] == [(rule, severity)]


@pytest.mark.parametrize(
    ("provider", "pointer", "value"),
    [
        ("deepseek", "/enable_search", True),  # a dialect has keys of its own
        ("vllm", "/guided_json", {}),
        ("openrouter", "/messages/1/reasoning_details", []),
        ("qwen", "/messages/0/content/0/cache_control", {"type": "ephemeral"}),
        ("openai", "/user", None),
    ],
)
def test_what_dialects_have_is_no_fault(inspect, provider, pointer, value):
    found = inspect(planted("openai-chat", pointer, value), protocol="openai-chat", provider=provider)
    assert not [f for f in found if f.pointer == pointer]


@pytest.mark.parametrize(
    ("provider", "severities"), [("openai", ["error"]), ("groq", ["warning"]), ("xai", ["warning"])]
)
def test_what_no_provider_accepts_is_a_warning_where_nothing_is_known(inspect, provider, severities):
    found = inspect(planted("openai-chat", "/temperature", 3), protocol="openai-chat", provider=provider)
    assert [f.severity for f in found if f.pointer == "/temperature"] == severities


def test_an_object_of_one_key_with_two_is_named(inspect):
    body = planted("bedrock-converse", "/messages/0/content/0/cachePoint", {"type": "default"})
    found = inspect(body, protocol="bedrock-converse", provider="bedrock")
    assert [(f.rule, f.pointer) for f in found] == [("content.shape", "/messages/0/content/0")]


def test_a_model_newer_than_the_types_makes_an_error_a_warning(inspect):
    body = planted("anthropic-messages", "/messages/0/content/0/note", 1) | {"model": "claude-sonnet-9-20991201"}
    found = inspect(body, protocol="anthropic-messages", provider="anthropic")
    assert [f.severity for f in found if f.pointer == "/messages/0/content/0/note"] == ["warning"]


def test_one_difference_in_many_messages_is_one_finding(inspect):
    body = copy.deepcopy(CHAT)
    body["messages"] = [{**body["messages"][0], "note": 1}, *body["messages"][1:], {**body["messages"][0], "note": 1}]
    (found,) = [f for f in inspect(body, protocol="openai-chat", provider="openai") if f.pointer.endswith("/note")]
    assert (found.pointer, found.related) == ("/messages/0/note", ("/messages/3/note",))


WEAK = (NULL, WRONG_VALUE)


def test_accepted_recordings_differ_from_the_grammar_of_their_provider_nowhere(recordings, thin):
    """The gate of every new version: what was accepted is in the types, or in an overlay with its reason."""
    differences, seen = Counter(), 0
    for file in thin(sorted(file for file in recordings.glob("*/*/*") if file.is_file()), 3):
        with closing(open_input(str(file))) as session:
            inspector = Inspector(session)
            for row in inspector.steps():
                if row.protocol and row.provider:
                    decoded = inspector.detail(row.index).decoded
                    known = grammar_of(row.protocol, row.provider.partition(":")[0])
                    if accepted_by(decoded) and known and known.provider == row.provider.partition(":")[0]:
                        seen += 1
                        faults = request_faults(decoded, known.provider)
                        differences.update(
                            (row.protocol, f.code, f.holder, f.name) for _, f in faults if f.code not in WEAK
                        )
    assert not differences
    assert seen > 40


ANSWER = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def streamed(reason):
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices = ({"index": 0, "delta": {"content": "hi"}}, {"index": 0, "delta": {}, "finish_reason": reason})
    return "".join(f"data: {json.dumps(chunk | {'choices': [choice]})}\n\n" for choice in choices) + "data: [DONE]\n\n"


def altered(value, pointer, new=None, *, is_left_out=False):
    """A copy with another value at a pointer, or without it."""
    value = copy.deepcopy(value)
    *steps, last = [int(step) if step.isdecimal() else step for step in pointer.split("/")[1:]]
    holder = value
    for step in steps:
        holder = holder[step]
    if is_left_out:
        del holder[last]
    else:
        holder[last] = new
    return value


def begun(message=MESSAGE, block=None, counts=MESSAGE["usage"]):
    """The stream of a message with one call, or another block that a text is added to."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}} if block is None else block
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn" if block else "tool_use"}, "usage": counts}
    events = (
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": call},
        *(
            [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}}]
            if block
            else []
        ),
        {"type": "content_block_stop", "index": 0},
        {key: value for key, value in end.items() if value is not None},
        {"type": "message_stop"},
    )
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


CALLING = altered(ANSWER, "/choices/0/finish_reason", "tool_calls")
CALLING["choices"][0]["message"]["tool_calls"] = [
    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
]
ITEM = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": []}
ITEM["content"].append({"type": "output_text", "text": "hi", "annotations": []})
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "output": [ITEM],
}
RESPONSE |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
GENERATED = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}]}
WITHOUT_END = {
    "vllm": (ANSWER, "/choices/0/finish_reason"),
    "anthropic": (MESSAGE, "/stop_reason"),
    "sglang": (RESPONSE, "/status"),
    "gemini": (GENERATED, "/candidates/0/finishReason"),
}
ANSWERS = {
    **{f"{p} without an end": (p, altered(*at, is_left_out=True), [at[1]]) for p, at in WITHOUT_END.items()},
    **{f"{p} with an empty end": (p, altered(*at), [at[1]]) for p, at in WITHOUT_END.items()},
    **{f"{p} with an end": (p, at[0], []) for p, at in WITHOUT_END.items()},
    "a time that is text": ("vllm", altered(ANSWER, "/created", "1"), ["/created"]),
    "a time that is text, of a stream": (
        "vllm",
        streamed("stop").replace('"created": 1', '"created": "1"'),
        ["/created"],
    ),
    "a count that is text": ("openai", altered(MESSAGE, "/usage/input_tokens", "1"), ["/usage/input_tokens"]),
    "a call without a type": (
        "deepinfra",
        altered(CALLING, "/choices/0/message/tool_calls/0/type", is_left_out=True),
        ["/choices/0/message/tool_calls/0"],
    ),
    "a kind of block that is unknown": ("vllm", altered(MESSAGE, "/content/0/type", "prose"), ["/content/0/type"]),
    "a newer kind of block of the vendor's": ("anthropic", altered(MESSAGE, "/content/0/type", "prose"), []),
    "a message that begins with its counts": ("vllm", begun(), []),
    "a message that begins without counts": ("vllm", begun({k: v for k, v in MESSAGE.items() if k != "usage"}), [""]),
    "an end without counts": ("vllm", begun(counts=None), [""]),
    "a text that begins without its text": ("vllm", begun(block={"type": "text"}), ["/content/0"]),
    "a tier of another server": ("openrouter", ANSWER | {"service_tier": "standard"}, ["/service_tier"]),
    "a tier of the server's own": ("groq", ANSWER | {"service_tier": "on_demand"}, []),
    "a tier newer than the types": ("openai", ANSWER | {"service_tier": "standard"}, []),
    "a reason of another protocol": ("vllm", MESSAGE | {"stop_reason": "stop"}, ["/stop_reason"]),
    "a reason that is known": ("vllm", MESSAGE, []),
    "the end of a stream": ("vllm", streamed("eos_token"), [""]),
    "the usual end of a stream": ("vllm", streamed("length"), []),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_held_to_the_values_that_official_types_list(tmp_path, name):
    provider, answer, places = ANSWERS[name]
    path = tmp_path / ("a.sse" if isinstance(answer, str) else "a.json")
    path.write_text(answer if isinstance(answer, str) else json.dumps(answer), encoding="utf-8")
    with closing(open_input(str(path))) as session:
        found = Inspector(session, provider=provider).run().findings
    assert [(f.pointer, f.severity) for f in found if f.rule == "answer.reshaped"] == [(at, "warning") for at in places]
