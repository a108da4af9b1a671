"""Protocols that are recognised and named, but not decoded: no adapter is installed for them.

An adapter that is added takes its name over: it is asked first.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench import regex
from workbench.ir import JsonValue

XAI = "xai-grpc"
ASSISTANTS, COMPLETIONS, COHERE_V1 = "openai-assistants", "openai-completions", "cohere-v1"
ANTHROPIC_TEXT, LIVE = "anthropic-text", "openai-live"
NAMES = (ANTHROPIC_TEXT, ASSISTANTS, COHERE_V1, COMPLETIONS, LIVE, XAI)

_URLS = (
    (regex.compile(r"/(?:v1|openai)/(?:threads|assistants)(?:[/?]|$)"), ASSISTANTS),
    (regex.compile(r"(?<!/chat)(?<!/usage)/completions/?(?:\?|$)"), COMPLETIONS),
    (regex.compile(r"/v1/live/(?:sessions(?:/[^/?#]+/attach)?|rtc_[^/?#]+)/?(?:\?|$)"), LIVE),
    (regex.compile(r"/v1/complete/?(?:\?|$)"), ANTHROPIC_TEXT),
    (regex.compile(r"cohere\.[a-z]+/(?:v1/)?(?:chat|generate)/?(?:\?|$)"), COHERE_V1),
)
_ASSISTANT_OBJECTS = ("thread.", "assistant")
_COMPLETION_KEYS = ("max_tokens", "temperature", "best_of", "logprobs", "echo", "presence_penalty")
_ROLES = regex.compile(r"ROLE_[A-Z]+")


def name_url(url: str) -> str | None:
    """The protocol a URL belongs to, when no adapter claims it."""
    return next((name for pattern, name in _URLS if pattern.search(url)), None)


def name_value(value: JsonValue) -> str | None:
    """The protocol of a parsed request, response or stream event that no adapter claims."""
    if not isinstance(value, dict):
        return None
    if value.get("object") == "text_completion" or _is_prompt(value):
        return COMPLETIONS
    if str(value.get("object", "")).startswith(_ASSISTANT_OBJECTS):
        return ASSISTANTS
    return COHERE_V1 if _is_cohere_v1(value) else None


def _is_prompt(value: Mapping[str, JsonValue]) -> bool:
    """A request for the continuation of a text, as OpenAI's first API takes it."""
    has_prompt = isinstance(value.get("prompt"), str | list) and isinstance(value.get("model"), str)
    return has_prompt and "messages" not in value and any(key in value for key in _COMPLETION_KEYS)


def _is_cohere_v1(value: Mapping[str, JsonValue]) -> bool:
    """A request with one message in addition to its history, a response with one text, or an event of its stream."""
    if isinstance(value.get("message"), str):
        return any(key in value for key in ("chat_history", "preamble", "conversation_id", "tool_results"))
    return "generation_id" in value and ("text" in value or "event_type" in value)


def name_trees(trees: JsonValue) -> str | None:
    """The protocol of a gRPC call, by the trees of its messages: roles of messages are an enumeration there."""
    request = trees.get("request") if isinstance(trees, dict) else None
    messages = request.get("messages") if isinstance(request, dict) else None
    roles = [m.get("role") for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    return XAI if roles and all(isinstance(role, str) and _ROLES.fullmatch(role) for role in roles) else None


_BESIDE = regex.compile(
    r"/count[_-]tokens|/input_tokens|/(?:de)?tokenize|/embed(?:dings?)?|/(?:re)?rank|/moderations|/cachedContents(?:/[^/]+)?"
    r"|:(?:count|compute)Tokens|:(?:batch|asyncBatch)?[eE]mbedContents?|/guardrail/[^/]+/version/[^/]+/apply"
    r"|/v1/predictions(?:/[^/]+)?|/images?/(?:generations|edits|variations)|/audio/(?:speech|transcriptions|translations)"
    r"|/model/[^/]*(?:embed|rerank)[^/]*/invoke"
    r"|/(?:v1|openai)/(?:assistants|threads|conversations)(?:/[^/]+(?:/(?:messages|items)(?:/[^/]+)?)?)?"
)


def is_beside(url: str) -> bool:
    """True for a path that ends in an operation other than a request to a model."""
    path = url.partition("?")[0].partition("#")[0].rstrip("/")
    return any(found.end() == len(path) for found in _BESIDE.finditer(path))
