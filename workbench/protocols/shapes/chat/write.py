"""New Chat Completions requests.

Facts: ``types/chat/completion_create_params.py`` and ``types/chat/chat_completion_*_param.py`` of the official
``openai`` SDK 3.54; reasoning is in the field of its carrier, as the dialects have it.

Facts: ``types/chat/chat_completion.py``, ``chat_completion_chunk.py`` and ``types/completion_usage.py`` of the official
``openai`` SDK 3.54. ``created`` has to be a number there; what is converted has none, so it is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.ir import (
    ApiError,
    Carrier,
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
    Usage,
)
from workbench.protocols._params import write_params
from workbench.protocols.shapes.chat import request as _chat_params
from workbench.wire import dumps

FIELDS = {Carrier.REASONING_CONTENT: "reasoning_content", Carrier.REASONING: "reasoning"}
_CHOICES = {"auto": "auto", "none": "none", "any": "required"}


def write_request(request: ModelRequest) -> dict[str, JsonValue]:
    """The body of a request in normal form."""
    body: dict[str, JsonValue] = {} if request.model is None else {"model": request.model}
    body["messages"] = [*_system(request.system), *(m for message in request.messages for m in _messages(message))]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.tool_choice:
        body["tool_choice"] = _choice(request)
    if request.parallel is not None:
        body["parallel_tool_calls"] = request.parallel
    if request.stream:
        body["stream"] = True
    if request.thinking == "off":
        body["reasoning_effort"] = "none"
    plain = {k: v for k, v in request.params.items() if k in _chat_params.WIRE_NAMES}
    write_params(plain, _chat_params.WIRE_NAMES, body)
    _chat_params.write_format(request.params, body)
    return body


def write_answer(message: Message) -> dict[str, JsonValue]:
    """A message of the model."""
    answer: dict[str, JsonValue] = {"role": "assistant"}
    details, thinking = list[JsonValue](), ""
    for _, reasoning in message.reasoning():
        if reasoning.carrier in FIELDS:
            answer[FIELDS[reasoning.carrier]] = reasoning.text
        elif reasoning.carrier is Carrier.THINK_TEXT:
            thinking += f"<think>{reasoning.text}</think>"
        else:
            details.append(write_detail(reasoning))
    if details:
        answer["reasoning_details"] = details
    answer["content"] = _content([p for p in message.parts if isinstance(p, Text)], thinking)
    calls = [write_call(part) for part in message.parts if isinstance(part, ToolCallIR)]
    if calls:
        answer["tool_calls"] = calls
    return answer


def argument_text(call: ToolCallIR) -> str:
    """The text of a call's arguments, or the input of a custom tool."""
    return str(call.input) if call.format == "custom" else call.raw or ""


def _system(parts: Sequence[Part]) -> Iterator[JsonValue]:
    if parts:
        yield {"role": "system", "content": _blocks(parts)}


def _messages(message: Message) -> Iterator[JsonValue]:
    if message.role == "assistant":
        yield write_answer(message)
    elif message.role == "tool":
        for _, result in message.tool_results():
            tool_message: dict[str, JsonValue] = {
                "role": "tool",
                "content": _blocks(result.content) if result.content else "",
            }
            yield tool_message if result.tool_call_id is None else tool_message | {"tool_call_id": result.tool_call_id}
    else:
        yield {"role": message.role, "content": _blocks(message.parts)}


def _blocks(parts: Sequence[Part]) -> JsonValue:
    """A single text as a string, else a list of parts."""
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [_block(part) for part in parts]


def _block(part: Part) -> JsonValue:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    assert isinstance(part, Media)  # normal form has nothing else here
    whole = part.url if part.data is None else f"data:{part.media_type or ''};base64,{part.data}"
    if part.kind == "image":
        return {"type": "image_url", "image_url": {"url": whole}}
    if part.kind == "audio":
        form = (part.media_type or "").removeprefix("audio/")
        return {"type": "input_audio", "input_audio": {"data": part.data} | ({"format": form} if form else {})}
    where = {"file_id": part.file_id} if part.file_id is not None else {"file_data": whole}
    return {"type": "file", "file": {**part.extra.get("file", {}), **where}}


def _content(texts: Sequence[Text], reasoning: str) -> JsonValue:
    """The content of a response, with its reasoning in tags before its first text; null where it says nothing."""
    if not texts:
        return reasoning or None
    pieces = [reasoning + texts[0].text, *(text.text for text in texts[1:])]
    return pieces[0] if len(pieces) == 1 else [{"type": "text", "text": text} for text in pieces]


def write_detail(reasoning: Reasoning) -> JsonValue:
    """An entry of ``reasoning_details``."""
    kind = "text" if reasoning.text is not None else "encrypted"
    members = {"text": reasoning.text, "signature": reasoning.signature, "data": reasoning.data}
    return {"type": f"reasoning.{kind}"} | {k: v for k, v in members.items() if v is not None}


def write_call(call: ToolCallIR) -> dict[str, JsonValue]:
    """A call."""
    key, text = ("custom", "input") if call.format == "custom" else ("function", "arguments")
    own = {} if call.id is None else {"id": call.id}
    named = {} if call.name is None else {"name": call.name}
    return {**own, "type": key, key: {**named, text: argument_text(call)}, **call.extra}


