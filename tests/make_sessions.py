"""Writes the example sessions in ``sessions/``: ours, after published error texts and wire formats.

    python -m tests.make_sessions

Each tells one story; ``tests/test_examples.py`` says what ``check`` has to find in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.wire.exchange import Body, Chunk, Exchange, Headers, HttpRequest, HttpResponse, Origin
from workbench.wire.session import text

FOLDER = Path(__file__).resolve().parent.parent / "sessions"
START = 1_790_000_000.0

CHAT = "https://api.openai.com/v1/chat/completions"
DEEPSEEK = "https://api.deepseek.com/chat/completions"
MESSAGES = "https://api.anthropic.com/v1/messages"

Json = dict[str, object]


def dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def sse(events: Sequence[Json], *, named: bool = False, done: bool = False) -> bytes:
    blocks = [
        (f"event: {e['type']}\n" if named else "") + f"data: {json.dumps(e, ensure_ascii=False)}\n\n" for e in events
    ]
    return ("".join(blocks) + ("data: [DONE]\n\n" if done else "")).encode()


def arrivals(body: bytes, first: float, step: float) -> tuple[Chunk, ...]:
    ends = [n + 2 for n in range(len(body)) if body[n : n + 2] == b"\n\n"]
    return tuple(Chunk(end, round(first + step * n, 3)) for n, end in enumerate(ends))


class Story:
    """Exchanges one after another."""

    def __init__(self, client: str) -> None:
        self.client = client
        self.exchanges: list[Exchange] = []
        self.now = START

    def turn(self, url: str, request: Json, answer: Json | bytes, status: int = 200, seconds: float = 1.2) -> None:
        number = len(self.exchanges) + 1
        stream = isinstance(answer, bytes)
        raw = answer if isinstance(answer, bytes) else dump(answer)
        kind = "text/event-stream; charset=utf-8" if stream else "application/json"
        chunks = arrivals(raw, seconds / 3, 0.02) if stream else (Chunk(len(raw), seconds),)
        self.exchanges.append(
            Exchange(
                f"{number:04d}",
                HttpRequest(
                    "POST", url, Headers((("content-type", "application/json"),)), Body(dump(request)), "HTTP/1.1"
                ),
                HttpResponse(status, Headers((("content-type", kind),)), Body(raw, chunks=chunks), "", "HTTP/1.1"),
                origin=Origin.RECORDED,
                started_at=self.now,
                duration=seconds,
                client=self.client,
            )
        )
        self.now += seconds + 2

    def write(self, name: str) -> None:
        text.write(self.exchanges, FOLDER / f"{name}.jsonl")


def chat_tool(name: str, **properties: str) -> Json:
    schema = {
        "type": "object",
        "properties": {k: {"type": v} for k, v in properties.items()},
        "required": [*properties],
    }
    return {"type": "function", "function": {"name": name, "description": f"Run {name}", "parameters": schema}}


def messages_tool(name: str, **properties: str) -> Json:
    schema = {
        "type": "object",
        "properties": {k: {"type": v} for k, v in properties.items()},
        "required": [*properties],
    }
    return {"name": name, "description": f"Run {name}", "input_schema": schema}


def chat_call(call_id: str, name: str, arguments: Json) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def chat_answer(number: int, model: str, message: Json, reason: str) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "logprobs": None, "finish_reason": reason}
    usage = {"prompt_tokens": 180 + 60 * number, "completion_tokens": 40, "total_tokens": 220 + 60 * number}
    return {
        "id": f"chatcmpl-{number:08d}", "object": "chat.completion", "created": int(START) + number, "model": model,
        "choices": [choice], "usage": usage,
    }  # fmt: skip


def chunks(number: int, model: str, deltas: Sequence[Json], reason: str) -> Iterator[Json]:
    head = {"id": f"chatcmpl-{number:08d}", "object": "chat.completion.chunk", "created": int(START), "model": model}
    for delta in deltas:
        yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def words(line: str) -> list[str]:
    first, *rest = line.split(" ")
    return [first, *(f" {w}" for w in rest)]


def deepseek_reasoning_lost() -> None:
    """The client keeps the call, forgets the reasoning, and the next user turn is refused."""
    story = Story("home-made loop")
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
    story.write("deepseek-reasoning-lost")


def anthropic_parallel_result_lost() -> None:
    """Two calls in one turn, one answered; a title request runs in between and has nothing to do with it."""
    story = Story("home-made loop")
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
        "model": "claude-haiku-4-5", "max_tokens": 32, "system": "Write a title of at most five words.",
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
    refusal = (
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01Tests. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message."
    )
    story.turn(MESSAGES, base | {"messages": history}, messages_error(refusal), 400, 0.2)
    story.write("anthropic-parallel-result-lost")


def messages_answer(number: int, content: list[Json], reason: str, model: str = "claude-sonnet-4-5") -> Json:
    usage = {"input_tokens": 400 + 120 * number, "output_tokens": 70}
    return {
        "id": f"msg_{number:024d}", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": reason, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def messages_error(message: str) -> Json:
    error = {"type": "invalid_request_error", "message": message}
    return {"type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}


def messages_stream(number: int, model: str, blocks: Sequence[tuple[Json, Sequence[Json]]], reason: str) -> list[Json]:
    message = messages_answer(number, [], "", model) | {"stop_reason": None}
    events: list[Json] = [{"type": "message_start", "message": message}]
    for index, (start, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": reason, "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": end, "usage": {"output_tokens": 64}}, {"type": "message_stop"}]


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


def anthropic_thinking_trimmed() -> None:
    """A layer in between trims the trailing newline of the thinking text, and its signature no longer fits."""
    story = Story("agent behind a gateway")
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
    story.write("anthropic-thinking-trimmed")


def anthropic_tool_loop() -> None:
    """Nothing is wrong: thinking, a call, its result and the final answer, streamed."""
    story = Story("home-made loop")
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
    story.write("anthropic-tool-loop")


def openai_call_never_runs() -> None:
    """A gateway ends the turn with "stop" although it holds a call: the client shows an empty answer."""
    story = Story("SDK behind a gateway")
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
    story.write("openai-call-never-runs")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    deepseek_reasoning_lost()
    anthropic_parallel_result_lost()
    anthropic_thinking_trimmed()
    anthropic_tool_loop()
    openai_call_never_runs()


if __name__ == "__main__":
    main()
