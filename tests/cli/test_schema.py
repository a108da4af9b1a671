"""``workbench schema``: tools against providers; and the arguments view of ``show``."""

from __future__ import annotations

import json

import pytest

ONE_OF = {
    "type": "object",
    "properties": {"yaml": {"type": "string"}, "file": {"type": "string"}},
    "oneOf": [{"required": ["yaml"]}, {"required": ["file"]}],
}
REQUEST = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 9,
    "tools": [{"name": "run", "input_schema": ONE_OF}, {"name": "ls", "input_schema": {"type": "object"}}],
    "messages": [{"role": "user", "content": "go"}],
}


@pytest.fixture
def file(tmp_path):
    def write(value):
        path = tmp_path / "t.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write


def dialects(run, *words):
    (tool,) = json.loads(run("schema", *words, "--format", "json").out)["tools"]
    return {d["dialect"]: d for d in tool["dialects"]}


def test_every_provider_answers(run, file):
    found = dialects(run, file(REQUEST), "--tool", "run")
    assert found["anthropic"]["verdict"] == "changed"
    assert found["anthropic"]["issues"][0]["pointer"] == "/oneOf"
    assert "claude-code" in found["anthropic"]["issues"][0]["source"]
    assert found["openai"]["verdict"] == "changed"
    assert found["openai"]["issues"][0]["pointer"] == "/oneOf"
    assert found["mistral"]["verdict"] == "accepted"
    assert {"anthropic strict", "openai strict", "gemini", "gemini json-schema", "deepseek:beta strict"} <= set(found)


def test_the_change_is_printed_and_proved(run, file):
    done = run("schema", file(REQUEST), "--provider", "anthropic", "--prove", "50")
    assert done.status == 1
    assert "oneOf at the root → one object with all properties  (local check)" in done.out
    assert "proof: same verdict as the original for" in done.out
    assert "✓ anthropic" in done.out  # the other tool


def test_a_tool_that_is_accepted_exits_with_0(run, file):
    assert run("schema", file(REQUEST), "--tool", "ls", "--provider", "anthropic:".rstrip(":")).status in (0, 1)
    assert run("schema", file({"type": "object", "properties": {}}), "--provider", "generic").status == 0


FORMS = [
    ("MCP", {"name": "run", "inputSchema": ONE_OF}),
    ("MCP answer", {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "run", "inputSchema": ONE_OF}]}}),
    ("chat", [{"type": "function", "function": {"name": "run", "parameters": ONE_OF}}]),
    ("gemini", {"functionDeclarations": [{"name": "run", "parameters": ONE_OF}]}),
    ("schema", {**ONE_OF, "title": "run"}),
]


@pytest.mark.parametrize("value", [f[1] for f in FORMS], ids=[f[0] for f in FORMS])
def test_forms_of_definitions(run, file, value):
    (tool,) = json.loads(run("schema", file(value), "--provider", "anthropic", "--format", "json").out)["tools"]
    assert (tool["name"], tool["exchange"]) == ("run", None)
    assert tool["dialects"][0]["verdict"] == "changed"


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}
ROOTS = [
    {"$defs": {"n": NODE}, "$ref": "#/$defs/n"},
    {"definitions": {"n": {"type": "object"}}, "$ref": "#/definitions/n"},
    {"$ref": "#"},
    *({keyword: [{"type": "object"}]} for keyword in ("anyOf", "allOf", "oneOf")),
    {"enum": [{"a": 1}, "b"]},
    {"const": {"a": 1}},
    {"type": ["object", "null"]},
    {"type": "array", "items": {"type": "string"}},
]


@pytest.mark.parametrize("schema", ROOTS, ids=lambda s: " ".join(s))
def test_roots_of_schemas(run, file, schema):
    (tool,) = json.loads(run("schema", file(schema), "--prove", "5", "--format", "json").out)["tools"]
    assert tool["schema"] == schema
    assert not [d["proof"]["against"] for d in tool["dialects"] if d["proof"]["against"]]


def test_what_is_no_schema_is_told_what_is(run, file):
    done = run("schema", file({"foo": 1}))
    assert done.status == 2
    assert "a JSON Schema, with type, properties, $ref" in done.err


def test_bad_names_are_refused(run, file):
    found = dialects(run, file({"name": "a/b", "inputSchema": {"type": "object"}}), "--provider", "openai")
    assert found["openai"]["issues"][0]["keyword"] == "name"
    assert found["openai"]["verdict"] == "changed"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tool", "none"), "declares no tool named 'none'"),
        (("--prove", "-1"), "--prove "),
        (("--provider", "nobody"), "no contract named 'nobody'"),
    ],
)
def test_wrong_words(run, file, words, said):
    done = run("schema", file(REQUEST), *words)
    assert done.status == 2
    assert said in done.err
    assert not done.out


def test_show_as_arguments(run, file):
    body = {
        "model": "gpt-4.1",
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "cat", "arguments": "{'n': '5'}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
        ],
        "tools": [{"type": "function", "function": {
            "name": "cat", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}}],
    }  # fmt: skip
    path = file(body)
    (view,) = json.loads(run("show", path, "--as", "arguments", "--format", "json").out)["exchanges"]
    (call,) = view["calls"]
    assert [s["rung"] for s in call["steps"]] == ["repaired", "coerced", "validated"]
    assert call["steps"][1]["after"] == {"n": 5}
    text = run("show", path, "--as", "arguments").out
    assert "quotes were corrected" in text
    assert '{"n": 5}' in text
