"""Records fixtures: requests as the official ``openai`` SDK writes them, answers of an upstream scripted here.

    python -m tests.record_openai

The upstream listens on loopback. Its answers are written by hand after the published shapes of the protocol and of its
dialects (DeepSeek's ``reasoning_content``, OpenRouter's ``reasoning_details`` and comments, Qwen's ``<think>``); what
makes the fixtures worth having is the other side: the bytes of a real client, replaying what it understood.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.record_anthropic import PIXEL, Upstream

FOLDER = Path(__file__).resolve().parent / "data" / "openai_chat"
MODEL = "gpt-5-mini"
Json = dict[str, Any]
Ask = Callable[..., Any]


def function(name: str, **properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": f"{name}, please", "parameters": schema}}


TOOLS = [
    function("read_file", path={"type": "string"}),
    function("list_dir", path={"type": "string"}, deep={"type": "boolean"}),
]
USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 40,
    "total_tokens": 160,
    "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 16, "audio_tokens": 0},
}


def call(call_id: str, name: str, arguments: str) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def whole(message: Json, reason: str, **more: Any) -> Json:
    """A whole answer."""
    return {
        "id": "chatcmpl-fixture",
        "object": "chat.completion",
        "created": 1790000000,
        "model": f"{MODEL}-2026-08-01",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "refusal": None, **message},
                "logprobs": None,
                "finish_reason": reason,
            }
        ],
        "usage": USAGE,
        "service_tier": "default",
        **more,
    }


def chunk(delta: Json | None, reason: str | None = None, **more: Any) -> bytes:
    """One block; without a delta, the chunk that brings the usage."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]
    value = {
        "id": "chatcmpl-fixture",
        "object": "chat.completion.chunk",
        "created": 1790000000,
        "model": f"{MODEL}-2026-08-01",
        "choices": choices,
        **more,
    }
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def stream(deltas: Sequence[Json], reason: str, *, comment: bytes = b"", dense: bool = False) -> bytes:
    """A healthy stream; ``dense``: the usage comes with the finish reason, as DeepSeek sends it."""
    blocks = [comment + chunk(delta) for delta in deltas]
    if dense:
        blocks.append(chunk({"content": "", "reasoning_content": None}, reason, usage=USAGE))
    else:
        blocks += [chunk({}, reason), chunk(None, usage=USAGE)]
    return b"".join((*blocks, b"data: [DONE]\n\n"))


def begun(index: int, call_id: str, name: str) -> Json:
    return {"tool_calls": [{"index": index, **call(call_id, name, "")}]}


def grown(index: int, *pieces: str) -> list[Json]:
    return [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in pieces]


def typed(key: str, *pieces: str, **more: Any) -> list[Json]:
    return [{**more, key: piece} for piece in pieces]


CALL_A = call("call_00_a1B2c3D4e5F6", "read_file", '{"path": "notes/é \\"q\\".md"}')
CALL_B = call("call_01_g7H8i9J0k1L2", "list_dir", '{"path":".","deep":true}')
CALL_DELTAS = [
    begun(0, CALL_A["id"], "read_file"),
    *grown(0, '{"pa', 'th": "notes/é', ' \\"q\\".md"', "}"),
    begun(1, CALL_B["id"], "list_dir"),
    *grown(1, '{"path":"."', ',"deep":true}'),
]
ANSWER_DELTAS = [
    {"role": "assistant", "content": "", "refusal": None},
    *typed("content", "Both ", "are “read”.\n", "東", "京"),
]
REASONED = [
    {"role": "assistant", "content": None, "reasoning_content": ""},
    *typed("reasoning_content", "Two files,", " so two", " calls: «naïve» 🗂️", content=None),
    *CALL_DELTAS,
]
DETAILED = [
    {
        "role": "assistant",
        "content": "",
        "reasoning": text,
        "reasoning_details": [{"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0}],
    }
    for text in ("Look ", "first.")
]
SIGNED = {
    "role": "assistant",
    "content": "",
    "reasoning_details": [
        {"type": "reasoning.text", "signature": "EqQBCkgIBxABGAI=", "format": "anthropic-claude-v1", "index": 0}
    ],
}
THOUGHT = [
    {"role": "assistant", "content": ""},
    *typed("content", "<thi", "nk>\nHm, ", "two.\n</th", "ink>\n\nI will ", "look."),
]
REFUSAL = {
    "error": {
        "message": "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: call_00_a1B2c3D4e5F6",
        "type": "invalid_request_error",
        "param": "messages.[2].role",
        "code": None,
    }
}
FAILED = (
    b'data: {"error": {"message": "The server had an error", "type": "server_error", "param": null, "code": null}}\n\n'
)


def loop(ask: Ask) -> None:
    """Question, two parallel calls, their results, and the answer; the client replays the message it got."""
    messages: list[Any] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Compare both, please. Ünï¢ode → ok?"},
    ]
    first = ask(messages=messages, model=MODEL, tools=TOOLS, reasoning_effort="low")
    messages.append(first.model_dump(exclude_none=True))
    messages += (
        {"role": "tool", "tool_call_id": CALL_A["id"], "content": "a\n"},
        {"role": "tool", "tool_call_id": CALL_B["id"], "content": [{"type": "text", "text": "no such directory"}]},
    )
    choice = {"type": "function", "function": {"name": "list_dir"}}
    ask(messages=messages, model=MODEL, tools=TOOLS, tool_choice=choice, parallel_tool_calls=False)


def look(ask: Ask) -> None:
    """No tools: an image by data URL, a file, and a second question."""
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}}
    file = {"type": "file", "file": {"file_id": "file-fixture"}}
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ada", "content": [{"type": "text", "text": "What is it?"}, image, file]},
    ]
    first = ask(messages=messages, model="qwen3-32b", extra_body={"enable_thinking": True}, max_tokens=512)
    messages += (first.model_dump(exclude_none=True), {"role": "user", "content": "Sure?"})
    ask(messages=messages, model="qwen3-32b", extra_body={"enable_thinking": False}, max_tokens=512)


