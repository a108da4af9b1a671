"""What we write for Ollama's own API, as the real ``ollama`` client reads it, and as we do."""

from __future__ import annotations

from typing import Any

import ollama
import pytest
from ollama._types import ChatRequest

from tests.protocols.ollama_bodies import Json
from tests.record_anthropic import PIXEL, Upstream
from workbench.ir import (
    ApiError,
    Carrier,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Reasoning,
    Text,
    ToolCallIR,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols.ollama import adapter
from workbench.wire.jsontext import dumps, loads
from workbench.wire.stream import Framing, read_stream

CALLS = tuple(ToolCallIR(None, name, {"path": f"{name}\n“é”"}, "function") for name in ("f", "g"))
RESULTS = tuple(ToolResultIR(None, (Text(f"{call.name} is done"),), name=call.name) for call in CALLS)
THOUGHT = Reasoning(Carrier.MESSAGE_THINKING, "two calls")
PICTURE = Media("image", "image/png", PIXEL)
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
REQUEST = ModelRequest(
    adapter.name,
    "qwen3:8b",
    (
        Message("user", (Text("look"), PICTURE)),
        Message("assistant", (THOUGHT, Text("I will."), *CALLS)),
        Message("tool", (RESULTS[0], ToolResultIR(None, (Text("a picture"), PICTURE), name="g"))),
        Message("assistant", (Text("Done."),)),
        Message("user", (Text("Thanks"),)),
    ),
    system=(Text("Be brief."),),
    tools=(ToolDef("f", "does f", SCHEMA), ToolDef("g", None, SCHEMA)),
    stream=True,
    thinking="on",
    params={"max_tokens": 5, "temperature": 0.5, "stop": ["x"], "effort": "low", "response_schema": {"schema": SCHEMA}},
)
ANSWER = ModelResponse(
    adapter.name,
    model="qwen3:8b",
    messages=(Message("assistant", (THOUGHT, Text("Both “f” and g."), *CALLS)),),
    stop="tool_calls",
    usage=Usage(7, 5),
)


def test_a_request() -> None:
    body: Any = adapter.write_request(REQUEST)
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "look", "images": [PIXEL]},
        {
            "role": "assistant",
            "content": "I will.",
            "thinking": "two calls",
            "tool_calls": [{"function": {"name": c.name, "arguments": c.input}} for c in CALLS],
        },
        {"role": "tool", "content": "f is done", "tool_name": "f"},
        {"role": "tool", "content": "a picture", "images": [PIXEL], "tool_name": "g"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks"},
    ]
    assert (body["stream"], body["think"], body["format"]) == (True, "low", SCHEMA)
    assert body["options"] == {"num_predict": 5, "temperature": 0.5, "stop": ["x"]}
    assert adapter.path(REQUEST) == "/api/chat"


def test_a_request_is_read_as_it_was_meant() -> None:
    read = adapter.decode_request(dumps(adapter.write_request(REQUEST)))
    assert not read.anomalies
    assert (read.model, read.tools, read.stream, read.thinking) == ("qwen3:8b", REQUEST.tools, True, "on")
    assert read.messages[1].parts == REQUEST.messages[0].parts
    assert {p.name: p.value for p in adapter.params(read)} == REQUEST.params


def test_the_client_takes_our_requests_and_sends_them_on() -> None:
    """The client's types accept what we write; what it makes of it says the same."""
    body: Any = adapter.write_request(REQUEST)
    ChatRequest.model_validate(body)
    upstream = Upstream([dumps(adapter.write_response(ANSWER))])
    try:
        ollama.Client(host=upstream.url).chat(**{**body, "stream": False})
    finally:
        upstream.server.shutdown()
        upstream.server.server_close()
    sent = adapter.decode_request(upstream.asked[0])
    assert sent.messages == adapter.decode_request(dumps(body)).messages
    assert not sent.anomalies


