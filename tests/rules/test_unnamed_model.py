"""Requests that name no model, where what is refused depends on it; and names that only a gateway takes."""

from __future__ import annotations

import json

import pytest

from workbench.rules import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/models/{}:generateContent"
ASKED = {"role": "user", "parts": [{"text": "go"}]}


def found(body: dict[str, object], rule: str, url: str = "") -> list[str]:
    request = HttpRequest("POST", url, body=Body(json.dumps(body).encode()))
    inspection = Inspector(MemorySession("it", (Exchange("1", request),))).run()
    return [finding.severity for finding in inspection.findings if finding.rule == rule]


def declared(parameters: dict[str, object]) -> dict[str, object]:
    return {"contents": [ASKED], "tools": [{"functionDeclarations": [{"name": "now", "parameters": parameters}]}]}


NO_PROPERTIES = declared({"type": "object", "properties": {}})
"""Refused before Gemini 2, accepted since."""


@pytest.mark.parametrize(
    ("url", "severities"),
    [
        ("", ["warning"]),
        (GOOGLE.format("gemini-1.5-pro"), ["error"]),
        (GOOGLE.format("gemini-2.5-flash"), []),
    ],
)
def test_what_some_models_accept_is_no_error_where_none_is_named(url: str, severities: list[str]) -> None:
    assert found(NO_PROPERTIES, "schema.malformed", url) == severities


def test_what_no_model_accepts_is_an_error_all_the_same() -> None:
    assert found({"contents": [ASKED], "toolBox": {}}, "gateway.unknown-field") == ["error"]


@pytest.mark.parametrize(("model", "severities"), [("gpt-5", ["error"]), ("openai/gpt-5", [])])
def test_a_name_with_its_vendor_is_one_of_a_gateway(model: str, severities: list[str]) -> None:
    body = {"model": model, "messages": [{"role": "user", "content": "go"}], "reasoning": {"effort": "low"}}
    assert found(body, "gateway.unknown-field") == severities
