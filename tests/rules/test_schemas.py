from __future__ import annotations

import pytest

GO = [{"role": "user", "content": "go"}]


def fn(name="run", strict=None, **schema):
    made = {"name": name, "parameters": schema}
    return {"type": "function", "function": made if strict is None else {**made, "strict": strict}}


def only_schema(findings):
    return [(f.rule, f.severity.value, f.pointer) for f in findings if f.rule.startswith("schema.")]


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
CHAT = [
    ("good", [fn(**OPEN)], []),
    ("no parameters", [{"type": "function", "function": {"name": "x"}}], []),
    ("dots", [fn("a.b", **OPEN)], [("schema.name", "error", "/tools/0/function/name")]),
    ("long", [fn("a" * 65, **OPEN)], [("schema.name", "error", "/tools/0/function/name")]),
    ("twice", [fn(**OPEN), fn(**OPEN)], [("schema.duplicate-name", "warning", "/tools/1/function/name")]),
    (
        "no items",
        [fn(type="object", properties={"a": {"type": "array"}})],
        [("schema.items-missing", "error", "/tools/0/function/parameters/properties/a")],
    ),
    (
        "strict, open and optional",
        [fn(strict=True, **OPEN)],
        [("schema.strict", "error", "/tools/0/function/parameters")] * 2,
    ),
    (
        "reference to nothing",
        [fn(type="object", properties={"a": {"$ref": "#/$defs/x"}})],
        [("schema.ref", "warning", "/tools/0/function/parameters/properties/a/$ref")],
    ),
    ("root oneOf", [fn(type="object", oneOf=[{"required": ["a"]}])], []),
    ("custom tool", [{"type": "custom", "custom": {"name": "free"}}], []),
]


@pytest.mark.parametrize(("tools", "expected"), [r[1:] for r in CHAT], ids=[r[0] for r in CHAT])
def test_openai(chat, tools, expected):
    assert only_schema(chat(GO, tools=tools)) == expected


ANTHROPIC = [
    ("good", {"type": "object"}, []),
    ("root oneOf", {"type": "object", "oneOf": [{}]}, [("schema.unsupported-keyword", "error", "/oneOf")]),
    ("nested oneOf", {"type": "object", "properties": {"a": {"oneOf": [{}]}}}, []),
    ("no root type", {"properties": {}}, [("schema.malformed", "error", "")]),
]


@pytest.mark.parametrize(("schema", "expected"), [r[1:] for r in ANTHROPIC], ids=[r[0] for r in ANTHROPIC])
def test_anthropic(anthropic, schema, expected):
    found = only_schema(anthropic(GO, tools=[{"name": "run", "input_schema": schema}]))
    assert found == [(rule, severity, f"/tools/0/input_schema{below}") for rule, severity, below in expected]


def test_the_refusal_of_another_fault_is_not_quoted(anthropic):
    (finding,) = [f for f in anthropic(GO, tools=[{"name": "run", "input_schema": {}}]) if f.rule == "schema.malformed"]
    assert finding.refusal == ""
    assert finding.source


def test_the_refusal_is_quoted_with_its_index(anthropic):
    tools = [
        {"name": "ok", "input_schema": {"type": "object"}},
        {"name": "run", "input_schema": {"type": "object", "anyOf": [{}]}},
    ]
    (finding,) = [f for f in anthropic(GO, tools=tools) if f.rule.startswith("schema.")]
    assert finding.refusal.startswith("tools.1.custom.input_schema: input_schema does not support oneOf")


def test_a_contract_that_says_nothing_is_silent(chat):
    tools = [fn("a.b/c", type="object", properties={"a": {"type": "array"}}, oneOf=[{}])]
    assert only_schema(chat(GO, tools=tools, provider="generic")) == []


def test_findings_of_one_tool_are_capped(chat):
    tools = [fn(type="object", properties={f"a{n}": {"type": "array"} for n in range(100)})]
    assert len(only_schema(chat(GO, tools=tools))) == 20
