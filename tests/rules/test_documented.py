"""Exchanges of MiniMax's own API in the forms of its documentation: read, under its contract, and without a finding.

Facts: https://platform.minimax.io/docs/api-reference/text-chat-openai (examples of MiniMax-M3: tool use, stream) and
https://platform.minimax.io/docs/api-reference/text-chat-anthropic (M2.7), as of 2026-06; the texts are ours, and
so is the end mark of the stream: the documentation lists its chunks alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main

CHAT, MESSAGES = "https://api.minimax.io/v1/chat/completions", "https://api.minimax.io/anthropic/v1/messages"
SCHEMA = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Weather.", "parameters": SCHEMA}}
SENSITIVE = {
    "input_sensitive": False,
    "output_sensitive": False,
    "input_sensitive_type": 0,
    "output_sensitive_type": 0,
    "output_sensitive_int": 0,
}
DONE = {"base_resp": {"status_code": 0, "status_msg": ""}}
GO = {"role": "user", "content": "How is the weather in Rome?"}
ID = "call_function_8oodv2pmqdv2_1"
CALLS = [
    {"id": ID, "type": "function", "function": {"name": "get_weather", "arguments": '{"location": "Rome"}'}, "index": 0}
]
DETAILS = [
    {
        "type": "reasoning.text",
        "id": "reasoning-text-1",
        "format": "MiniMax-response-v1",
        "index": 0,
        "text": "A tool.",
    }
]


def chat(message: dict[str, Any], reason: str) -> dict[str, Any]:
    said = {"role": "assistant", "name": "MiniMax AI", "audio_content": "", **message}
    usage = {"total_tokens": 473, "total_characters": 0, "prompt_tokens": 418, "completion_tokens": 55}
    return {
        "id": "066b137ba0b6a0a3b5",
        "choices": [{"finish_reason": reason, "index": 0, "message": said}],
        "created": 1780211747,
        "model": "MiniMax-M3",
        "object": "chat.completion",
        "usage": {**usage, "prompt_tokens_details": {"cached_tokens": 114}},
        **SENSITIVE,
        **DONE,
    }


def chunks(*texts: str) -> str:
    made = []
    for n, text in enumerate(texts):
        delta = {"content": text, "role": "assistant", "name": "MiniMax AI", "audio_content": ""}
        finish = {"finish_reason": "stop"} if n == len(texts) - 1 else {}
        made.append(
            {
                "id": "066a34c738d29f66",
                "choices": [{**finish, "index": 0, "delta": delta}],
                "created": 1780154823,
                "model": "MiniMax-M3",
                "object": "chat.completion.chunk",
                "usage": None,
                **SENSITIVE,
            }
        )
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in made) + "data: [DONE]\n\n"


CALLED = {"content": "<think>\nA tool tells it.\n</think>\n\n", "tool_calls": CALLS}
SPLIT = {"content": "", "reasoning_content": "A tool.", "reasoning_details": DETAILS, "tool_calls": CALLS}
RESULT = {"role": "tool", "tool_call_id": ID, "content": "21 degrees"}
THOUGHT = {
    "type": "thinking",
    "thinking": "It greets.",
    "signature": "1c3a0ae890922669e9815a201f9b645abdaafe8d8b5a65a5",
}

EXCHANGES: dict[str, list[tuple[str, dict[str, Any], dict[str, Any] | str]]] = {
    "a call, and its result": [
        (CHAT, {"messages": [GO], "tools": [TOOL]}, chat(CALLED, "tool_calls")),
        (
            CHAT,
            {"messages": [GO, {"role": "assistant", **CALLED}, RESULT], "tools": [TOOL]},
            chat({"content": "<think>\nIt is 21.\n</think>\n\nIt is 21 degrees in Rome."}, "stop"),
        ),
    ],
    "thinking in fields of its own": [
        (CHAT, {"messages": [GO], "tools": [TOOL], "reasoning_split": True}, chat(SPLIT, "tool_calls")),
        (
            CHAT,
            {"messages": [GO, {"role": "assistant", **SPLIT}, RESULT], "tools": [TOOL], "reasoning_split": True},
            chat({"content": "It is 21 degrees in Rome.", "reasoning_details": DETAILS}, "stop"),
        ),
    ],
    "a stream": [
        (
            CHAT,
            {"messages": [GO], "stream": True, "thinking": {"type": "adaptive"}, "max_completion_tokens": 500},
            chunks("<think>\nThe user", " asks for it.\n</think>\nIt", " is 21."),
        )
    ],
    "messages": [
        (
            MESSAGES,
            {"messages": [GO], "max_tokens": 1000},
            {
                "id": "06379fa1dfdd9047604b8abc088ea75c",
                "type": "message",
                "role": "assistant",
                "model": "MiniMax-M2.7",
                "content": [THOUGHT, {"type": "text", "text": "Hello!"}],
                "usage": {
                    "input_tokens": 39,
                    "output_tokens": 40,
                    "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": 0,
                },
                "stop_reason": "end_turn",
                "base_resp": {"status_code": 0, "status_msg": "success"},
            },
        )
    ],
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_a_documented_exchange_has_no_finding(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "documented.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry(*each) for each in EXCHANGES[name]]}}))
    status = main(["check", str(path), "--format", "json"])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert {str(each["provider"]).partition(":")[0] for each in file["exchanges"]} == {"minimax"}
    assert (status, [f for f in file["findings"] if f["severity"] != "info"]) == (0, [])


def entry(url: str, request: dict[str, Any], response: dict[str, Any] | str) -> dict[str, Any]:
    """An exchange of a HAR file."""
    body = json.dumps({"model": "MiniMax-M3" if url == CHAT else "MiniMax-M2.7", **request})
    is_stream = isinstance(response, str)
    text, kind = (response, "text/event-stream") if is_stream else (json.dumps(response), "application/json")
    return {
        "startedDateTime": "2026-06-01T00:00:00Z",
        "request": {
            "method": "POST",
            "url": url,
            "headers": [],
            "postData": {"mimeType": "application/json", "text": body},
        },
        "response": {"status": 200, "headers": [], "content": {"mimeType": kind, "text": text}},
    }
