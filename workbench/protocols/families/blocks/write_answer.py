"""New answers that are one message made of typed blocks, whole and as streams.

Facts: ``types/message.py``, ``types/raw_*_event.py`` and ``types/usage.py`` of the official ``anthropic`` SDK 2.12.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import ApiError, JsonValue, ModelResponse, Part, Reasoning, Usage
from workbench.protocols.families.blocks.write import write_block
from workbench.wire import dumps

_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "filter": "refusal",
    "pause": "pause_turn",
}
_EMPTY: Mapping[JsonValue, tuple[tuple[str, JsonValue], ...]] = {
    "text": (("text", ""),),
    "thinking": (("thinking", ""), ("signature", "")),
    "tool_use": (("input", {}),),
}
"""Type of a block → what it holds when it opens, where more of it follows."""

_DELTAS: Mapping[JsonValue, tuple[str, str]] = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "tool_use": ("input_json_delta", "partial_json"),
}
"""Type of a block → the type of the deltas of its string, and their key."""


def write_response(response: ModelResponse) -> dict[str, JsonValue]:
    """The body of an answer in normal form."""
    if response.error:
        return _error(response.error)
    body = _envelope(response)
    body["content"] = [write_block(part) for message in response.messages for part in message.parts]
    body["stop_reason"] = _REASONS.get(response.stop or "")
    if response.usage:
        body["usage"] = _usage(response.usage)
    return body


class BlockWriter:
    """Writes the events of one stream: a block opens empty, its strings come, then it stops."""

    content_type = "text/event-stream"

    def __init__(self) -> None:
        self._index = -1
        self._kind: JsonValue = ""

    def start(self, response: ModelResponse) -> bytes:
        start = _envelope(response) | {"content": [], "stop_reason": None}
        if response.usage:
            start["usage"] = {"input_tokens": response.usage.input or 0, "output_tokens": 0}
        return self._event({"type": "message_start", "message": start})

    def choice(self, number: int) -> bytes:
        return b""

    def open(self, part: Part) -> bytes:
        self._index += 1
        block = write_block(part)
        self._kind = block["type"]
        block.update((key, empty) for key, empty in _EMPTY.get(self._kind, ()) if key in block)
        return self._event({"type": "content_block_start", "index": self._index, "content_block": block})

    def grow(self, text: str) -> bytes:
        kind, key = _DELTAS[self._kind]
        return self._delta({"type": kind, key: text})

    def close(self, part: Part) -> bytes:
        signature = part.signature if isinstance(part, Reasoning) and part.text is not None else None
        proof = self._delta({"type": "signature_delta", "signature": signature}) if signature is not None else b""
        return proof + self._event({"type": "content_block_stop", "index": self._index})

    def end(self, response: ModelResponse) -> bytes:
        """Ended by ``message_stop`` where the answer is complete."""
        if response.error:
            return self._event(_error(response.error))
        written = b""
        if response.stop is not None or response.usage:
            ended: dict[str, JsonValue] = {"stop_reason": _REASONS.get(response.stop or ""), "stop_sequence": None}
            counts = {"usage": _usage(response.usage)} if response.usage else {}
            written = self._event({"type": "message_delta", "delta": ended, **counts})
        return written + (self._event({"type": "message_stop"}) if response.is_complete else b"")

    def _delta(self, delta: dict[str, JsonValue]) -> bytes:
        return self._event({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _event(self, event: dict[str, JsonValue]) -> bytes:
        return b"event: %s\ndata: %s\n\n" % (str(event["type"]).encode(), dumps(event))


def _envelope(response: ModelResponse) -> dict[str, JsonValue]:
    own = {"id": response.id, "model": response.model}
    held = {k: v for k, v in own.items() if v is not None}
    return {**held, "type": "message", "role": "assistant", "stop_sequence": None}


def _usage(usage: Usage) -> JsonValue:
    counts = {
        "input_tokens": usage.input or 0,
        "output_tokens": usage.output or 0,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "output_tokens_details": None if usage.reasoning is None else {"thinking_tokens": usage.reasoning},
    }
    return {k: v for k, v in counts.items() if v is not None}


def _error(error: ApiError) -> dict[str, JsonValue]:
    inside = {k: v for k, v in (("type", error.type), ("message", error.message)) if v is not None}
    own = {} if error.request_id is None else {"request_id": error.request_id}
    return {"type": "error", "error": inside, **own}
