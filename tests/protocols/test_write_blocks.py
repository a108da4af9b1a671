"""New Messages bodies: what they look like, that they decode to what was meant, and that the SDK takes them."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import Message as SdkMessage
from anthropic.types import RawMessageStreamEvent
from anthropic.types.beta import BetaMessage
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from hypothesis import HealthCheck, given, settings
from pydantic import TypeAdapter

from workbench import protocols, testing
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
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols import UrlFacts
from workbench.wire.jsontext import loads
from workbench.wire.sse import read_events

BLOCKS = protocols.get("anthropic-messages")
FEW = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
CALL = ToolCallIR("t1", "f", {"a": 1}, "function")
MARK = {"cache_control": {"type": "ephemeral"}}


def request(*messages: Message, **fields: Any) -> Any:
    return BLOCKS.write_request(ModelRequest("anthropic-messages", "m", messages, **fields))


def user(*parts: Any) -> Message:
    return Message("user", parts)


def test_results_and_what_the_user_says_after_them_are_one_message() -> None:
    results = ToolResultIR("t1", (Text("r"),), True), ToolResultIR("t2", ())
    body = request(
        user(Text("q")),
        Message("assistant", (Reasoning(Carrier.THINKING, "hm", "sig"), Text("a"), CALL)),
        Message("tool", results),
        user(Text("now")),
        user(Text("and")),
        Message("system", (Text("s"),)),
    )
    assert body["messages"] == [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "r", "is_error": True},
                {"type": "tool_result", "tool_use_id": "t2"},
                {"type": "text", "text": "now"},
            ],
        },
        {"role": "user", "content": "and"},
        {"role": "system", "content": "s"},
    ]


@pytest.mark.parametrize(
    ("part", "source"),
    [
        (Media("image", "image/png", "AA=="), {"type": "base64", "media_type": "image/png", "data": "AA=="}),
        (Media("image", url="https://x/y.png"), {"type": "url", "url": "https://x/y.png"}),
        (Media("document", file_id="f1"), {"type": "file", "file_id": "f1"}),
        (Media("document", "text/plain", "d29yZHM="), {"type": "text", "media_type": "text/plain", "data": "words"}),
        (Media("document", "text/plain", "%%"), {"type": "base64", "media_type": "text/plain", "data": "%%"}),
    ],
    ids=["data", "URL", "file", "plain text", "not base64"],
)
def test_media(part: Media, source: dict[str, Any]) -> None:
    assert request(user(part))["messages"][0]["content"] == [{"type": part.kind, "source": source}]


def test_cache_markers_stay_where_they_are() -> None:
    body = request(
        user(Text("q", MARK)), system=(Text("s", MARK),), tools=(ToolDef("f", None, {"type": "object"}, extra=MARK),)
    )
    block = {"type": "text", **MARK}
    assert body["messages"][0]["content"] == [block | {"text": "q"}]
    assert body["system"] == [block | {"text": "s"}]
    assert body["tools"] == [{"name": "f", "input_schema": {"type": "object"}, **MARK}]


def test_choice_thinking_and_parameters() -> None:
    params = {
        "max_tokens": 9,
        "stop": ["x"],
        "thinking_budget": 2000,
        "effort": "low",
        "response_schema": {"schema": {}},
        "user": "u",
    }
    body = request(tool_choice=ToolChoice("tool", "f"), parallel=False, thinking="on", stream=True, params=params)
    assert body == {
        "model": "m",
        "messages": [],
        "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        "stream": True,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "max_tokens": 9,
        "stop_sequences": ["x"],
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
        "metadata": {"user_id": "u"},
    }


def test_parameters_and_the_places_they_are_read_from() -> None:
    body = b"""{"messages": [], "max_tokens": 1, "thinking": {"type": "enabled", "budget_tokens": 2, "x": 3},
        "metadata": {"user_id": "u", "y": 4}, "mcp_servers": []}"""
    assert [tuple(param) for param in BLOCKS.params(BLOCKS.decode_request(body))] == [
        ("/max_tokens", 1, "max_tokens"),
        ("/thinking/budget_tokens", 2, "thinking_budget"),
        ("/thinking/x", 3, ""),
        ("/metadata/user_id", "u", "user"),
        ("/metadata/y", 4, ""),
        ("/mcp_servers", [], ""),
    ]


def test_urls() -> None:
    url = "https://x.example/v1/projects/p/locations/l/publishers/anthropic/models/claude-x%402:streamRawPredict"
    assert BLOCKS.read_url(url) == UrlFacts("claude-x@2", True)
    assert BLOCKS.read_url("https://api.example/v1/messages") == UrlFacts()


def test_a_stream_has_every_event_in_order() -> None:
    parts = (Reasoning(Carrier.THINKING, "hm", "sig"), Reasoning(Carrier.REDACTED_THINKING, None, data="x"), CALL)
    answer = ModelResponse("", "msg_1", "m", (Message("assistant", parts),), stop="tool_calls", usage=Usage(1, 2))
    events = [(e.name, loads(e.data or b"")) for e in read_events(BLOCKS.write_stream(answer))]
    assert all(name == value["type"] for name, value in events)
    assert [value.get("delta", value).get("type") for _, value in events] == [
        "message_start",
        "content_block_start",
        "thinking_delta",
        "signature_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_stop",
        "content_block_start",
        "input_json_delta",
        "content_block_stop",
        None,
        "message_stop",
    ]


def test_an_error_is_an_error_body_and_ends_a_stream() -> None:
    error = ApiError("bad", "api_error", request_id="r")
    said = {"type": "error", "error": {"type": "api_error", "message": "bad"}, "request_id": "r"}
    assert BLOCKS.write_response(ModelResponse("", error=error)) == said
    stream = BLOCKS.write_stream(ModelResponse("", messages=(Message("assistant", (Text("a"),)),), error=error))
    assert [loads(e.data or b"") for e in read_events(stream)][-1] == said


REQUEST: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsNonStreaming)
EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


@FEW
@given(testing.request_bodies("anthropic-messages", noise=False))
def test_the_sdk_takes_the_requests(body: bytes) -> None:
    value = loads(body)
    value.pop("stream", None)
    REQUEST.validate_python(value)


@FEW
@given(testing.answer_bodies("anthropic-messages", noise=False))
def test_the_sdk_takes_the_answers(body: bytes) -> None:
    assert SdkMessage.model_validate(loads(body)).content is not None
    BetaMessage.model_validate(loads(body))


@FEW
@given(testing.streams("anthropic-messages"))
def test_the_sdk_takes_the_events(body: bytes) -> None:
    for event in read_events(body):
        if event.terminated:
            EVENT.validate_python(loads(event.data or b""))
