"""Protocols that are recognised and named, but not decoded: no adapter is installed for them.

An adapter that is added takes its name over: it is asked first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.ir import JsonValue

INTERACTIONS = "gemini-interactions"
REALTIME, LIVE = "openai-realtime", "gemini-live"
RESPONSES = "openai-responses-websocket"
XAI = "xai-grpc"
NAMES = (INTERACTIONS, LIVE, REALTIME, RESPONSES, XAI)

_INTERACTIONS_URL = re.compile(r"/interactions(?:/|\?|$)")
_LIVE_KEYS = ("setup", "setupComplete", "serverContent", "clientContent", "realtimeInput", "toolResponse")
_REALTIME_TYPES = ("session.", "conversation.item.", "input_audio_buffer.", "response.output_", "response.create")
_ROLES = re.compile(r"ROLE_[A-Z]+")


def name_url(url: str) -> str | None:
    """The protocol a URL belongs to, when no adapter claims it."""
    return INTERACTIONS if _INTERACTIONS_URL.search(url) else None


def name_value(value: JsonValue) -> str | None:
    """The protocol of a parsed request, response or stream event that no adapter claims."""
    if not isinstance(value, dict):
        return None
    return INTERACTIONS if str(value.get("event_type", "")).startswith("interaction.") else None


def name_frames(values: Iterable[JsonValue]) -> str | None:
    """The protocol of a WebSocket connection, by the JSON of its first messages."""
    for value in values:
        if not isinstance(value, dict):
            continue
        if value.get("type") == "response.create" and ("model" in value or "input" in value):
            return RESPONSES  # in the Realtime API such members stand in "response"
        if str(value.get("type", "")).startswith(_REALTIME_TYPES):
            return REALTIME
        if any(key in value for key in _LIVE_KEYS):
            return LIVE
    return None


def name_trees(trees: JsonValue) -> str | None:
    """The protocol of a gRPC call, by the trees of its messages: roles of messages are an enumeration there."""
    request = trees.get("request") if isinstance(trees, dict) else None
    messages = request.get("messages") if isinstance(request, dict) else None
    roles = [m.get("role") for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    return XAI if roles and all(isinstance(role, str) and _ROLES.fullmatch(role) for role in roles) else None
