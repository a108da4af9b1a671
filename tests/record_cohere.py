"""Records fixtures: requests as the official ``cohere`` SDK 7.3 writes them, answers of an upstream scripted here.

    python -m tests.record_cohere

The upstream listens on loopback. Its answers are written by hand after the published shapes of the API; what makes the
fixtures worth having is the other side: the bytes of a real client, replaying what it understood. The SDK is no
dependency of the tests: it brings a tokenizer along.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.record_anthropic import PIXEL, Upstream
from tests.record_openai import function

FOLDER = Path(__file__).resolve().parent / "data" / "cohere"
MODEL = "command-a-03-2025"
Json = dict[str, Any]
Ask = Callable[..., Any]

TOOLS = [
    function("read_file", path={"type": "string"}),
    function("list_dir", path={"type": "string"}, deep={"type": "boolean"}),
]
USAGE = {
    "billed_units": {"input_tokens": 81, "output_tokens": 22},
    "tokens": {"input_tokens": 1530, "output_tokens": 33},
    "cached_tokens": 1024,
}
CITATION = {
    "start": 5,
    "end": 8,
    "text": "are",
    "sources": [{"type": "tool", "id": "read_file_a:0", "tool_output": {"content": "a"}}],
    "type": "TEXT_CONTENT",
}


def call(call_id: str, name: str, arguments: str) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


CALL_A = call("read_file_a1b2c3d4e5f6", "read_file", '{"path": "notes/é \\"q\\".md"}')
CALL_B = call("list_dir_g7h8i9j0k1l2", "list_dir", '{"path":".","deep":true}')
PLAN = "I will read “both”: 🗂️."


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def thinking(value: str) -> Json:
    return {"type": "thinking", "thinking": value}


def whole(reason: str, **message: Any) -> Json:
    """A whole answer."""
    said = {"role": "assistant", **message}
    return {"id": "c14c80c3-18eb-4519-9460-6c92edd8cfb4", "message": said, "finish_reason": reason, "usage": USAGE}


def event(kind: str, message: Json | None = None, **more: Any) -> Json:
    return {"type": kind, **more, **({} if message is None else {"delta": {"message": message}})}


def planned(*pieces: str) -> Iterator[Json]:
    return (event("tool-plan-delta", {"tool_plan": piece}) for piece in pieces)


def grown(index: int, made: Json, size: int = 7) -> Iterator[Json]:
    function, arguments = made["function"], made["function"]["arguments"]
    yield event("tool-call-start", {"tool_calls": {**made, "function": {**function, "arguments": ""}}}, index=index)
    for n in range(0, len(arguments), size):
        delta = {"tool_calls": {"function": {"arguments": arguments[n : n + size]}}}
        yield event("tool-call-delta", delta, index=index)
    yield event("tool-call-end", index=index)


def said(index: int, kind: str, *pieces: str) -> Iterator[Json]:
    yield event("content-start", {"content": {"type": kind, kind: ""}}, index=index)
    yield from (event("content-delta", {"content": {kind: piece}}, index=index) for piece in pieces)
    yield event("content-end", index=index)


def cited(index: int, citation: Json) -> Iterator[Json]:
    yield event("citation-start", {"citations": citation}, index=index)
    yield event("citation-end", index=index)


def stream(events: Sequence[Json], reason: str, **more: Any) -> bytes:
    """A healthy stream."""
    start = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    first = event("message-start", start, id="29f14a5a-11de-4cae-9800-25e4747408ea")
    last = {"type": "message-end", "delta": {"finish_reason": reason, "usage": USAGE, **more}}
    blocks = (
        b"event: %s\ndata: %s\n\n" % (e["type"].encode(), json.dumps(e, ensure_ascii=False).encode())
        for e in (first, *events, last)
    )
    return b"".join((*blocks, b"data: [DONE]\n\n"))


def loop(ask: Ask) -> None:
    """Question, two parallel calls, their results (a document, a text), answer, and on."""
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Compare both, please. Ünï¢ode → ok?"},
    ]
    common: Json = {"model": MODEL, "tools": TOOLS, "max_tokens": 512, "p": 0.9, "k": 5}
    messages.append(ask(messages=messages, tool_choice="REQUIRED", **common))
    document = {"type": "document", "document": {"id": "d1", "data": json.dumps({"text": "a\n“b”"})}}
    messages.append({"role": "tool", "tool_call_id": CALL_A["id"], "content": [document, text("2 lines")]})
    messages.append({"role": "tool", "tool_call_id": CALL_B["id"], "content": "no such directory"})
    messages.append(
        ask(messages=messages, strict_tools=True, thinking={"type": "enabled", "token_budget": 64}, **common)
    )
    messages.append({"role": "user", "content": "Thanks"})
    ask(messages=messages, stop_sequences=["END"], thinking={"type": "disabled"}, **common)


def look(ask: Ask) -> None:
    """A picture, and JSON of a schema."""
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}}
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    form = {"type": "json_object", "json_schema": schema}
    messages = [{"role": "user", "content": [text("What is it?"), picture]}]
    ask(messages=messages, model="command-a-vision-07-2025", response_format=form, seed=7, safety_mode="OFF")


def refused(ask: Ask) -> None:
    """An error instead of a response."""
    from cohere.core.api_error import ApiError

    question, unanswered = {"role": "user", "content": "And?"}, {"role": "assistant", "tool_calls": [CALL_A]}
    try:
        ask(messages=[question, unanswered, question], model=MODEL, citation_options={"mode": "FAST"})
    except ApiError:
        return
    raise AssertionError("the SDK took an error for an answer")


ANSWER = ("Both ", "are “read”.\n", "東", "京")
SCENARIOS: dict[str, tuple[Callable[[Ask], None], tuple[bytes | Json, ...]]] = {
    "loop-whole": (
        loop,
        (
            whole("TOOL_CALL", tool_plan=PLAN, tool_calls=[CALL_A, CALL_B]),
            whole("COMPLETE", content=[thinking("Done."), text("Both are read.")], citations=[CITATION]),
            whole("MAX_TOKENS", content=[text("Not at")]),
        ),
    ),
    "loop-stream": (
        loop,
        (
            stream([*planned("I will", " read “both”", ": 🗂️."), *grown(0, CALL_A), *grown(1, CALL_B)], "TOOL_CALL"),
            stream(
                [*said(0, "thinking", "Do", "ne."), *said(1, "text", *ANSWER), *cited(0, CITATION)],
                "COMPLETE",
            ),
            stream([*said(0, "text", "Not", " at")], "ERROR", error="internal: «out of memory»"),
        ),
    ),
    "look-whole": (look, (whole("COMPLETE", content=[text('{"size": 1}')], logprobs=None),)),
    "refused-whole": (refused, ({"id": "f1", "message": "invalid request: tool calls must be answered"},)),
}


def add_up(events: Iterator[Any]) -> Json:
    """The message that the SDK's events add up to; it does not do so itself."""
    made: Json = {"role": "assistant", "content": [], "tool_calls": []}
    for found in events:
        message = found.delta.message if getattr(found, "delta", None) and found.type != "message-end" else None
        if found.type == "tool-plan-delta":
            made["tool_plan"] = made.get("tool_plan", "") + message.tool_plan
        elif found.type == "content-start":
            made["content"].append(message.content.model_dump(exclude_none=True))
        elif found.type == "content-delta":
            for key, piece in message.content.model_dump(exclude_none=True).items():
                made["content"][-1][key] += piece
        elif found.type == "tool-call-start":
            made["tool_calls"].append(message.tool_calls.model_dump(exclude_none=True))
        elif found.type == "tool-call-delta":
            made["tool_calls"][-1]["function"]["arguments"] += message.tool_calls.function.arguments
    return {key: value for key, value in made.items() if value}


def record(name: str) -> None:
    import cohere

    conversation, answers = SCENARIOS[name]
    upstream = Upstream(answers)
    client = cohere.ClientV2(api_key="fixture", base_url=upstream.url)

    def ask(**request: Any) -> Any:
        if name.endswith("whole"):
            return client.chat(**request).message
        return add_up(client.chat_stream(**request))

    conversation(ask)
    upstream.write(FOLDER, name)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for scenario in SCENARIOS:
        record(scenario)
