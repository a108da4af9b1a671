"""New answers that are one message made of typed blocks, whole and as streams.

Facts: ``types/message.py``, ``types/raw_*_event.py`` and ``types/usage.py`` of the official ``anthropic`` SDK 2.12.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.adapters._blocks.write import write_block
from workbench.ir import ApiError, JsonValue, ModelResponse, Usage
from workbench.wire.jsontext import dumps

_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "filter": "refusal",
    "pause": "pause_turn",
}


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


def write_stream(response: ModelResponse) -> bytes:
    """The same as events, ended by ``message_stop`` where the answer is complete."""
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (str(event["type"]).encode(), dumps(event)) for event in events_of(response)
    )


def events_of(response: ModelResponse) -> Iterator[dict[str, JsonValue]]:
    """The parsed events of an answer in normal form."""
    if response.messages or not response.error:
        start = _envelope(response) | {"content": [], "stop_reason": None}
        if response.usage:
            start["usage"] = {"input_tokens": response.usage.input or 0, "output_tokens": 0}
        yield {"type": "message_start", "message": start}
        blocks = [write_block(part) for message in response.messages for part in message.parts]
        for n, block in enumerate(blocks):
            yield from ({"index": n} | event for event in _block_events(block))
    if response.error:
        yield _error(response.error)
        return
    if response.stop is not None or response.usage:
        ended: dict[str, JsonValue] = {"stop_reason": _REASONS.get(response.stop or ""), "stop_sequence": None}
        counts = {"usage": _usage(response.usage)} if response.usage else {}
        yield {"type": "message_delta", "delta": ended, **counts}
    if response.is_complete:
        yield {"type": "message_stop"}


def _block_events(block: dict[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """A block opens empty, then its texts come, then it stops; what is no text comes whole."""
    opened, deltas = dict(block), list[JsonValue]()
    match block["type"]:
        case "text":
            opened["text"] = ""
            deltas.append({"type": "text_delta", "text": block["text"]})
        case "thinking":
            opened["thinking"] = ""
            deltas.append({"type": "thinking_delta", "thinking": block["thinking"]})
            if "signature" in block:
                opened["signature"] = ""
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "tool_use":
            opened["input"] = {}
            deltas.append({"type": "input_json_delta", "partial_json": dumps(block["input"]).decode()})
    yield {"type": "content_block_start", "content_block": opened}
    yield from ({"type": "content_block_delta", "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop"}


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
