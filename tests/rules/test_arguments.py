from __future__ import annotations

import json

import pytest

from workbench import limits

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["path"],
}
CHAT_TOOLS = [
    {"type": "function", "function": {"name": "read", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
]
TOOLS = [{"name": "read", "input_schema": SCHEMA}]
GO = [{"role": "user", "content": "go"}]
AT = "/choices/0/message/tool_calls/0/function"


def answer(arguments, *, name="read", reason="tool_calls", used=5):
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"completion_tokens": used},
    }


CUT = '{"path": "a.txt", "limit'

CHAT = [
    ("fits", answer('{"path": "a", "tags": ["x"]}'), []),
    ("fence", answer('```json\n{"path":"a"}\n```'), [("args.invalid-json", "error", "/arguments")]),
    ("Python", answer("{'path': 'a', 'limit': None}"), [("args.invalid-json", "error", "/arguments")]),
    ("quote missing in the middle", answer('{"path": a.txt"}'), [("args.invalid-json", "error", "/arguments")]),
    ("two objects", answer('{"path":"a"}{"path":"b"}'), [("args.invalid-json", "error", "/arguments")]),
    ("not finished, no limit reached", answer(CUT), [("args.invalid-json", "error", "/arguments")]),
    ("cut, and says so", answer(CUT, reason="length"), [("args.truncated", "error", "/arguments")]),
    ("cut, and does not say so", answer(CUT, used=64), [("args.truncated", "error", "/arguments")]),
    (
        "limit reached, but broken before",
        answer('{"path": a"}', used=64),
        [("args.invalid-json", "error", "/arguments")],
    ),
    ("empty, nothing required", answer("", name="now"), [("args.empty", "warning", "/arguments")]),
    ("empty, something required", answer(" "), [("args.empty", "error", "/arguments")]),
    ("encoded twice", answer(json.dumps('{"path": "a"}')), [("args.double-encoded", "error", "/arguments")]),
    ("array", answer('["a"]'), [("args.not-object", "error", "/arguments")]),
    ("number as string", answer('{"path":"a","limit":"5"}'), [("args.schema", "warning", "/arguments/limit")]),
    (
        "array as string",
        answer('{"path":"a","tags":"[\\"x\\"]"}'),
        [("args.double-encoded", "error", "/arguments/tags")],
    ),
    ("missing", answer('{"limit":1}'), [("args.schema", "error", "/arguments")]),
    (
        "wrong in two places",
        answer('{"path":[],"limit":{}}'),
        [("args.schema", "error", "/arguments/path"), ("args.schema", "error", "/arguments/limit")],
    ),
]


@pytest.mark.parametrize(("response", "expected"), [r[1:] for r in CHAT], ids=[r[0] for r in CHAT])
def test_calls_of_a_chat_answer(chat, response, expected):
    found = [f for f in chat(GO, response, tools=CHAT_TOOLS, max_tokens=64) if f.rule.startswith("args.")]
    assert [(f.rule, f.severity, f.pointer.removeprefix(AT)) for f in found] == expected
    assert all(f.span for f in found)


def test_the_evidence_says_what_was_most_likely_meant(chat):
    found = chat(GO, answer("{'path': 'a', 'limit': None}"), tools=CHAT_TOOLS)
    assert """most likely meant: '{"path":"a"}'""" in found[0].evidence


