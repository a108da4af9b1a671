"""Bodies without a URL that more than one protocol could claim."""

from __future__ import annotations

import json

import pytest

from workbench.ir import JsonValue
from workbench.protocols import DecodedExchange
from workbench.wire import Body, Exchange, HttpRequest

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
