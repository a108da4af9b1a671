"""The real Python SDKs, fed the bytes of a stream: what they build, or the error they raise."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

Outcome = tuple[str, Any]
"""``("raised", name of the error)`` or ``("built", parts)``; a part is (kind, field, …)."""


@cache
def _client(package: str) -> Any:
    import importlib

    import httpx2

    sdk = importlib.import_module(package)
    answer = httpx2.MockTransport(
        lambda request: httpx2.Response(
            200, headers={"content-type": "text/event-stream"}, content=_body[package], request=request
        )
    )
    made = {"anthropic": "Anthropic", "openai": "OpenAI"}[package]
    return getattr(sdk, made)(api_key="test", max_retries=0, http_client=httpx2.Client(transport=answer))


_body: dict[str, bytes] = {}


def _outcome(package: str, body: bytes, read: Callable[[Any], Any]) -> Outcome:
    _body[package] = body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "built", read(_client(package))
        except Exception as error:
            return "raised", type(error).__name__


def anthropic(body: bytes) -> Outcome:
    """What ``client.messages.stream`` gives as its final message."""
    return _outcome("anthropic", body, _read_anthropic)


def _read_anthropic(client: Any) -> Any:
    messages = [{"role": "user", "content": "x"}]
    with client.messages.stream(model="m", max_tokens=1, messages=messages) as stream:
        return [_block(block.to_dict()) for block in stream.get_final_message().content]


def _block(block: dict[str, Any]) -> tuple[Any, ...]:
    match block.get("type"):
        case "text":
            return ("text", block.get("text"))
        case "thinking":
            return ("reasoning", block.get("thinking"), block.get("signature", ""))
        case "tool_use":
            return ("call", block.get("id"), block.get("name"), block.get("input"))
    return ("other", block.get("type"))


def openai(body: bytes) -> Outcome:
    """What ``client.chat.completions.stream`` gives as its final completion: the parts of each choice."""
    return _outcome("openai", body, _read_openai)


def _read_openai(client: Any) -> Any:
    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "x"}]) as stream:
        for _ in stream:
            pass
        completion = stream.current_completion_snapshot
        return [_choice(choice.message.to_dict()) for choice in completion.choices]


def _choice(message: dict[str, Any]) -> list[tuple[Any, ...]]:
    parts: list[tuple[Any, ...]] = []
    for name in ("reasoning_content", "reasoning"):
        if message.get(name):
            parts.append(("reasoning", message[name], ""))
    if message.get("content"):
        parts.append(("text", message["content"]))
    for call in message.get("tool_calls") or []:
        function = call.get("function") or {}
        parts.append(("call", call.get("id"), function.get("name"), function.get("arguments")))
    return parts


def openai_responses(body: bytes) -> Outcome:
    """What ``client.responses.stream`` gives as the calls of its final response."""
    return _outcome("openai", body, _read_responses)


def _read_responses(client: Any) -> Any:
    with client.responses.stream(model="m", input="x") as stream:
        output = stream.get_final_response().output
    return [(i.call_id, i.name, i.arguments) for i in output if i.type == "function_call"]


def ollama(body: bytes) -> Outcome:
    """The calls of the lines as ``ollama`` types them."""
    from ollama import ChatResponse, ResponseError

    calls = []
    try:
        for line in body.splitlines():
            part = json.loads(line)
            if part.get("error"):
                raise ResponseError(part["error"])
            found = ChatResponse(**part).message.tool_calls or ()
            calls += [(call.function.name, dict(call.function.arguments)) for call in found]
    except Exception as error:
        return "raised", type(error).__name__
    return "built", calls
