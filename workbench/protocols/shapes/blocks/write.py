"""New requests whose messages are made of typed blocks.

Facts: ``types/message_create_params.py`` and ``types/*_block_param.py`` of the official ``anthropic`` SDK 2.12. The
results of an answer and what the user says after them are one message, results first
(https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use).

Facts: ``types/message.py``, ``types/raw_*_event.py`` and ``types/usage.py`` of the official ``anthropic`` SDK 2.12.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence

from workbench.ir import (
    ApiError,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols._params import write_params
from workbench.protocols.shapes.blocks import request as _blocks_params
from workbench.wire import dumps

_THINKING = {"on": "enabled", "off": "disabled"}


def write_request(request: ModelRequest) -> dict[str, JsonValue]:
    """The body of a request in normal form."""
    body: dict[str, JsonValue] = {} if request.model is None else {"model": request.model}
    if request.system:
        body["system"] = _content(request.system)
    body["messages"] = _messages(request.messages)
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    choice = _choice(request)
    if choice:
        body["tool_choice"] = choice
    if request.stream:
        body["stream"] = True
    if request.thinking is not None:
        body["thinking"] = {"type": _THINKING.get(request.thinking, request.thinking)}
    write_params(_blocks_params.in_place(request.params), _blocks_params.WIRE_NAMES, body)
    return body


def write_block(part: Part) -> dict[str, JsonValue]:
    """One block."""
    match part:
        case Text():
            block: dict[str, JsonValue] = {"type": "text", "text": part.text}
        case Reasoning():
            block = _reasoning(part)
        case ToolCallIR():
            named = {"id": part.id, "name": part.name}
            block = {"type": "tool_use", **{k: v for k, v in named.items() if v is not None}, "input": part.input}
        case ToolResultIR():
            block = _result(part)
        case Media():
            block = {"type": part.kind, "source": _source(part)}
        case _:
            raise AssertionError("not a part in normal form")
    return block | dict(part.extra) if part.extra else block


def _messages(messages: Sequence[Message]) -> list[JsonValue]:
    """Results and the user message after them are one message."""
    entries: list[JsonValue] = []
    after_results = False
    for message in messages:
        if message.role == "user" and after_results:
            entries[-1]["content"] += [write_block(part) for part in message.parts]
        elif message.role == "tool":
            entries.append({"role": "user", "content": [write_block(part) for part in message.parts]})
        else:
            entries.append({"role": message.role, "content": _content(message.parts)})
        after_results = message.role == "tool"
    return entries


def _content(parts: Sequence[Part]) -> JsonValue:
    """A single bare text as a string, else a list of blocks."""
    if len(parts) == 1 and isinstance(parts[0], Text) and not parts[0].extra:
        return parts[0].text
    return [write_block(part) for part in parts]


def _reasoning(part: Reasoning) -> dict[str, JsonValue]:
    if part.text is None:
        return {"type": "redacted_thinking", "data": part.data}
    block: dict[str, JsonValue] = {"type": "thinking", "thinking": part.text}
    return block if part.signature is None else block | {"signature": part.signature}


def _result(part: ToolResultIR) -> dict[str, JsonValue]:
    block: dict[str, JsonValue] = {"type": "tool_result"}
    if part.tool_call_id is not None:
        block["tool_use_id"] = part.tool_call_id
    if part.content:
        block["content"] = _content(part.content)
    if part.is_error is not None:
        block["is_error"] = part.is_error
    return block


def _source(part: Media) -> JsonValue:
    if part.file_id is not None:
        return {"type": "file", "file_id": part.file_id}
    if part.data is None:
        return {"type": "url", "url": part.url}
    plain = _plain_text(part.data) if (part.kind, part.media_type) == ("document", "text/plain") else None
    if plain is not None:  # only documents of text are not base64
        return {"type": "text", "media_type": part.media_type, "data": plain}
    kind = {} if part.media_type is None else {"media_type": part.media_type}
    return {"type": "base64", **kind, "data": part.data}


def _plain_text(data: str) -> str | None:
    try:
        return b64decode(data, validate=True).decode()
    except (NotBase64, ValueError):
        return None


def _tool(tool: ToolDef) -> JsonValue:
    declaration = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.schema,
        "strict": tool.strict,
        **tool.extra,
    }
    return {k: v for k, v in declaration.items() if v is not None}


def _choice(request: ModelRequest) -> dict[str, JsonValue] | None:
    if request.tool_choice is None:
        return None
    choice: dict[str, JsonValue] = {"type": request.tool_choice.mode}
    if request.tool_choice.name is not None:
        choice["name"] = request.tool_choice.name
    return choice if request.parallel is None else choice | {"disable_parallel_tool_use": not request.parallel}


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
        encoded = b""
        if response.stop is not None or response.usage:
            ended: dict[str, JsonValue] = {"stop_reason": _REASONS.get(response.stop or ""), "stop_sequence": None}
            counts = {"usage": _usage(response.usage)} if response.usage else {}
            encoded = self._event({"type": "message_delta", "delta": ended, **counts})
        return encoded + (self._event({"type": "message_stop"}) if response.is_complete else b"")

    def _delta(self, delta: dict[str, JsonValue]) -> bytes:
        return self._event({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _event(self, event: dict[str, JsonValue]) -> bytes:
        return b"event: %s\ndata: %s\n\n" % (str(event["type"]).encode(), dumps(event))


def _envelope(response: ModelResponse) -> dict[str, JsonValue]:
    own = {"id": response.id, "model": response.model}
    members = {k: v for k, v in own.items() if v is not None}
    return {**members, "type": "message", "role": "assistant", "stop_sequence": None}


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
