"""The official SDKs as clients of upstreams that speak another protocol and refuse what their providers refuse."""

from __future__ import annotations

import json

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from tests.recorder.translation.bridging import BLOCK_TOOL, CHAT_TOOL, SCHEMA, simulated
from workbench.simulator import Dials, HttpFault, ScriptedModel, Simulator
from workbench.wire.exchange import State

TURNS = 3
RESULT = "README.md pyproject.toml"
AGAIN = "and list it again"


def two_calls(label):
    return Simulator(label, model=ScriptedModel(Dials(parallel=2)))


def blocks(url, is_stream):
    """Three turns of Anthropic's SDK: what the model said in each."""
    asked = {"model": "claude-x", "max_tokens": 3000, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    said = [{"role": "user", "content": f"what is here? {is_stream}"}]
    with anthropic.Anthropic(base_url=url, api_key="any-of-mine", max_retries=0) as client:
        for _ in range(TURNS):
            if is_stream:
                with client.messages.stream(messages=said, tools=[BLOCK_TOOL], **asked) as stream:
                    answer = stream.get_final_message()
            else:
                answer = client.messages.create(messages=said, tools=[BLOCK_TOOL], **asked)
            calls = [part for part in answer.content if part.type == "tool_use"]
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": RESULT} for call in calls]
            said += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results or AGAIN}]
            yield answer, calls


def chat(url, is_stream):
    """The same with OpenAI's, which drops reasoning as many clients do."""
    asked = {"model": "gpt-x", "tools": [CHAT_TOOL], "reasoning_effort": "high"}
    said = [{"role": "user", "content": f"what is here? {is_stream}"}]
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any-of-mine", max_retries=0) as client:
        for _ in range(TURNS):
            if is_stream:
                with client.chat.completions.stream(messages=said, **asked) as stream:
                    answer = stream.get_final_completion().choices[0].message
            else:
                answer = client.chat.completions.create(messages=said, **asked).choices[0].message
            calls = [call.model_dump(include={"id", "type", "function"}) for call in answer.tool_calls or ()]
            for call in calls:
                call["function"].pop("parsed_arguments", None)
            replayed = {"role": "assistant", "content": answer.content} | ({"tool_calls": calls} if calls else {})
            results = [{"role": "tool", "tool_call_id": call["id"], "content": RESULT} for call in calls]
            said += [replayed, *(results or [{"role": "user", "content": AGAIN}])]
            yield answer, calls


def items(url, is_stream):
    """The same with OpenAI's Responses."""
    tool = {"type": "function", "name": "list_dir", "parameters": SCHEMA, "strict": False}
    asked = {"model": "gpt-x", "tools": [tool], "store": False, "include": ["reasoning.encrypted_content"]}
    said = [{"role": "user", "content": f"what is here? {is_stream}"}]
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any-of-mine", max_retries=0) as client:
        for _ in range(TURNS):
            if is_stream:
                with client.responses.stream(input=said, **asked) as stream:
                    answer = stream.get_final_response()
            else:
                answer = client.responses.create(input=said, **asked)
            output = [
                item.model_dump(exclude_none=True, exclude={"status", "parsed_arguments"}) for item in answer.output
            ]
            calls = [item for item in output if item["type"] == "function_call"]
            results = [{"type": "function_call_output", "call_id": c["call_id"], "output": RESULT} for c in calls]
            said += [*output, *(results or [{"role": "user", "content": AGAIN}])]
            yield answer, calls


def contents(url, is_stream):
    """The same with Google's."""
    declared = types.FunctionDeclaration(name="list_dir", description="List", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])], automatic_function_calling={"disable": True}
    )
    said = [types.Content(role="user", parts=[types.Part(text=f"what is here? {is_stream}")])]
    with genai.Client(api_key="any-of-mine", http_options=types.HttpOptions(base_url=url)) as client:
        for _ in range(TURNS):
            asked = {"model": "gemini-x", "contents": said, "config": config}
            if is_stream:
                chunks = [chunk.candidates[0].content for chunk in client.models.generate_content_stream(**asked)]
                parts = [part for content in chunks if content for part in content.parts or ()]
            else:
                parts = client.models.generate_content(**asked).candidates[0].content.parts
            calls = [part.function_call for part in parts if part.function_call]
            results = [
                types.Part(function_response=types.FunctionResponse(id=c.id, name=c.name, response={"output": RESULT}))
                for c in calls
            ]
            said.append(types.Content(role="model", parts=parts))
            said.append(types.Content(role="user", parts=results or [types.Part(text=AGAIN)]))
            yield parts, calls


DEEPSEEK = ("deepseek", "openai-chat", "deepseek-v4-flash", "reasoning_content")


