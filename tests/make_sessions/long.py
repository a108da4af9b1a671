"""A long healthy session: nothing is wrong with it, and nothing may be found."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import NamedTuple

from tests.make_sessions.story import (
    MESSAGES,
    Json,
    Story,
    messages_answer,
    messages_stream,
    messages_tool,
    sse,
    words,
)

MODEL = "claude-opus-4-8"


class Step(NamedTuple):
    """One turn: what the model thinks, and its calls as (tool, argument, result)."""

    thought: str
    calls: tuple[tuple[str, str, str], ...]


ARGUMENT = {"read_file": "path", "grep": "pattern", "bash": "command", "edit_file": "path"}

STEPS = (
    Step(
        "I start with the failing test.", (("bash", "pytest tests/test_cache.py", "1 failed, 11 passed: test_expiry"),)
    ),
    Step(
        "The test and what it tests.",
        (
            ("read_file", "tests/test_cache.py", "def test_expiry(clock):\n    cache = Cache(ttl=5, clock=clock)\n"),
            ("read_file", "src/cache.py", "class Cache:\n    def __init__(self, ttl, clock=time.time): ...\n"),
        ),
    ),
    Step(
        "Who else makes a cache?", (("grep", "Cache\\(", "src/app.py:31: Cache(ttl=60)\nsrc/jobs.py:9: Cache(ttl=5)"),)
    ),
    Step(
        "Both callers.",
        (
            ("read_file", "src/app.py", "cache = Cache(ttl=60)\n"),
            ("read_file", "src/jobs.py", "cache = Cache(ttl=5)\n"),
        ),
    ),
    Step(
        "Does it fail alone, and how often?", (("bash", "pytest tests/test_cache.py -k expiry --count 20", "7 failed"),)
    ),
    Step(
        "Seven of twenty: it looks at the real clock somewhere.", (("grep", "time\\.", "src/cache.py:22: time.time()"),)
    ),
    Step("Line 22 ignores the clock that was handed in.", (("edit_file", "src/cache.py", "1 line changed"),)),
    Step("Now it should hold.", (("bash", "pytest tests/test_cache.py --count 20", "240 passed"),)),
    Step("The whole suite.", (("bash", "pytest", "312 passed, 1 failed: test_jobs_retry"),)),
    Step("Is that one mine?", (("bash", "git stash; pytest -k jobs_retry; git stash pop", "1 failed"),)),
    Step(
        "It failed before. I look at it all the same.",
        (("read_file", "tests/test_jobs.py", "def test_jobs_retry(): ...\n"),),
    ),
    Step(
        "It sleeps and hopes.", (("grep", "sleep", "tests/test_jobs.py:40: sleep(0.1)\nsrc/jobs.py:55: sleep(delay)"),)
    ),
    Step("The job can take a clock too.", (("edit_file", "src/jobs.py", "4 lines changed"),)),
    Step("And the test hands one in.", (("edit_file", "tests/test_jobs.py", "6 lines changed"),)),
    Step("Both files again.", (("bash", "pytest tests/test_cache.py tests/test_jobs.py --count 20", "620 passed"),)),
    Step("Everything.", (("bash", "pytest", "313 passed"),)),
    Step(
        "Types and style.", (("bash", "mypy src", "Success: no issues"), ("bash", "ruff check", "All checks passed!"))
    ),
    Step("What did I change?", (("bash", "git diff --stat", " 3 files changed, 11 insertions(+), 7 deletions(-)"),)),
    Step("The changelog says what was fixed.", (("edit_file", "CHANGELOG.md", "2 lines changed"),)),
)

ANSWER = "The cache asked the real clock in one place; it now uses the one it is given. 313 tests pass, 20 times over."


def anthropic_long_session() -> Story:
    story = Story(
        "coding agent",
        "Nothing is wrong: twenty turns with thinking, parallel calls and, in between, two requests for a title.",
        "https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
    )
    base: Json = {
        "model": MODEL, "max_tokens": 8192, "thinking": {"type": "adaptive"}, "stream": True,
        "system": [{"type": "text", "text": "You fix tests.", "cache_control": {"type": "ephemeral"}}],
        "tools": [messages_tool(name, **{argument: "string"}) for name, argument in ARGUMENT.items()],
    }  # fmt: skip
    history: list[Json] = [{"role": "user", "content": "test_expiry fails now and then. Find out why and fix it."}]
    for number, step in enumerate(STEPS, 1):
        blocks = turn_blocks(number, step)
        story.turn(MESSAGES, base | {"messages": list(history)}, streamed(number, blocks, "tool_use"), seconds=2.0)
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": content}
            for call, (_, _, content) in zip(blocks[1:], step.calls, strict=True)
        ]
        history += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
        if number in (1, 12):
            ask_for_title(story, "Flaky cache test" if number == 1 else "Flaky cache and jobs tests")
    final = streamed(len(STEPS) + 1, [{"type": "text", "text": ANSWER}], "end_turn")
    story.turn(MESSAGES, base | {"messages": history}, final, seconds=1.6)
    return story


def ask_for_title(story: Story, title: str) -> None:
    asked = {"role": "user", "content": "A title of at most five words for: test_expiry fails now and then."}
    request: Json = {"model": "claude-haiku-4-5", "max_tokens": 96, "messages": [asked]}
    number = len(story.exchanges) + 1
    answer = messages_answer(number, [{"type": "text", "text": title}], "end_turn", "claude-haiku-4-5")
    story.turn(MESSAGES, request, answer, seconds=0.4)


def turn_blocks(number: int, step: Step) -> list[Json]:
    digest = hashlib.sha512(step.thought.encode()).digest()
    thinking = {"type": "thinking", "thinking": step.thought, "signature": base64.b64encode(digest).decode()}
    calls = [
        {"type": "tool_use", "id": f"toolu_{number:02d}{n}", "name": name, "input": {ARGUMENT[name]: value}}
        for n, (name, value, _) in enumerate(step.calls)
    ]
    return [thinking, *calls]


def streamed(number: int, blocks: list[Json], reason: str) -> bytes:
    return sse(messages_stream(number, MODEL, [started(block) for block in blocks], reason), named=True)


def started(block: Json) -> tuple[Json, list[Json]]:
    """How a block is announced, and the deltas that bring it."""
    if block["type"] == "thinking":
        deltas: list[Json] = [{"type": "thinking_delta", "thinking": w} for w in words(str(block["thinking"]))]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return block | {"thinking": "", "signature": ""}, deltas
    if block["type"] == "text":
        return block | {"text": ""}, [{"type": "text_delta", "text": w} for w in words(str(block["text"]))]
    text = json.dumps(block["input"])
    pieces = [text[i : i + 12] for i in range(0, len(text), 12)]
    return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in pieces]
