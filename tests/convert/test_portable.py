"""What several services have in a shape of their own: signed thinking, JSON in results, models with a slash."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from workbench.convert import Conversion, convert, roundtrip_differences

SIGNED = {"type": "thinking", "thinking": "t", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "b3BhcXVl"}
PIXEL = {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}


def request(body: dict[str, Any], source: str, target: str) -> Conversion:
    made = convert(json.dumps(body).encode(), target, protocol=source)
    assert roundtrip_differences(made) == ()
    return made


def blocks(*content: object) -> dict[str, Any]:
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": [*content]}]
    return {"model": "m", "max_tokens": 5, "messages": said}


def results(*content: object) -> dict[str, Any]:
    call = {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}
    result = {"toolResult": {"toolUseId": "a", "content": [*content]}}
    said = [{"role": "user", "content": [{"text": "q"}]}, {"role": "assistant", "content": [call]}]
    return {"messages": [*said, {"role": "user", "content": [result]}]}


def test_signed_thinking_goes_to_the_same_models_elsewhere() -> None:
    made = request(blocks(SIGNED, REDACTED), "anthropic-messages", "bedrock-converse")
    text, sealed = json.loads(made.body)["messages"][1]["content"]
    assert text == {"reasoningContent": {"reasoningText": {"text": "t", "signature": "c2ln"}}}
    assert sealed == {"reasoningContent": {"redactedContent": b64encode(b"b3BhcXVl").decode()}}
    back = request(json.loads(made.body), "bedrock-converse", "bedrock-invoke")
    assert json.loads(back.body)["messages"][1]["content"] == [SIGNED, REDACTED]


def test_data_that_is_no_text_is_lost() -> None:
    sealed = {"reasoningContent": {"redactedContent": "//79"}}
    body = {"messages": [{"role": "user", "content": [{"text": "q"}]}, {"role": "assistant", "content": [sealed]}]}
    made = request(body, "bedrock-converse", "anthropic-messages")
    assert "/messages/1/content/0" in [loss.pointer for loss in made.losses]


@pytest.mark.parametrize(
    ("target", "place", "said"),
    [
        ("gemini", ("contents", 2, "parts", 0, "functionResponse", "response"), {"k": 1}),
        ("anthropic-messages", ("messages", 2, "content", 0, "content"), '{"k":1}'),
        ("ollama", ("messages", 2, "content"), '{"k":1}'),
    ],
    ids=["object", "text", "string"],
)
def test_json_in_results(target: str, place: tuple[Any, ...], said: object) -> None:
    made = request(results({"json": {"k": 1}}), "bedrock-converse", target)
    node = json.loads(made.body)
    for step in place:
        node = node[step]
    assert node == said
    is_told = "/messages/2/content/0/toolResult/content/0/json" in [loss.pointer for loss in made.losses]
    assert is_told is isinstance(said, str)


def test_media_before_json_in_a_result_moves_behind_it_and_is_told() -> None:
    made = request(results(PIXEL, {"json": {"k": 1}}), "bedrock-converse", "gemini")
    assert "the order of text and media" in [loss.what for loss in made.losses]


def test_a_key_that_arguments_have_twice_is_told() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1, "x": 2}'}}
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": [call]}]
    made = request({"model": "m", "messages": said}, "openai-chat", "ollama")
    assert "a duplicate key in the arguments" in [loss.what for loss in made.losses]


def test_a_model_with_a_slash_stays_whole_in_the_path() -> None:
    body = {"model": "openai/gpt-oss-120b", "messages": [{"role": "user", "content": "q"}]}
    assert request(body, "openai-chat", "gemini").path == "/v1beta/models/openai%2Fgpt-oss-120b:generateContent"


@pytest.mark.parametrize(
    ("thinking", "target", "kept"),
    [
        ({"type": "disabled", "budget_tokens": 2048}, "gemini", {"thinkingBudget": 0}),
        ({"type": "enabled", "budget_tokens": 2048}, "gemini", {"thinkingBudget": 2048, "includeThoughts": True}),
    ],
    ids=["off", "budget-beside-effort"],
)
def test_one_measure_of_thinking(thinking: dict[str, Any], target: str, kept: dict[str, Any]) -> None:
    body = blocks({"type": "text", "text": "t"}) | {"thinking": thinking, "output_config": {"effort": "high"}}
    made = request(body, "anthropic-messages", target)
    assert json.loads(made.body)["generationConfig"]["thinkingConfig"] == kept
    assert "/output_config/effort" in [loss.pointer for loss in made.losses]


def test_a_budget_switches_thinking_on_where_the_switch_has_to_be_said() -> None:
    body = blocks({"type": "text", "text": "t"}) | {"thinking": {"budget_tokens": 2048}}
    made = request(body, "anthropic-messages", "cohere-v2")
    assert json.loads(made.body)["thinking"] == {"type": "enabled", "token_budget": 2048}
    assert [loss.instead for loss in made.losses] == ["thinking is enabled"]


def test_answers_with_nothing_left_between_them_are_one() -> None:
    audio = {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}
    contents = [("user", {"text": "q"}), ("model", {"text": "a"}), ("user", audio), ("model", {"text": "b"})]
    body = {"contents": [{"role": role, "parts": [part]} for role, part in contents]}
    made = request(body, "gemini", "ollama")
    assert [m["content"] for m in json.loads(made.body)["messages"]] == ["q", "ab"]
