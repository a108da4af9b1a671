"""A relay with breakpoints, whose judge is played by the test: between a raw client and a raw upstream."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.recorder.relaying import PATIENCE, Notes, Peer, Stage, serving
from workbench.ir import JsonValue
from workbench.recorder.breakpoints.gate import BreakpointGate
from workbench.recorder.capture.keeper import Keeper, redactor_for
from workbench.recorder.capture.queue import Capture
from workbench.recorder.events import Event, EventListener
from workbench.recorder.relay.server import Relay
from workbench.wire.session.writer import SessionWriter

TOOL = {"name": "get_weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
ASKED = json.dumps(
    {"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [TOOL], "messages": [{"role": "user", "content": "hi"}]}
).encode()
REASON = {"kind": "closure", "rule": "closure.missing-result", "words": "it has no result", "pointer": "/messages/1"}

Verdict = Callable[[str, Mapping[str, JsonValue]], Mapping[str, JsonValue]]


class Played:
    """Judges as the test says; ``asked`` is what it was asked."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.asked: list[tuple[str, Mapping[str, JsonValue]]] = []

    def start(self) -> None:
        """It is there."""

    async def ask(self, verb: str, **words: JsonValue) -> Mapping[str, JsonValue]:
        self.asked.append((verb, words))
        return self.verdict(verb, words)

    def close(self) -> None:
        """It stays."""


def pausing(*sides: str) -> Verdict:
    """Pauses these sides."""
    return lambda verb, words: {"reasons": [REASON] if verb in sides else []}


def request(stage: Stage, body: bytes = ASKED, path: bytes = b"/v1/messages", more: bytes = b"") -> bytes:
    """A request to a model, as a client sends it."""
    head = b"POST %s HTTP/1.1\r\nHost: %s\r\nX-Stainless-Timeout: 600\r\nContent-Length: %d\r\n%s\r\n"
    return head % (path, stage.host, len(body), more) + body


def event(kind: str, **words: JsonValue) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **words})}\n\n".encode()


BEFORE = (
    event("message_start", message={"id": "m", "role": "assistant", "content": [], "model": "claude", "usage": {}})
    + event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    + event("content_block_delta", index=0, delta={"type": "text_delta", "text": "I call a tool function."})
    + event("content_block_stop", index=0)
)
"""What leaves of a stream at once."""

CALL = (
    event("content_block_start", index=1, content_block={"type": "tool_use", "id": "t", "name": "f", "input": {}})
    + event("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": "{}"})
    + event("content_block_stop", index=1)
)
END = event("message_delta", delta={"stop_reason": "tool_use"}, usage={}) + event("message_stop")

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
ANSWER = json.dumps(
    {"type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
).encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def unchunked(data: bytes) -> bytes:
    """The body of what was sent in chunks, as far as it came."""
    body = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        body, data = body + data[:length], data[length + 2 :]
        if not length:
            return body
    return body


class Held(Stage):
    """A stage with a gate.

    Attributes:
        judge: who judges.
        events: what controllers are told.
    """

    def __init__(self, relay: Relay, tap: Notes, upstream: object, gate: BreakpointGate, judge: Played) -> None:
        super().__init__(relay, tap, upstream)  # type: ignore[arg-type]
        self.gate, self.judge = gate, judge
        self.events: asyncio.Queue[Mapping[str, JsonValue]] = asyncio.Queue()
        gate.listeners.add(self.events.put_nowait)

    async def event(self, kind: str) -> Mapping[str, JsonValue]:
        """The next event of a kind."""
        async with asyncio.timeout(PATIENCE):
            while (told := await self.events.get())["event"] != kind:
                pass
        return told

    async def paused(self) -> Mapping[str, JsonValue]:
        """The next pause."""
        pause: Mapping[str, JsonValue] = (await self.event("paused"))["pause"]
        return pause

    async def asks(self, text: bytes | None = None) -> Peer:
        """A client that has sent a request."""
        client = await self.client()
        client.send(request(self) if text is None else text)
        return client

    async def forwarded(self, body: bytes = ASKED) -> Peer:
        """The upstream, which has read a request with this body."""
        server = await self.upstream.accept()
        head = await server.until(b"\r\n\r\n")
        assert b"content-length: %d\r\n" % len(body) in head.lower()
        await server.expects(body)
        return server


def told(body: bytes) -> Mapping[str, JsonValue]:
    """What the judge says of a simulator's answer, in two pieces."""
    pieces = [base64.b64encode(piece).decode() for piece in (body[:5], body[5:])]
    return {"status": 200, "headers": [["content-type", "text/event-stream"]], "pieces": pieces, "is_cut": False}


class Both:
    """Two listeners."""

    def __init__(self, *listeners: EventListener) -> None:
        self.listeners = listeners

    def on_event(self, event: Event) -> None:
        for listener in self.listeners:
            listener.on_event(event)


@asynccontextmanager
async def held(*kinds: str, verdict: Verdict, run: str = "run", file: Path | None = None) -> AsyncIterator[Held]:
    """A relay with these breakpoints armed; with ``file`` it also records."""
    async with serving() as upstream:
        judge = Played(verdict)
        gate = BreakpointGate(run, Path("session.wb"), judge=judge)
        for kind in kinds:
            gate.arm(kind)
        notes = Notes()
        capture = Capture(Keeper(SessionWriter(file), redactor_for({}, b"salt"), run=run)) if file else None
        if capture:
            gate.read_socket = capture.read_socket
        listener = Both(notes, capture) if capture else notes
        relay = Relay({"main": f"http://127.0.0.1:{upstream.port}"}, listener, gate=gate)
        await relay.start()
        stage = Held(relay, notes, upstream, gate, judge)
        try:
            yield stage
        finally:
            stage.close()
            await relay.close()
            gate.close()
            if capture:
                capture.close()
            assert relay.listener_failure is None
