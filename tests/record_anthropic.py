"""Records fixtures: requests as the official ``anthropic`` SDK writes them, answers of an upstream scripted here.

    python -m tests.record_anthropic

The upstream listens on loopback. Its answers are written by hand after the published shapes of the protocol; what makes
the fixtures worth having is the other side: the bytes of a real client, replaying what it understood of the answers.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "data" / "anthropic"
MODEL = "claude-sonnet-4-6"
Json = dict[str, Any]

PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    b"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
).decode()
TOOLS: list[Json] = [
    {
        "name": "read_file",
        "description": "Read a file",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        "cache_control": {"type": "ephemeral"},
    },
    {
        "type": "custom",
        "name": "list_dir",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
]
USAGE = {"input_tokens": 412, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 7, "output_tokens": 1}


def message(content: Sequence[Json], stop_reason: str | None, **more: object) -> Json:
    return {
        "id": "msg_01fixture",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": USAGE,
        **more,
    }


def stream(blocks: Sequence[tuple[Json, Sequence[Json]]], stop_reason: str, **usage: int) -> bytes:
    """A healthy stream with everything the grammar allows: a ping inside a block, padding in the data, a comment."""
    events: list[Json] = [{"type": "message_start", "message": message([], None)}]
    for index, (start, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "ping"}] if not index else []
        events += ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 96, **usage}})
    events.append({"type": "message_stop"})
    return b": a comment\n\n" + b"".join(frame(event, pad=n % 5) for n, event in enumerate(events))


def frame(event: Json, *, pad: int = 0) -> bytes:
    data = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return f"event: {event['type']}\ndata: {data[:-1]}{' ' * pad}}}\n\n".encode()


def typed(kind: str, key: str, *pieces: str) -> list[Json]:
    return [{"type": kind, key: piece} for piece in pieces]


THINKING = (
    {"type": "thinking", "thinking": "", "signature": ""},
    [
        *typed("thinking_delta", "thinking", "Two files,", " so two", " calls: «naïve» 🗂️"),
        *typed("signature_delta", "signature", "EqQBCkgIBxABGAIiQL8xVn4R0uKeJw=="),
    ],
)
PREFACE = ({"type": "text", "text": ""}, typed("text_delta", "text", "I will ", 'look at "a"\n', "and b.\\"))
CALL_A = (
    {"type": "tool_use", "id": "toolu_01A", "name": "read_file", "input": {}},
    typed("input_json_delta", "partial_json", "", '{"pa', 'th": "notes/é', '\\u00fc \\"q\\".md"', "}"),
)
CALL_B = (
    {"type": "tool_use", "id": "toolu_01B", "name": "list_dir", "input": {}},
    typed("input_json_delta", "partial_json", ""),
)
ANSWER = ({"type": "text", "text": ""}, typed("text_delta", "text", "Both ", "are read. 東", "京"))
SEARCH: list[Json] = [
    {"type": "server_tool_use", "id": "srvtoolu_01S", "name": "web_search", "input": {"query": "tide tables"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_01S",
        "content": [
            {
                "type": "web_search_result",
                "title": "Tides",
                "url": "https://tides.example/",
                "encrypted_content": "EoMBCioIBRgCIiQ",
                "page_age": None,
            }
        ],
    },
]
CITATION = {
    "type": "web_search_result_location",
    "cited_text": "High water at noon",
    "url": "https://tides.example/",
    "title": "Tides",
    "encrypted_index": "Eo8BCioIBRgC",
}
SEARCH_STREAM = (
    ({**SEARCH[0], "input": {}}, typed("input_json_delta", "partial_json", '{"query": ', '"tide tables"}')),
    (SEARCH[1], []),
    ({"type": "text", "text": ""}, typed("text_delta", "text", "The page says: ")),
    (
        {"type": "text", "text": "", "citations": []},
        [{"type": "citations_delta", "citation": CITATION}, *typed("text_delta", "text", "high water ", "at noon")],
    ),
)
REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix"}
REFUSAL = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "messages.0: all messages must have non-empty content"},
    "request_id": "req_011fixture",
}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


class Upstream:
    """Answers one request after the other from a script, and keeps what was asked."""

    def __init__(self, answers: Sequence[bytes | Json]) -> None:
        self.left = list(answers)
        self.asked: list[bytes] = []
        self.answered: list[bytes] = []
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                upstream.asked.append(self.rfile.read(int(self.headers["content-length"])))
                answer = upstream.left.pop(0)
                body = answer if isinstance(answer, bytes) else json.dumps(answer, ensure_ascii=False).encode()
                upstream.answered.append(body)
                said = answer if isinstance(answer, dict) else {}
                is_refusal = bool(said.get("error")) or isinstance(said.get("message"), str)
                self.send_response(400 if is_refusal else 200)
                kind = "text/event-stream" if isinstance(answer, bytes) else "application/json"
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def write(self, folder: Path, name: str) -> None:
        """End, and keep what was asked and answered."""
        self.server.shutdown()
        self.server.server_close()
        assert not self.left, f"{name}: the script was not played to its end"
        for n, (request, response) in enumerate(zip(self.asked, self.answered, strict=True), 1):
            kind = "sse" if response.startswith((b"event", b"data", b":")) else "json"
            if b"}\n{" in response:
                kind = "ndjson"
            (folder / f"{name}-{n}.request.json").write_bytes(request)
            (folder / f"{name}-{n}.response.{kind}").write_bytes(response)


def results(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def loop(ask: Callable[..., Any]) -> None:
    """Question, two parallel calls, their results (an image, an error), answer, and on."""
    messages: list[Any] = [{"role": "user", "content": "Compare both, please. Ünï¢ode → ok?"}]
    common: Json = {
        "model": MODEL,
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": TOOLS,
    }
    first = ask(messages=messages, **common)
    messages.append({"role": "assistant", "content": first.content})
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    messages.append(
        results(
            {
                "type": "tool_result",
                "tool_use_id": "toolu_01A",
                "content": [{"type": "text", "text": "a\n"}, image],
                "cache_control": {"type": "ephemeral"},
            },
            {"type": "tool_result", "tool_use_id": "toolu_01B", "content": "no such directory", "is_error": True},
            {"type": "text", "text": "Go on."},
        )
    )
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    ask(messages=messages, tool_choice=choice, stop_sequences=["END"], metadata={"user_id": "u1"}, **common)


def search(ask: Callable[..., Any]) -> None:
    """A tool that the provider runs, replayed in the next turn; a document and a URL image from the user."""
    document = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "Harbour rules"},
        "title": "rules",
        "citations": {"enabled": True},
    }
    picture = {"type": "image", "source": {"type": "url", "url": "https://harbour.example/map.png"}}
    messages: list[Any] = [
        {"role": "user", "content": [document, picture, {"type": "text", "text": "When is high water?"}]}
    ]
    common: Json = {
        "model": MODEL,
        "max_tokens": 1024,
        "system": "Cite.",
        "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 2}],
    }
    first = ask(messages=messages, **common)
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": "And tomorrow?"}]
    ask(messages=messages, **common)


def refused(ask: Callable[..., Any]) -> None:
    """An error instead of a response."""
    import anthropic

    try:
        ask(model=MODEL, max_tokens=10, messages=[{"role": "user", "content": ""}], thinking={"type": "disabled"})
    except anthropic.APIError:
        return
    raise AssertionError("the SDK took an error for an answer")


SCENARIOS: dict[str, tuple[Callable[[Callable[..., Any]], None], tuple[bytes | Json, ...]]] = {
    "loop-stream": (
        loop,
        (stream((THINKING, PREFACE, CALL_A, CALL_B), "tool_use"), stream((ANSWER,), "end_turn", input_tokens=700)),
    ),
    "loop-whole": (
        loop,
        (
            message(
                [
                    REDACTED,
                    {"type": "thinking", "thinking": "", "signature": "EqQBCkgIBxABGAIiQL8xVn4R0uKeJw=="},
                    {
                        "type": "tool_use",
                        "id": "toolu_01A",
                        "name": "read_file",
                        "input": {"path": "a/b~c", "n": [1, 2.5]},
                    },
                    {"type": "tool_use", "id": "toolu_01B", "name": "list_dir", "input": {}},
                ],
                "tool_use",
            ),
            message([{"type": "text", "text": "Both are read."}], "stop_sequence", stop_sequence="END"),
        ),
    ),
    "search-stream": (search, (stream(SEARCH_STREAM, "end_turn"), stream((ANSWER,), "end_turn"))),
    "search-whole": (
        search,
        (
            message([*SEARCH, {"type": "text", "text": "At noon.", "citations": [CITATION]}], "pause_turn"),
            message([{"type": "text", "text": "The same."}], "end_turn"),
        ),
    ),
    "refused-whole": (refused, (REFUSAL,)),
    "refused-stream": (
        refused,
        (stream((ANSWER,), "end_turn").partition(b"event: content_block_stop")[0] + frame(OVERLOADED),),
    ),
}


def record(name: str) -> None:
    import anthropic

    conversation, answers = SCENARIOS[name]
    upstream = Upstream(answers)
    client = anthropic.Anthropic(base_url=upstream.url, api_key="fixture", max_retries=0)

    def ask(**request: Any) -> Any:
        if name.endswith("whole"):
            return client.messages.create(**request)
        with client.messages.stream(**request) as answer:
            return answer.get_final_message()

    conversation(ask)
    upstream.write(FOLDER, name)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for scenario in SCENARIOS:
        record(scenario)
