"""The official SDKs against simulators on loopback: two turns of a tool loop, and what they raise when it breaks."""

from __future__ import annotations

import json

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors, types

from tests.simulator.conftest import BLOCK_TOOL, CHAT_TOOL, SCHEMA
from workbench.simulator import Dials, HttpFault, ScriptedModel, Simulator

RESULT = "README.md pyproject.toml"


@pytest.fixture(scope="module")
def messages(served):
    url = served(Simulator("anthropic")).url
    with anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module", params=["openai", "deepseek"])
def chat(served, request):
    url = served(Simulator(request.param)).url
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        yield client, {"openai": "gpt-4.1", "deepseek": "deepseek-v4-flash"}[request.param]


@pytest.fixture(scope="module")
def gemini(served):
    url = served(Simulator("gemini")).url
    with genai.Client(api_key="any", http_options=types.HttpOptions(base_url=url)) as client:
        yield client


ASKED = {"model": "claude-sonnet-4-6", "max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 1024}}


def message(client, is_stream, said):
    if not is_stream:
        return client.messages.create(messages=said, tools=[BLOCK_TOOL], **ASKED)
    with client.messages.stream(messages=said, tools=[BLOCK_TOOL], **ASKED) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize("is_stream", [False, True])
def test_messages(messages, is_stream):
    said = [{"role": "user", "content": f"what is here? {is_stream}"}]
    first = message(messages, is_stream, said)
    thinking, call = first.content
    assert (first.stop_reason, thinking.type, call.name, call.input) == (
        "tool_use",
        "thinking",
        "list_dir",
        {"path": "."},
    )
    result = {"type": "tool_result", "tool_use_id": call.id, "content": RESULT}
    said += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    last = message(messages, is_stream, said)
    assert last.stop_reason == "end_turn" and RESULT in last.content[-1].text

    with pytest.raises(anthropic.BadRequestError, match=f"`tool_use` ids were found without .*{call.id}"):
        message(messages, is_stream, [*said[:2], {"role": "user", "content": "never mind"}])
    altered = [{**said[1]["content"][0].model_dump(), "thinking": "Something else."}, call]
    with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
        message(messages, is_stream, [said[0], {"role": "assistant", "content": altered}, said[2]])


def test_messages_count_tokens(messages):
    asked = [{"role": "user", "content": "x" * 400}]
    counted = messages.messages.count_tokens(model="claude-sonnet-4-6", messages=asked)
    assert 90 < counted.input_tokens < 130
    orphan = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}
    with pytest.raises(anthropic.BadRequestError, match="unexpected `tool_use_id`"):
        messages.messages.count_tokens(model="claude-sonnet-4-6", messages=[{"role": "user", "content": [orphan]}])
    assert "claude-sonnet-4-6" in [model.id for model in messages.models.list()]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"http": HttpFault(429, retry_after=1)}, "RateLimitError"),
        ({"http": HttpFault(529)}, "OverloadedError"),
        ({"stream": "error"}, "APIStatusError"),
        ({"stream": "cut"}, "RemoteProtocolError|ReadError|APIConnectionError"),
    ],
)
def test_faults_raise_what_the_sdk_has_for_them(served, fault, error):
    url = served(Simulator("anthropic", model=ScriptedModel(Dials(**fault)))).url
    with anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
        with pytest.raises(Exception) as raised:
            message(client, True, [{"role": "user", "content": "go"}])
        assert {kind.__name__ for kind in type(raised.value).__mro__} & set(error.split("|"))


def test_a_refusal_that_passes_is_tried_again(served):
    model = ScriptedModel(Dials(http=HttpFault(429, times=2, retry_after=0.01)))
    url = served(Simulator("openai", model=model)).url
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=2) as client:
        said = client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": "hi"}])
    assert said.choices[0].message.content == "You said: hi"


@pytest.mark.parametrize("more", [{}, {"thread": False}])
def test_a_tool_runner_with_and_without_a_thread(messages, more):
    """By default the SDK leaves the conversation to the server, which holds it."""

    @anthropic.beta_tool
    def list_dir(path: str) -> str:
        """List a folder."""
        return f"{RESULT} {path}"

    asked = {"model": "claude-sonnet-4-6", "max_tokens": 900, "messages": [{"role": "user", "content": f"ls {more}"}]}
    *_, last = messages.beta.messages.tool_runner(tools=[list_dir], **asked, **more)
    assert last.content[-1].text == f"list_dir returned: {RESULT} ."


def completion(client, is_stream, **words):
    if not is_stream:
        return client.chat.completions.create(**words).choices[0]
    with client.chat.completions.stream(**words) as stream:
        return stream.get_final_completion().choices[0]


@pytest.mark.parametrize("is_stream", [False, True])
def test_chat_completions(chat, is_stream):
    client, model = chat
    asked = {"model": model, "tools": [CHAT_TOOL]}
    said = [{"role": "user", "content": f"what is here? {is_stream}"}]
    first = completion(client, is_stream, messages=said, **asked)
    (call,) = first.message.tool_calls
    assert (first.finish_reason, json.loads(call.function.arguments)) == ("tool_calls", {"path": "."})
    replayed = first.message.model_dump(exclude_unset=True, exclude={"parsed"})
    replayed["tool_calls"] = [c.model_dump(include={"id", "type", "function"}) for c in first.message.tool_calls]
    replayed["tool_calls"][0]["function"].pop("parsed_arguments", None)
    result = {"role": "tool", "tool_call_id": call.id, "content": RESULT}
    last = completion(client, is_stream, messages=[*said, replayed, result], **asked)
    assert last.finish_reason == "stop" and RESULT in last.message.content

    unanswered = [*said, replayed, {"role": "user", "content": "never mind"}]
    with pytest.raises(openai.BadRequestError, match="must be followed by tool messages"):
        completion(client, is_stream, messages=unanswered, **asked)
    if model.startswith("deepseek"):
        lost = {key: value for key, value in replayed.items() if key != "reasoning_content"}
        with pytest.raises(openai.BadRequestError, match="`reasoning_content` in the thinking mode must"):
            completion(client, is_stream, messages=[*said, lost, result], **asked)


