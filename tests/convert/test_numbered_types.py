"""Schemas as clients of Google's protobuf form write them: numbers for types, the order of properties beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench import protocols
from workbench.convert.convert import convert
from workbench.ir import JsonValue
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession

NUMBERED: dict[str, Any] = {
    "type": 6,
    "properties": {
        "n": {"type": 3},
        "s": {"type": 1, "description": "6"},
        "type": {"type": 2},
        "on": {"type": 4},
        "all": {"type": 5, "items": {"type": 6, "properties": {"x": {"type": 1}}}},
    },
    "required": ["s"],
    "propertyOrdering": ["s", "n", "type", "on", "all"],
}
WORDS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "s": {"type": "string", "description": "6"},
        "n": {"type": "integer"},
        "type": {"type": "number"},
        "on": {"type": "boolean"},
        "all": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "string"}}}},
    },
    "required": ["s"],
}
OTHERS = [name for name in protocols.protocols() if name != "gemini"]


def asked(schema: JsonValue) -> bytes:
    tools = [{"functionDeclarations": [{"name": "f", "description": "d", "parameters": schema}]}]
    return json.dumps({"contents": [{"role": "user", "parts": [{"text": "a"}]}], "tools": tools}).encode()


@pytest.mark.parametrize("target", OTHERS)
def test_every_other_protocol_is_given_words(target: str) -> None:
    made = convert(asked(NUMBERED), target, protocol="gemini")
    (tool,) = protocols.get(target).decode_request(made.body).tools
    assert tool.schema == WORDS
    assert isinstance(tool.schema, dict)
    assert list(tool.schema["properties"]) == NUMBERED["propertyOrdering"]
    assert b"propertyOrdering" not in made.body
    assert convert(asked(WORDS), target, protocol="gemini").losses == made.losses


@pytest.mark.parametrize("number", [0, 8, -1, True, 1.5])
@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages"])
def test_a_number_that_is_no_type_is_not_made_one(target: str, number: JsonValue) -> None:
    odd = {"type": 6, "properties": {"a": {"type": number}}}
    made = convert(asked(odd), target, protocol="gemini")
    (tool,) = protocols.get(target).decode_request(made.body).tools
    assert isinstance(tool.schema, dict)
    assert tool.schema["properties"]["a"] == {}
    told = {loss.what: loss.pointer for loss in made.losses}
    at = "/tools/0/functionDeclarations/0/parameters/properties/a/type"
    assert told[f"the type {number!r}, a number instead of a name"] == at


def test_the_body_itself_keeps_its_numbers() -> None:
    body, adapter = asked(NUMBERED), protocols.get("gemini")
    assert adapter.encode_request(adapter.decode_request(body), body) == body


def test_numbered_types_are_no_malformed_schema() -> None:
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent"
    exchange = Exchange("1", HttpRequest("POST", url, body=Body(asked(NUMBERED))))
    result = Inspector(MemorySession("test", (exchange,))).run()
    assert result.rows[0].protocol == "gemini"
    assert not [f.rule for f in result.findings if f.rule.startswith("schema.")]