@pytest.mark.parametrize(
    ("thinking", "params", "think"),
    [
        (None, {}, None),
        ("on", {}, True),
        ("off", {}, False),
        ("off", {"effort": "high"}, False),
        (None, {"effort": "high"}, "high"),
    ],
)
def test_thinking(thinking: str | None, params: Json, think: Any) -> None:
    body: Any = adapter.write_request(ModelRequest(adapter.name, "m", (), thinking=thinking, params=params))
    assert body.get("think") == think
    assert body["stream"] is False


def test_any_json() -> None:
    body: Any = adapter.write_request(ModelRequest(adapter.name, "m", (), params={"response_json": True}))
    assert body["format"] == "json"


def told(*answers: bytes, stream: bool) -> list[ollama.ChatResponse]:
    """What the real client makes of an answer."""
    upstream = Upstream(answers)
    try:
        found: Any = ollama.Client(host=upstream.url).chat("m", [{"role": "user", "content": "a"}], stream=stream)
        return list(found) if stream else [found]
    finally:
        upstream.server.shutdown()
        upstream.server.server_close()


def calls_of(answers: list[ollama.ChatResponse]) -> list[tuple[str, Any]]:
    found = [call for answer in answers for call in answer.message.tool_calls or ()]
    return [(call.function.name, call.function.arguments) for call in found]


def test_the_client_reads_our_answers() -> None:
    (said,) = told(dumps(adapter.write_response(ANSWER)), stream=False)
    assert (said.message.content, said.message.thinking) == ("Both “f” and g.", "two calls")
    assert calls_of([said]) == [(c.name, c.input) for c in CALLS]
    assert (said.done, said.done_reason, said.prompt_eval_count, said.eval_count) == (True, "stop", 7, 5)


def test_the_client_reads_our_streams() -> None:
    said = told(adapter.write_stream(ANSWER), stream=True)
    assert "".join(part.message.content or "" for part in said) == "Both “f” and g."
    assert "".join(part.message.thinking or "" for part in said) == "two calls"
    assert calls_of(said) == [(c.name, c.input) for c in CALLS]
    assert said[-1].done and said[-1].done_reason == "stop"


@pytest.mark.parametrize("stream", [False, True])
def test_the_client_raises_our_errors(stream: bool) -> None:
    failed = ModelResponse(adapter.name, error=ApiError("no"))
    body = adapter.write_stream(failed) if stream else dumps(adapter.write_response(failed))
    if stream:
        with pytest.raises(ollama.ResponseError, match="no"):
            told(body, stream=True)
    else:
        assert adapter.decode_response(body, status=500).error == failed.error


def read(body: bytes) -> ModelResponse:
    decoder = adapter.stream_decoder()
    for event in read_stream(body, framing=Framing.NDJSON).events:
        decoder.feed(event)
    return decoder.result()


def test_answers_are_read_as_they_were_meant() -> None:
    for said in (adapter.decode_response(dumps(adapter.write_response(ANSWER))), read(adapter.write_stream(ANSWER))):
        assert [m.role for m in said.messages] == ["assistant"]
        assert [type(p) for p in said.messages[0].parts] == [type(p) for p in ANSWER.messages[0].parts]
        assert (said.model, said.stop, said.is_complete) == ("qwen3:8b", "tool_calls", True)
        assert said.usage and (said.usage.input, said.usage.output) == (7, 5)
        assert not said.anomalies


def test_reasoning_in_the_text() -> None:
    parts = (Reasoning(Carrier.THINK_TEXT, "a"), Text("b"))
    body: Any = adapter.write_response(ModelResponse(adapter.name, messages=(Message("assistant", parts),)))
    assert body["message"]["content"] == "<think>a</think>b"
    assert adapter.decode_response(dumps(body)).messages[0].parts == parts


def test_what_broke_off_has_no_end() -> None:
    parts = (Text("a"),)
    cut = ModelResponse(adapter.name, model="m", messages=(Message("assistant", parts),), is_complete=False)
    said = read(adapter.write_stream(cut))
    assert not said.is_complete and said.messages[0].parts == parts
    assert loads(adapter.write_stream(ModelResponse(adapter.name, is_complete=False)))["done"] is False
    broken = ModelResponse(adapter.name, messages=cut.messages, error=ApiError("no"))
    assert read(adapter.write_stream(broken)).error == ApiError("no")
