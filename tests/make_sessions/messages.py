"""Stories on Anthropic Messages."""

from __future__ import annotations

import json

from tests.make_sessions.story import (
    MESSAGES,
    Json,
    Story,
    messages_answer,
    messages_error,
    messages_stream,
    messages_tool,
    sse,
    words,
)
from workbench.wire.exchange import Origin

CALL_WITHOUT_RESULT = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each "
    "`tool_use` block must have a corresponding `tool_result` block in the next message."
)


def anthropic_parallel_result_lost() -> Story:
    story = Story(
        "home-made loop",
        "Two calls in one turn and one result; the title request in between has nothing to do with it.",
        "https://github.com/anthropics/claude-code/issues/5989",
    )
    tools = [messages_tool("read_file", path="string"), messages_tool("run_tests", target="string")]
    base: Json = {"model": "claude-sonnet-4-5", "max_tokens": 2048, "tools": tools}
    user = {"role": "user", "content": "Why does the parser test fail?"}
    calls = [
        {"type": "tool_use", "id": "toolu_01Parser", "name": "read_file", "input": {"path": "src/parser.py"}},
        {"type": "tool_use", "id": "toolu_01Tests", "name": "run_tests", "input": {"target": "tests/test_parser.py"}},
    ]
    said = {"type": "text", "text": "I read the parser and run its tests."}
    story.turn(MESSAGES, base | {"messages": [user]}, messages_answer(1, [said, *calls], "tool_use"))
    title: Json = {
        "model": "claude-haiku-4-5", "max_tokens": 96, "system": "Write a title of at most five words.",
        "messages": [{"role": "user", "content": "Why does the parser test fail?"}],
    }  # fmt: skip
    story.turn(
        MESSAGES, title, messages_answer(2, [{"type": "text", "text": "Failing parser test"}], "end_turn"), seconds=0.4
    )
    result = {
        "type": "tool_result",
        "tool_use_id": "toolu_01Parser",
        "content": "def parse(text):\n    return text.split()\n",
    }
    history = [user, {"role": "assistant", "content": [said, *calls]}, {"role": "user", "content": [result]}]
    refusal = CALL_WITHOUT_RESULT.format(ids="toolu_01Tests")
    story.turn(MESSAGES, base | {"messages": history}, messages_error(refusal), 400, 0.2)
    return story


THOUGHT = "I need the file before I can say anything about it.\n"
SIGNATURE = "EqQBCkYIARgCKkD1sigAq3l0Zr0m5vY2h8Jt6wXc4uB7nKpLdEoFsGiHyTqRkWzVbNxMaScDfGhJkLqWeRtYuIoP0123456789AbCdEf=="


