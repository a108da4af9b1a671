"""What stands beside the messages of an answer: carried, or named; and what is written where nobody said it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from workbench.convert import Conversion, convert, roundtrip_differences
from workbench.convert.compare import response_differences
from workbench.ir import ApiError, ModelResponse

CHAT = {
    "id": "chatcmpl-1",
    "created": 17,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "one"}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
}
BLOCKS = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "t"}],
    "usage": {"input_tokens": 5, "output_tokens": 6, "cache_read_input_tokens": 70},
}


def answer(body: dict[str, Any], source: str, target: str) -> Conversion:
    made = convert(json.dumps(body).encode(), target, side="response", protocol=source)
    assert roundtrip_differences(made) == ()
    return made


def lost(made: Conversion) -> dict[str, tuple[str, str]]:
    return {pointer: (what, instead) for pointer, what, instead in made.losses}


@pytest.mark.parametrize(
    ("usage", "pointer"),
    [
        ({"cost": 0.5}, "/usage/cost"),
        (
            {"prompt_tokens_details": {"cached_tokens": 1, "audio_tokens": 2}},
            "/usage/prompt_tokens_details/audio_tokens",
        ),
        ({"server_tool_use": {"searches": 0}}, "/usage/server_tool_use"),
    ],
    ids=["key", "beside-what-is-read", "object"],
)
def test_counts_that_nobody_reads_are_named(usage: dict[str, Any], pointer: str) -> None:
    made = answer(CHAT | {"usage": CHAT["usage"] | usage}, "openai-chat", "anthropic-messages")  # type: ignore[operator]
    assert pointer in lost(made)


def test_cached_tokens_are_input_where_they_have_no_count() -> None:
    made = answer(BLOCKS, "anthropic-messages", "ollama")
    assert json.loads(made.body)["prompt_eval_count"] == 75
    assert lost(made)["/usage"] == ("the token count 'cache_read' (70)", "counted as input")


def test_counts_that_have_to_be_there_are_told() -> None:
    made = answer(BLOCKS, "anthropic-messages", "openai-responses")
    assert json.loads(made.body)["usage"]["output_tokens_details"] == {"reasoning_tokens": 0}
    assert "cache_write, reasoning" in lost(made)["/usage"][0]


def test_what_an_answer_never_lacks_is_told() -> None:
    made = answer(BLOCKS, "anthropic-messages", "openai-chat")
    assert lost(made)[""][1] == "written: created: 0"
    assert json.loads(made.body)["created"] == 0


@pytest.mark.parametrize(("reason", "is_named"), [("end_turn", False), ("stop_sequence", True)])
def test_finish_reasons_without_a_word_of_their_own_are_named(reason: str, is_named: bool) -> None:
    made = answer(BLOCKS | {"stop_reason": reason}, "anthropic-messages", "openai-chat")
    assert ("/stop_reason" in lost(made)) is is_named


def test_an_answer_without_a_reason_is_said_to_have_one() -> None:
    made = answer(BLOCKS | {"stop_reason": None}, "anthropic-messages", "openai-responses")
    assert lost(made)["/stop_reason"][1] == "'stop', derived from the content"


def test_another_choice_ends_for_its_own_reason() -> None:
    other = {"index": 1, "finish_reason": "length", "message": {"role": "assistant", "content": "two"}}
    body = CHAT | {"choices": [*CHAT["choices"], other]}  # type: ignore[misc]
    assert "/choices/1/finish_reason" in lost(answer(body, "openai-chat", "gemini"))


def test_an_error_loses_by_place_what_the_target_has_no_key_for() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"}
    made = answer(body, "anthropic-messages", "openai-chat")
    assert [*lost(made)] == ["/request_id"]
    assert [*lost(answer(body, "anthropic-messages", "ollama"))] == ["/error/type", "/request_id"]


@pytest.mark.parametrize(
    ("error", "what"),
    [({}, "an error without a type"), ({"type": "odd"}, "an error of type 'odd'")],
    ids=["no type", "a type of its own"],
)
def test_an_error_in_a_stream_is_of_a_type_that_the_target_knows(error: dict[str, str], what: str) -> None:
    stream = b"data: " + json.dumps({"error": {"message": "no"} | error}).encode() + b"\n\n"
    made = convert(stream, "bedrock-converse", side="response", protocol="openai-chat")
    assert roundtrip_differences(made) == ()
    assert made.losses[0] == ("", f"{what}, in a stream", "written as 'internalServerException'")


def test_an_answer_that_goes_on_is_told_where_it_is_written_as_a_whole_one() -> None:
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so far"}]}
    body = {"id": "resp_1", "model": "m", "status": "in_progress", "output": [text]}
    made = answer(body, "openai-responses", "openai-chat")
    assert lost(made)["/status"] == (
        "the status that marks the response as incomplete",
        "written as a complete response",
    )


def test_what_is_read_of_an_answer_is_held_against_what_was_meant() -> None:
    made = answer(BLOCKS, "anthropic-messages", "openai-chat")
    assert isinstance(made.normal, ModelResponse)
    assert roundtrip_differences(replace(made, normal=replace(made.normal, id="msg_2"))) == (
        "id: 'msg_2' became 'msg_1'",
    )


@pytest.mark.parametrize(
    ("meant", "said", "is_same"),
    [("other", None, True), (None, None, True), ("length", None, False), ("length", "other", False)],
)
def test_an_error_may_be_said_by_a_finish_reason_too(meant: str | None, said: str | None, is_same: bool) -> None:
    one, two = (ModelResponse("", stop=stop, error=ApiError("no")) for stop in (meant, said))
    assert (response_differences(one, two) == ()) is is_same
