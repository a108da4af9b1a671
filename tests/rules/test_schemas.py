from __future__ import annotations

import pytest

from workbench.rules import schemas

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
    (
        "root oneOf",
        [fn(type="object", properties={}, oneOf=[{"required": ["a"]}])],
        [("schema.unsupported-keyword", "error", "/tools/0/function/parameters/oneOf")],
    ),
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


OPTIONAL = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}


@pytest.mark.parametrize("strict", [True, False])
def test_a_strict_schema_of_the_response_is_held_to_the_strict_dialect(inspect, strict):
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": strict, "schema": OPTIONAL}}
    at = "/response_format/json_schema/schema"
    body = {"model": "gpt-4.1", "messages": GO, "response_format": wanted}
    found = inspect(body, protocol="openai-chat", provider="openai")
    assert only_schema(found) == [("schema.strict", "error", at)] * strict


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


def test_a_contract_that_says_nothing_is_silent_of_what_few_refuse(chat):
    tools = [fn("a-b_c", type="object", properties={"a": {"type": "array"}}, oneOf=[{}])]
    assert only_schema(chat(GO, tools=tools, provider="generic")) == []


def test_findings_of_one_tool_are_capped(chat):
    tools = [fn(type="object", properties={f"a{n}": {"type": "array"} for n in range(100)})]
    assert len(only_schema(chat(GO, tools=tools))) == 20


BARE = {"type": "object", "properties": {"a": {"type": "string"}, "b/c": {"anyOf": [{"type": "array"}, {"const": 1}]}}}
STRICT = fn(strict=True, additionalProperties=False, required=[], **OPEN)
WORDS = [
    ("a long name", "openai-chat", "schema.name", "too-long", "{limit} {length}", [fn("n" * 71, **OPEN)], ["64 71"]),
    ("an odd name", "openai-chat", "schema.name", "pattern", "{name}: {pattern}", [fn("a.b", **OPEN)],
     ["a.b: ^[a-zA-Z0-9_-]{1,64}$"]),
    ("no items", "openai-chat", "schema.items-missing", "", "{name} in {context}", [fn(**BARE)],
     ["run in ('properties', 'b/c', 'anyOf', '0')"]),
    ("optional", "openai-chat", "schema.strict", "required", "{context} Missing '{key}'", [STRICT], ["() Missing 'a'"]),
    ("too many", "openai-chat", "schema.too-many-tools", "", "{limit} {length}",
     [fn("t" * n, **OPEN) for n in (1, 2, 3)],
     ["2 3"]),
    ("twice", "openai-chat", "schema.duplicate-name", "", "{name}", [fn(**OPEN), fn(**OPEN)], ["run"]),
    ("no object", "openai-chat", "schema.malformed", "missing-field", "[{tool}] {field} at {line}:{column}",
     [{"type": "function"}], ["[0] function at 1:31"]),
    ("another type", "openai-chat", "schema.tool-type", "tool-type", "{found} of {names}", [{"type": "web"}],
     ["web of function"]),
    ("a keyword", "gemini", "schema.unsupported-keyword", "", "{keyword} at tools[{group}].f[{tool}]{path}",
     [{"functionDeclarations": [{"name": "f"}, {"name": "g", "parameters": BARE}]}],
     ["const at tools[0].f[1].properties[1].value.any_of[1]"]),
    ("no items, by name", "gemini", "schema.items-missing", "", "{path}.items",
     [{"functionDeclarations": [{"name": "g", "parameters": BARE}]}], [".properties[b/c].any_of[0].items"]),
]  # fmt: skip
TERMS = {
    "schema.name-pattern": "[a-zA-Z0-9_-]{1,64}",
    "schema.max-tools": 2,
    "schema.items-required": True,
    "schema.unique-names": True,
    "schema.strict.all-required": True,
    "schema.tool-types": ["function"],
    "schema.refused-keywords": ["const"],
}


@pytest.mark.parametrize(("protocol", "rule", "when", "text", "tools", "expected"), [r[1:] for r in WORDS],
                         ids=[r[0] for r in WORDS])  # fmt: skip
