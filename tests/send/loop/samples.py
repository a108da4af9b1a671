"""Recorded loops of the official SDKs, and bodies to continue from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps

DATA = Path(__file__).parent.parent.parent / "data"

PROTOCOLS = {
    "anthropic": "anthropic-messages",
    "cohere": "cohere-v2",
    "gemini": "gemini",
    "ollama": "ollama",
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "bedrock_converse": "bedrock-converse",
    "bedrock_invoke": "bedrock-invoke",
}
TYPES = {
    ".sse": "text/event-stream",
    ".json": "application/json",
    ".ndjson": "application/x-ndjson",
    ".eventstream": "application/vnd.amazon.eventstream",
}


class Replay(NamedTuple):
    """Two requests of one SDK: the second follows on the answer to the first."""

    name: str
    protocol: str
    exchange: Exchange
    next_body: bytes


def replays() -> Iterator[Replay]:
    """Every one in tests/data."""
    for folder, protocol in PROTOCOLS.items():
        for second in sorted((DATA / folder).glob("*-2.request.json")):
            stem = second.name.removesuffix("-2.request.json")
            first = second.with_name(f"{stem}-1.request.json").read_bytes()
            (answer,) = (DATA / folder).glob(f"{stem}-1.response.*")
            exchange = exchanged(first, answer.read_bytes(), TYPES[answer.suffix])
            yield Replay(f"{folder}, {stem}", protocol, exchange, second.read_bytes())


def exchanged(asked: bytes, answered: bytes | None = None, kind: str = "application/json", url: str = "") -> Exchange:
    """An exchange of two bodies; without an answer where there is none."""
    said = None if answered is None else HttpResponse(200, Headers((("content-type", kind),)), Body(answered))
    return Exchange("e1", HttpRequest("POST", url, Headers(), Body(asked)), said)


TOOL = {
    "type": "function",
    "function": {
        "name": "read",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


def chat(*messages: object, **more: object) -> bytes:
    """A body of Chat Completions with one tool."""
    return dumps({"model": "m", "messages": list(messages), "tools": [TOOL], **more})


def call(call_id: str = "c1", arguments: str = '{"path":"a"}', name: str = "read") -> dict[str, object]:
    """A call of Chat Completions."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answered(*calls: object, **more: object) -> bytes:
    """An answer of Chat Completions: calls, or text."""
    message = {"role": "assistant", "content": None if calls else "done", **({"tool_calls": [*calls]} if calls else {})}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message | more}
    return dumps({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice]})
