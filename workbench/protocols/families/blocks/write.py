"""New requests whose messages are made of typed blocks.

Facts: ``types/message_create_params.py`` and ``types/*_block_param.py`` of the official ``anthropic`` SDK 2.12. The
results of an answer and what the user says after them are one message, results first
(https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use).
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Sequence

from workbench.ir import (
    JsonValue,
    Media,
    Message,
    ModelRequest,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolDef,
    ToolResultIR,
)
from workbench.protocols._params import write_params
from workbench.protocols.families.blocks import params as _blocks_params

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
    write_params(_blocks_params.in_place(request.params), _blocks_params.WRITTEN, body)
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
    """Results, and the user's message behind them, are one message."""
    written: list[JsonValue] = []
    after_results = False
    for message in messages:
        if message.role == "user" and after_results:
            written[-1]["content"] += [write_block(part) for part in message.parts]
        elif message.role == "tool":
            written.append({"role": "user", "content": [write_block(part) for part in message.parts]})
        else:
            written.append({"role": message.role, "content": _content(message.parts)})
        after_results = message.role == "tool"
    return written


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
    held = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.schema,
        "strict": tool.strict,
        **tool.extra,
    }
    return {k: v for k, v in held.items() if v is not None}


def _choice(request: ModelRequest) -> dict[str, JsonValue] | None:
    if request.tool_choice is None:
        return None
    choice: dict[str, JsonValue] = {"type": request.tool_choice.mode}
    if request.tool_choice.name is not None:
        choice["name"] = request.tool_choice.name
    return choice if request.parallel is None else choice | {"disable_parallel_tool_use": not request.parallel}
