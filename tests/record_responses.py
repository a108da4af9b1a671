"""Records fixtures: requests as the official ``openai`` SDK writes them, answers of an upstream scripted here.

    python -m tests.record_responses

The upstream listens on loopback. Its answers are written by hand after the published shapes of the Responses protocol;
what makes the fixtures worth having is the other side: the bytes of a real client, replaying the items it understood.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.record_anthropic import PIXEL, Upstream

FOLDER = Path(__file__).resolve().parent / "data" / "openai_responses"
MODEL = "gpt-5-mini"
Json = dict[str, Any]
Ask = Callable[..., Any]


def function(name: str, **properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function", "name": name, "description": f"{name}, please", "parameters": schema, "strict": True}


TOOLS: list[Json] = [
    function("read_file", path={"type": "string"}),
    function("list_dir", path={"type": "string"}, deep={"type": "boolean"}),
    {"type": "custom", "name": "run_sql", "description": "SQL", "format": {"type": "text"}},
    {"type": "web_search", "search_context_size": "low"},
]
USAGE = {
    "input_tokens": 120,
    "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 10},
    "output_tokens": 40,
    "output_tokens_details": {"reasoning_tokens": 16},
    "total_tokens": 160,
}


def whole(*output: Json, status: str = "completed", **more: Any) -> Json:
    """A whole answer."""
    return {
        "id": "resp_fixture",
        "object": "response",
        "created_at": 1790000000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": "Be brief.",
        "max_output_tokens": None,
        "model": f"{MODEL}-2026-08-01",
        "output": list(output),
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": "low", "summary": "detailed"},
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": USAGE,
        "metadata": {},
        **more,
    }


def message(text: str, *, item_id: str = "msg_1", **more: Any) -> Json:
    content = [{"type": "output_text", "annotations": [], "logprobs": [], "text": text}]
    return {
        "id": item_id,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": content,
        **more,
    }


def call(number: int, name: str, arguments: str) -> Json:
    return {
        "id": f"fc_{number}",
        "type": "function_call",
        "status": "completed",
        "arguments": arguments,
        "call_id": f"call_{number}a1B2",
        "name": name,
    }


def reasoning(*summary: str, content: Sequence[str] = (), **more: Any) -> Json:
    return {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": text} for text in summary],
        "content": [{"type": "reasoning_text", "text": text} for text in content],
        **more,
    }


CALL_A = call(1, "read_file", '{"path": "notes/é \\"q\\".md"}')
CALL_B = call(2, "list_dir", '{"path":".","deep":true}')
SQL = {
    "id": "ctc_1",
    "type": "custom_tool_call",
    "status": "completed",
    "call_id": "call_3sql",
    "name": "run_sql",
    "input": "SELECT 'ü'\nFROM t",
}
SEARCH = {
    "id": "ws_1",
    "type": "web_search_call",
    "status": "completed",
    "action": {"type": "search", "query": "tide tables"},
}
THOUGHT = reasoning("**Two files**\n\nso two calls: «naïve» 🗂️", "Then compare.", encrypted_content="gAAAAAdone==")
CITED = message("High water at noon.", item_id="msg_2", phase="final_answer")
CITED["content"][0]["annotations"] = [
    {"type": "url_citation", "start_index": 0, "end_index": 10, "title": "Tides", "url": "https://tides.example/"}
]


def stream(answer: Json, *, size: int = 7) -> bytes:
    """The healthy stream of an answer: every string in pieces, then in each event that gives it whole."""
    begun = answer | {"status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    events: list[Json] = [{"type": f"response.{kind}", "response": begun} for kind in ("created", "in_progress")]
    for index, item in enumerate(answer["output"]):
        events += opened(item, index, size)
    events.append({"type": f"response.{answer['status']}", "response": answer})
    return b"".join(frame({**event, "sequence_number": n}) for n, event in enumerate(events))


def frame(event: Json) -> bytes:
    data = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


TEXTS = {
    "function_call": ("arguments", "function_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
}
"""Type of an item → the key that grows, and how its events are called."""


def opened(item: Json, index: int, size: int) -> Iterator[Json]:
    """The events of one item."""
    at = {"item_id": item["id"], "output_index": index}
    shell = item | {"status": "in_progress"} if "status" in item else dict(item)
    inside: list[Json] = []
    if item["type"] in TEXTS:
        key, stem = TEXTS[item["type"]]
        shell[key] = ""
        inside = [*pieces(stem, key, item[key], size, at)]
    for key, number in (("summary", "summary_index"), ("content", "content_index")):
        if key in item:
            shell[key] = []
            inside += [e for n, part in enumerate(item[key]) for e in parts(key, part, size, at | {number: n})]
    if "encrypted_content" in item:
        shell["encrypted_content"] = "gAAAAAadded=="
    if item["type"] == "web_search_call":
        inside = [{"type": f"response.web_search_call.{s}", **at} for s in ("in_progress", "searching", "completed")]
    yield {"type": "response.output_item.added", "output_index": index, "item": shell}
    yield from inside
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def parts(key: str, part: Json, size: int, at: Json) -> Iterator[Json]:
    stem = "reasoning_summary" if key == "summary" else "content"
    kind = part["type"] if key == "content" else "reasoning_summary_text"
    empty = part | {"text": ""} | ({"annotations": []} if "annotations" in part else {})
    yield {"type": f"response.{stem}_part.added", **at, "part": empty}
    *deltas, done = pieces(kind, "text", part["text"], size, at)
    yield from deltas
    for n, annotation in enumerate(part.get("annotations", ())):
        yield {
            "type": "response.output_text.annotation.added",
            **at,
            "annotation_index": n,
            "annotation": annotation,
        }
    yield done
    yield {"type": f"response.{stem}_part.done", **at, "part": part}


def pieces(stem: str, key: str, text: str, size: int, at: Json) -> Iterator[Json]:
    logprobs: Json = {"logprobs": []} if stem == "output_text" else {}
    for start in range(0, len(text), size):
        piece = text[start : start + size]
        yield {"type": f"response.{stem}.delta", **at, "delta": piece, **logprobs, "obfuscation": "x" * (start % 5)}
    yield {"type": f"response.{stem}.done", **at, key: text, **logprobs}


REFUSAL = {
    "error": {
        "message": "No tool output found for function call call_1a1B2.",
        "type": "invalid_request_error",
        "param": "input",
        "code": None,
    }
}
FAILED = whole(
    status="failed",
    error={"code": "server_error", "message": "The server had an error"},
    usage=None,
)


def loop(ask: Ask) -> None:
    """Question, reasoning and parallel calls, their results (an image, a file), and the answer; items are replayed."""
    items: list[Any] = [
        {"role": "developer", "content": "Answer in English."},
        {"role": "user", "content": [{"type": "input_text", "text": "Compare both, please. Ünï¢ode → ok?"}]},
    ]
    common: Json = {
        "model": MODEL,
        "instructions": "Be brief.",
        "tools": TOOLS,
        "reasoning": {"effort": "low", "summary": "detailed"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
    }
    first = ask(input=items, **common)
    items += [item.model_dump(exclude_none=True) for item in first.output]
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "low"}
    file = {"type": "input_file", "file_url": "https://harbour.example/rules.pdf"}
    items += (
        {"type": "function_call_output", "call_id": CALL_A["call_id"], "output": "a\n"},
        {
            "type": "function_call_output",
            "call_id": CALL_B["call_id"],
            "output": [{"type": "input_text", "text": "see"}, image, file],
        },
        {"type": "custom_tool_call_output", "call_id": SQL["call_id"], "output": "1 row"},
    )
    ask(
        input=items,
        tool_choice={"type": "function", "name": "list_dir"},
        parallel_tool_calls=False,
        max_output_tokens=900,
        **common,
    )


def remembered(ask: Ask) -> None:
    """A text as input; then the server is trusted to remember, and the answer has to be JSON."""
    ask(input="When is high water?", model=MODEL, tools=TOOLS[3:], temperature=0.5)
    schema = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
    ask(
        input=[{"type": "item_reference", "id": "msg_0"}, {"role": "user", "content": "And tomorrow?"}],
        model=MODEL,
        previous_response_id="resp_fixture",
        text={"format": {"type": "json_schema", "name": "tide", "schema": schema, "strict": True}},
        truncation="auto",
    )


def refused(ask: Ask) -> None:
    """An error instead of a response, or at the end of a stream."""
    import openai

    unanswered = {key: CALL_A[key] for key in ("type", "call_id", "name", "arguments")}
    try:
        answer = ask(input=[unanswered, {"role": "user", "content": "And?"}], model=MODEL)
    except openai.APIError:
        return
    assert answer.status == "failed"


SCENARIOS: dict[str, tuple[Callable[[Ask], None], tuple[bytes | Json, ...]]] = {
    "loop-whole": (
        loop,
        (whole(THOUGHT, message("Look."), CALL_A, CALL_B, SQL), whole(message("Both are read."))),
    ),
    "loop-stream": (
        loop,
        (
            stream(whole(THOUGHT, message("I will “look”.\n東京", phase="commentary"), CALL_A, CALL_B, SQL)),
            stream(whole(message("Both are read."))),
        ),
    ),
    "remembered-whole": (
        remembered,
        (
            whole(SEARCH, CITED),
            whole(
                message('{"at": "no', status="incomplete"),
                status="incomplete",
                incomplete_details={"reason": "max_output_tokens"},
            ),
        ),
    ),
    "remembered-stream": (
        remembered,
        (
            stream(whole(reasoning(content=["The user asks", " twice."]), SEARCH, CITED)),
            stream(
                whole(
                    message('{"at": "no', status="incomplete"),
                    status="incomplete",
                    incomplete_details={"reason": "max_output_tokens"},
                )
            ),
        ),
    ),
    "refused-whole": (refused, (REFUSAL,)),
    "refused-stream": (refused, (stream(FAILED),)),
}


def record(name: str) -> None:
    import openai

    conversation, answers = SCENARIOS[name]
    upstream = Upstream(answers)
    client = openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="fixture", max_retries=0)

    def ask(**request: Any) -> Any:
        if name.endswith("whole"):
            return client.responses.create(**request)
        last = [*client.responses.create(**request, stream=True)][-1]
        return last.response

    conversation(ask)
    upstream.write(FOLDER, name)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for scenario in SCENARIOS:
        record(scenario)
