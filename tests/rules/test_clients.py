"""What the usual clients do with a stream is found, with their names."""

from __future__ import annotations

import pytest

from workbench.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

HEAD = b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":'
CALL = b'{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}'
END = HEAD + b'[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
WITHOUT_INDEX = HEAD + b'[{"index":0,"delta":{"role":"assistant","tool_calls":[' + CALL + b"]}}]}\n\n" + END
WITH_INDEX = WITHOUT_INDEX.replace(b'{"id":"call_1"', b'{"index":0,"id":"call_1"')
LEGACY = (
    HEAD
    + b'[{"index":0,"delta":{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}}]}\n\n'
    + END.replace(b'"tool_calls"', b'"function_call"')
)
PART = b'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}'


def found(body: bytes, protocol: str = "openai-chat", agent: str = "") -> list[tuple[str, str, str]]:
    request = HttpRequest(url="", headers=Headers((("user-agent", agent),)), body=Body(b""))
    answer = HttpResponse(200, Headers((("content-type", "text/event-stream"),)), Body(body))
    rows = Inspector(MemorySession("a", (Exchange("1", request, answer),)), protocol=protocol).run()
    return [(f.rule, str(f.severity), f.evidence) for f in rows.findings if f.rule.startswith("stream.client")]


def test_a_healthy_stream_is_read_by_all() -> None:
    assert found(WITH_INDEX) == []


@pytest.mark.parametrize(("agent", "severity"), [("curl/8", "warning"), ("AsyncOpenAI/Python 2.1", "error")])
def test_a_call_without_an_index_makes_clients_raise(agent: str, severity: str) -> None:
    said = {rule: (how, evidence) for rule, how, evidence in found(WITHOUT_INDEX, agent=agent)}
    how, evidence = said["stream.client-raises"]
    assert how == severity and "openai-python" in evidence and "TypeError" in evidence


def test_the_deprecated_call_is_built_by_no_client() -> None:
    ((rule, severity, evidence),) = found(LEGACY)
    assert (rule, severity) == ("stream.client-misses", "error")
    assert "openai-python" in evidence and "is missing" in evidence


@pytest.mark.parametrize(
    ("body", "is_read"),
    [
        (PART + b"\n\n", True),
        (PART + b"\r\n\r\n", True),
        (b": keep-alive\n\n" + PART + b"\n\n", False),
        (b"event: message\n" + PART + b"\n\n", False),
        (PART.replace(b"data: ", b"data:") + b"\n\n", False),
    ],
)
def test_google_s_clients_read_plain_data_lines_alone(body: bytes, is_read: bool) -> None:
    assert [(rule, severity) for rule, severity, _ in found(body, "gemini")] == (
        [] if is_read else [("stream.client-raises", "error")]
    )
