"""What the Anthropic Messages adapter makes of values, in one call."""

from __future__ import annotations

from typing import Any

from tests.protocols.block_bodies import Json, dump, frame
from workbench.ir import ModelRequest, ModelResponse, Part
from workbench.protocols.anthropic_messages import adapter
from workbench.wire.sse import SseReader


def request(*messages: Any, **more: Any) -> ModelRequest:
    return adapter.decode_request(dump({"model": "claude-x", "messages": list(messages), **more}))


def parts(*blocks: Any) -> tuple[Part, ...]:
    return request({"role": "user", "content": list(blocks)}).messages[0].parts


def answer(value: Any, status: int = 200) -> ModelResponse:
    return adapter.decode_response(dump(value), status=status)


def feed(data: bytes, *, size: int | None = None) -> ModelResponse:
    decoder, reader = adapter.stream_decoder(), SseReader()
    chunks = [data[n : n + size] for n in range(0, len(data), size)] if size else [data]
    for event in [e for chunk in chunks for e in reader.feed(chunk)] + reader.close():
        decoder.feed(event)
    return decoder.result()


def play(*events: Json | bytes) -> ModelResponse:
    return feed(b"".join(e if isinstance(e, bytes) else frame(e) for e in events))