def test_refusals_name_what_they_are_about(under, protocol, rule, when, text, tools, expected):
    said = {"contents": [{"role": "user", "parts": [{"text": "go"}]}]} if protocol == "gemini" else {"messages": GO}
    found = under(schemas, TERMS, [(rule, text, when)], {"tools": tools, **said}, protocol=protocol)
    assert [f.refusal for f in found if f.check] == expected


def test_calls_of_a_history_are_held_to_what_tools_are(under):
    call = {"id": "a", "type": "function", "function": {"name": "a/b", "arguments": "{}"}}
    calls = [call, {**call, "id": "b"}, {**call, "id": "c", "function": {**call["function"], "name": "ab"}}]
    checks = [
        ("schema.name", "messages[{message}].tool_calls[{call}]: {name}", "replayed"),
        ("schema.too-many-tools", "messages[{message}]: {length} of {limit}", "replayed"),
    ]
    body = {"messages": [*GO, {"role": "assistant", "content": None, "tool_calls": calls}]}
    assert [f.refusal for f in under(schemas, TERMS, checks, body)] == [
        "messages[1].tool_calls[0]: a/b",
        "messages[1].tool_calls[1]: a/b",
        "messages[1]: 3 of 2",
    ]
    assert not under(schemas, TERMS, [], body)


def strict_tools(*optional, strict=True):
    """Chat tools with so many optional properties each."""
    schemas = [{"type": "object", "properties": {f"p{k}": {"type": "string"} for k in range(n)}} for n in optional]
    functions = [{"name": f"f{n}", "strict": strict, "parameters": schema} for n, schema in enumerate(schemas)]
    return [{"type": "function", "function": function} for function in functions]


TOGETHER = [
    ("too many", {"schema.strict.max-tools": 2}, strict_tools(0, 0, 0), [("/tools", "error", "too much: 3 > 2")]),
    ("just enough", {"schema.strict.max-tools": 3}, strict_tools(0, 0, 0), []),
    ("of others any number", {"schema.strict.max-tools": 2}, strict_tools(0, 0, 0, strict=False), []),
    ("optional in all", {"schema.strict.max-optional": 4}, strict_tools(2, 3),
     [("/tools", "error", "too much: 5 > 4")]),
    ("few in all", {"schema.strict.max-optional": 5}, strict_tools(2, 3), []),
    ("one is not strict", {"schema.strict.all-tools": True}, strict_tools(0) + strict_tools(0, strict=False),
     [("/tools/1", "warning", "")]),
    ("none is", {"schema.strict.all-tools": True}, strict_tools(0, 0, strict=False), []),
    ("all are", {"schema.strict.all-tools": True}, strict_tools(0, 0), []),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "tools", "expected"), [r[1:] for r in TOGETHER], ids=[r[0] for r in TOGETHER])
def test_strict_tools_together(under, terms, tools, expected):
    checks = [("schema.strict", "too much: {found} > {limit}", "too-complex")]
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": tools}
    found = [f for f in under(schemas, terms, checks, body) if f.rule == "schema.strict"]
    assert [(f.pointer, f.severity, f.refusal) for f in found] == expected


UNION = {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"anyOf": [{"type": "string"}]}}}


@pytest.mark.parametrize(("term", "most", "tools", "pointer"), [
    ("unions", 1, [], "/response_format/json_schema/schema"),
    ("unions", 2, [], ""),
    ("optional", 3, strict_tools(2), "/tools"),
    ("optional", 4, strict_tools(2), ""),
])  # fmt: skip
def test_strict_tools_and_the_schema_of_the_response_together(under, term, most, tools, pointer):
    formatted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": UNION}}
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}], "response_format": formatted}
    checks = [("schema.strict", "too complex", "too-complex")]
    found = under(schemas, {f"schema.strict.max-{term}": most}, checks, body | ({"tools": tools} if tools else {}))
    assert [f.pointer for f in found if f.rule == "schema.strict"] == ([pointer] if pointer else [])
