"""Stories on OpenAI Chat Completions and its dialects."""

from __future__ import annotations

import json

from tests.make_sessions.story import (
    CHAT,
    DEEPSEEK,
    GATEWAY,
    MOONSHOT,
    Json,
    Story,
    chat_answer,
    chat_call,
    chat_tool,
    chunks,
    sse,
    words,
)
from workbench.wire.exchange import Origin


def deepseek_reasoning_lost() -> Story:
    story = Story(
        "home-made loop",
        "The client keeps the call but forgets the reasoning that led to it, and the next request is refused.",
        "https://github.com/Gitlawb/openclaude/issues/878",
    )
    model, tools = "deepseek-v4-flash", [chat_tool("list_dir", path="string")]
    base: Json = {"model": model, "thinking": {"type": "enabled"}, "stream": True, "tools": tools}
    user = {"role": "user", "content": "Which files are here, hidden ones too?"}
    thought = (
        "The user wants every file of the folder. I call list_dir on the current folder and look at the dot files."
    )
    call = chat_call("call_00_Xk2vJ8mQ0rT5yL1pZs7D", "list_dir", {"path": "."})
    deltas: list[Json] = [{"role": "assistant", "content": None, "reasoning_content": ""}]
    deltas += [{"content": None, "reasoning_content": w} for w in words(thought)]
    head = {"index": 0, "id": call["id"], "type": "function", "function": {"name": "list_dir", "arguments": ""}}
    deltas.append({"tool_calls": [head]})
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": a}}]} for a in ('{"path"', ': "."', "}")]
    story.turn(
        DEEPSEEK, base | {"messages": [user]}, sse([*chunks(1, model, deltas, "tool_calls")], done=True), seconds=1.4
    )
    history = [
        user,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": ".git\n.env.example\nREADME.md\nsrc"},
    ]
    refusal = "The `reasoning_content` in the thinking mode must be passed back to the API."
    kind = "invalid_request_error"
    error = {"error": {"message": refusal, "type": kind, "param": None, "code": kind}}
    story.turn(DEEPSEEK, base | {"messages": history}, error, 400, 0.1)
    return story


def gateway_field_dropped() -> Story:
    story = Story(
        "agent behind a gateway",
        "The client sends the reasoning back, a gateway clears it on the way, and the provider refuses what is left.",
        "https://github.com/bestruirui/octopus/pull/251",
        Origin.IMPORTED,
    )
    base: Json = {
        "model": "kimi-k2.5",
        "thinking": {"type": "enabled"},
        "tools": [chat_tool("list_dir", path="string")],
    }
    user = {"role": "user", "content": "What is in this folder?"}
    call = chat_call("list_dir:0", "list_dir", {"path": "."})
    said: Json = {"content": "", "reasoning_content": "I list the folder.", "tool_calls": [call]}
    asked: Json = base | {"messages": [user]}
    answer = chat_answer(1, "kimi-k2.5", said, "tool_calls")
    story.relayed((GATEWAY, asked), (MOONSHOT, asked), answer)
    result = {"role": "tool", "tool_call_id": call["id"], "content": "README.md\nsrc"}
    kept: Json = {"role": "assistant", **said}
    left = {key: value for key, value in kept.items() if key != "reasoning_content"}
    sent, forwarded = (base | {"messages": [user, message, result]} for message in (kept, left))
    refusal = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"
    error: Json = {"error": {"message": refusal, "type": "invalid_request_error"}}
    story.relayed((GATEWAY, sent), (MOONSHOT, forwarded), error, 400, 0.2)
    return story


def openai_call_never_runs() -> Story:
    story = Story(
        "SDK behind a gateway",
        "A gateway ends the turn with stop although it holds a call: the client shows an empty answer.",
        "https://github.com/decolua/9router/pull/354",
    )
    model, tools = "gpt-4.1", [chat_tool("get_weather", city="string")]
    request: Json = {
        "model": model,
        "stream": True,
        "tools": tools,
        "messages": [{"role": "user", "content": "天气 in Oslo?"}],
    }
    head = {"index": 0, "id": "call_9Qw3", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    deltas: list[Json] = [{"role": "assistant", "content": None}, {"tool_calls": [head]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": a}}]} for a in ('{"city":', ' "Oslo"', "}")]
    story.turn(CHAT, request, sse([*chunks(1, model, deltas, "stop")], done=True), seconds=0.9)
    return story


def openai_parallel_index_reused() -> Story:
    story = Story(
        "smolagents behind a gateway",
        "Two parallel calls arrive under the same index: SDKs that join by index build one call that cannot be parsed.",
        "https://github.com/huggingface/smolagents/pull/1958",
    )
    model, tools = "llama-3.3-70b", [chat_tool("search_docs", query="string")]
    question = {"role": "user", "content": "Who wrote War for the Oaks, and who wrote The Waves?"}
    calls = [chat_call(f"call_{n}", "search_docs", {"query": q}) for n, q in enumerate(("Emma Bull", "Virginia Woolf"))]
    deltas: list[Json] = [{"role": "assistant", "content": None}]
    deltas += [{"tool_calls": [{"index": 0, **call}]} for call in calls]
    request: Json = {"model": model, "stream": True, "tools": tools, "messages": [question]}
    story.turn(CHAT, request, sse([*chunks(1, model, deltas, "tool_calls")], done=True), seconds=0.8)
    return story


def openai_arguments_twice() -> Story:
    story = Story(
        "home-made loop",
        "The arguments are encoded twice, the tool refuses them, and the model sends the same thing again.",
        "https://github.com/tailcallhq/forgecode/pull/2764",
    )
    model, tools = "gpt-4.1", [chat_tool("read_file", path="string")]
    history: list[Json] = [{"role": "user", "content": "What is in pyproject.toml?"}]
    for number in (1, 2):
        call = chat_call(f"call_{number}", "read_file", {"path": "pyproject.toml"})
        function = {"name": "read_file", "arguments": json.dumps(json.dumps({"path": "pyproject.toml"}))}
        said: Json = {"content": None, "tool_calls": [call | {"function": function}]}
        request: Json = {"model": model, "tools": tools, "messages": list(history)}
        story.turn(CHAT, request, chat_answer(number, model, said, "tool_calls"))
        refused = "invalid arguments: expected an object with the property path, got a string"
        history += [{"role": "assistant", **said}, {"role": "tool", "tool_call_id": call["id"], "content": refused}]
    gave_up: Json = {"content": "I cannot read the file: the tool refuses my arguments."}
    last: Json = {"model": model, "tools": tools, "messages": history}
    story.turn(CHAT, last, chat_answer(3, model, gave_up, "stop"))
    return story