def _tool(tool: ToolDef) -> JsonValue:
    declaration: Mapping[str, JsonValue] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": tool.strict,
    }
    key = "custom" if tool.kind == "custom" else "function"
    return {"type": key, key: {k: v for k, v in declaration.items() if v is not None}}


def _choice(request: ModelRequest) -> JsonValue:
    choice = request.tool_choice
    assert choice is not None
    if choice.mode != "tool":
        return _CHOICES[choice.mode]
    is_custom = any(tool.name == choice.name and tool.kind == "custom" for tool in request.tools)
    key = "custom" if is_custom else "function"
    return {"type": key, key: {"name": choice.name}}


_FINISH = {"stop": "stop", "tool_calls": "tool_calls", "length": "length", "filter": "content_filter"}


def write_response(response: ModelResponse) -> dict[str, JsonValue]:
    """The body of an answer in normal form."""
    if response.error and not response.messages:
        return {"error": _error(response.error)}
    finish = _FINISH.get(response.stop or "")
    body = _envelope(response, "chat.completion")
    body["choices"] = [
        {"index": n, "message": write_answer(message), "finish_reason": finish}
        for n, message in enumerate(response.messages)
    ]
    if response.usage:
        body["usage"] = _usage(response.usage)
    if response.error:
        body["error"] = _error(response.error)
    return body


class ChatWriter:
    """Writes the chunks of one stream."""

    content_type = "text/event-stream"

    def __init__(self) -> None:
        self._about: dict[str, JsonValue] = {}
        self._choice = 0
        self._calls = -1
        self._key = ""
        self._inside = ("", "")

    def start(self, response: ModelResponse) -> bytes:
        self._about = _envelope(response, "chat.completion.chunk")
        return b""

    def choice(self, number: int) -> bytes:
        self._choice, self._calls = number, -1
        return self._delta({"role": "assistant"})

    def open(self, part: Part) -> bytes:
        if isinstance(part, ToolCallIR):
            self._calls += 1
            self._key = "tool_calls"
            self._inside = ("custom", "input") if part.format == "custom" else ("function", "arguments")
            kind, text = self._inside
            call = write_call(part)
            return self._call({**call, kind: call[kind] | {text: ""}})
        carrier = part.carrier if isinstance(part, Reasoning) else None
        self._key = "content" if carrier in (None, Carrier.THINK_TEXT) else FIELDS.get(carrier, "")
        return self._delta({"content": "<think>"}) if carrier is Carrier.THINK_TEXT else b""

    def grow(self, text: str) -> bytes:
        if self._key == "tool_calls":
            kind, key = self._inside
            return self._call({kind: {key: text}})
        return self._delta({self._key: text}) if self._key else b""

    def close(self, part: Part) -> bytes:
        """An entry of ``reasoning_details`` comes whole."""
        if isinstance(part, Reasoning) and part.carrier is Carrier.THINK_TEXT:
            return self._delta({"content": "</think>"})
        if self._key or not isinstance(part, Reasoning):
            return b""
        return self._delta({"reasoning_details": [write_detail(part)]})

    def end(self, response: ModelResponse) -> bytes:
        """Ended by ``[DONE]`` where the answer is complete."""
        if response.error:
            return _chunk({"error": _error(response.error)})
        self._about = _envelope(response, "chat.completion.chunk")
        chunks = list[bytes]()
        if response.stop is not None:
            ended: dict[str, JsonValue] = {"delta": {}, "finish_reason": _FINISH.get(response.stop)}
            chunks += (self._chunk([{"index": n, **ended}]) for n in range(len(response.messages)))
        if response.usage:
            chunks.append(_chunk({**self._about, "choices": [], "usage": _usage(response.usage)}))
        return b"".join(chunks) + (b"data: [DONE]\n\n" if response.is_complete else b"")

    def _call(self, call: dict[str, JsonValue]) -> bytes:
        return self._delta({"tool_calls": [{"index": self._calls, **call}]})

    def _delta(self, delta: dict[str, JsonValue]) -> bytes:
        return self._chunk([{"index": self._choice, "delta": delta, "finish_reason": None}])

    def _chunk(self, choices: list[JsonValue]) -> bytes:
        return _chunk({**self._about, "choices": choices})


def _chunk(value: JsonValue) -> bytes:
    return b"data: " + dumps(value) + b"\n\n"


def _envelope(response: ModelResponse, kind: str) -> dict[str, JsonValue]:
    own = {} if response.id is None else {"id": response.id}
    return {**own, "object": kind, "created": 0, **({} if response.model is None else {"model": response.model})}


def _usage(usage: Usage) -> JsonValue:
    """``prompt_tokens`` count in what was read from and written to a cache."""
    cached = {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}
    details = {k: v for k, v in cached.items() if v is not None}
    prompt, output = (usage.input or 0) + sum(details.values()), usage.output or 0
    usage_json: dict[str, JsonValue] = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
    }
    if details:
        usage_json["prompt_tokens_details"] = details
    if usage.reasoning is not None:
        usage_json["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return usage_json


def _error(error: ApiError) -> JsonValue:
    return {"message": error.message, "type": error.type, "param": error.param, "code": error.code}
