"""The place that an error text speaks of in plain words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.protocols.decode import DecodedExchange
from workbench.rules._shared.place_in_error_text import says_name, split_words, spoken_place
from workbench.wire.exchange import Body, Exchange, HttpRequest

GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "thinking level and temperature"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {"max_tokens": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"a": 1}}}]},
    ],
    "generationConfig": {
        "responseMimeType": "application/json",
        "presencePenalty": 0.5,
        "thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True},
    },
}
CONVERSE = {
    "messages": [
        {
            "role": "user",
            "content": [{"document": {"name": "a.b", "format": "pdf"}}, {"cachePoint": {"type": "default"}}],
        },
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "ls", "input": {}}}]},
    ],
    "inferenceConfig": {"maxTokens": 9},
}
RESPONSES = {
    "model": "gpt-5",
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"summary": "concise"},
    "input": [
        {"role": "user", "content": "hi"},
        {"type": "custom_tool_call", "call_id": "c1", "name": "ls", "input": ""},
    ],
}
INPUTS = {"input": [{"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}]}
SAID = [
    (GEMINI, "Thinking level is not supported for this model.", "", "/generationConfig/thinkingConfig/thinkingLevel"),
    (GEMINI, "thinking_config is not supported.", "", "/generationConfig/thinkingConfig"),
    (GEMINI, "Function calling with a response mime type is unsupported", "", "/generationConfig/responseMimeType"),
    (GEMINI, "Penalty is not enabled for this model", "", "/generationConfig/presencePenalty"),
    (
        GEMINI,
        "include thoughts is only enabled when thinking is",
        "",
        "/generationConfig/thinkingConfig/includeThoughts",
    ),
    (CONVERSE, "The document file name can only contain letters", "", "/messages/0/content/0/document/name"),
    (CONVERSE, "The maximum tokens you requested exceeds the limit", "", "/inferenceConfig/maxTokens"),
    (CONVERSE, "Cache point cannot be inserted here.", "content.shape", "/messages/0/content/1/cachePoint"),
    (RESPONSES, "Encrypted content is not supported with this model.", "", "/include/0"),
    (RESPONSES, "Unsupported value: 'concise' is not supported", "", "/reasoning/summary"),
    (RESPONSES, "unknown item: custom_tool_call", "content.unsupported-part", "/input/1"),
    (RESPONSES, "The model said something wrong, please try again", "", ""),
    (GEMINI, "max_tokens is too large", "", ""),
    (INPUTS, "Request contains an invalid argument.", "", ""),
]
"""(body, text, rule, pointer); no pointer: the text names nothing of it. The input of a tool is data."""


def _decoded(body: dict[str, Any]) -> DecodedExchange:
    request = HttpRequest("POST", "", body=Body(json.dumps(body).encode()))
    return DecodedExchange(0, Exchange("1", request))


@pytest.mark.parametrize(("body", "text", "rule", "pointer"), SAID, ids=[text[:40] for _, text, _, _ in SAID])
def test_words_of_a_text_name_a_member(body: dict[str, Any], text: str, rule: str, pointer: str) -> None:
    place = spoken_place(text, body, _decoded(body), rule)
    assert (place.pointer if place else "") == pointer
    assert place is None or place.span


def test_of_places_alike_the_last_message_is_meant() -> None:
    body = {"messages": [{"role": "user", "content": [{"cachePoint": {}}]} for _ in range(3)]}
    place = spoken_place("cache point", body, _decoded(body))
    assert place and place.pointer == "/messages/2/content/0/cachePoint"


INTERACTION = {
    "input": [
        {"role": "model", "content": [{"type": "function_call", "id": "c1", "name": "look", "args": {"city": "Rome"}}]},
        {"role": "user", "content": [{"type": "function_result", "id": "c1", "name": "look", "result": {}}]},
    ],
}

FIELDS = [
    ("genai.FunctionCallContent: no such field: 'args'", "args", "/input/0/content/0/args", "args"),
    ("genai.FunctionResultContent: no such field: 'id'", "id", "/input/1/content/0/id", "id"),
    ("Missing call_id in content of type function_result", "", "/input/1/content/0", "function_result"),
]


@pytest.mark.parametrize(("text", "field", "pointer", "how"), FIELDS)
def test_a_field_is_that_of_the_part_that_the_text_names(text: str, field: str, pointer: str, how: str) -> None:
    place = spoken_place(text, INTERACTION, _decoded(INTERACTION), field=field)
    assert place and (place.pointer, place.how) == (pointer, how)


def test_in_an_envelope_the_last_message_is_meant_too() -> None:
    calls = [{"role": "user", "parts": [{"functionResponse": {"name": "ls"}}]} for _ in range(3)]
    body = {"model": "gemini-3-pro", "request": {"contents": calls}}
    place = spoken_place("the function response", body, _decoded(body), "content.shape")
    assert place and place.pointer == "/request/contents/2/parts/0/functionResponse"


@pytest.mark.parametrize("name", ["service_tier", "serviceTier", "service-tier"])
def test_a_text_says_a_name_in_every_spelling(name: str) -> None:
    assert says_name("Invalid service tier for this account", name)
    assert not says_name("Invalid tier of service", name)


@pytest.mark.parametrize("name", ["thinkingLevels", "thinking_level", "Thinking-Level", "THINKING_LEVEL"])
def test_a_name_has_the_same_words_in_every_spelling(name: str) -> None:
    assert split_words(name) == ["thinking", "level"]