def test_messages_of_deepseek(served):
    url = served(Simulator("deepseek")).url
    with anthropic.Anthropic(base_url=f"{url}/anthropic", api_key="any", max_retries=0) as client:
        asked = {"model": "deepseek-v4-flash", "max_tokens": 1000, "tools": [BLOCK_TOOL]}
        said = [{"role": "user", "content": "ls"}]
        first = client.messages.create(messages=said, **asked)
        assert [part.type for part in first.content] == ["thinking", "tool_use"]
        call = first.content[-1]
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": RESULT}]}
        whole = [*said, {"role": "assistant", "content": first.content}, result]
        assert client.messages.create(messages=whole, **asked).stop_reason == "end_turn"
        with pytest.raises(anthropic.BadRequestError, match=r"`content\[\].thinking` in the thinking mode"):
            client.messages.create(messages=[*said, {"role": "assistant", "content": [call]}, result], **asked)


TOOL = {"type": "function", "name": "list_dir", "parameters": SCHEMA, "strict": False}


def response(client, is_stream, **words):
    if not is_stream:
        return client.responses.create(**words)
    with client.responses.stream(**words) as stream:
        return stream.get_final_response()


@pytest.mark.parametrize("is_stream", [False, True])
def test_responses(served, is_stream):
    asked = {"model": "gpt-5", "tools": [TOOL], "store": False, "include": ["reasoning.encrypted_content"]}
    with openai.OpenAI(base_url=f"{served(Simulator('openai')).url}/v1", api_key="any", max_retries=0) as client:
        said = [{"role": "user", "content": "what is here?"}]
        first = response(client, is_stream, input=said, **asked)
        reasoning, call = first.output
        assert (reasoning.type, call.type, json.loads(call.arguments)) == ("reasoning", "function_call", {"path": "."})
        items = [item.model_dump(exclude_none=True, exclude={"status", "parsed_arguments"}) for item in first.output]
        result = {"type": "function_call_output", "call_id": call.call_id, "output": RESULT}
        last = response(client, is_stream, input=[*said, *items, result], **asked)
        assert last.status == "completed" and RESULT in last.output_text
        with pytest.raises(openai.BadRequestError, match=f"No tool output found for function call {call.call_id}"):
            response(client, is_stream, input=[*said, *items, {"role": "user", "content": "never mind"}], **asked)


def test_responses_held_by_the_server(served):
    with openai.OpenAI(base_url=f"{served(Simulator('openai')).url}/v1", api_key="any", max_retries=0) as client:
        first = client.responses.create(model="gpt-5", tools=[TOOL], input="what is here?")
        call = first.output[-1]
        assert client.responses.retrieve(first.id).output[-1].call_id == call.call_id
        result = {"type": "function_call_output", "call_id": call.call_id, "output": RESULT}
        asked = {"model": "gpt-5", "tools": [TOOL], "input": [result]}
        assert RESULT in client.responses.create(previous_response_id=first.id, **asked).output_text
        replayed = [{"role": "user", "content": "what is here?"}, call.model_dump(exclude_none=True), result]
        with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item"):  # which it holds
            client.responses.create(model="gpt-5", tools=[TOOL], input=replayed)
        unkept = client.responses.create(model="gpt-5", input="hello", store=False)
        with pytest.raises(openai.BadRequestError, match=f"Previous response with id '{unkept.id}' not found"):
            client.responses.create(model="gpt-5", input="and now?", previous_response_id=unkept.id)
        with pytest.raises(openai.NotFoundError, match=f"'{unkept.id}' not found"):
            client.responses.retrieve(unkept.id)


def content(client, is_stream, said):
    declared = types.FunctionDeclaration(name="list_dir", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declared])])
    words = {"model": "gemini-3-pro", "contents": said, "config": config}
    if not is_stream:
        return client.models.generate_content(**words).candidates[0].content
    chunks = [chunk.candidates[0].content for chunk in client.models.generate_content_stream(**words)]
    return types.Content(role="model", parts=[part for c in chunks for part in c.parts or () if part.text != ""])


@pytest.mark.parametrize("is_stream", [False, True])
def test_generate_content(gemini, is_stream):
    asked = types.Content(role="user", parts=[types.Part(text="what is here?")])
    first = content(gemini, is_stream, [asked])
    (part,) = first.parts
    assert (part.function_call.name, part.function_call.args) == ("list_dir", {"path": "."})
    assert part.thought_signature
    result = types.Part.from_function_response(name="list_dir", response={"output": RESULT})
    answered = types.Content(role="user", parts=[result])
    last = content(gemini, is_stream, [asked, first, answered])
    assert RESULT in "".join(part.text for part in last.parts)
    unanswered = [asked, first, types.Content(role="user", parts=[types.Part(text="never mind")])]
    with pytest.raises(errors.ClientError, match="number of function response parts"):
        content(gemini, is_stream, unanswered)


def test_gemini_counts_and_lists(gemini):
    assert gemini.models.count_tokens(model="gemini-3-pro", contents="x" * 400).total_tokens > 90
    assert "models/gemini-3-pro" in [model.name for model in gemini.models.list()]
