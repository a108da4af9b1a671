"""What we write for Cohere's second API, and what of it is read again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocols.cohere_bodies import Json
from workbench.ir import (
    ApiError,
    Carrier,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols.cohere_v2 import adapter
from workbench.wire.jsontext import dumps
from workbench.wire.sse import read_events

CALLS = tuple(ToolCallIR(f"c{n}", n, {"path": "é"}, "function", '{"path": "é"}') for n in ("f", "g"))
PLAN, THOUGHT = Reasoning(Carrier.TOOL_PLAN, "I will."), Reasoning(Carrier.THINKING_CHUNK, "two calls")
SCHEMA = {"type": "object", "properties": {}}
REQUEST = ModelRequest(
    adapter.name,
    "command-a-03-2025",
    (
        Message("user", (Text("look"), Media("image", "image/png", "AA=="))),
        Message("assistant", (PLAN, *CALLS)),
        Message("tool", (ToolResultIR("cf", (Text("r"),)), ToolResultIR("cg", (Text("r"), Text("s"))))),
        Message("assistant", (THOUGHT, Text("Done."))),
        Message("user", (Text("Thanks"),)),
    ),
    system=(Text("Be brief."),),
    tools=(ToolDef("f", "does f", SCHEMA),),
    tool_choice=ToolChoice("any"),
    stream=True,
    thinking="on",
    params={"max_tokens": 5, "top_p": 0.5, "top_k": 3, "stop": ["x"], "thinking_budget": 9, "response_json": True},
)


def wire(call: ToolCallIR) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}


def test_a_request() -> None:
    body: Any = adapter.write_request(REQUEST)
    assert body.pop("messages") == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            ],
        },
        {"role": "assistant", "tool_plan": "I will.", "tool_calls": [wire(c) for c in CALLS]},
        {"role": "tool", "tool_call_id": "cf", "content": "r"},
        {"role": "tool", "tool_call_id": "cg", "content": [{"type": "text", "text": t} for t in "rs"]},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "two calls"}, {"type": "text", "text": "Done."}],
        },
        {"role": "user", "content": "Thanks"},
    ]
    assert body == {
        "model": "command-a-03-2025",
        "tools": [{"type": "function", "function": {"name": "f", "description": "does f", "parameters": SCHEMA}}],
        "tool_choice": "REQUIRED",
        "stream": True,
        "thinking": {"type": "enabled", "token_budget": 9},
        "max_tokens": 5,
        "p": 0.5,
        "k": 3,
        "stop_sequences": ["x"],
        "response_format": {"type": "json_object"},
    }
    assert adapter.path(REQUEST) == "/v2/chat"


def test_a_request_is_read_as_it_was_meant() -> None:
    said = adapter.decode_request(dumps(adapter.write_request(REQUEST)))
    assert not said.anomalies
    assert (said.tools, said.tool_choice, said.thinking) == (REQUEST.tools, REQUEST.tool_choice, "on")
    assert {p.name: p.value for p in adapter.params(said)} == REQUEST.params
    schema = ModelRequest(adapter.name, "m", (), params={"response_schema": {"schema": SCHEMA}})
    again = adapter.decode_request(dumps(adapter.write_request(schema)))
    assert [(p.name, p.value) for p in adapter.params(again)] == [("response_schema", {"schema": SCHEMA})]


def read(body: bytes) -> ModelResponse:
    decoder = adapter.stream_decoder()
    for event in read_events(body):
        decoder.feed(event)
    return decoder.result()


ANSWERS: list[tuple[str, tuple[Part, ...], str]] = [
    ("calls", (PLAN, *CALLS), "tool_calls"),
    ("text", (THOUGHT, Text("a“b”")), "stop"),
    ("two texts", (Text("a"), Text("b")), "length"),
    ("nothing", (), "stop"),
]


@pytest.mark.parametrize(("parts", "stop"), [a[1:] for a in ANSWERS], ids=[a[0] for a in ANSWERS])
def test_answers_are_read_as_they_were_meant(parts: tuple[Part, ...], stop: str) -> None:
    meant = ModelResponse(adapter.name, "i", messages=(Message("assistant", parts),), stop=stop, usage=Usage(3, 2, 4))
    for said in (adapter.decode_response(dumps(adapter.write_response(meant))), read(adapter.write_stream(meant))):
        assert [_told(p) for p in said.messages[0].parts] == [_told(p) for p in parts]
        assert (said.id, said.stop, said.is_complete) == ("i", stop, True)
        assert said.usage and (said.usage.input, said.usage.output, said.usage.cache_read) == (3, 2, 4)
        assert not said.anomalies


def _told(part: Part) -> object:
    return (part.id, part.name, part.input, part.raw) if isinstance(part, ToolCallIR) else part


def test_errors() -> None:
    failed = ModelResponse(adapter.name, error=ApiError("no"))
    assert adapter.write_response(failed) == {"message": "no"}
    said = read(adapter.write_stream(failed))
    assert said.error == ApiError("no") and said.finish_reason == "ERROR"


def test_what_broke_off_has_no_end() -> None:
    cut = ModelResponse(adapter.name, messages=(Message("assistant", (Text("a"),)),), is_complete=False)
    said = read(adapter.write_stream(cut))
    assert not said.is_complete and said.messages[0].parts == (Text("a"),)
