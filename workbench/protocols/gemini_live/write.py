"""New Live bodies, from requests and responses in normal form: a setup with its contents, and messages of a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.ir import JsonValue, ModelRequest, ModelResponse, Part, Reasoning, Text, ToolCallIR, Usage
from workbench.protocols.shapes.contents.write import error_body, request_body, write_parts
from workbench.wire import dumps

Json = dict[str, JsonValue]


def write_request(request: ModelRequest) -> Json:
    """A new body for a request in normal form."""
    own = {"model": request.model, "stream": request.stream or None}
    body: Json = {key: value for key, value in own.items() if value is not None} | request_body(request)
    groups: Any = body.get("tools") or ()
    for tool in (tool for group in groups for tool in group.get("functionDeclarations", ())):
        if "parametersJsonSchema" in tool:  # Live ignores it (Google_GenerativeAI issue 90)
            tool["parameters"] = tool.pop("parametersJsonSchema")
    return body


def write_response(response: ModelResponse) -> Json:
    """A response in normal form as one message; for an error without a response, an error body."""
    if response.error and not response.messages:
        return error_body(response.error)
    parts = [part for message in response.messages[:1] for part in message.parts]
    said = [part for part in parts if not isinstance(part, ToolCallIR)]
    turn = {"parts": write_parts(said), "role": "model"}
    body: Json = {"serverContent": {"modelTurn": turn, "turnComplete": response.is_complete}}
    if calls := _calls(parts):
        body |= calls
    return body | _counts(response.usage) | (error_body(response.error) if response.error else {})


def _calls(parts: Sequence[Part]) -> Json:
    found = [part["functionCall"] for part in write_parts([p for p in parts if isinstance(p, ToolCallIR)])]
    return {"toolCall": {"functionCalls": found}} if found else {}


def _counts(usage: Usage | None) -> Json:
    if usage is None:
        return {}
    asked = sum(count or 0 for count in (usage.input, usage.cache_read, usage.cache_write))
    counts = {
        "promptTokenCount": asked,
        "cachedContentTokenCount": usage.cache_read,
        "responseTokenCount": max((usage.output or 0) - (usage.reasoning or 0), 0),
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": asked + (usage.output or 0),
    }
    return {"usageMetadata": {key: value for key, value in counts.items() if value is not None}}


class LiveWriter:
    """Writes the messages of one response."""

    content_type = "text/event-stream"

    def __init__(self) -> None:
        self._thought: Json | None = None
        self._is_text = False

    def start(self, response: ModelResponse) -> bytes:
        """The model's turn begins, with nothing in it yet."""
        return _event({"serverContent": {"modelTurn": {"parts": [], "role": "model"}}})

    def choice(self, number: int) -> bytes:
        return b""

    def open(self, part: Part) -> bytes:
        self._is_text = isinstance(part, Text | Reasoning)
        self._thought = {"thought": True} if isinstance(part, Reasoning) else {}
        return b""

    def grow(self, text: str) -> bytes:
        if not self._is_text:
            return b""
        turn = {"parts": [{"text": text, **(self._thought or {})}], "role": "model"}
        return _event({"serverContent": {"modelTurn": turn}})

    def close(self, part: Part) -> bytes:
        return _event(_calls([part])) if isinstance(part, ToolCallIR) else b""

    def end(self, response: ModelResponse) -> bytes:
        if response.error:
            return _event(error_body(response.error))
        if not response.is_complete:
            return b""
        waits = any(isinstance(part, ToolCallIR) for message in response.messages for part in message.parts)
        generated = b"" if waits else _event({"serverContent": {"generationComplete": True}})
        return generated + _event({"serverContent": {"turnComplete": True}} | _counts(response.usage))


def _event(message: Json) -> bytes:
    return b"data: %s\n\n" % dumps(message)
