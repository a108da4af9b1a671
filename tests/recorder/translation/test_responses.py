"""What the client gets of an upstream's answer, piece by piece, and what is kept of it."""

from __future__ import annotations

import json

import pytest

from tests.recorder.translation.bridging import CHAT_TOOL, bench, blocks
from workbench.recorder.translation.memory import ResponseMemory
from workbench.recorder.translation.requests import TranslatedRequest
from workbench.recorder.translation.responses import TranslatedResponse
from workbench.simulator import Dials, ScriptedModel, Simulator
from workbench.wire.exchange import Headers, HttpRequest

JSON = Headers((("content-type", "application/json"), ("retry-after", "3"), ("x-own", "1")))


def calls_of(body):
    return [part for part in json.loads(body)["content"] if part["type"] == "tool_use"]


def follow(body, result="a b"):
    """The request after an answer to a whole one."""
    said = json.loads(body)["content"]
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": result} for call in calls_of(body)]
    return blocks({"role": "assistant", "content": said}, {"role": "user", "content": results})


def test_reasoning_gets_a_handle_and_comes_back():
    one = bench("deepseek", "openai-chat", model="deepseek-v4-flash")
    status, first = one.ask("/v1/messages", blocks())
    thinking = json.loads(first)["content"][0]
    assert status == 200 and thinking["signature"] == "workbench:a1"
    assert (
        "handle: workbench:a1 sent instead of a signature: the reasoning received as reasoning_content has none"
        in one.lines
    )
    status, _ = one.ask("/v1/messages", follow(first))
    assert status == 200 and one.sent["messages"][1]["reasoning_content"] == thinking["thinking"]
    assert "reasoning: restored" in one.lines


def test_calls_without_ids_get_them_and_lose_them_again():
    one = bench("ollama", "ollama", model="qwen3")
    _, first = one.ask("/v1/messages", blocks())
    assert [call["id"] for call in calls_of(first)] == ["call_a1_1"]
    status, _ = one.ask("/v1/messages", follow(first))
    assert status == 200 and "id: call_a1_1 is sent as none" in one.lines and "call_a1" not in json.dumps(one.sent)


