"""What is written for the Responses protocol: the official SDK takes it, and it says what was meant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseInputParam, ToolParam
from pydantic import TypeAdapter

from tests.protocols.block_bodies import OBJECT, TEXT
from tests.record_anthropic import Upstream
from workbench.ir import (
    ApiError,
    Carrier,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols.openai_responses import adapter
from workbench.wire.sse import read_events

ITEM = Carrier.ENCRYPTED_ITEM
SKELETON = {"id": "rs_1", "summary": [{"type": "summary_text"}] * 2, "content": [{"type": "reasoning_text"}]}
THOUGHT = (Reasoning(ITEM, "a", None, "gAAA", SKELETON), Reasoning(ITEM, "b"), Reasoning(ITEM, "c"))
CALL = ToolCallIR("call_1", "f", {"a": "é"}, "anthropic")
CUSTOM = ToolCallIR("call_2", "sql", "SELECT 1", "openai-custom")
ANSWER = Message("assistant", (*THOUGHT, Text("I look."), CALL, Text("And:"), CUSTOM))
REQUEST = ModelRequest(
    protocol="any",
    model="gpt-x",
    messages=(
        Message(
            "user", (Text("hi"), Media("image", "image/png", "AAAA"), Media("file", url="https://x.example/y.pdf"))
        ),
        ANSWER,
        Message(
            "tool",
            (
                ToolResultIR("call_1", (Text("r"), Media("image", url="https://x.example/i.png"))),
                ToolResultIR("call_2", (Text("1 row"),)),
            ),
        ),
        Message("system", (Text("Now be brief."),)),
        Message("user", (Text("go on"),)),
    ),
    system=(Text("Be kind."),),
    tools=(ToolDef("f", "d", {"type": "object"}, strict=True), ToolDef("sql", None, None, kind="custom")),
    tool_choice=ToolChoice("tool", "sql"),
    parallel=False,
    stream=True,
    thinking="on",
    previous_id="resp_0",
    params={"max_tokens": 5, "temperature": 0.5, "effort": "low", "user": "u"},
)
RESPONSE = ModelResponse(
    "any",
    "resp_1",
    "gpt-x",
    (ANSWER,),
    "x",
    "tool_calls",
    Usage(input=5, output=6, cache_read=7, cache_write=8, reasoning=3),
)


def reread(request: ModelRequest) -> ModelRequest:
    return adapter.decode_request(json.dumps(adapter.write_request(request)).encode())


def streamed(response: ModelResponse) -> ModelResponse:
    decoder = adapter.stream_decoder()
    for event in read_events(adapter.write_stream(response)):
        decoder.feed(event)
    return decoder.result()


def said(messages: tuple[Message, ...], role: str = "") -> list[Part]:
    """The parts of items, as they are in normal form: without what the protocol adds."""
    return [_plain(part) for message in messages if role in ("", message.role) for part in message.parts]


def _plain(part: Part) -> Part:
    if isinstance(part, Text | Media):
        return replace(part, extra={})
    if isinstance(part, ToolCallIR):
        custom = part.format == "openai-custom"
        return replace(part, extra={}, raw=None, format="openai-custom" if custom else "anthropic")
    if isinstance(part, ToolResultIR):
        return replace(part, extra={}, content=tuple(_plain(inner) for inner in part.content))
    return part


def test_a_request_is_what_was_meant() -> None:
    again = reread(REQUEST)
    assert not again.anomalies
    data = Media("image", "image/png", url="data:image/png;base64,AAAA")
    meant = said(REQUEST.messages)
    assert said(again.messages) == [meant[0], data, *meant[2:]]
    for name in ("model", "system", "tools", "tool_choice", "parallel", "stream", "thinking", "previous_id"):
        assert getattr(again, name) == getattr(REQUEST, name), name
    assert {p.name: p.value for p in adapter.params(again)} == REQUEST.params
    assert adapter.path(REQUEST) == "/v1/responses"


def test_the_sdk_takes_a_request() -> None:
    body = adapter.write_request(REQUEST)
    TypeAdapter(ResponseInputParam).validate_python(body["input"])
    TypeAdapter(list[ToolParam]).validate_python(body["tools"])
    ids = [item["id"] for item in body["input"] if "id" in item]
    assert ids == ["rs_1"]  # no id is made up
    assert body["input"][1] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": text} for text in "ab"],
        "content": [{"type": "reasoning_text", "text": "c"}],
        "encrypted_content": "gAAA",
    }


THINKING: list[tuple[str | None, dict[str, Any], Any]] = [
    (None, {}, None),
    ("off", {}, {"effort": "none"}),
    ("on", {"effort": "high"}, {"effort": "high"}),
]


@pytest.mark.parametrize(("thinking", "params", "expected"), THINKING, ids=range(len(THINKING)))
def test_thinking(thinking: str | None, params: dict[str, Any], expected: Any) -> None:
    request = replace(REQUEST, thinking=thinking, params=params)
    assert adapter.write_request(request).get("reasoning") == expected
    assert reread(request).thinking == thinking


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"response_json": True}, {"type": "json_object"}),
        ({"response_schema": {"schema": {}, "name": "n"}}, {"type": "json_schema", "schema": {}, "name": "n"}),
    ],
)
def test_formats(params: dict[str, Any], expected: Any) -> None:
    request = replace(REQUEST, params=params, thinking=None)
    assert adapter.write_request(request)["text"] == {"format": expected}
    assert {p.name: p.value for p in adapter.params(reread(request))} == params


def test_an_answer_is_what_was_meant() -> None:
    body = adapter.write_response(RESPONSE)
    Response.model_validate(body)
    again = adapter.decode_response(json.dumps(body).encode())
    assert said(again.messages) == said(RESPONSE.messages)
    assert (again.id, again.model, again.stop) == ("resp_1", "gpt-x", "tool_calls")
    assert again.usage and replace(again.usage, raw={}) == replace(RESPONSE.usage, raw={})  # type: ignore[type-var]
    assert streamed(RESPONSE) == again and not streamed(RESPONSE).anomalies


@pytest.mark.parametrize("stop", ["stop", "length", "filter", "pause", "other"])
def test_stops(stop: str) -> None:
    response = replace(RESPONSE, messages=(Message("assistant", (Text("a"),)),), stop=stop)
    again = adapter.decode_response(json.dumps(adapter.write_response(response)).encode())
    assert again.stop == ("other" if stop == "pause" else stop)
    assert streamed(response) == again and again.is_complete


def test_errors() -> None:
    error = ApiError("no", "rate_limit_error", "rate_limit_exceeded", "input")
    alone = replace(RESPONSE, messages=(), error=error, usage=None)
    assert adapter.decode_response(json.dumps(adapter.write_response(alone)).encode(), status=429).error == error
    broken = replace(RESPONSE, error=error)
    for response in (alone, broken):
        again = streamed(response)
        assert again.error == error
        assert [a.slug for a in again.anomalies] == ["stream.error-event"]
    assert said(streamed(broken).messages) == said(RESPONSE.messages)


PARTS = st.lists(
    TEXT.map(Text)
    | st.builds(lambda n, value: ToolCallIR(f"c{n}", "f", value, "anthropic"), st.integers(0, 9), OBJECT)
    | TEXT.map(lambda text: ToolCallIR("x", "sql", text, "openai-custom")),
    max_size=4,
)


@given(PARTS, TEXT)
@settings(max_examples=100)
def test_generated_answers_come_back(parts: list[Part], text: str) -> None:
    response = replace(RESPONSE, messages=(Message("assistant", (*parts, *THOUGHT)),))
    again = streamed(response)
    assert said(again.messages) == [*parts, *THOUGHT]
    assert again == adapter.decode_response(json.dumps(adapter.write_response(response)).encode())
    assert not again.anomalies
    request = replace(REQUEST, messages=(Message("user", (Text(text),)), Message("assistant", tuple(parts))))
    assert said(reread(request).messages) == [Text(text), *parts]


@pytest.fixture
def client() -> Iterator[openai.OpenAI]:
    """A real client whose server sends what was written."""
    upstream = Upstream([adapter.write_stream(RESPONSE)])
    with openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="fixture", max_retries=0) as client:
        yield client
    upstream.server.shutdown()
    upstream.server.server_close()


def test_a_client_reads_a_stream(client: openai.OpenAI) -> None:
    kinds = []
    with client.responses.stream(model="gpt-x", input="hi") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    assert [item.type for item in final.output] == [
        *("reasoning", "message", "function_call", "message", "custom_tool_call"),
    ]
    assert final.output_text == "I look.And:"
    called: Any = final.output[2]
    assert (called.call_id, called.name, json.loads(called.arguments)) == ("call_1", "f", {"a": "é"})
    assert final.usage and final.usage.total_tokens == 26


def test_a_client_reads_events(client: openai.OpenAI) -> None:
    events: list[Any] = list(client.responses.create(model="gpt-x", input="hi", stream=True))
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == "I look.And:"
    assert [e.sequence_number for e in events] == list(range(len(events)))
