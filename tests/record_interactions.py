"""Records fixtures: requests as the official ``google-genai`` SDK writes them, answers of an upstream scripted here.

    python -m tests.record_interactions

As ``tests.record_gemini``: the answers are written by hand after the published types of the Interactions API, and the
order and keys of recorded streams; the requests are the bytes of the SDK, which brings the steps of the answers back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.record_anthropic import PIXEL, Json, Upstream

FOLDER = Path(__file__).resolve().parent / "data" / "gemini_interactions"
MODEL = "gemini-3-flash-preview"
SIGNATURE = "EqQBCkgIBxABGAIiQL8xVn4R0uKeJw=="
FIRST, SECOND = "v1_Zmlyc3QtZml4dHVyZQ", "v1_c2Vjb25kLWZpeHR1cmU"
COUNTS = {
    "total_tokens": 508,
    "total_input_tokens": 412,
    "input_tokens_by_modality": [{"modality": "text", "tokens": 412}],
    "total_cached_tokens": 30,
    "total_output_tokens": 17,
    "total_tool_use_tokens": 0,
    "total_thought_tokens": 79,
}
READ = {
    "type": "function",
    "name": "read_file",
    "description": "Read a file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
LIST = {"type": "function", "name": "list_dir", "parameters": {"type": "object", "properties": {}}}
ASKED = {"type": "user_input", "content": [{"type": "text", "text": "Compare both, please. Ünï¢ode → ok?"}]}
THOUGHT = {
    "type": "thought",
    "signature": SIGNATURE,
    "summary": [{"type": "text", "text": "**Two files**\n\n"}, {"type": "text", "text": "so two calls: «naïve» 🗂️"}],
}
CALL_A = {
    "type": "function_call",
    "id": "61nzpsv4",
    "name": "read_file",
    "arguments": {"path": 'notes/éü "q".md', "a/b~c": [1, 2.5]},
}
CALL_B = {"type": "function_call", "id": "brynwdxm", "name": "list_dir", "arguments": {}}
PICTURE = {"type": "image", "data": PIXEL, "mime_type": "image/png"}
RESULT_A = {
    "type": "function_result",
    "call_id": "61nzpsv4",
    "name": "read_file",
    "result": [{"type": "text", "text": "a\n"}, PICTURE],
}
RESULT_B = {"type": "function_result", "call_id": "brynwdxm", "name": "list_dir", "result": "no", "is_error": True}
SEARCH = [
    {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["tide tables"]}, "signature": SIGNATURE},
    {"type": "google_search_result", "call_id": "s1", "result": [{"search_suggestions": "<b>tides</b>"}]},
    {"type": "code_execution_call", "id": "c1", "arguments": {"language": "python", "code": "print(6 * 7)\n"}},
    {"type": "code_execution_result", "call_id": "c1", "result": "42\n"},
]
CITED = {"type": "url_citation", "url": "https://tides.example/", "title": "Tides", "start_index": 0, "end_index": 8}
REFUSAL = {"error": {"message": "The value for 'model' is not supported.", "code": "invalid_request"}}


def said(*texts: str, **more: Any) -> Json:
    """A step of output."""
    return {"type": "model_output", "content": [{"type": "text", "text": text, **more} for text in texts]}


def answer(id: str, status: str, *steps: Json) -> Json:
    return {**about(id, status), "usage": COUNTS, "steps": list(steps)}


def about(id: str, status: str) -> Json:
    dates = {"created": "2026-11-02T10:00:00Z", "updated": "2026-11-02T10:00:01Z", "service_tier": "standard"}
    return {"id": id, "status": status, **dates, "object": "interaction", "model": MODEL}


def stream(id: str, status: str, *steps: tuple[Json, Iterable[Json]], **more: Any) -> bytes:
    """A healthy stream: steps with their deltas."""
    begun = {"id": id, "status": "in_progress", "object": "interaction", "model": MODEL}
    events: list[Json] = [
        {"interaction": begun, "event_type": "interaction.created"},
        {"interaction_id": id, "status": "in_progress", "event_type": "interaction.status_update"},
    ]
    for index, (step, deltas) in enumerate(steps):
        events.append({"index": index, "step": step, "event_type": "step.start"})
        events += ({"index": index, "delta": delta, "event_type": "step.delta"} for delta in deltas)
        events.append({"index": index, "event_type": "step.stop"})
    done = {**about(id, status), "usage": COUNTS, **more}
    events.append({"interaction": done, "event_type": "interaction.completed"})
    return b"".join(map(frame, events)) + b"event: done\ndata: [DONE]\n\n"


def frame(event: Json) -> bytes:
    data = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    return b"event: %s\ndata: %s\n\n" % (event["event_type"].encode(), data)


def text(*pieces: str) -> list[Json]:
    return [{"text": piece, "type": "text"} for piece in pieces]


def arguments(*pieces: str) -> list[Json]:
    return [{"arguments": piece, "type": "arguments_delta"} for piece in pieces]


def summary(*pieces: str) -> list[Json]:
    return [{"content": {"text": piece, "type": "text"}, "type": "thought_summary"} for piece in pieces]


THOUGHT_STREAM = (
    {"type": "thought"},
    [*summary("**Two files**\n\n", "so two calls: «naïve» 🗂️"), {"signature": SIGNATURE, "type": "thought_signature"}],
)
CALLS_STREAM = (
    ({**CALL_A, "arguments": {}, "signature": ""}, arguments('{"path":"notes/éü \\"q\\".md","a', '/b~c":[1,', "2.5]}")),
    ({**CALL_B, "signature": ""}, ()),
)


def loop(ask: Callable[..., Any]) -> None:
    """Question, two parallel calls, their results (a picture, an error), answer: the client keeps the history."""
    history: list[Any] = [ASKED]
    common: Json = {
        "system_instruction": "Be brief.",
        "tools": [READ, LIST],
        "store": False,
        "generation_config": {"thinking_level": "low", "thinking_summaries": "auto"},
    }
    history += ask(history, **common).steps
    history += [RESULT_A, RESULT_B]
    chosen = {"allowed_tools": {"mode": "any", "tools": ["read_file"]}}
    more = {"tool_choice": chosen, "stop_sequences": ["END"], "temperature": 0.5, "max_output_tokens": 4096}
    ask(history, **common | {"generation_config": more})


def remembered(ask: Callable[..., Any]) -> None:
    """The server keeps the conversation: the second request names it."""
    first = ask("When is high water?", tools=[LIST, {"type": "google_search"}])
    form = {"type": "text", "mime_type": "application/json", "schema": {"type": "object", "properties": {}}}
    result = {**RESULT_B, "result": {"tides": [{"at": "12:04", "metres": 3.1}]}, "is_error": False}
    ask([result], previous_interaction_id=first.id, tools=[LIST], response_format=form, background=False)


def server(ask: Callable[..., Any]) -> None:
    """Tools that the provider runs, replayed in the next turn; a question with a film."""
    film = {"type": "video", "uri": "https://harbour.example/map.mp4", "mime_type": "video/mp4"}
    asked = [film, {"type": "text", "text": "When is high water?"}]
    tools = [{"type": "google_search"}, {"type": "code_execution"}]
    first = ask(asked, tools=tools)
    history = [{"type": "user_input", "content": asked}, *first.steps, ASKED]
    ask(history, tools=tools, generation_config={"tool_choice": "validated"})


def refused(ask: Callable[..., Any]) -> None:
    """An error instead of a response."""
    from google.genai._interactions import APIStatusError

    try:
        ask("?", generation_config={"thinking_level": "high"})
    except (APIStatusError, Failed):
        return
    raise AssertionError("the SDK took an error for an answer")


AT_NOON = said("At noon.", annotations=[CITED])
SCENARIOS: dict[str, tuple[Callable[[Callable[..., Any]], None], tuple[bytes | Json, ...]]] = {
    "loop-whole": (
        loop,
        (
            answer(FIRST, "requires_action", THOUGHT, CALL_A, CALL_B),
            answer(SECOND, "incomplete", {"type": "thought", "signature": SIGNATURE}, said("Both are read.")),
        ),
    ),
    "loop-stream": (
        loop,
        (
            stream(FIRST, "requires_action", THOUGHT_STREAM, ({"type": "model_output"}, text("I look")), *CALLS_STREAM),
            stream(SECOND, "completed", ({"type": "model_output"}, text("Both ", "are read. 東", "京"))),
        ),
    ),
    "remembered-whole": (
        remembered,
        (
            answer(FIRST, "requires_action", {"type": "thought", "signature": SIGNATURE}, CALL_B),
            answer(SECOND, "completed", said('{"at": "12:04"}')),
        ),
    ),
    "server-whole": (
        server,
        (answer(FIRST, "completed", *SEARCH, AT_NOON), answer(SECOND, "completed", said("The same."))),
    ),
    "server-stream": (
        server,
        (
            stream(
                FIRST,
                "completed",
                ({**SEARCH[0], "arguments": {}}, [{"arguments": SEARCH[0]["arguments"], "type": "google_search_call"}]),
                (SEARCH[1], ()),
                (
                    {"type": "model_output"},
                    [*text("At ", "noon."), {"type": "text_annotation_delta", "annotations": [CITED]}, PICTURE],
                ),
            ),
            stream(SECOND, "completed", ({"type": "model_output"}, text("The same.")), steps=[said("The same.")]),
        ),
    ),
    "refused-whole": (refused, (REFUSAL,)),
    "refused-stream": (
        refused,
        (
            frame({"interaction": {**about(FIRST, "in_progress")}, "event_type": "interaction.created"})
            + frame({"error": {"code": "unavailable", "message": "The model is overloaded."}, "event_type": "error"}),
        ),
    ),
}


class Failed(Exception):
    """An error event."""


class Kept:
    """What an application keeps of a stream: its id and its steps, put together."""

    def __init__(self, events: Iterable[Any]) -> None:
        self.id = ""
        self.steps: list[Any] = []
        for event in events:
            value = event.model_dump(mode="json", exclude_none=True)
            match value["event_type"]:
                case "interaction.completed":
                    self.id = value["interaction"]["id"]
                case "error":
                    raise Failed(value)
                case "step.start":
                    self.steps.append(value["step"])
                case "step.delta":
                    _grow(self.steps[-1], value["delta"])
        for step in self.steps:
            if isinstance(step.get("arguments"), str):
                step["arguments"] = json.loads(step["arguments"])


def _grow(step: Json, delta: Json) -> None:
    match delta["type"]:
        case "text":
            held = step.setdefault("content", [{"type": "text", "text": ""}])
            held[-1]["text"] += delta["text"]
        case "arguments_delta":
            step["arguments"] = (step["arguments"] or "") + delta["arguments"]
        case "thought_summary":
            step.setdefault("summary", []).append(delta["content"])
        case "thought_signature":
            step["signature"] = delta["signature"]
        case "image":
            step["content"].append(delta)
        case "google_search_call":
            step["arguments"] = delta["arguments"]


def record(name: str) -> None:
    from google import genai

    conversation, answers = SCENARIOS[name]
    upstream = Upstream(answers)
    sdk = genai.Client(api_key="fixture", http_options={"base_url": upstream.url, "retry_options": {"attempts": 1}})

    def ask(said: Any, **more: Any) -> Any:
        made: Any = sdk.interactions.create(model=MODEL, input=said, stream=name.endswith("stream"), **more)
        return Kept(made) if name.endswith("stream") else made

    conversation(ask)
    upstream.write(FOLDER, name)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for scenario in SCENARIOS:
        record(scenario)
