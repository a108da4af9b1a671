"""The schema lens: one schema against every contract."""

from __future__ import annotations

import pytest

from workbench import contracts
from workbench.protocols.decode import DecodedExchange
from workbench.rules import schema_check
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

OPEN = {"type": "object", "properties": {"path": {"type": "string"}}}
ONE_OF = {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
CASES = [
    ("ls", OPEN, "anthropic", schema_check.ACCEPTED, ()),
    ("ls", OPEN, "openai strict", schema_check.CHANGED, ("additionalProperties", "required")),
    ("run", ONE_OF, "anthropic", schema_check.CHANGED, ("oneOf",)),
    ("ls.it", OPEN, "openai", schema_check.CHANGED, ("name",)),
    ("ls", "no schema", "anthropic", "refused", ("",)),
]


@pytest.mark.parametrize(
    ("name", "schema", "dialect", "verdict", "keywords"), CASES, ids=[f"{c[0]}-{c[2]}" for c in CASES]
)
def test_a_verdict_has_its_reasons_and_a_change(name, schema, dialect, verdict, keywords):
    held = next((c, d) for c, d in schema_check.dialects() if d.name == dialect)
    judged = schema_check.judge(name, schema, *held)
    assert judged.verdict == verdict
    assert {i.keyword for i in judged.issues if i.effect == "refused"} == set(keywords)
    assert judged.lowered.schema == schema or judged.lowered.steps


def test_one_contract_answers_in_all_its_modes():
    assert [d.mode for _, d in schema_check.dialects("gemini")] == ["", "json-schema", "output"]
    every = [(c.label, d.mode) for c, d in schema_check.dialects()]
    assert {label.partition(":")[0] for label, _ in every} < set(contracts.names())
    assert ("deepseek:v4", "") in every and ("deepseek:beta", "strict") in every  # each mode once
    assert len(every) == len({(label.partition(":")[0], mode) for label, mode in every})


@pytest.mark.parametrize(
    ("url", "body", "pointer"),
    [
        (
            "https://api.anthropic.com/v1/messages",
            {"model": "m", "messages": [], "tools": [{"name": "x", "input_schema": OPEN}]},
            "/tools/0/input_schema",
        ),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent",
            {"contents": [], "tools": [{"functionDeclarations": [{"name": "x", "parametersJsonSchema": OPEN}]}]},
            "/tools/0/functionDeclarations/0/parametersJsonSchema",
        ),
        (
            "https://api.anthropic.com/v1/messages",
            {"model": "m", "messages": [], "tools": [{"name": "x"}]},
            "/tools/0",
        ),
    ],
)
def test_a_schema_is_found_in_its_declaration(url, body, pointer):
    decoded = DecodedExchange(0, Exchange("1", HttpRequest("POST", url, body=Body(dumps(body)))), None)
    assert decoded.request
    assert schema_check.pointer_of(decoded, decoded.request.tools[0]) == pointer


NULLABLE = {"type": "OBJECT", "properties": {"x": {"type": "INTEGER", "nullable": True}}}
TYPE_LIST = {"type": "OBJECT", "properties": {"x": {"type": ["integer", "null"]}}}


@pytest.mark.parametrize(("schema", "keywords"), [(NULLABLE, []), (TYPE_LIST, ["type"])], ids=["nullable", "type list"])
def test_null_is_judged_in_the_words_of_the_request(schema, keywords):
    """``nullable``: ``Schema`` of the google-genai SDK, ``types.py``."""
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent"
    body = {"contents": [], "tools": [{"functionDeclarations": [{"name": "x", "parameters": schema}]}]}
    decoded = DecodedExchange(0, Exchange("1", HttpRequest("POST", url, body=Body(dumps(body)))), None)
    (tool,) = decoded.request.tools
    contract, dialect = schema_check.dialects("gemini")[0]
    judged = schema_check.judge("x", tool.schema, contract, dialect, schema_check.schema_as_sent(decoded, tool))
    assert [i.keyword for i in judged.issues] == keywords
    found = Inspector(MemorySession("t", (decoded.exchange,)), provider="gemini").run().findings
    assert [f.pointer.rpartition("/")[2] for f in found if f.rule == "schema.unsupported-keyword"] == keywords


def test_null_is_judged_as_json_schema_by_others():
    schema = {"type": "object", "properties": {"x": {"type": ["integer", "null"]}}}
    contract, dialect = schema_check.dialects("openai")[0]
    assert (
        schema_check.judge("x", schema, contract, dialect, {"type": "object", "properties": {"x": 5}}).verdict
        == "accepted"
    )
