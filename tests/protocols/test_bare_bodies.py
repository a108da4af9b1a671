"""Bodies without a URL that more than one protocol could claim."""

from __future__ import annotations

import json

import pytest

from workbench.ir import JsonValue
from workbench.protocols import DecodedExchange
from workbench.rules import Inspector
from workbench.wire import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession

TEXT: JsonValue = [{"role": "user", "content": [{"text": "go"}]}]
PARTS: JsonValue = [{"role": "user", "parts": [{"text": "go"}]}]

BODIES: list[tuple[dict[str, JsonValue], str | None]] = [
    ({"messages": TEXT, "system": [{"text": "Be kind."}]}, "bedrock-converse"),
    ({"messages": TEXT, "system": [{"text": "Be kind."}], "max_tokens": 9}, "anthropic-messages"),
    ({"messages": TEXT, "system": [{"text": "Be kind."}], "model": "claude-sonnet-4-5"}, "anthropic-messages"),
    ({"contents": PARTS}, "gemini"),
    ({"contents": PARTS, "model": "models/gemini-2.5-flash"}, "gemini"),
    ({"contents": PARTS, "model": "models/gemini-2.5-flash", "ttl": "300s"}, None),  # creates a cache
]


@pytest.mark.parametrize(("body", "protocol"), BODIES)
def test_the_protocol_of_a_body_alone(body: dict[str, JsonValue], protocol: str | None) -> None:
    request = HttpRequest("POST", "", body=Body(json.dumps(body).encode()))
    assert DecodedExchange(0, Exchange("1", request)).protocol == protocol


def test_the_tools_of_a_recorded_sdk_call_are_declared() -> None:
    """google-genai's ``generate_content(model, contents, config)``, as recorders of its calls keep it."""
    tools: JsonValue = [{"function_declarations": [{"name": "look", "parameters_json_schema": {"type": "object"}}]}]
    body = {"model": "gemini-2.0-flash", "contents": PARTS, "config": {"tools": tools, "temperature": 0}}
    request = HttpRequest("POST", "", body=Body(json.dumps(body).encode()))
    session = MemorySession("it", (Exchange("1", request),))
    asked = DecodedExchange(0, session.exchange(0)).request
    assert asked and [tool.name for tool in asked.tools] == ["look"]
    assert asked.tools[0].pointer == "/config/tools/0/function_declarations/0"
    assert not [f for f in Inspector(session).run().findings if f.severity == "error"]
