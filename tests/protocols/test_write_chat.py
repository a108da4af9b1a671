"""New Chat Completions bodies: what they look like, that they decode to what was meant, and that the SDK takes them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
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
)
from workbench.protocols import UrlFacts
from workbench.wire.jsontext import loads
from workbench.wire.sse import read_events

CHAT = protocols.get("openai-chat")
FEW = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
CALL = ToolCallIR("c1", "f", {"a": 1}, "function", '{"a": 1}')
DIALECTS = ("reasoning_content", "reasoning", "reasoning_details")


def request(*messages: Message, **fields: Any) -> Any:
    return CHAT.write_request(ModelRequest("openai-chat", "m", messages, **fields))


def user(*parts: Any) -> Message:
    return Message("user", parts)


def test_a_conversation() -> None:
    results = ToolResultIR("c1", (Text("r"),)), ToolResultIR("c2", (Text("s"), Text("t")))
    said = Reasoning(Carrier.REASONING_CONTENT, "hm"), Text("a"), CALL
    body = request(user(Text("q")), Message("assistant", said), Message("tool", results), system=(Text("s"),))
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "reasoning_content": "hm",
                "content": "a",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
            },
            {"role": "tool", "content": "r", "tool_call_id": "c1"},
            {
                "role": "tool",
                "content": [{"type": "text", "text": "s"}, {"type": "text", "text": "t"}],
                "tool_call_id": "c2",
            },
        ],
    }


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            Media("image", "image/png", "AA=="),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        ),
        (Media("image", url="https://x/y.png"), {"type": "image_url", "image_url": {"url": "https://x/y.png"}}),
        (
            Media("audio", "audio/wav", "AA=="),
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
        ),
        (Media("file", file_id="f1"), {"type": "file", "file": {"file_id": "f1"}}),
        (
            Media("file", "application/pdf", "AA=="),
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA=="}},
        ),
    ],
    ids=["image data", "image URL", "audio", "file id", "file data"],
)
def test_media(part: Media, block: dict[str, Any]) -> None:
    assert request(user(part))["messages"][0]["content"] == [block]


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        (Reasoning(Carrier.REASONING, "hm"), "reasoning", "hm"),
        (Reasoning(Carrier.THINK_TEXT, "hm"), "content", "<think>hm</think>a"),
        (
            Reasoning(Carrier.REASONING_DETAILS, "hm", "sig"),
            "reasoning_details",
            [{"type": "reasoning.text", "text": "hm", "signature": "sig"}],
        ),
        (
            Reasoning(Carrier.REASONING_DETAILS, None, data="x"),
            "reasoning_details",
            [{"type": "reasoning.encrypted", "data": "x"}],
        ),
    ],
    ids=["reasoning", "think", "details", "encrypted"],
)
def test_reasoning_in_the_field_of_its_carrier(part: Reasoning, key: str, value: Any) -> None:
    assert request(Message("assistant", (part, Text("a"))))["messages"][0][key] == value


def test_tools_choice_and_parameters() -> None:
    tools = (
        ToolDef("f", "about", {"type": "object"}, strict=True),
        ToolDef("g", None, None, "custom"),
    )
    params = {"max_tokens": 5, "stop": ["x"], "count": 2, "response_schema": {"schema": {}, "name": "n"}}
    choice = ToolChoice("tool", "g")
    body = request(user(Text("q")), tools=tools, tool_choice=choice, parallel=False, stream=True, params=params)
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "f", "description": "about", "parameters": {"type": "object"}, "strict": True},
        },
        {"type": "custom", "custom": {"name": "g"}},
    ]
    assert body["tool_choice"] == {"type": "custom", "custom": {"name": "g"}}
    assert (body["parallel_tool_calls"], body["stream"]) == (False, True)
    assert (body["max_completion_tokens"], body["stop"], body["n"]) == (5, ["x"], 2)
    assert body["response_format"] == {"type": "json_schema", "json_schema": {"schema": {}, "name": "n"}}


@pytest.mark.parametrize(("mode", "said"), [("auto", "auto"), ("none", "none"), ("any", "required")])
def test_choices(mode: str, said: str) -> None:
    assert request(tool_choice=ToolChoice(mode))["tool_choice"] == said


def test_parameters_and_the_places_they_are_read_from() -> None:
    body = b"""{"messages": [], "max_tokens": 1, "reasoning": {"effort": "low", "x": 1}, "enable_thinking": true,
        "response_format": {"type": "json_object"}, "stop": "s", "logprobs": true}"""
    params = CHAT.params(CHAT.decode_request(body))
    assert [tuple(param) for param in params] == [
        ("/max_tokens", 1, "max_tokens"),
        ("/reasoning/effort", "low", "effort"),
        ("/reasoning/x", 1, ""),
        ("/response_format", True, "response_json"),
        ("/stop", ["s"], "stop"),
        ("/logprobs", True, ""),
    ]


def test_urls() -> None:
    url = "https://x.example/openai/deployments/gpt%2D5/chat/completions?api-version=1"
    assert CHAT.read_url(url) == UrlFacts(model="gpt-5")
    assert CHAT.read_url("https://api.example/v1/chat/completions") == UrlFacts()


def test_an_error_is_an_error_body_and_ends_a_stream() -> None:
    error = ApiError("bad", "server_error", "c")
    said = {"error": {"message": "bad", "type": "server_error", "param": None, "code": "c"}}
    assert CHAT.write_response(ModelResponse("", error=error)) == said
    stream = CHAT.write_stream(ModelResponse("", messages=(Message("assistant", (Text("a"),)),), error=error))
    assert [loads(e.data or b"") for e in read_events(stream)][-1] == said
    assert b"[DONE]" not in stream


REQUEST: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsNonStreaming)


@FEW
@given(testing.request_bodies("openai-chat", noise=False))
def test_the_sdk_takes_the_requests(body: bytes) -> None:
    value = loads(body)
    for message in value["messages"]:
        for key in DIALECTS:
            message.pop(key, None)
    value.pop("stream", None)
    REQUEST.validate_python(value)


@FEW
@given(testing.answer_bodies("openai-chat", noise=False))
def test_the_sdk_takes_the_answers(body: bytes) -> None:
    answer = ChatCompletion.model_validate(loads(body))
    assert answer.choices and answer.usage


@FEW
@given(testing.streams("openai-chat"))
def test_the_sdk_takes_the_chunks(body: bytes) -> None:
    for event in read_events(body):
        if event.terminated and event.data != b"[DONE]":
            ChatCompletionChunk.model_validate(loads(event.data or b""))