@pytest.mark.parametrize(
    ("client", "label", "spoken", "model", "carrier", "is_stream"),
    [
        (blocks, *DEEPSEEK, False),
        (blocks, *DEEPSEEK, True),
        (blocks, "qwen", "openai-chat", "qwen3.5-plus", "reasoning_content", True),
        (chat, "anthropic", "anthropic-messages", "claude-sonnet-4-6", "thinking", True),
        (chat, "gemini", "gemini", "gemini-3-pro", "thought_signature", False),
        (items, *DEEPSEEK, True),
        (contents, *DEEPSEEK, False),
        (contents, *DEEPSEEK, True),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_tool_loop_through_another_protocol(client, label, spoken, model, carrier, is_stream):
    with simulated(label, spoken, simulator=two_calls(label), model=model) as path:
        turns = list(client(path.url, is_stream))
        path.heard.all_ended(2 * TURNS)
    assert [len(calls) for _, calls in turns] == [2, 0, 2]
    heard = path.heard
    asked, went = heard.at("client"), heard.at("upstream")
    assert len(asked) == len(went) == TURNS
    assert {heard.answers[key].status for key in (*asked, *went)} == {200}
    assert [heard.heads[key].parent for key in went] == asked
    assert not any(b"workbench:" in heard.asked[key] or b"d29ya2JlbmNoO" in heard.asked[key] for key in went)
    assert all(b"any-of-mine" in repr(heard.heads[key].headers).encode() for key in went)
    notes = [heard.ends[key][1] for key in went]
    assert all(f"to {spoken}" in note and model in note for note in notes)
    assert "reasoning: restored unchanged in the response with" in notes[1] and carrier in notes[1]
    if client is not chat:
        assert "handle: workbench:" in notes[0] and b"workbench:" in heard.asked[asked[1]].replace(
            b"d29ya2JlbmNoO", b"workbench:"
        )
    assert {heard.ends[key] for key in asked} == {(State.COMPLETE, "")}
    assert path.path.records.counts["reasoning"] >= 2


def test_what_is_spoken_already_passes_unchanged():
    with simulated("deepseek", "openai-chat") as path:
        with openai.OpenAI(base_url=f"{path.url}/v1", api_key="any", max_retries=0) as client:
            asked = {"model": "deepseek-v4-flash", "messages": [{"role": "user", "content": "hi"}]}
            assert client.chat.completions.create(**asked).choices[0].message.content == "You said: hi"
            assert "deepseek-v4-flash" in [model.id for model in client.models.list()]
        path.heard.all_ended(4)
    heard = path.heard
    for before, after in zip(heard.at("client"), heard.at("upstream"), strict=True):
        assert heard.asked[before] == heard.asked[after] and heard.said[before] == heard.said[after]
        assert heard.ends[after][1].startswith("passed: unchanged")


@pytest.mark.parametrize(
    ("fault", "error", "is_stream"),
    [
        ({"http": HttpFault(429, retry_after=1)}, anthropic.RateLimitError, True),
        ({"http": HttpFault(503)}, anthropic.InternalServerError, False),
    ],
    ids=["429", "503"],
)
def test_errors_are_those_of_the_client(fault, error, is_stream):
    simulator = Simulator("deepseek", model=ScriptedModel(Dials(**fault)))
    asked = {"simulator": simulator, "model": "deepseek-v4-flash"}
    with simulated("deepseek", "openai-chat", **asked) as path, pytest.raises(error) as raised:
        next(blocks(path.url, is_stream))
    assert raised.value.body["type"] == "error" and raised.value.body["error"]["message"]


def test_small_endpoints_are_refused_in_words_the_client_reads():
    with simulated("deepseek", "openai-chat") as path:
        with anthropic.Anthropic(base_url=path.url, api_key="any", max_retries=0) as client:
            with pytest.raises(anthropic.APIStatusError, match="cannot count tokens") as counted:
                client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "x"}])
            with pytest.raises(anthropic.NotFoundError, match="does not support /v1/models"):
                client.models.list()
        path.heard.all_ended(2)
        assert counted.value.status_code == 501 and not path.heard.at("upstream")
        assert "answered by the recorder" in path.heard.ends[1][1]


def test_an_answer_that_breaks_off_upstream_breaks_off_here():
    simulator = Simulator("deepseek", model=ScriptedModel(Dials(stream="cut")))
    with simulated("deepseek", "openai-chat", simulator=simulator, model="deepseek-v4-flash") as path:
        with pytest.raises(Exception, match=r"(?i)incomplete|closed|reset"):
            next(blocks(path.url, True))
        path.heard.all_ended(2)
        assert {state for state, _ in path.heard.ends.values()} == {State.ABORTED}


def test_bodies_of_both_places_are_json():
    with simulated("deepseek", "openai-chat", model="deepseek-v4-flash") as path:
        next(blocks(path.url, False))
        path.heard.all_ended(2)
    (asked,), (went,) = path.heard.at("client"), path.heard.at("upstream")
    assert json.loads(path.heard.asked[asked])["model"] == "claude-x"
    assert json.loads(path.heard.asked[went])["model"] == "deepseek-v4-flash"
    names = {name.lower() for name, _ in path.heard.heads[went].headers}
    assert "authorization" in names and not names & {"x-api-key", "anthropic-version", "x-workbench-turn"}
