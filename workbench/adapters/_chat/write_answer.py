"""New Chat Completions answers, whole and as streams.

Facts: ``types/chat/chat_completion.py``, ``chat_completion_chunk.py`` and ``types/completion_usage.py`` of the official
``openai`` SDK 3.54. ``created`` has to be a number there; what is converted has none, so it is 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.adapters._chat.write import write_answer
from workbench.ir import ApiError, JsonValue, Message, ModelResponse, Usage
from workbench.wire.jsontext import dumps

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


def write_stream(response: ModelResponse) -> bytes:
    """The same as chunks, ended by ``[DONE]`` where the answer is complete."""
    chunks = [b"data: " + dumps(chunk) + b"\n\n" for chunk in _chunks(response)]
    is_whole = response.is_complete and not response.error
    return b"".join(chunks) + (b"data: [DONE]\n\n" if is_whole else b"")


def _chunks(response: ModelResponse) -> Iterator[JsonValue]:
    envelope = _envelope(response, "chat.completion.chunk")
    for n, message in enumerate(response.messages):
        for delta in _deltas(message):
            yield envelope | {"choices": [{"index": n, "delta": delta, "finish_reason": None}]}
    if response.error:
        yield {"error": _error(response.error)}
        return
    if response.stop is not None:
        finish = _FINISH.get(response.stop)
        for n in range(len(response.messages)):
            yield envelope | {"choices": [{"index": n, "delta": {}, "finish_reason": finish}]}
    if response.usage:
        yield envelope | {"choices": [], "usage": _usage(response.usage)}


def _deltas(message: Message) -> Iterator[JsonValue]:
    whole = write_answer(message)
    calls = whole.pop("tool_calls", [])
    yield {"role": whole.pop("role")}
    for key, value in whole.items():
        if value is not None:
            yield {key: value}
    for n, call in enumerate(calls):
        kind = call["type"]
        text = "input" if kind == "custom" else "arguments"
        inside = call[kind]
        yield {"tool_calls": [{"index": n, **call, kind: inside | {text: ""}}]}
        if inside[text]:
            yield {"tool_calls": [{"index": n, kind: {text: inside[text]}}]}


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
