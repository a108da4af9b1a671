"""A recorder in the test's hand: it writes a session file step by step while the app looks on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from workbench.wire.exchange import Body, Chunk, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session.writer import SessionWriter

URL = "https://api.anthropic.com/v1/messages"
SSE = Headers((("content-type", "text/event-stream"),))


def request(*messages: object) -> HttpRequest:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "stream": True, "messages": list(messages)}
    return HttpRequest("POST", URL, body=Body(json.dumps(body).encode()))


def user(text: str) -> object:
    return {"role": "user", "content": text}


def event(name: str, **more: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **more})}\n\n".encode()


def start() -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    block = {"type": "text", "text": ""}
    return event("message_start", message=message) + event("content_block_start", index=0, content_block=block)


def delta(text: str) -> bytes:
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def stop() -> bytes:
    end = event("content_block_stop", index=0) + event("message_delta", delta={"stop_reason": "end_turn"})
    return end + event("message_stop")


BROKEN = (
    user("go"),
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_abcdefgh12345678", "name": "ls", "input": {}}]},
    user("stop"),
)


class Recorder:
    """Writes exchanges as a recorder does."""

    def __init__(self, path: Path) -> None:
        self.writer = SessionWriter(path)
        self.is_closed = False
        self.sent: dict[int, Exchange] = {}
        self.body: dict[int, bytes] = {}

    def close(self) -> None:
        """Leave, if it has not left."""
        if not self.is_closed:
            self.is_closed = True
            self.writer.close()

    def asks(self, *messages: object) -> int:
        """A request came."""
        exchange = Exchange(f"e{len(self.sent)}", request(*messages), started_at=1_790_000_000.0 + len(self.sent))
        seq = self.writer.begin(exchange)
        self.sent[seq], self.body[seq] = exchange, b""
        return seq

    def streams(self, seq: int, *pieces: bytes) -> None:
        """The answer goes on."""
        for piece in pieces:
            if not self.body[seq]:
                self.writer.answer(seq, HttpResponse(200, SSE))
            self.body[seq] += piece
            self.writer.grow(seq, piece, [Chunk(len(self.body[seq]), 0.1)])

    def ends(self, seq: int) -> None:
        """All of it is there."""
        response = HttpResponse(200, SSE, Body(self.body[seq]))
        self.writer.finish(seq, replace(self.sent[seq], response=response, duration=1.0))

    def whole(self, *messages: object, text: str = "fine") -> int:
        """A whole exchange."""
        seq = self.asks(*messages)
        self.streams(seq, start(), delta(text), stop())
        self.ends(seq)
        return seq
