"""Sessions and exchanges for the tests of the app."""

from __future__ import annotations

import json

from workbench.config import resources
from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspector
from workbench.tui.exchange_view import ExchangeView
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession, Session

LOST_RESULT = "anthropic-parallel-result-lost"  # 3 exchanges; the last misses the result of one of two calls
LOST_REASONING = "deepseek-reasoning-lost"  # a stream, then a request without its reasoning
TOOL_LOOP = "anthropic-tool-loop"  # healthy, streamed with thinking

MESSAGES = "https://api.anthropic.com/v1/messages"
CHAT = "https://api.openai.com/v1/chat/completions"

DONE = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}],
}
"""An answer of ``CHAT`` in which nothing is wrong."""
DONE_IN_BLOCKS = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "done"}],
    "stop_reason": "end_turn",
}
"""The same of ``MESSAGES``."""


def example(name: str) -> Session:
    """An example session that ships with the program."""
    return open_input(str(resources.folder("sessions") / f"{name}.jsonl"))


def opened(name: str, index: int) -> ExchangeView:
    """One exchange of an example session."""
    return ExchangeView(Inspector(example(name)).detail(index))


def exchange(request: object, response: object, *, url: str = CHAT, status: int = 200, number: int = 1) -> Exchange:
    """An exchange of two JSON values, or of bytes as they are."""
    return Exchange(
        f"{number:04d}",
        HttpRequest("POST", url, Headers((("content-type", "application/json"),)), Body(_bytes(request))),
        HttpResponse(status, Headers((("content-type", "application/json"),)), Body(_bytes(response))),
        duration=1.0,
    )


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def session(*exchanges: Exchange, name: str = "test") -> MemorySession:
    return MemorySession(name, exchanges)
