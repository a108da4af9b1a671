"""The clients of Responses and Ollama build what their packages build, and raise where these raise."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.protocols.clients import sdks
from workbench.protocols import traits
from workbench.protocols.clients.buffers import Policy, chunks, run
from workbench.protocols.clients.differences import policies
from workbench.protocols.clients.items import OpenAIPythonResponses
from workbench.protocols.clients.typed_clients import GoogleGenAI, OllamaPython
from workbench.wire.sse import SseEvent
from workbench.wire.stream import read_stream

CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
WORDS = {"type": "message", "id": "msg_1", "role": "assistant", "content": [], "status": "in_progress"}
BEGUN = {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}}
ADDED = {"type": "response.output_item.added", "output_index": 0, "item": {**CALL, "arguments": ""}}
DELTA = {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "fc_1", "delta": "{}"}
DONE = {"type": "response.output_item.done", "output_index": 0, "item": CALL}


def completed(*output: Any, **more: Any) -> dict[str, Any]:
    held = {"id": "r", "object": "response", "output": list(output), "tools": [], "parallel_tool_calls": True}
    return {"type": "response.completed", "response": {**held, **more}}


STREAMS: dict[str, list[dict[str, Any]]] = {
    "healthy": [BEGUN, ADDED, DELTA, DONE, completed(CALL)],
    "without deltas": [BEGUN, ADDED, DONE, completed(CALL)],
    "without the end of the item": [BEGUN, ADDED, DELTA, completed(CALL)],
    "an empty output at the end": [BEGUN, ADDED, DELTA, DONE, completed()],
    "no output at the end": [BEGUN, ADDED, DELTA, DONE, completed(output=None)],
    "an item that is not in the end": [BEGUN, ADDED, DELTA, completed()],
    "no end": [BEGUN, ADDED, DELTA, DONE],
    "no beginning": [ADDED, DELTA, DONE, completed(CALL)],
    "another response": [BEGUN, ADDED, DELTA, DONE, completed(CALL, id="q")],
    "an index twice": [BEGUN, ADDED, ADDED, DONE, completed(CALL)],
    "a delta before its item": [BEGUN, DELTA, ADDED, DONE, completed(CALL)],
    "a delta of a call for words": [BEGUN, {**ADDED, "item": WORDS}, DELTA, completed(WORDS)],
    "another item when it is done": [BEGUN, ADDED, {**DONE, "item": {**CALL, "id": "fc_2"}}, completed(CALL)],
    "an error": [BEGUN, {"type": "error", "error": {"message": "no"}}],
}


def events(body: bytes) -> tuple[SseEvent, ...]:
    return tuple(read_stream(body, "application/x-ndjson" if body.startswith(b"{") else "").events)


def built(policy: Policy, body: bytes) -> tuple[str, Any]:
    made = run(policy, chunks(events(body)))
    if made.stopped:
        return "raised", made.stopped.kind
    return "built", [(c.text("id"), c.text("name"), c.arguments()) for parts in made.messages for c in parts]


@pytest.mark.parametrize("name", STREAMS)
def test_openai_python(name: str) -> None:
    body = b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in STREAMS[name])
    assert built(OpenAIPythonResponses(), body) == sdks.openai_responses(body)


def line(message: Any, **more: Any) -> bytes:
    return json.dumps({"model": "m", "message": message, "done": False, **more}).encode() + b"\n"


def asking(**function: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}


LINES = {
    "healthy": line(asking(name="f", arguments={"a": 1})) + line({"role": "assistant", "content": "", "done": True}),
    "two calls": line(asking(name="f", arguments={})) * 2,
    "arguments as text": line(asking(name="f", arguments="{}")),
    "no arguments": line(asking(name="f")),
    "no name": line(asking(arguments={})),
    "no role": line({"content": "hi"}),
    "no message": json.dumps({"model": "m", "done": True}).encode() + b"\n",
    "an error": b'{"error": "no"}\n',
}


@pytest.mark.parametrize("name", LINES)
def test_ollama_python(name: str) -> None:
    how, what = built(OllamaPython(), LINES[name])
    if how == "built":
        what = [(function, json.loads(arguments)) for _, function, arguments in what]
    assert (how, what) == sdks.ollama(LINES[name])


def candidate(*parts: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}}]}


PIECES = [
    (candidate({"functionCall": {"name": "f", "args": {"a": 1}}}), [(None, "f", '{"a":1}')]),
    (candidate({"function_call": {"name": "f"}}), [(None, "f", "{}")]),
    (candidate({"functionCall": {"name": "f", "args": "{}"}}), "ValidationError"),
    (candidate({"functionCall": {"name": 3}}), "ValidationError"),
    ({"candidates": [{"content": {"parts": {"text": "x"}}}]}, "ValidationError"),
    ({"candidates": {"content": {}}}, "ValidationError"),
    ({"candidates": [{}, candidate({"functionCall": {"name": "f"}})["candidates"][0]]}, []),
]
"""Seen with google-genai 3.4.0, ``GenerateContentResponse._from_response`` and ``function_calls``."""


@pytest.mark.parametrize(("piece", "outcome"), PIECES)
def test_google_genai(piece: Any, outcome: Any) -> None:
    how, what = built(GoogleGenAI(), f"data: {json.dumps(piece)}\n\n".encode())
    assert (how, what) == ("raised" if isinstance(outcome, str) else "built", outcome)


@pytest.mark.parametrize("protocol", ["anthropic-messages", "openai-chat", "openai-responses", "gemini", "ollama"])
def test_every_client_says_what_it_was_written_after(protocol: str) -> None:
    assert policies(protocol) and traits(protocol).clients_build_all is (
        protocol in ("anthropic-messages", "openai-chat")
    )
    assert all(policy.name and policy.package for policy in policies(protocol))
