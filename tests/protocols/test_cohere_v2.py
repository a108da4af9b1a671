"""Cohere's second API: requests and whole answers, ours to read and, leaf by leaf, to edit."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.protocols import cohere_bodies as bodies
from tests.protocols import laws
from tests.protocols.cohere_bodies import Json, dump
from workbench.errors import LocalProtocolError, ProtocolMismatch, WireError
from workbench.formats.importers import open_input
from workbench.ir import (
    Carrier,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols import Param, UrlFacts
from workbench.protocols.cohere_v2 import adapter
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.openai_chat import adapter as chat
from workbench.wire.session import exchanges_of

NAME = adapter.name
FIXTURES = Path(__file__).resolve().parent.parent / "data" / "cohere"


def request(*messages: Any, **more: Any) -> ModelRequest:
    return adapter.decode_request(dump({"model": "m", "messages": list(messages), **more}))


def answer(message: Any, reason: str | None = "COMPLETE", **more: Any) -> ModelResponse:
    return adapter.decode_response(dump({"id": "i", "message": message, "finish_reason": reason, **more}))


def call(call_id: str, name: str, arguments: str) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


MADE = ToolCallIR("c", "f", {"a": 1}, "openai", '{"a": 1}')
CALL = call("c", "f", '{"a": 1}')

MESSAGES: list[tuple[str, Json, tuple[Part, ...]]] = [
    ("text", {"role": "user", "content": "a"}, (Text("a"),)),
    (
        "a picture",
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            ],
        },
        (Text("a"), Media("image", "image/png", url="data:image/png;base64,AA==")),
    ),
    (
        "a plan and a call",
        {"role": "assistant", "tool_plan": "p", "tool_calls": [CALL]},
        (Reasoning(Carrier.TOOL_PLAN, "p"), MADE),
    ),
    (
        "thinking",
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "r"}, {"type": "text", "text": "a"}]},
        (Reasoning(Carrier.THINKING_CHUNK, "r"), Text("a")),
    ),
    (
        "results of both kinds",
        {
            "role": "tool",
            "tool_call_id": "c",
            "content": [
                {"type": "document", "document": {"id": "d", "data": "r"}},
                {"type": "document", "document": {"data": {"x": 1}}},
                {"type": "text", "text": "s"},
            ],
        },
        (
            ToolResultIR(
                "c",
                (
                    Text("r", {"type": "document", "document": {"id": "d"}}),
                    Opaque("document", {"type": "document", "document": {"data": {"x": 1}}}),
                    Text("s"),
                ),
            ),
        ),
    ),
    ("a result", {"role": "tool", "tool_call_id": "c", "content": "r"}, (ToolResultIR("c", (Text("r"),)),)),
]


@pytest.mark.parametrize(("value", "parts"), [m[1:] for m in MESSAGES], ids=[m[0] for m in MESSAGES])
def test_messages(value: Json, parts: tuple[Part, ...]) -> None:
    said = request(value)
    assert said.messages == (Message(value["role"], parts),)
    assert not said.anomalies
    laws.check(dump({"messages": [value]}), REQUEST, NAME)


def test_citations_are_kept() -> None:
    citations = [{"start": 0, "end": 1, "text": "a", "sources": []}]
    said = request({"role": "assistant", "content": "a", "citations": citations})
    assert said.messages[0].extra == {"citations": citations}


# -- requests


@pytest.mark.parametrize(
    ("choice", "found"),
    [("REQUIRED", ToolChoice("any")), ("NONE", ToolChoice("none")), (None, None), ("auto", ToolChoice("other"))],
)
def test_tool_choice(choice: Any, found: ToolChoice | None) -> None:
    said = request(tool_choice=choice)
    assert said.tool_choice == found
    assert [a.slug for a in said.anomalies] == (["choice.unsupported"] if choice == "auto" else [])


@pytest.mark.parametrize(
    ("thinking", "found"),
    [({"type": "enabled"}, "on"), ({"type": "disabled"}, "off"), ({"type": "x"}, "x"), ({}, None), ("on", None)],
)
def test_thinking(thinking: Any, found: str | None) -> None:
    assert request(thinking=thinking).thinking == found


TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}


def test_strict_counts_for_every_tool() -> None:
    body = dump({"messages": [], "tools": [TOOL, TOOL], "strict_tools": True})
    said = adapter.decode_request(body)
    assert said.tools == (ToolDef("f", None, {}, strict=True),) * 2
    assert adapter.params(said) == ()
    renamed = replace(said, tools=(replace(said.tools[0], name="g"), said.tools[1]))
    assert adapter.encode_request(renamed, body) == body.replace(b'"f"', b'"g"', 1)
    with pytest.raises(LocalProtocolError):
        adapter.encode_request(replace(said, tools=tuple(replace(t, strict=None) for t in said.tools)), body)


PARAMS: list[tuple[Json, list[Param]]] = [
    ({"p": 0.5, "k": 3}, [Param("/p", 0.5, "top_p"), Param("/k", 3, "top_k")]),
    ({"stop_sequences": ["x"]}, [Param("/stop_sequences", ["x"], "stop")]),
    (
        {"thinking": {"type": "enabled", "token_budget": 5}},
        [Param("/thinking/token_budget", 5, "thinking_budget")],
    ),
    ({"thinking": {"type": "x"}}, [Param("/thinking/type", "x")]),
    ({"response_format": {"type": "json_object"}}, [Param("/response_format", True, "response_json")]),
    (
        {"response_format": {"type": "json_object", "json_schema": {"a": 1}}},
        [Param("/response_format/json_schema", {"schema": {"a": 1}}, "response_schema")],
    ),
    (
        {"response_format": {"type": "json_object", "schema": {"a": 1}}},
        [Param("/response_format/schema", {"schema": {"a": 1}}, "response_schema")],
    ),
    ({"response_format": {"type": "text"}}, [Param("/response_format", {"type": "text"})]),
    ({"strict_tools": False, "safety_mode": "OFF"}, [Param("/strict_tools", False), Param("/safety_mode", "OFF")]),
]


@pytest.mark.parametrize(("body", "params"), PARAMS, ids=[str(p[0]) for p in PARAMS])
def test_params(body: Json, params: list[Param]) -> None:
    found = adapter.params(request(**body))
    assert list(found) == params
    assert {p.name for p in found if p.name} <= adapter.capabilities.request.params


def test_no_request() -> None:
    for body in (b"[]", b'{"message": "x"}'):
        with pytest.raises(ProtocolMismatch):
            adapter.decode_request(body)
    with pytest.raises(WireError):
        adapter.decode_request(b"{")


# -- answers


def test_an_answer() -> None:
    usage = {"tokens": {"input_tokens": 9.0, "output_tokens": 2}, "billed_units": {}, "cached_tokens": 4}
    said = answer({"role": "assistant", "content": [{"type": "text", "text": "a"}]}, usage=usage, logprobs=[])
    assert said.messages == (Message("assistant", (Text("a"),)),)
    assert (said.id, said.finish_reason, said.stop) == ("i", "COMPLETE", "stop")
    assert said.usage == Usage(5, 2, cache_read=4, raw=usage)
    assert said.params == {"logprobs": []}
    assert not said.anomalies


STOPS: list[tuple[str | None, list[Json], str | None, list[str]]] = [
    ("COMPLETE", [], "stop", []),
    ("STOP_SEQUENCE", [], "stop", []),
    ("MAX_TOKENS", [CALL], "length", []),
    ("TOOL_CALL", [CALL], "tool_calls", []),
    ("ERROR", [], "other", []),
    ("TIMEOUT", [], "other", []),
    (None, [], None, []),
    ("COMPLETE", [CALL], "stop", ["stream.finish-reason"]),
    ("TOOL_CALL", [], "tool_calls", ["stream.finish-reason"]),
]


@pytest.mark.parametrize(("reason", "calls", "stop", "noted"), STOPS)
def test_stop_reasons(reason: str | None, calls: list[Json], stop: str | None, noted: list[str]) -> None:
    said = answer({"role": "assistant", "tool_calls": calls}, reason)
    assert (said.finish_reason, said.stop) == (reason, stop)
    assert [a.slug for a in said.anomalies] == noted


@pytest.mark.parametrize("body", [{"id": "i", "message": "no"}, {"message": "no"}, {"error": {"message": "no"}}])
def test_errors(body: Json) -> None:
    said = adapter.decode_response(dump(body), status=400)
    assert said.error and said.error.message == "no"
    assert said.messages == ()


def test_no_answer() -> None:
    with pytest.raises(ProtocolMismatch):
        adapter.decode_response(b'{"choices": []}')
    with pytest.raises(WireError):
        adapter.decode_response(b"<html>")
    assert adapter.decode_response(b"<title>no</title>", status=502).error


# -- claims


CLAIMED: list[Json] = [
    {"messages": [], "tools": [TOOL], "tool_choice": "REQUIRED"},
    {"messages": [{"role": "assistant", "tool_plan": "p", "tool_calls": [CALL]}], "tools": [TOOL]},
    {"messages": [], "tools": [TOOL], "p": 0.5},
    {"messages": [], "tools": [TOOL], "model": "command-r7b-12-2024", "stream": False},
    {"messages": [{"role": "user", "content": "a"}], "model": "command-a-03-2025"},
]
LEFT: list[Json] = [
    {"messages": [], "tools": [TOOL], "tool_choice": "auto", "model": "command-r"},
    {"messages": [], "tools": [TOOL], "parallel_tool_calls": True, "model": "command-r"},
    {"messages": [], "tools": [TOOL], "model": "gpt-5"},
    {"messages": [{"role": "user", "content": "a"}]},
]


@pytest.mark.parametrize("body", CLAIMED, ids=str)
def test_requests_are_claimed(body: Json) -> None:
    assert adapter.claims_request(body) > chat.claims_request(body)


@pytest.mark.parametrize("body", LEFT, ids=str)
def test_requests_of_others_are_left(body: Json) -> None:
    assert adapter.claims_request(body) < chat.claims_request(body)


@pytest.mark.parametrize(
    ("url", "claimed"),
    [
        ("https://api.cohere.com/v2/chat", True),
        ("http://127.0.0.1:8000/cohere/v2/chat?x", True),
        ("https://api.cohere.com/v1/chat", False),
        ("https://api.cohere.ai/compatibility/v1/chat/completions", False),
        ("http://h/v2/chat/completions", False),
    ],
)
def test_urls(url: str, claimed: bool) -> None:
    assert adapter.claims_url(url) is claimed
    assert adapter.read_url(url) == UrlFacts()


# -- edits


def test_a_choice_is_edited_where_it_stands() -> None:
    body = dump({"messages": [], "tool_choice": "REQUIRED"})
    said = adapter.decode_request(body)
    edited = replace(said, tool_choice=ToolChoice("none"))
    assert adapter.encode_request(edited, body) == body.replace(b"REQUIRED", b"NONE")
    with pytest.raises(LocalProtocolError):
        adapter.encode_request(replace(said, tool_choice=ToolChoice("tool", "f")), body)
    with pytest.raises(LocalProtocolError):
        adapter.encode_request(replace(said, stream=True), body)


# -- real traffic, anything at all


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda p: p.name)
def test_fixtures_obey_the_laws(path: Path) -> None:
    laws.check(path.read_bytes(), REQUEST if ".request." in path.name else RESPONSE, NAME)


@pytest.mark.parametrize("name", ["loop-whole", "loop-stream"])
def test_what_the_sdk_replays_is_what_came(name: str) -> None:
    """The later requests of a fixture hold the answers, as the real SDK understood them."""
    last = adapter.decode_request((FIXTURES / f"{name}-3.request.json").read_bytes())
    replayed = [m for m in last.messages if m.role == "assistant"]
    for n, said in enumerate(replayed, 1):
        came = laws.decode(next(FIXTURES.glob(f"{name}-{n}.response.*")).read_bytes(), RESPONSE, NAME).response
        assert came and not came.anomalies
        assert said.parts == came.messages[0].parts
    assert len(replayed) == 2


def recorded(recordings: Path) -> Iterator[tuple[str, DecodedExchange]]:
    with (recordings / "index.tsv").open() as index:
        names = [row["file"] for row in csv.DictReader(index, delimiter="\t") if row["protocol"] == NAME]
    for name in names:
        session = open_input(str(recordings / name))
        yield from ((name, DecodedExchange(n, exchange)) for n, exchange in enumerate(exchanges_of(session)))
        session.close()


def test_recordings(recordings: Path) -> None:
    """Every body decodes without a doubt, and its leaves obey the laws."""
    seen = 0
    for name, found in recorded(recordings):
        assert found.protocol == NAME and not found.problems, (name, found.problems)
        for side, body in ((REQUEST, found.request_text), (RESPONSE, found.response_text)):
            said = found.request if side == REQUEST else found.response
            if said is None:
                continue
            assert not said.anomalies, (name, said.anomalies)
            chance = random.Random(seen)
            laws.check(body, side, NAME, lambda leaves, c=chance: c.sample(leaves, min(9, len(leaves))))
            seen += 1
        assert found.response and found.response.stop and found.response.usage and found.response.is_complete, name
    assert seen == 10


@given(bodies.REQUEST.map(dump))
@settings(max_examples=80)
def test_generated_requests_obey_the_laws(body: bytes) -> None:
    laws.check(body, REQUEST, NAME)


@given(bodies.RESPONSE.map(dump))
@settings(max_examples=80)
def test_generated_answers_obey_the_laws(body: bytes) -> None:
    laws.check(body, RESPONSE, NAME)