def thinking_turn(number: int, path: str) -> tuple[bytes, list[Json]]:
    """A streamed answer with thinking and a call, and the blocks that have to come back."""
    thinking = [{"type": "thinking_delta", "thinking": w} for w in words(THOUGHT)]
    signature = {"type": "signature_delta", "signature": SIGNATURE}
    call = {"type": "tool_use", "id": f"toolu_{number:02d}", "name": "read_file", "input": {}}
    arguments = [{"type": "input_json_delta", "partial_json": p} for p in ("", '{"path": ', json.dumps(path), "}")]
    blocks = [({"type": "thinking", "thinking": "", "signature": ""}, [*thinking, signature]), (call, arguments)]
    raw = sse(messages_stream(number, "claude-opus-4-8", blocks, "tool_use"), named=True)
    return raw, [{"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE}, call | {"input": {"path": path}}]


def anthropic_thinking_trimmed() -> Story:
    story = Story(
        "agent behind a gateway",
        "A layer in between trims the trailing newline of a signed thinking block, and its signature no longer fits.",
        "https://github.com/anthropics/claude-code/issues/63418",
    )
    thinking = {"type": "adaptive", "display": "summarized"}
    base: Json = {
        "model": "claude-opus-4-8", "max_tokens": 4096, "thinking": thinking, "stream": True,
        "tools": [messages_tool("read_file", path="string")],
    }  # fmt: skip
    user = {"role": "user", "content": "What does src/main.py do?"}
    raw, blocks = thinking_turn(1, "src/main.py")
    story.turn(MESSAGES, base | {"messages": [user]}, raw, seconds=2.1)
    trimmed = [blocks[0] | {"thinking": THOUGHT.strip()}, blocks[1]]
    result = {"type": "tool_result", "tool_use_id": "toolu_01", "content": "print('hello')\n"}
    history = [user, {"role": "assistant", "content": trimmed}, {"role": "user", "content": [result]}]
    refusal = (
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified. These blocks must remain as they were in the original response."
    )
    story.turn(MESSAGES, base | {"messages": history}, messages_error(refusal), 400, 0.2)
    return story


def anthropic_tool_loop() -> Story:
    story = Story(
        "home-made loop",
        "Nothing is wrong: thinking, a call, its result and the final answer, streamed.",
        "https://docs.claude.com/en/docs/agents-and-tools/tool-use/overview",
    )
    base: Json = {
        "model": "claude-opus-4-8", "max_tokens": 4096, "thinking": {"type": "adaptive"}, "stream": True,
        "system": "You read files and answer in one sentence.", "tools": [messages_tool("read_file", path="string")],
    }  # fmt: skip
    user = {"role": "user", "content": "What does src/main.py do?"}
    raw, blocks = thinking_turn(1, "src/main.py")
    story.turn(MESSAGES, base | {"messages": [user]}, raw, seconds=2.1)
    result = {"type": "tool_result", "tool_use_id": "toolu_01", "content": "print('hello')\n"}
    history = [user, {"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}]
    deltas = [{"type": "text_delta", "text": w} for w in words("It prints “hello” — nothing else.")]
    final = messages_stream(2, "claude-opus-4-8", [({"type": "text", "text": ""}, deltas)], "end_turn")
    story.turn(MESSAGES, base | {"messages": history}, sse(final, named=True), seconds=1.3)
    return story


def anthropic_prompt_cache_broken() -> Story:
    story = Story(
        "home assistant",
        "The system prompt begins with the time: its cache is written with every request, and never read.",
        "https://github.com/goruck/home-generative-agent/issues/617",
        Origin.IMPORTED,
    )
    rooms = ("hall", "kitchen", "bath", "bedroom", "study", "attic", "cellar", "garage", "garden", "porch")
    kinds = ("light", "switch", "climate", "cover", "lock", "sensor", "media_player", "camera", "fan", "vacuum")
    devices = "".join(
        f"- {kind}.{room}: the {kind.replace('_', ' ')} of the {room}\n" for room in rooms for kind in kinds
    )
    tools = [messages_tool("turn_off", entity="string")]
    history: list[Json] = [{"role": "user", "content": "Turn the kitchen light off, and then the one of the hall."}]
    for number, room in enumerate(("kitchen", "hall", ""), start=1):
        now = (
            f"Current time is 15:09:{12 + 7 * number}. You are a voice assistant. The devices of the house:\n{devices}"
        )
        system = [{"type": "text", "text": now, "cache_control": {"type": "ephemeral"}}]
        request: Json = {"model": "claude-sonnet-4-5", "max_tokens": 512, "system": system, "tools": tools}
        call = {"type": "tool_use", "id": f"toolu_0{number}", "name": "turn_off", "input": {"entity": f"light.{room}"}}
        content: list[Json] = [call] if room else [{"type": "text", "text": "Both lights are off."}]
        answer = messages_answer(number, content, "tool_use" if room else "end_turn")
        cached = {"cache_creation_input_tokens": len(now) // 4 + 80, "cache_read_input_tokens": 0}
        usage = {"input_tokens": 20 + 90 * (number - 1), **cached, "output_tokens": 60}
        story.turn(MESSAGES, request | {"messages": list(history)}, answer | {"usage": usage})
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "done"}
        history += [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    return story


def anthropic_cancelled_call() -> Story:
    story = Story(
        "coding agent",
        "The user interrupts two running tools and types on: the calls stay in the history without results.",
        "https://github.com/anthropics/claude-code/issues/5989",
    )
    base: Json = {"model": "claude-sonnet-4-5", "max_tokens": 4096, "tools": [messages_tool("bash", command="string")]}
    user = {"role": "user", "content": "Run the slow tests of both packages."}
    calls = [
        {"type": "tool_use", "id": f"toolu_01{name.title()}", "name": "bash", "input": {"command": f"pytest {name}"}}
        for name in ("core", "web")
    ]
    said = {"type": "text", "text": "I run both suites."}
    story.turn(MESSAGES, base | {"messages": [user]}, messages_answer(1, [said, *calls], "tool_use"))
    stop = {"role": "user", "content": "[Request interrupted by user] Only core, please."}
    history = [user, {"role": "assistant", "content": [said, *calls]}, stop]
    refusal = CALL_WITHOUT_RESULT.format(ids=", ".join(c["id"] for c in calls))
    story.turn(MESSAGES, base | {"messages": history}, messages_error(refusal), 400, 0.2)
    return story


def anthropic_compaction_orphan() -> Story:
    story = Story(
        "coding agent",
        "A compaction replaces the call by a summary and keeps its result: the result answers nothing any more.",
        "https://github.com/anthropics/claude-code/issues/18947",
    )
    base: Json = {
        "model": "claude-sonnet-4-5", "max_tokens": 4096,
        "tools": [messages_tool("grep", pattern="string"), messages_tool("read_file", path="string")],
    }  # fmt: skip
    user = {"role": "user", "content": "Where is the retry limit set? Raise it to 5."}
    history: list[Json] = [user]
    steps = (
        ("grep", {"pattern": "max_retries"}, "src/client.py:14: max_retries = 3"),
        ("read_file", {"path": "src/client.py"}, "class Client:\n    max_retries = 3\n"),
    )
    for number, (name, arguments, content) in enumerate(steps, 1):
        call = {"type": "tool_use", "id": f"toolu_{number:02d}", "name": name, "input": arguments}
        story.turn(MESSAGES, base | {"messages": list(history)}, messages_answer(number, [call], "tool_use"))
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": content}
        history += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    prompt = "Summarize the conversation so far, so that the work can go on from the summary."
    summary = "The user wants the retry limit raised to 5. It is set in src/client.py, line 14."
    compact: Json = {"model": base["model"], "max_tokens": 1024, "tools": base["tools"]}
    asked = [*history, {"role": "assistant", "content": "I have the place."}, {"role": "user", "content": prompt}]
    story.turn(
        MESSAGES, compact | {"messages": asked}, messages_answer(3, [{"type": "text", "text": summary}], "end_turn")
    )
    kept = history[-1]["content"]
    assert isinstance(kept, list)
    after = [{"role": "user", "content": [{"type": "text", "text": summary}, *kept]}]
    refusal = (
        "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_02. Each `tool_result` "
        "block must have a corresponding `tool_use` block in the previous message."
    )
    story.turn(MESSAGES, base | {"messages": after}, messages_error(refusal), 400, 0.2)
    return story


def anthropic_text_before_results() -> Story:
    story = Story(
        "coding agent",
        "A hook puts a reminder in front of the tool result: the result is there, and the provider does not see it.",
        "https://github.com/QwenLM/qwen-code/issues/8161",
    )
    base: Json = {
        "model": "claude-sonnet-4-5", "max_tokens": 2048, "tools": [messages_tool("read_file", path="string")],
    }  # fmt: skip
    user = {"role": "user", "content": "Read CHANGELOG.md and tell me the last version."}
    call = {"type": "tool_use", "id": "toolu_01Change", "name": "read_file", "input": {"path": "CHANGELOG.md"}}
    story.turn(MESSAGES, base | {"messages": [user]}, messages_answer(1, [call], "tool_use"))
    reminder = {"type": "text", "text": "<system-reminder>The todo list is empty.</system-reminder>"}
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "## 2.4.1\n- fix a leak\n"}
    history = [user, {"role": "assistant", "content": [call]}, {"role": "user", "content": [reminder, result]}]
    refusal = CALL_WITHOUT_RESULT.format(ids=call["id"])
    story.turn(MESSAGES, base | {"messages": history}, messages_error(refusal), 400, 0.2)
    return story