def test_ids_that_a_client_refuses_are_given_as_others():
    one = bench("generic", "openai-chat")
    answer = {"id": "c", "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {}}]}
    call = {"id": "functions.ls:0", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    answer["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
    made = TranslatedResponse(
        TranslatedRequest("anthropic-messages", "openai-chat", HttpRequest()), 200, JSON, one.memory, "a9"
    )
    first = made.feed(json.dumps(answer).encode()) + made.end()
    (given,) = calls_of(first)
    assert given["id"] == "functions_ls_0"
    one.ask("/v1/messages", follow(first))
    assert one.sent["messages"][1]["tool_calls"][0]["id"] == one.sent["messages"][2]["tool_call_id"] == call["id"]


@pytest.mark.parametrize("is_stream", [False, True])
def test_calls_in_text_are_calls_for_the_client(is_stream):
    simulator = Simulator("vllm", model=ScriptedModel(Dials(calls="hermes", parallel=2)))
    one = bench("vllm", "openai-chat", model="qwen3", simulator=simulator, on=("parser=hermes",))
    status, first = one.ask("/v1/messages", blocks(stream=is_stream))
    assert status == 200 and one.lines.count("text call: parsed from text as hermes: list_dir") == 2
    if is_stream:
        assert first.count(b'"type":"tool_use"') == 2 and b'"stop_reason":"tool_use"' in first
        return
    status, _ = one.ask("/v1/messages", follow(first))
    words = [message["content"] for message in one.sent["messages"]]
    assert words[1].count("<tool_call>") == 2 and words[2].count("<tool_response>") == 2
    assert [message["role"] for message in one.sent["messages"]] == ["user", "assistant", "user"]


def test_a_client_of_the_same_protocol_gets_calls_in_text_as_calls():
    simulator = Simulator("vllm", model=ScriptedModel(Dials(calls="hermes")))
    one = bench("vllm", "openai-chat", simulator=simulator, on=("parser=hermes",))
    asked = {"model": "qwen3", "messages": [{"role": "user", "content": "ls"}], "tools": [CHAT_TOOL]}
    _, said = one.ask("/v1/chat/completions", asked)
    assert json.loads(said)["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "list_dir"


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (429, b'{"error":{"message":"slow down","type":"rate_limit_error"}}', "slow down"),
        (502, b"workbench: nothing is listening on 127.0.0.1:9\n", "nothing is listening on"),
        (200, b"<html>no</html>", "<html>no</html>"),
        (200, b"", "the upstream's response is empty"),
    ],
)
@pytest.mark.parametrize("client", ["anthropic-messages", "openai-responses", "gemini", "ollama"])
def test_errors_are_said_in_the_client_s_words(client, status, body, words):
    answer = TranslatedResponse(
        TranslatedRequest(client, "openai-chat", HttpRequest(), is_stream=True), status, JSON, ResponseMemory(), "a1"
    )
    said = answer.feed(body) + answer.end()
    assert answer.head.status == (status if status >= 400 else 502) and words in json.dumps(json.loads(said))
    assert ("retry-after", "3") in answer.head.headers and "x-own" not in dict(answer.head.headers)


def test_a_stream_where_none_was_asked_for_is_whole():
    one = bench("deepseek", "openai-chat", model="deepseek-v4-flash")
    one.ask("/v1/messages", blocks(stream=True))
    answer = TranslatedResponse(
        TranslatedRequest("anthropic-messages", "openai-chat", HttpRequest()), 200, JSON, one.memory, "a2"
    )
    data = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}
    said = answer.feed(b"data: %s\n\ndata: [DONE]\n\n" % json.dumps(data).encode()) + answer.end()
    assert json.loads(said)["content"] == [{"type": "text", "text": "hi"}]
    assert answer.head.headers[0] == ("content-type", "application/json")


@pytest.mark.parametrize("cut", [1, 40, 200, 600])
def test_an_answer_that_breaks_off_ends_without_an_end(cut):
    one = bench("deepseek", "openai-chat", model="deepseek-v4-flash")
    _, said = one.ask("/v1/messages", blocks(stream=True), cut=cut)
    assert b"message_stop" not in said
    status, said = one.ask("/v1/messages", blocks(), cut=cut)
    assert status == 502 or json.loads(said)


@pytest.mark.parametrize("query", ["?alt=sse", ""])
def test_a_stream_of_gemini_is_events_or_one_array(query):
    one = bench("deepseek", "openai-chat", model="deepseek-v4-flash")
    asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    status, said = one.ask(f"/v1beta/models/g:streamGenerateContent{query}", asked)
    assert status == 200 and one.sent["stream"] is True
    if query:
        assert said.startswith(b"data: ") and one.answer.head.headers[0][1] == "text/event-stream"
    else:
        parts = [p for chunk in json.loads(said) for p in chunk["candidates"][0]["content"]["parts"]]
        assert parts[-1]["text"] in ("", "You said: hi")
        assert one.answer.head.headers[0] == ("content-type", "application/json")


@pytest.mark.parametrize(
    "upstream", [("anthropic", "anthropic-messages", "claude-sonnet-4-6"), ("gemini", "gemini", "g")]
)
@pytest.mark.parametrize("is_asked", [True, False])
def test_token_counts_of_a_stream_come_to_who_asks_for_them(upstream, is_asked):
    label, spoken, model = upstream
    one = bench(label, spoken, model=model)
    more = {"stream_options": {"include_usage": True}} if is_asked else {}
    asked = {"model": "x", "stream": True, "messages": [{"role": "user", "content": "hi"}], **more}
    status, said = one.ask("/v1/chat/completions", asked)
    assert status == 200 and said.endswith(b"data: [DONE]\n\n")
    assert (b'"choices":[]' in said) == (b'"prompt_tokens"' in said) == is_asked


def realtime_events():
    """A response of Realtime: it names no model."""
    item = {"id": "m1", "type": "message", "role": "assistant"}
    done = {**item, "status": "completed", "content": [{"type": "output_text", "text": "hi"}]}
    at = {"response_id": "r1", "output_index": 0}
    response = {"id": "r1", "object": "realtime.response"}
    counts = {"total_tokens": 2, "input_tokens": 1, "output_tokens": 1}
    yield {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    yield {"type": "response.output_item.added", **at, "item": {**item, "status": "in_progress", "content": []}}
    yield {"type": "response.output_text.delta", **at, "item_id": "m1", "content_index": 0, "delta": "hi"}
    yield {"type": "response.output_item.done", **at, "item": done}
    yield {"type": "response.done", "response": {**response, "status": "completed", "output": [done], "usage": counts}}


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize("client", ["anthropic-messages", "openai-chat", "openai-responses", "gemini", "ollama"])
def test_a_response_without_a_model_has_the_one_that_was_asked_for(client, is_stream):
    turn = TranslatedRequest(client, "openai-realtime", HttpRequest(), is_stream=is_stream, model="gpt-realtime-2")
    events = Headers((("content-type", "text/event-stream"),))
    answer = TranslatedResponse(turn, 200, events, ResponseMemory(), "a3")
    stream = b"".join(b"data: %s\n\n" % json.dumps({"event_id": "e", **event}).encode() for event in realtime_events())
    said = answer.feed(stream) + answer.end()
    assert b'"gpt-realtime-2"' in said and b'"model":""' not in said.replace(b" ", b"")
