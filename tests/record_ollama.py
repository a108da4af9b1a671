"""Records fixtures: requests as the ``ollama`` client writes them, answers of an upstream scripted here.

    python -m tests.record_ollama

The upstream listens on loopback. Its answers are written by hand after the published shapes of the API, old ones
(no ids, no index) and new ones; what makes the fixtures worth having is the other side: the bytes of a real client,
replaying what it understood.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.record_anthropic import PIXEL, Upstream
from tests.record_openai import function

FOLDER = Path(__file__).resolve().parent / "data" / "ollama"
MODEL = "qwen3:8b"
Json = dict[str, Any]
Ask = Callable[..., Any]

TOOLS = [
    function("read_file", path={"type": "string"}),
    function("list_dir", path={"type": "string"}, deep={"type": "boolean"}),
]
START = {"model": MODEL, "created_at": "2026-08-07T06:08:09.335586Z"}
COUNTS = {
    "total_duration": 1735248334,
    "load_duration": 139246000,
    "prompt_eval_count": 292,
    "prompt_eval_duration": 247164000,
    "eval_count": 143,
    "eval_duration": 1337032000,
}
CALL_A = {"id": "call_gsiiy8py", "function": {"index": 0, "name": "read_file", "arguments": {"path": 'é "q".md'}}}
CALL_B = {"id": "call_2k7ryu9k", "function": {"index": 1, "name": "list_dir", "arguments": {"path": ".", "deep": True}}}
OLD_CALLS = [
    {"function": {"name": "read_file", "arguments": {"path": "a.md"}}},
    {"function": {"name": "read_file", "arguments": {"path": "b.md"}}},
]


def whole(message: Json, reason: str = "stop", **more: Any) -> Json:
    """A whole answer."""
    ended = {"done": True, "done_reason": reason, **COUNTS}
    return {**START, "message": {"role": "assistant", **message}, **ended, **more}


def line(message: Json) -> Json:
    return {**START, "message": {"role": "assistant", "content": "", **message}, "done": False}


def typed(key: str, *pieces: str) -> list[Json]:
    return [line({key: piece}) for piece in pieces]


def stream(lines: Sequence[Json], reason: str | None = "stop") -> bytes:
    """A healthy stream; without a reason, one that an error ends."""
    last = [] if reason is None else [whole({"content": ""}, reason)]
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in (*lines, *last))


THOUGHT = typed("thinking", "Two files,", " so two", " calls: «naïve» 🗂️")
ANSWER = typed("content", "Both ", "are “read”.\n", "東", "京")
IN_TEXT = typed("content", "<thi", "nk>\nHm, ", "two.\n</th", "ink>\n\nI will ", "look.")
FAILED = {"error": "error parsing tool call: raw='{\"path\": l', err=invalid character 'l' looking for a value"}


def loop(ask: Ask) -> None:
    """Question, two parallel calls, their results, answer."""
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Compare both, please. Ünï¢ode → ok?"},
    ]
    common: Json = {"model": MODEL, "tools": TOOLS, "think": True, "options": {"temperature": 0, "num_predict": 512}}
    messages.append(ask(messages=messages, **common))
    for name, content in (("read_file", "a\n“b”"), ("list_dir", "no such directory")):
        messages.append({"role": "tool", "tool_name": name, "content": content})
    ask(messages=messages, keep_alive="5m", **common)


def look(ask: Ask) -> None:
    """Pictures, JSON of a schema, and a history with what the model thought."""
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    messages: list[Any] = [{"role": "user", "content": "What is it?", "images": [PIXEL, PIXEL]}]
    first = ask(messages=messages, model=MODEL, think="low", options={"stop": ["END"], "seed": 7, "top_k": 5})
    messages += (first, {"role": "user", "content": "Sure?"})
    ask(messages=messages, model=MODEL, format=schema, think=False)


def refused(ask: Ask) -> None:
    """An error instead of a response, or in the middle of one."""
    import ollama

    try:
        ask(messages=[{"role": "user", "content": "And?"}], model=MODEL, tools=TOOLS, options={"num_ctx": 4096})
    except ollama.ResponseError:
        return
    raise AssertionError("the client took an error for an answer")


SCENARIOS: dict[str, tuple[Callable[[Ask], None], tuple[bytes | Json, ...]]] = {
    "loop-whole": (
        loop,
        (
            whole({"content": "", "thinking": "Two calls.", "tool_calls": [CALL_A, CALL_B]}),
            whole({"content": "Both are read."}),
        ),
    ),
    "loop-stream": (
        loop,
        (
            stream([*THOUGHT, line({"tool_calls": [CALL_A]}), line({"tool_calls": [CALL_B]})]),
            stream(ANSWER),
        ),
    ),
    "old-stream": (loop, (stream([line({"tool_calls": OLD_CALLS})]), stream(ANSWER, "length"))),
    "look-whole": (
        look,
        (whole({"content": "<think>\nA pixel.\n</think>\n\nOne."}), whole({"content": '{"size": 1}'})),
    ),
    "look-stream": (look, (stream(IN_TEXT), stream(typed("content", '{"si', 'ze": 1}')))),
    "refused-whole": (refused, ({"error": f"registry.ollama.ai/library/{MODEL} does not support tools"},)),
    "refused-stream": (refused, (stream([*THOUGHT, FAILED], None),)),
}


def record(name: str) -> None:
    import ollama

    conversation, answers = SCENARIOS[name]
    upstream = Upstream(answers)
    client = ollama.Client(host=upstream.url)

    def ask(**request: Any) -> Any:
        if name.endswith("whole"):
            return client.chat(**request, stream=False).message
        said: Json = {"role": "assistant"}
        for part in client.chat(**request, stream=True):
            for key, value in part.message.model_dump(exclude_none=True).items():
                if key != "role" and value:
                    said[key] = said[key] + value if key in said else value
        return said

    conversation(ask)
    upstream.write(FOLDER, name)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for scenario in SCENARIOS:
        record(scenario)
