"""What the usual clients do with a stream is found, with their names."""

from __future__ import annotations

import json

import pytest

from workbench.rules.inspection import Inspector
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


HELPED = ("x-stainless-helper-method", "chat.completions.stream")


def found(
    body: bytes, protocol: str = "openai-chat", agent: str = "", *more: tuple[str, str]
) -> list[tuple[str, str, str]]:
    request = HttpRequest(url="", headers=Headers((("user-agent", agent), *more)), body=Body(b""))
    answer = HttpResponse(200, Headers((("content-type", "text/event-stream"),)), Body(body))
    rows = Inspector(MemorySession("a", (Exchange("1", request, answer),)), protocol=protocol).run()
    return [(f.rule, str(f.severity), f.evidence) for f in rows.findings if f.rule.startswith("stream.")]


def test_a_healthy_stream_is_read_by_all() -> None:
    assert found(WITH_INDEX) == []


@pytest.mark.parametrize(
    ("agent", "more", "severity"),
    [
        ("curl/8", (), "warning"),
        ("curl/8", (HELPED,), "warning"),
        ("AsyncOpenAI/Python 2.1", (), "warning"),  # it reads the events itself, as most agents do
        ("AsyncOpenAI/Python 2.1", (HELPED,), "error"),
    ],
)
def test_a_call_without_an_index_makes_clients_raise(
    agent: str, more: tuple[tuple[str, str], ...], severity: str
) -> None:
    ((rule, how, evidence),) = found(WITHOUT_INDEX, "openai-chat", agent, *more)
    assert (rule, how) == ("stream.index", severity)
    assert "openai-python" in evidence and "TypeError" in evidence


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


ITEM = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
ITEM |= {"status": "completed"}
USAGE = {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}


def responses(*output: object) -> bytes:
    """A stream of one call; ``output``: what its end says was in it."""
    held = {"id": "r", "object": "response", "created_at": 1, "model": "m", "usage": USAGE}
    events = [
        {"type": "response.created", "response": {**held, "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "fc_1", "delta": "{}"},
        {"type": "response.function_call_arguments.done", "output_index": 0, "item_id": "fc_1", "arguments": "{}"},
        {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
        {"type": "response.completed", "response": {**held, "status": "completed", "output": list(output)}},
    ]
    numbered = [event | {"sequence_number": number} for number, event in enumerate(events)]
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in numbered)


def lines(arguments: object) -> bytes:
    call = {"function": {"name": "f", "arguments": arguments}}
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    head = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    parts = ({**head, "message": said, "done": False}, {**head, "message": said | {"tool_calls": []}, "done": True})
    return b"".join(json.dumps(part).encode() + b"\n" for part in parts)


def pieces(args: object) -> bytes:
    parts = [{"functionCall": {"name": "f", "args": args}}]
    value = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    return f"data: {json.dumps(value)}\n\n".encode()


@pytest.mark.parametrize(
    ("protocol", "body", "agent", "said"),
    [
        ("openai-responses", responses(ITEM), "", None),
        ("openai-responses", responses(), "", ("stream.client-misses", "warning", "openai-python, openai-agents")),
        ("openai-responses", responses(), "OpenAI/Python 3.54", ("stream.client-misses", "warning", "openai-python")),
        ("openai-responses", responses(), "Agents/Python 0.3", ("stream.client-misses", "error", "openai-agents")),
        ("openai-responses", responses(), "codex_cli_rs/1.0", ("stream.client-misses", "warning", "openai-python")),
        ("ollama", lines({}), "", None),
        ("ollama", lines("{}"), "", ("stream.client-raises", "error", "ollama-python: raises ValidationError")),
        ("gemini", pieces({}), "", None),
        ("gemini", pieces("{}"), "", ("stream.client-raises", "error", "google-genai: raises ValidationError")),
    ],
)
def test_other_protocols_have_clients_too(protocol: str, body: bytes, agent: str, said: tuple[str, ...] | None) -> None:
    told = found(body, protocol, agent)
    assert [row[:2] for row in told] == ([said[:2]] if said else [])
    assert not said or said[2] in told[0][2]