def block(**more):
    content = [{"type": "tool_use", "id": "toolu_1", "name": "read", **more}]
    return {"type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "tool_use"}


ANTHROPIC = [
    ("fits", block(input={"path": "a"}), []),
    ("missing", block(input={}), [("args.schema", "error", "/content/0/input")]),
    (
        "array as string",
        block(input={"path": "a", "tags": '["x"]'}),
        [("args.double-encoded", "error", "/content/0/input/tags")],
    ),
    (
        "cut by the limit",
        {**block(input={}), "stop_reason": "max_tokens"},
        [("args.truncated", "error", "/content/0/input")],
    ),
]


@pytest.mark.parametrize(("response", "expected"), [r[1:] for r in ANTHROPIC], ids=[r[0] for r in ANTHROPIC])
def test_calls_of_an_anthropic_answer(anthropic, response, expected):
    found = [f for f in anthropic(GO, response, tools=TOOLS) if f.rule.startswith("args.")]
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


def stream(*deltas, reason="tool_use"):
    """An Anthropic stream with one call whose arguments come in pieces."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    counts = {"input_tokens": 9, "output_tokens": 1}
    message = {"type": "message", "role": "assistant", "model": "m", "content": [], "usage": counts}
    start = {"type": "message_start", "message": message}
    events = [
        start,
        {"type": "content_block_start", "index": 0, "content_block": call},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": d}}
            for d in deltas
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


STREAMS = [
    ("fits", stream('{"pa', 'th": "a"}'), []),
    (
        "array as string",
        stream('{"path": "a", ', '"tags": "[]"}'),
        [("args.double-encoded", "/content/0/input/tags", (2, 3))],
    ),
    ("no JSON", stream("{path", ": 1}"), [("args.invalid-json", "/content/0/input", (2, 3))]),
    ("cut", stream('{"pa', 'th": "', reason="max_tokens"), [("args.truncated", "/content/0/input", (2, 3))]),
]


@pytest.mark.parametrize(("response", "expected"), [r[1:] for r in STREAMS], ids=[r[0] for r in STREAMS])
def test_calls_of_a_stream(anthropic, response, expected):
    found = [f for f in anthropic(GO, response, tools=TOOLS) if f.rule.startswith("args.")]
    assert [(f.rule, f.pointer, f.events) for f in found] == expected


def test_a_stream_without_arguments_is_an_empty_object(anthropic):
    found = anthropic(GO, stream(), tools=[{"name": "read", "input_schema": {"type": "object"}}])
    assert [f.rule for f in found] == ["closure.pending"]


def test_a_call_cut_with_its_stream_is_the_streams_fault(anthropic):
    torn = stream('{"path": "a').partition(b"event: content_block_stop")[0]
    found = {f.rule for f in anthropic(GO, torn, tools=TOOLS)}
    assert found >= {"stream.truncated"}
    assert not {r for r in found if r.startswith("args.")}


REPLAYED = [
    ("string in place of an object", '{"path": "a"}', "error"),
    ("array in place of an object", [], "error"),
    ("object", {"path": "a"}, None),
]


@pytest.mark.parametrize(("value", "severity"), [r[1:] for r in REPLAYED], ids=[r[0] for r in REPLAYED])
def test_container_of_replayed_arguments(anthropic, value, severity):
    call = {"type": "tool_use", "id": "a", "name": "read", "input": value}
    reply = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}
    found = anthropic([*GO, {"role": "assistant", "content": [call]}, reply], tools=TOOLS)
    expected = [("args.not-object", "error", "/messages/1/content/0/input")] if severity else []
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


def test_object_in_place_of_the_argument_text(chat):
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": {"path": "a"}}}
    messages = [
        *GO,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
    ]
    (finding,) = chat(messages, tools=CHAT_TOOLS)
    assert (finding.rule, finding.severity) == ("args.not-object", "error")
    assert finding.pointer == "/messages/1/tool_calls/0/function/arguments"


def test_replayed_text_that_does_not_parse_is_a_warning(chat):
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{path"}}
    messages = [
        *GO,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
    ]
    (finding,) = chat(messages, tools=CHAT_TOOLS)
    assert (finding.rule, finding.severity) == ("args.invalid-json", "warning")


def test_a_call_that_had_just_begun_when_its_stream_tore(anthropic):
    torn = stream("{").partition(b"event: content_block_delta")[0]
    assert not [f for f in anthropic(GO, torn, tools=TOOLS) if f.rule.startswith("args.")]


def test_of_many_broken_calls_all_are_found_and_a_few_are_repaired(chat):
    body = answer("{'path': 'a'}")
    body["choices"][0]["message"]["tool_calls"] *= 8
    found = [f for f in chat(GO, body, tools=CHAT_TOOLS) if f.rule == "args.invalid-json"]
    assert len(found) == 8
    assert sum("most likely meant" in f.evidence for f in found) == 5


UNUSABLE = [
    (
        "pattern of another dialect",
        {"properties": {"a": {"pattern": "[a-"}}},
        "pattern '[a-' is not supported here",
    ),
    ("reference to itself", {"$ref": "#"}, "the schema refers to itself endlessly"),
    (
        "remote reference",
        {"$ref": "http://localhost:1/s"},
        "reference 'http://localhost:1/s' has no target",
    ),
    ("no schema", {"type": "map"}, "not a valid JSON Schema"),
]


@pytest.mark.parametrize(("schema", "reason"), [r[1:] for r in UNUSABLE], ids=[r[0] for r in UNUSABLE])
def test_a_schema_that_cannot_be_applied_is_said_once(anthropic, schema, reason):
    calls = [{"type": "tool_use", "id": f"toolu_{n}", "name": "f", "input": {"a": "b"}} for n in range(2)]
    answer = {"type": "message", "role": "assistant", "content": calls, "stop_reason": "tool_use"}
    tools = [{"name": "f", "input_schema": schema}]
    found = anthropic([{"role": "user", "content": "go"}], answer, tools=tools)
    (finding,) = [f for f in found if f.rule.startswith("args.")]
    assert (finding.rule, finding.severity, finding.pointer) == ("args.schema", "info", "/content/0/input")
    assert finding.message.startswith(f"the declared schema is not usable: {reason}")


def test_what_took_too_long_here_is_no_fault_of_the_schema(chat, monkeypatch):
    monkeypatch.setattr(limits, "REPAIR_SECONDS", 0.3)
    schema = {"type": "object", "properties": {"p": {"type": "string", "pattern": "^(a+)+$"}}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": json.dumps({"p": "a" * 61 + "!"})}}
    answer = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]}
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    found = chat([{"role": "user", "content": "go"}], answer, tools=tools, provider="generic")
    (said,) = [f.message for f in found if f.rule == "args.schema"]
    assert said.startswith("the arguments were not checked: stopped after")