def refused(ask: Ask) -> None:
    """An error instead of a response, or in the middle of one."""
    import openai

    unanswered = {"role": "assistant", "content": None, "tool_calls": [CALL_A]}
    question = {"role": "user", "content": "And?"}
    try:
        ask(messages=[question, unanswered, question], model=MODEL)
    except openai.APIError:
        return
    raise AssertionError("the SDK took an error for an answer")


SCENARIOS: dict[str, tuple[Callable[[Ask], None], tuple[bytes | Json, ...]]] = {
    "loop-whole": (
        loop,
        (
            whole({"content": None, "tool_calls": [CALL_A, CALL_B], "annotations": []}, "tool_calls"),
            whole({"content": "Both are read."}, "stop"),
        ),
    ),
    "loop-stream": (
        loop,
        (
            stream([{"role": "assistant", "content": None, "refusal": None}, *CALL_DELTAS], "tool_calls"),
            stream(ANSWER_DELTAS, "stop"),
        ),
    ),
    "deepseek-whole": (
        loop,
        (
            whole({"content": "", "reasoning_content": "Two calls.", "tool_calls": [CALL_A, CALL_B]}, "tool_calls"),
            whole({"content": "Both are read.", "reasoning_content": "Done."}, "stop"),
        ),
    ),
    "deepseek-stream": (
        loop,
        (
            stream(REASONED, "tool_calls", dense=True),
            stream(ANSWER_DELTAS, "stop", dense=True, comment=b": keep-alive\n\n"),
        ),
    ),
    "openrouter-stream": (
        loop,
        (
            stream([*DETAILED, SIGNED, *CALL_DELTAS], "tool_calls", comment=b": OPENROUTER PROCESSING\n\n"),
            stream(ANSWER_DELTAS, "stop"),
        ),
    ),
    "think-stream": (look, (stream(THOUGHT, "stop"), stream(ANSWER_DELTAS, "stop"))),
    "think-whole": (
        look,
        (
            whole({"content": "<think>\nA pixel.\n</think>\n\nOne pixel."}, "stop"),
            whole({"content": "Sure."}, "length", system_fingerprint="fp_1"),
        ),
    ),
    "refused-whole": (refused, (REFUSAL,)),
    "refused-stream": (refused, (b"".join(map(chunk, REASONED[:7])) + FAILED,)),
}


def record(name: str) -> None:
    import openai

    conversation, answers = SCENARIOS[name]
    upstream = Upstream(answers)
    client = openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="fixture", max_retries=0)

    def ask(**request: Any) -> Any:
        if name.endswith("whole"):
            return client.chat.completions.create(**request).choices[0].message
        with client.chat.completions.stream(**request, stream_options={"include_usage": True}) as answer:
            return answer.get_final_completion().choices[0].message

    conversation(ask)
    upstream.write(FOLDER, name)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for scenario in SCENARIOS:
        record(scenario)
