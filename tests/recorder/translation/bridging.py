"""Bridges for tests: without sockets against a simulator, and whole paths in a loop of their own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from workbench.recorder.events import (
    Event,
    ExchangeEnded,
    RequestBytes,
    RequestHead,
    RequestStarted,
    ResponseBytes,
    ResponseHead,
    ResponseStarted,
)
from workbench.recorder.translation.memory import ResponseMemory
from workbench.recorder.translation.path import TranslationPath
from workbench.recorder.translation.requests import (
    OwnReply,
    TranslatedRequest,
    TranslationRules,
    TranslationUpstream,
    translate_request,
)
from workbench.recorder.translation.responses import TranslatedResponse
from workbench.send.target import Target
from workbench.send.target_names import resolve
from workbench.simulator import Simulator, serve
from workbench.wire.exchange import Body, Headers, HttpRequest, State

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
BLOCK_TOOL = {"name": "list_dir", "description": "List a folder", "input_schema": SCHEMA}
CHAT_TOOL = {"type": "function", "function": {"name": "list_dir", "parameters": SCHEMA}}
UP = "http://127.0.0.1:9"
PATIENCE = 60.0


def upstream(label: str = "sim:deepseek", url: str = UP) -> TranslationUpstream:
    return TranslationUpstream(resolve(label), url)


def posted(path: str, body: object, *headers: tuple[str, str]) -> HttpRequest:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpRequest("POST", path, Headers((("content-type", "application/json"), *headers)), Body(raw))


def blocks(*said: Mapping[str, object], **more: object) -> dict[str, object]:
    """A request as Anthropic's clients write it."""
    first = {"role": "user", "content": "what is here?"}
    return {"model": "claude-x", "max_tokens": 2000, "tools": [BLOCK_TOOL], "messages": [first, *said], **more}


class Bench:
    """A bridge before a simulator, without a socket."""

    def __init__(self, simulator: Simulator, label: str, rules: TranslationRules) -> None:
        self.simulator, self.upstream, self.rules = simulator, upstream(f"sim:{label}"), rules
        self.memory = ResponseMemory()
        self.turn: TranslatedRequest | None = None
        self.answer: TranslatedResponse | None = None
        self._count = 0

    def ask(self, path: str, body: object, *headers: tuple[str, str], cut: int = 0) -> tuple[int, bytes]:
        """Status and body of what the client gets. ``cut``: bytes after which the upstream breaks off."""
        self._count += 1
        found = translate_request(posted(path, body, *headers), self.upstream, self.rules, self.memory)
        if isinstance(found, OwnReply):
            return found.status, found.body
        self.turn, sent = found, found.request
        reply = self.simulator.send(sent.method, sent.url.removeprefix(UP), tuple(sent.headers), sent.body.raw)
        self.answer = TranslatedResponse(
            found, reply.status, Headers(tuple(reply.headers)), self.memory, f"a{self._count}"
        )
        self.heard = said = reply.body()[: cut or None]
        out = b"".join(self.answer.feed(said[at : at + 7]) for at in range(0, len(said), 7))
        out += self.answer.end(is_whole=not cut)
        assert self.answer.head
        return self.answer.head.status, out

    @property
    def sent(self) -> dict[str, object]:
        """The body that went upstream last."""
        assert self.turn
        return json.loads(self.turn.request.body.raw)

    @property
    def lines(self) -> str:
        """What was changed in the last turn."""
        assert self.turn and self.answer
        return "\n".join(change.line for change in (*self.turn.changes, *self.answer.changes))


def bench(label: str, spoken: str, *, model: str = "", simulator: Simulator | None = None, **rules: object) -> Bench:
    return Bench(simulator or Simulator(label), label, TranslationRules(spoken, model, **rules))


class Heard:
    """Events, by exchange."""

    def __init__(self) -> None:
        self.heads: dict[int, RequestHead] = {}
        self.asked: dict[int, bytes] = {}
        self.answers: dict[int, ResponseHead] = {}
        self.said: dict[int, bytes] = {}
        self.pieces: dict[int, int] = {}
        self.ends: dict[int, tuple[State, str]] = {}
        self._news = threading.Condition()

    def on_event(self, event: Event) -> None:
        match event:
            case RequestStarted(key, _, _, head):
                self.heads[key], self.asked[key], self.said[key], self.pieces[key] = head, b"", b"", 0
            case RequestBytes(key, _, data):
                self.asked[key] += data
            case ResponseStarted(key, _, response):
                self.answers[key] = response
            case ResponseBytes(key, _, data):
                self.said[key] += data
                self.pieces[key] += 1
            case ExchangeEnded(key, _, state, reason):
                with self._news:
                    self.ends[key] = (state, reason)
                    self._news.notify_all()

    def all_ended(self, count: int) -> None:
        """Wait until as many exchanges are over."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.ends) >= count, PATIENCE)

    def at(self, hop: str) -> list[int]:
        """Keys of the exchanges of a place."""
        return [key for key, head in self.heads.items() if head.hop == hop]


class Bridged:
    """A whole path that listens, in a loop of its own."""

    def __init__(self, url: str, heard: Heard, path: TranslationPath) -> None:
        self.url, self.heard, self.path = url, heard, path


@contextmanager
def bridged(target: str | Target, url: str, rules: TranslationRules, hop: str = "") -> Iterator[Bridged]:
    """A path to one upstream."""
    heard, loop = Heard(), asyncio.new_event_loop()
    found = TranslationUpstream(resolve(target) if isinstance(target, str) else target, url)
    path = TranslationPath({"default": found}, rules, heard, hop=hop)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(path.__aenter__(), loop).result(PATIENCE)
    try:
        yield Bridged(path.url("default"), heard, path)
        assert path.listener_failure is None
    finally:
        asyncio.run_coroutine_threadsafe(path.__aexit__(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


@contextmanager
def simulated(label: str, spoken: str, *, simulator: Simulator | None = None, **words: object) -> Iterator[Bridged]:
    """A path to a simulator."""
    with (
        serve(simulator or Simulator(label)) as server,
        bridged(f"sim:{label}", server.url, TranslationRules(spoken, **words)) as one,
    ):
        yield one
