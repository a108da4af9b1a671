"""Long requests with a fault in them, made quickly: no simulator takes part."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from workbench.rules.inspection import Inspector
from workbench.trials.minimize import BodyJudge, TargetVerdict
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

T = TypeVar("T")
Spoil = Callable[[Any], object]


def schema() -> Any:
    """Of a tool with two parameters."""
    path, deep = {"type": "string", "description": "where"}, {"type": "object", "properties": {}}
    return {"type": "object", "properties": {"path": path, "deep": deep}, "required": ["path"]}


FILLER = "The quick brown fox jumps over the lazy dog. "


def anthropic(rounds: int) -> Any:
    """A request of Anthropic's with four messages a round, and 40 tools."""
    messages: list[Any] = []
    for n in range(rounds):
        calls = [
            {"type": "tool_use", "id": f"toolu_{n}_{k}", "name": f"tool_{k}", "input": {"path": FILLER}} for k in (0, 1)
        ]
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": FILLER} for call in calls]
        messages += [
            {"role": "user", "content": f"{FILLER}{n}"},
            {"role": "assistant", "content": [{"type": "text", "text": FILLER}, *calls]},
            {"role": "user", "content": results},
            {"role": "assistant", "content": [{"type": "text", "text": FILLER}]},
        ]
    messages.append({"role": "user", "content": "go on"})
    tools = [{"name": f"tool_{n}", "description": FILLER, "input_schema": schema()} for n in range(40)]
    return {"model": "claude-sonnet-4-5", "max_tokens": 4096, "system": FILLER, "tools": tools, "messages": messages}


def chat(rounds: int) -> Any:
    """The same for chat completions: results are messages."""
    messages: list[Any] = [{"role": "system", "content": FILLER}]
    for n in range(rounds):
        made = [(f"call_{n}_{k}", {"name": f"tool_{k}", "arguments": '{"path": "a", "deep": {}}'}) for k in (0, 1)]
        calls = [{"id": name, "type": "function", "function": function} for name, function in made]
        results = [{"role": "tool", "tool_call_id": name, "content": FILLER} for name, _ in made]
        messages += [
            {"role": "user", "content": f"{FILLER}{n}"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *results,
            {"role": "assistant", "content": FILLER},
        ]
    messages.append({"role": "user", "content": "go on"})
    tools = [
        {"type": "function", "function": {"name": f"tool_{n}", "description": FILLER, "parameters": schema()}}
        for n in range(40)
    ]
    return {"model": "gpt-4.1", "temperature": 0.2, "tools": tools, "messages": messages}


def responses(rounds: int) -> Any:
    """The same as items."""
    items: list[Any] = []
    for n in range(rounds):
        items += [
            {"role": "user", "content": f"{FILLER}{n}"},
            {"type": "function_call", "call_id": f"call_{n}", "name": "tool_0", "arguments": '{"path": "a"}'},
            {"type": "function_call_output", "call_id": f"call_{n}", "output": FILLER},
            {"role": "assistant", "content": FILLER},
        ]
    items.append({"role": "user", "content": "go on"})
    tools = [
        {"type": "function", "name": f"tool_{n}", "description": FILLER, "parameters": schema()} for n in range(40)
    ]
    return {"model": "gpt-4.1", "tools": tools, "input": items}


def begun(body: Any, most: int) -> Any:
    """The same request when its history was shorter: the first so many messages or items."""
    key = "input" if "input" in body else "messages"
    return {**body, key: body[key][:most]}


PATHS = {
    "anthropic-messages": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
}


def request(protocol: str, body: Any) -> HttpRequest:
    """A body on its way; values are written as JSON, bytes go as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return HttpRequest("POST", PATHS[protocol], Headers((("content-type", "application/json"),)), Body(data))


def inspector_of(protocol: str, label: str, *bodies: Any) -> Inspector:
    """An inspector of exchanges with these bodies; all but the last were answered."""
    fine = HttpResponse(200, Headers((("content-type", "application/json"),)), Body(b"{}"))
    last = len(bodies) - 1
    made = (
        Exchange(f"exchange-{n + 1}", request(protocol, body), fine if n < last else None)
        for n, body in enumerate(bodies)
    )
    return Inspector(MemorySession("long", tuple(made)), provider=label, protocol=protocol)


def bench_of(protocol: str, label: str, *bodies: Any) -> BodyJudge:
    """A bench for the last of some bodies."""
    return BodyJudge(inspector_of(protocol, label, *bodies), len(bodies) - 1)


def finish(
    steps: Generator[bytes | None, TargetVerdict | None, T], ask: Callable[[bytes], TargetVerdict] | None = None
) -> T:
    """Run a search to its end."""
    reply: TargetVerdict | None = None
    while True:
        try:
            wanted = steps.send(reply)
        except StopIteration as done:
            value: T = done.value
            return value
        assert wanted is None or ask, "nobody may be asked"
        reply = ask(wanted) if wanted is not None and ask else None
