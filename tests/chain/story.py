"""A short way to write a history down.

One message a line, ``role: part | part``:

    user: read x.md                      text
    assistant: ~thought | +c1:read       reasoning, a call of ``read`` with id c1
    assistant: ~thought/sig              a thinking block with a signature
    tool: =c1                            the result of c1 ("ok"); ``=c1:text`` for another text
    assistant: +?:ls | +:ls              a call without an id, a call with an empty id
    assistant: +c1:read{"path": "x"}     a call with arguments
"""

from __future__ import annotations

import json

from workbench.ir import (
    Carrier,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Source,
    Text,
    ToolCallIR,
    ToolDef,
    ToolResultIR,
)

TOOLS = (ToolDef("ls", None, None), ToolDef("read", None, None))


def part(word: str, number: int = 0, carrier: Carrier = Carrier.REASONING_CONTENT) -> Part:
    source = Source(pointer=f"/content/{number}", events=(number,))
    if word.startswith("~"):
        text, _, signature = word[1:].partition("/")
        kind = Carrier.THINKING if "/" in word else carrier
        return Reasoning(kind, text, signature if "/" in word else None, source=source)
    if word.startswith(("+", "=")):
        id_, _, rest = word[1:].partition(":")
        call_id = None if id_ == "?" else id_
        if word[0] == "=":
            return ToolResultIR(call_id, (Text(rest or "ok"),), source=source)
        name, brace, arguments = rest.partition("{")
        return ToolCallIR(call_id, name, json.loads(brace + arguments) if brace else {}, "test", source=source)
    return Text(word, source=source)


def message(line: str, pointer: str = "", carrier: Carrier = Carrier.REASONING_CONTENT) -> Message:
    role, _, rest = line.strip().partition(":")
    words = [w.strip() for w in rest.split("|") if w.strip()]
    return Message(role, tuple(part(w, n, carrier) for n, w in enumerate(words)), pointer=pointer)


def messages(story: str) -> tuple[Message, ...]:
    lines = [line for line in story.splitlines() if line.strip()]
    return tuple(message(line, f"/messages/{n}") for n, line in enumerate(lines))


def request(story: str, **more: object) -> ModelRequest:
    return ModelRequest("test", str(more.pop("model", "m")), messages(story), **more)  # type: ignore[arg-type]


def answer(line: str, *, id: str | None = None, **more: object) -> ModelResponse:
    said = message(line if line.startswith("assistant:") else f"assistant: {line}")
    return ModelResponse(protocol="test", id=id, messages=(said,), **more)  # type: ignore[arg-type]
