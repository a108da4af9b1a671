"""What the stories are told with: exchanges one after another, and the wire formats of two protocols."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.wire.exchange import Body, Chunk, Exchange, Headers, HttpRequest, HttpResponse, Origin
from workbench.wire.session import text

START = 1_790_000_000.0

CHAT = "https://api.openai.com/v1/chat/completions"
DEEPSEEK = "https://api.deepseek.com/chat/completions"
GATEWAY = "http://127.0.0.1:8080/v1/chat/completions"
MOONSHOT = "https://api.moonshot.ai/v1/chat/completions"
MESSAGES = "https://api.anthropic.com/v1/messages"

MADE = "constructed: requests and answers were written after the source; no provider was asked"

Json = dict[str, object]


def dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def sse(events: Sequence[Json], *, named: bool = False, done: bool = False) -> bytes:
    blocks = [
        (f"event: {e['type']}\n" if named else "") + f"data: {json.dumps(e, ensure_ascii=False)}\n\n" for e in events
    ]
    return ("".join(blocks) + ("data: [DONE]\n\n" if done else "")).encode()


def arrivals(body: bytes, first: float, step: float, end: bytes = b"\n\n") -> tuple[Chunk, ...]:
    ends = [n + len(end) for n in range(len(body)) if body[n : n + len(end)] == end]
    return tuple(Chunk(end, round(first + step * n, 3)) for n, end in enumerate(ends))


class Story:
    """Exchanges one after another.

    Args:
        client: who sends them.
        story: what happens, in one line.
        source: where the failure, or the format, is published.
        origin: of its exchanges; what is told by every byte of a request is told of an imported one.
    """

    def __init__(self, client: str, story: str, source: str, origin: Origin = Origin.RECONSTRUCTED) -> None:
        self.client, self.origin = client, origin
        self.about = {"story": story, "source": source, "made": MADE}
        self.exchanges: list[Exchange] = []
        self.now = START

    def turn(self, url: str, request: Json, answer: Json | bytes, status: int = 200, seconds: float = 1.2) -> None:
        """A request, and its answer: JSON, or an event stream."""
        if isinstance(answer, bytes):
            chunks = arrivals(answer, seconds / 3, 0.02)
            self._add(url, request, "text/event-stream; charset=utf-8", answer, chunks, status, seconds)
        else:
            raw = dump(answer)
            self._add(url, request, "application/json", raw, (Chunk(len(raw), seconds),), status, seconds)

    def relayed(
        self, outer: tuple[str, Json], inner: tuple[str, Json], answer: Json, status: int = 200, seconds: float = 1.2
    ) -> None:
        """A request as it came to a gateway and as it went on, each as (URL, body), and the answer to both."""
        raw = dump(answer)
        for hop, (url, request), ahead in (("client", outer, 0.05), ("upstream", inner, 0.0)):
            took = seconds + 2 * ahead
            self._add(url, request, "application/json", raw, (Chunk(len(raw), took),), status, took, hop=hop)
            self.now -= took + 2 - ahead
        self.now += seconds + 2

    def lines(self, url: str, request: Json, answer: Sequence[Json], seconds: float) -> None:
        """A request, and its answer as lines of JSON."""
        raw = b"".join(dump(line) + b"\n" for line in answer)
        chunks = arrivals(raw, seconds / 3, 0.02, end=b"\n")
        self._add(url, request, "application/x-ndjson", raw, chunks, 200, seconds)

    def _add(
        self, url: str, request: Json, kind: str, raw: bytes, chunks: tuple[Chunk, ...], status: int, seconds: float,
        hop: str = "",
    ) -> None:  # fmt: skip
        number = len(self.exchanges) + 1
        self.exchanges.append(
            Exchange(
                f"{number:04d}",
                HttpRequest(
                    "POST", url, Headers((("content-type", "application/json"),)), Body(dump(request)), "HTTP/1.1"
                ),
                HttpResponse(status, Headers((("content-type", kind),)), Body(raw, chunks=chunks), "", "HTTP/1.1"),
                origin=self.origin,
                started_at=self.now,
                duration=seconds,
                client=self.client,
                hop=hop,
            )
        )
        self.now += seconds + 2

    def write(self, path: Path) -> None:
        text.write(self.exchanges, path, self.about, id=f"workbench-example-{path.stem}")


def chat_tool(name: str, **properties: str) -> Json:
    schema = {
        "type": "object",
        "properties": {k: {"type": v} for k, v in properties.items()},
        "required": [*properties],
    }
    return {"type": "function", "function": {"name": name, "description": f"Run {name}", "parameters": schema}}


def messages_tool(name: str, **properties: str) -> Json:
    schema = {
        "type": "object",
        "properties": {k: {"type": v} for k, v in properties.items()},
        "required": [*properties],
    }
    return {"name": name, "description": f"Run {name}", "input_schema": schema}


def chat_call(call_id: str, name: str, arguments: Json) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def chat_answer(number: int, model: str, message: Json, reason: str) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "logprobs": None, "finish_reason": reason}
    usage = {"prompt_tokens": 180 + 60 * number, "completion_tokens": 40, "total_tokens": 220 + 60 * number}
    return {
        "id": f"chatcmpl-{number:08d}", "object": "chat.completion", "created": int(START) + number, "model": model,
        "choices": [choice], "usage": usage,
    }  # fmt: skip


def chunks(number: int, model: str, deltas: Sequence[Json], reason: str) -> Iterator[Json]:
    head = {"id": f"chatcmpl-{number:08d}", "object": "chat.completion.chunk", "created": int(START), "model": model}
    for delta in deltas:
        yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def words(line: str) -> list[str]:
    first, *rest = line.split(" ")
    return [first, *(f" {w}" for w in rest)]


def messages_answer(number: int, content: list[Json], reason: str, model: str = "claude-sonnet-4-5") -> Json:
    usage = {"input_tokens": 400 + 120 * number, "output_tokens": 70}
    return {
        "id": f"msg_{number:024d}", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": reason, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def messages_error(message: str) -> Json:
    error = {"type": "invalid_request_error", "message": message}
    return {"type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}


def messages_stream(number: int, model: str, blocks: Sequence[tuple[Json, Sequence[Json]]], reason: str) -> list[Json]:
    message = messages_answer(number, [], "", model) | {"stop_reason": None}
    events: list[Json] = [{"type": "message_start", "message": message}]
    for index, (start, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": reason, "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": end, "usage": {"output_tokens": 64}}, {"type": "message_stop"}]
