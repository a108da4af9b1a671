"""New Chat Completions answers, whole and as streams.

Facts: ``types/chat/chat_completion.py``, ``chat_completion_chunk.py`` and ``types/completion_usage.py`` of the official
``openai`` SDK 3.54. ``created`` has to be a number there; what is converted has none, so it is 0.
"""

from __future__ import annotations

from workbench.ir import ApiError, Carrier, JsonValue, ModelResponse, Part, Reasoning, ToolCallIR, Usage
from workbench.protocols.families.chat.write import FIELDS, write_answer, write_call, write_detail
from workbench.wire import dumps

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
    said: dict[str, JsonValue] = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
    }
    if details:
        said["prompt_tokens_details"] = details
    if usage.reasoning is not None:
        said["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return said


def _error(error: ApiError) -> JsonValue:
    return {"message": error.message, "type": error.type, "param": error.param, "code": error.code}
