"""Protocols that are recognised and named, but not decoded: no adapter is installed for them.

An adapter that is added takes its name over: its own ``claims_url`` is asked first.
"""

from __future__ import annotations

import re

from workbench.ir import JsonValue

URLS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("openai-responses", r"/responses(/|\?|$)"),
        ("gemini-interactions", r"/interactions(/|\?|$)"),
        ("gemini", r":(stream)?[gG]enerateContent"),
        ("ollama", r"/api/(chat|generate)(\?|$)"),
        ("bedrock-converse", r"/model/[^/]+/converse(-stream)?(\?|$)"),
        ("bedrock-invoke", r"/model/[^/]+/invoke(-with-response-stream)?(\?|$)"),
        ("cohere-v2", r"cohere\.[a-z]+/v2/chat|/v2/chat(\?|$)"),
    )
)
"""(protocol, pattern that its URL matches), most specific first."""


def name_url(url: str) -> str | None:
    """The protocol a URL belongs to, when no adapter claims it."""
    return next((name for name, pattern in URLS if pattern.search(url)), None)


def name_value(value: JsonValue) -> str | None:
    """The protocol of a parsed request, response or stream event that no adapter claims."""
    if not isinstance(value, dict):
        return None
    if value.get("object") == "response" or str(value.get("type", "")).startswith("response."):
        return "openai-responses"
    if "input" in value and "model" in value and "messages" not in value and "texts" not in value:
        return "openai-responses" if isinstance(value["input"], list) else None
    if isinstance(value.get("candidates"), list) or isinstance(value.get("contents"), list):
        return "gemini"
    if "done" in value and "message" in value and "model" in value:
        return "ollama"
    return _name_event(value)


def _name_event(value: dict[str, JsonValue]) -> str | None:
    if str(value.get("event_type", "")).startswith("interaction."):
        return "gemini-interactions"
    if any(isinstance(value.get(k), dict) for k in ("messageStart", "contentBlockStart", "contentBlockDelta")):
        return "bedrock-converse"
    return "cohere-v2" if value.get("type") in ("message-start", "tool-plan-delta", "content-delta") else None
