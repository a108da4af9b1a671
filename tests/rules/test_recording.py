"""Requests that the recorder refused: named with or without a protocol, and nothing is said of a provider's answer."""

from __future__ import annotations

import pytest

from workbench.rules.inspection import Inspector
from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

BODY = b'{"model": "gpt-5.2", "messages": [{"role": "user", "content": "hi"}]}'
CASES = {
    "a tunnel": ("CONNECT", "api.openai.com:443", b"", 405, ["recording.refused"]),
    "HTTP/2": ("PRI", "*", b"", 505, ["recording.refused"]),
    "another Host": ("POST", "https://api.openai.com/v1/chat/completions", b"", 421, ["recording.refused"]),
    "with a body": ("POST", "https://api.openai.com/v1/chat/completions", BODY, 421, ["recording.refused"]),
    "a WebSocket": ("GET", "https://api.openai.com/v1/responses", b"", 426, ["recording.websocket-refused"]),
}


@pytest.mark.parametrize(("method", "url", "body", "status", "expected"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("value", ["refused", "Refused", "failed", ""])
def test_refused(method: str, url: str, body: bytes, status: int, expected: list[str], value: str) -> None:
    headers = Headers((("x-workbench-relay", value), ("content-type", "text/plain"))) if value else Headers()
    response = HttpResponse(status, headers, Body(b"workbench: why it was refused\n"))
    session = MemorySession("s", (Exchange("1", HttpRequest(method, url, Headers(), Body(body)), response),))
    inspector = Inspector(session)
    inspector.detail(0)
    found = [f for f in inspector.rows[0].findings if f.rule.startswith("recording.") or f.side == "response"]
    if value.lower() == "refused":
        assert [f.rule for f in found] == expected
        assert found[0].evidence == "'why it was refused'"
    else:
        assert not [f for f in found if f.rule.startswith("recording.")]
