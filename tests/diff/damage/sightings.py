"""Exchanges as two places see them."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from workbench.diff.damage import Damage, damages_between
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Chunk, Exchange, Headers, HttpRequest, HttpResponse

MESSAGES, CHAT = "https://a.example/v1/messages", "https://a.example/v1/chat/completions"

CALL = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path": ".", "n": 1}'}}
ASKED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 900,
    "temperature": 1.0,
    "seed": 12345678901234567890,
    "user": None,
    "tools": [{"name": "ls", "description": "Lists."}, {"name": "cat", "description": "Reads."}],
    "stop_ids": [12345678901234567890, 3],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "  caf\u00e9 / \U0001f600 \n"},
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "assistant", "content": None, "reasoning_content": "I list it.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a b"},
    ],
}


def text(value: Any, **how: Any) -> bytes:
    """JSON as most clients write it."""
    return json.dumps(value, **{"ensure_ascii": False, **how}).encode()


def changed(value: Any, change: Callable[[Any], object]) -> Any:
    """A copy, changed."""
    made = copy.deepcopy(value)
    change(made)
    return made


def seen(
    request: bytes = b"",
    answer: bytes | None = None,
    *,
    url: str = CHAT,
    method: str = "POST",
    status: int = 200,
    asked: Iterable[tuple[str, str]] = (),
    told: Iterable[tuple[str, str]] = (),
    encoding: str = "",
    chunks: tuple[Chunk, ...] = (),
    **facts: Any,
) -> DecodedExchange:
    """One exchange at one place."""
    is_stream = answer is not None and answer.startswith((b"data:", b"event:", b":"))
    kind = "text/event-stream" if is_stream else "application/json"
    headers = Headers((("content-type", kind), *told))
    response = None if answer is None else HttpResponse(status, headers, Body(answer, encoding, chunks))
    http = HttpRequest(method, url, Headers((("accept", "*/*"), *asked)), Body(request or text(ASKED)))
    return DecodedExchange(0, Exchange("x", http, response, **facts))


def brief(found: Iterable[Damage]) -> list[str]:
    """The kinds, and where they are, as they went on."""
    return [f"{damage.kind.value} {damage.at}".strip() for damage in found]


def of_requests(before: bytes, after: bytes) -> list[str]:
    """What happened to a request."""
    return brief(damages_between(seen(before), seen(after)))


def event(kind: str, **members: Any) -> tuple[str, dict[str, Any]]:
    """An event that says its name twice."""
    return kind, {"type": kind, **members}


def said(
    texts: Iterable[str] = ("Hel", "lo ", "there"), pieces: Iterable[str] = ('{"pa', 'th": ', '"."}')
) -> list[Any]:
    """The events of an answer with a text and a call."""
    usage = {"input_tokens": 3, "output_tokens": 1}
    message = {"id": "m1", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": usage}
    call = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}
    return [
        event("message_start", message=message),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        event("ping"),
        *(event("content_block_delta", index=0, delta={"type": "text_delta", "text": t}) for t in texts),
        event("content_block_stop", index=0),
        event("content_block_start", index=1, content_block=call),
        *(event("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": p}) for p in pieces),
        event("content_block_stop", index=1),
        event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 9}),
        event("message_stop"),
    ]


def stream(events: Iterable[Any], end: str = "\n", *, named: bool = True, **how: Any) -> bytes:
    """Events as bytes; a text in the place of one is a line by itself."""
    blocks = (
        each + end * 2
        if isinstance(each, str)
        else (f"event: {each[0]}{end}" if named else "") + f"data: {json.dumps(each[1], **how)}{end * 2}"
        for each in events
    )
    return "".join(blocks).encode()


def timed(body: bytes, gaps: Iterable[float], **facts: Any) -> DecodedExchange:
    """A stream whose events came one by one, so many seconds after one another."""
    ends = [found.end() for found in re.finditer(rb"\n\n", body)]
    at, chunks = 0.0, []
    for end, gap in zip(ends, gaps, strict=False):
        at += gap
        chunks.append(Chunk(end, at))
    return seen(answer=body, chunks=tuple(chunks), **{"url": MESSAGES, **facts})
