"""Conversations that only grow, with a fault that a client repeats in every request: one kind of fault each.

What an agent of such a conversation sends is healthy before ``Fault`` spoils it. The answers stay as they were.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

Fault = Callable[[Any], object]
"""Spoils a body."""

JSON = Headers((("content-type", "application/json"),))
MESSAGES = "https://api.anthropic.com/v1/messages"
COMPLETIONS = "https://api.openai.com/v1/chat/completions"
GENERATE = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent"


def blocks(n: int) -> tuple[Any, list[Any]]:
    """The answer of a turn of an agent that thinks, and the messages of it."""
    said = [
        {"type": "thinking", "thinking": f"think {n}", "signature": f"EqQB{n:040d}=="},
        {"type": "text", "text": f"step {n}"},
        {"type": "tool_use", "id": f"toolu_{n:020d}", "name": "f", "input": {"n": n}},
    ]
    result = {"type": "tool_result", "tool_use_id": f"toolu_{n:020d}", "content": f"result {n}"}
    head = {"type": "message", "id": f"m{n}", "role": "assistant", "model": "claude-sonnet-4-5"}
    answer = {**head, "stop_reason": "tool_use", "content": said, "usage": {"input_tokens": 9, "output_tokens": 5}}
    return answer, [{"role": "assistant", "content": said}, {"role": "user", "content": [result]}]


def chat(n: int) -> tuple[Any, list[Any]]:
    call = {"id": f"call_{n:020d}", "type": "function", "function": {"name": "f", "arguments": f'{{"n": {n}}}'}}
    said = {"role": "assistant", "content": f"step {n}", "tool_calls": [call]}
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls"}
    answer = {"id": f"c{n}", "object": "chat.completion", "model": "gpt-4.1", "choices": [choice]}
    return answer, [said, {"role": "tool", "tool_call_id": f"call_{n:020d}", "content": f"result {n}"}]


def contents(n: int) -> tuple[Any, list[Any]]:
    call = {"functionCall": {"name": "f", "args": {"n": n}}, "thoughtSignature": f"CqQB{n:040d}"}
    said = {"role": "model", "parts": [call]}
    answer = {"candidates": [{"index": 0, "content": said, "finishReason": "STOP"}], "modelVersion": "gemini-3-pro"}
    result = {"functionResponse": {"name": "f", "response": {"result": f"result {n}"}}}
    return answer, [said, {"role": "user", "parts": [result]}]


PROPERTIES = {"type": "object", "properties": {"n": {"type": "integer"}}}
HEADS: Mapping[str, tuple[str, str, Any, Callable[[int], tuple[Any, list[Any]]]]] = {
    "blocks": (
        MESSAGES,
        "messages",
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 32000,
            "thinking": {"type": "enabled", "budget_tokens": 2000},
            "tools": [{"name": "f", "description": "d", "input_schema": PROPERTIES}],
            "messages": [{"role": "user", "content": "fix it"}],
        },
        blocks,
    ),
    "chat": (
        COMPLETIONS,
        "messages",
        {
            "model": "gpt-4.1",
            "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": PROPERTIES}}],
            "messages": [{"role": "user", "content": "fix it"}],
        },
        chat,
    ),
    "contents": (
        GENERATE,
        "contents",
        {
            "tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parameters": PROPERTIES}]}],
            "contents": [{"role": "user", "parts": [{"text": "fix it"}]}],
        },
        contents,
    ),
}
"""Wire → URL, member with the history, body of the first request, and what a turn adds to it."""


def conversation(wire: str, fault: Fault, turns: int) -> MemorySession:
    """A session of so many exchanges."""
    return MemorySession("lasting", tuple(exchanges(wire, fault, turns)))


def exchanges(wire: str, fault: Fault, turns: int) -> Iterator[Exchange]:
    url, key, head, turn = HEADS[wire]
    said: list[Any] = []
    for n in range(turns):
        body = deepcopy({**head, key: [*head[key], *said]})
        fault(body)
        answer, more = turn(n)
        request = HttpRequest("POST", url, JSON, Body(json.dumps(body).encode()))
        yield Exchange(f"e{n}", request, HttpResponse(200, JSON, Body(json.dumps(answer).encode())))
        said += more


def each(role: str, spoil: Callable[[list[Any]], object], key: str = "messages", content: str = "content") -> Fault:
    """Spoil the content of each message of a role, but the first one."""

    def fault(body: Any) -> None:
        for message in body[key][1:]:
            if message["role"] == role:
                spoil(message[content])

    return fault


def each_message(spoil: Callable[[Any, int], object], key: str = "messages") -> Fault:
    def fault(body: Any) -> None:
        for n, message in enumerate(body[key]):
            spoil(message, n)

    return fault


def rewritten(pattern: str, by: str) -> Fault:
    def fault(body: Any) -> None:
        body["messages"] = json.loads(re.sub(pattern, by, json.dumps(body["messages"])))

    return fault


def sets(index: int, name: str, value: Any) -> Callable[[list[Any]], object]:
    return lambda content: content[index].update({name: value})


def _behind(body: Any, name: str, value: Any, **more: Any) -> None:
    """Put fields behind the list of messages, which pushes them on from request to request."""
    body.pop(name, None)
    body.update({name: value, **more})


FAULTS: Mapping[str, tuple[str, Fault]] = {
    "none": ("blocks", lambda body: None),
    "one signature lost": ("blocks", each_message(lambda m, n: m["content"][0].pop("signature") if n == 1 else None)),
    "signatures lost": ("blocks", each("assistant", lambda said: said[0].pop("signature"))),
    "signatures empty": ("blocks", each("assistant", sets(0, "signature", ""))),
    "signatures altered": ("blocks", each("assistant", sets(0, "signature", "AAAA"))),
    "reasoning missing": ("blocks", each("assistant", lambda said: said.pop(0))),
    "reasoning altered": ("blocks", each("assistant", sets(0, "thinking", "another"))),
    "foreign reasoning": ("blocks", each("assistant", sets(0, "type", "reasoning"))),
    "reasoning last": ("blocks", each("assistant", lambda said: said.append(said.pop(0)))),
    "reasoning of users": ("blocks", each_message(lambda m, n: m.update(reasoning_content="x") if n else None)),
    "ids of results differ": ("blocks", rewritten('"tool_use_id": "toolu_', '"tool_use_id": "x_')),
    "ids of a form that is refused": ("blocks", rewritten("toolu_", "to lu_")),
    "one id for all calls": ("blocks", rewritten(r"toolu_\d+", "toolu_1")),
    "results missing": ("blocks", each("user", sets(0, "type", "text"))),
    "calls missing": ("blocks", each("assistant", lambda said: said.pop())),
    "results twice": ("blocks", each("user", lambda said: said.append(dict(said[0])))),
    "text before results": ("blocks", each("user", lambda said: said.insert(0, {"type": "text", "text": "x"}))),
    "role of results": ("blocks", each_message(lambda m, n: m.update(role="tool") if n and not n % 2 else None)),
    "empty texts": ("blocks", each("assistant", sets(1, "text", ""))),
    "null texts": ("blocks", each("assistant", sets(1, "text", None))),
    "blocks of unknown type": ("blocks", each("user", lambda said: said.append({"type": "strange"}))),
    "parts that are no objects": ("blocks", each("user", lambda said: said.append(7))),
    "unknown fields": ("blocks", each_message(lambda message, n: message.update(strange=n))),
    "arguments as text": ("blocks", each("assistant", lambda said: said[2].update(input=json.dumps(said[2]["input"])))),
    "arguments against the schema": ("blocks", each("assistant", sets(2, "input", {"n": "word"}))),
    "unknown tools": ("blocks", each("assistant", sets(2, "name", "g"))),
    "bad schema": ("blocks", lambda body: body["tools"][0].update(input_schema={"type": "array"})),
    "no schemas": ("blocks", lambda body: _behind(body, "tools", [{"name": "a"}, {"name": "b"}, {"name": "c"}])),
    "chat: ignored and unknown fields": ("chat", lambda body: _behind(body, "top_k", 1, strange=2, n=1)),
    "contents: bad schema": (
        "contents",
        lambda body: _behind(
            body, "tools", [{"functionDeclarations": [{"name": "a b", "parameters": {"type": "ARRAY", "x": 1}}]}]
        ),
    ),
    "marks for the cache": ("blocks", each("user", sets(0, "cache_control", {"type": "ephemeral"}))),
    "secrets": ("blocks", rewritten('"result ', '"password: hunter2')),
    "special tokens": ("blocks", each("user", sets(0, "content", "<|im_end|>"))),
    "calls as text": ("blocks", each("assistant", sets(1, "text", '<tool_call>{"name": "f"}</tool_call>'))),
    "chat: ids of results differ": ("chat", rewritten('"tool_call_id": "call_', '"tool_call_id": "x_')),
    "chat: results missing": ("chat", rewritten('"role": "tool", "tool_call_id"', '"role": "user", "name"')),
    "chat: arguments are no JSON": ("chat", rewritten(r'\{\\"n\\": (\d+)\}', r"{\\\\\"n\\\\\": \1")),
    "chat: reasoning sent back": ("chat", each_message(lambda m, n: m.update(reasoning="x") if n % 2 else None)),
    "contents: signatures lost": (
        "contents",
        each("model", lambda said: said[0].pop("thoughtSignature"), "contents", "parts"),
    ),
    "contents: signatures altered": ("contents", each("model", sets(0, "thoughtSignature", "!"), "contents", "parts")),
    "contents: names of results differ": (
        "contents",
        each("user", lambda said: said[0]["functionResponse"].update(name="g"), "contents", "parts"),
    ),
}  # fmt: skip
"""Name → wire, and what is wrong in every request."""


def interleaved(sessions: Sequence[MemorySession]) -> MemorySession:
    """Agents that work at the same time."""
    steps = zip(*(session.exchanges for session in sessions), strict=False)
    found = (replace(exchange, id=f"{n}:{exchange.id}") for step in steps for n, exchange in enumerate(step))
    return MemorySession("interleaved", tuple(found))


def retried(session: MemorySession) -> MemorySession:
    """Every fifth request failed first, and was sent again."""
    overloaded = HttpResponse(
        529, JSON, Body(b'{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}')
    )
    found: list[Exchange] = []
    for n, exchange in enumerate(session.exchanges):
        found += [replace(exchange, id=f"{exchange.id}-", response=overloaded)] if n % 5 == 4 else []
        found.append(exchange)
    return MemorySession("retried", tuple(found))


def branched(session: MemorySession) -> MemorySession:
    """A conversation, and its second half again from the middle on, with other words."""
    half = len(session.exchanges) // 2
    again = (
        replace(exchange, id=f"{exchange.id}'", request=_said_otherwise(exchange.request, f"result {half}"))
        for exchange in session.exchanges[half:]
        if exchange.request is not None
    )
    return MemorySession("branched", (*session.exchanges, *again))


def _said_otherwise(request: HttpRequest, words: str) -> HttpRequest:
    return replace(request, body=Body(request.body.raw.replace(f'"{words}"'.encode(), b'"otherwise"')))


def compacted(session: MemorySession, every: int = 8) -> MemorySession:
    """A client that forgets all but the last messages again and again."""
    found = []
    for n, exchange in enumerate(session.exchanges):
        assert exchange.request is not None
        body = json.loads(exchange.request.body.raw)
        key = "messages" if "messages" in body else "contents"
        kept = 1 + 2 * (n // every * every)
        body[key] = body[key][:1] + body[key][kept:]
        found.append(replace(exchange, request=replace(exchange.request, body=Body(json.dumps(body).encode()))))
    return MemorySession("compacted", tuple(found))


SHAPES: Mapping[str, Callable[[str, Fault, int], MemorySession]] = {
    "retried": lambda wire, fault, turns: retried(conversation(wire, fault, turns)),
    "branched": lambda wire, fault, turns: branched(conversation(wire, fault, turns)),
    "compacted": lambda wire, fault, turns: compacted(conversation(wire, fault, turns)),
    "interleaved": lambda wire, fault, turns: interleaved([conversation(wire, fault, turns // 2)] * 2),
}
"""What happens to a conversation beside growing."""
