"""Ollama's own API: requests and whole answers, ours to read and, leaf by leaf, to edit."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.protocols import laws
from tests.protocols import ollama_bodies as bodies
from tests.protocols.ollama_bodies import Json, call, dump, line
from workbench.errors import LocalProtocolError, ProtocolMismatch, WireError
from workbench.formats.importers import open_input
from workbench.ir import (
    Anomaly,
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
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.ollama import adapter
from workbench.protocols.openai_chat import adapter as chat
from workbench.wire.session import exchanges_of

NAME = adapter.name
FIXTURES = Path(__file__).resolve().parent.parent / "data" / "ollama"


def request(*messages: Any, **more: Any) -> ModelRequest:
    return adapter.decode_request(dump({"model": "m", "messages": list(messages), **more}))


def answer(value: Any, status: int = 200) -> ModelResponse:
    return adapter.decode_response(dump(value), status=status)


def made(name: str | None, value: Any, call_id: str | None = None, **more: Any) -> ToolCallIR:
    return ToolCallIR(call_id, name, value, "ollama", **more)


def thought(text: str) -> Reasoning:
    return Reasoning(Carrier.MESSAGE_THINKING, text)


# -- messages


MESSAGES: list[tuple[str, Json, tuple[Part, ...], Json]] = [
    ("text", {"role": "user", "content": "a"}, (Text("a"),), {}),
    (
        "pictures",
        {"role": "user", "content": "a", "images": ["/9j/AA==", "BB=="]},
        (Text("a"), Media("image", "image/jpeg", "/9j/AA=="), Media("image", data="BB==")),
        {},
    ),
    ("a picture alone", {"role": "user", "images": ["AA=="]}, (Media("image", data="AA=="),), {}),
    (
        "thinking, text and calls",
        {"role": "assistant", "content": "b", "thinking": "a", "tool_calls": [call("f", {"x": 1})]},
        (thought("a"), Text("b"), made("f", {"x": 1})),
        {},
    ),
    (
        "an index and an id",
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"index": 1, "name": "f", "arguments": {}}}]},
        (made("f", {}, "c", extra={"function": {"index": 1}}),),
        {},
    ),
    (
        "reasoning in the text",
        {"role": "assistant", "content": "<think>a</think>b"},
        (Reasoning(Carrier.THINK_TEXT, "a"), Text("b")),
        {},
    ),
    ("tags of a user", {"role": "user", "content": "<think>a</think>b"}, (Text("<think>a</think>b"),), {}),
    (
        "a result",
        {"role": "tool", "tool_name": "f", "content": "r"},
        (ToolResultIR(None, (Text("r"),), name="f"),),
        {},
    ),
    (
        "a result with an id and a picture",
        {"role": "tool", "tool_call_id": "c", "content": "r", "images": ["AA=="]},
        (ToolResultIR("c", (Text("r"), Media("image", data="AA=="))),),
        {},
    ),
    ("null is no part", {"role": "user", "content": "a", "thinking": None}, (Text("a"),), {"thinking": None}),
    ("an unknown key", {"role": "user", "content": "a", "name": "x"}, (Text("a"),), {"name": "x"}),
]


@pytest.mark.parametrize(("value", "parts", "extra"), [m[1:] for m in MESSAGES], ids=[m[0] for m in MESSAGES])
def test_messages(value: Json, parts: tuple[Part, ...], extra: Json) -> None:
    said = request(value)
    assert said.messages == (Message(value["role"], parts, extra),)
    assert not said.anomalies
    laws.check(dump({"messages": [value]}), REQUEST, NAME)


ODD: list[tuple[str, Json, tuple[Part, ...], list[tuple[str, str]]]] = [
    (
        "arguments as text, which servers refuse",
        {"role": "assistant", "tool_calls": [call("f", '{"x": 1}')]},
        (made("f", '{"x": 1}'),),
        [("args.not-object", "/messages/0/tool_calls/0/function/arguments")],
    ),
    (
        "no arguments",
        {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]},
        (made("f", None),),
        [("args.not-object", "/messages/0/tool_calls/0/function")],
    ),
    (
        "no function",
        {"role": "assistant", "tool_calls": [{"id": "c", "name": "f"}]},
        (ToolCallIR("c", None, None, "ollama", extra={"name": "f"}),),
        [("content.shape", "/messages/0/tool_calls/0")],
    ),
    (
        "content in parts, which servers refuse",
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        (Text("a"),),
        [("content.shape", "/messages/0/content")],
    ),
    (
        "a number as content",
        {"role": "user", "content": 1},
        (Opaque("number", 1),),
        [("content.shape", "/messages/0/content")],
    ),
    (
        "a picture that is an object",
        {"role": "user", "content": "", "images": [{"url": "u"}]},
        (Text(""), Opaque("object", {"url": "u"})),
        [("content.shape", "/messages/0/images/0")],
    ),
    ("a result without content", {"role": "tool"}, (ToolResultIR(None, ()),), [("content.empty", "/messages/0")]),
    ("no role", {"content": "a"}, (Text("a"),), [("content.shape", "/messages/0")]),
    (
        "lists that are none",
        {"role": "assistant", "content": "", "images": "x", "tool_calls": {}, "thinking": 1},
        (Text(""),),
        [("content.shape", f"/messages/0/{key}") for key in ("images", "thinking", "tool_calls")],
    ),
]


@pytest.mark.parametrize(("value", "parts", "noted"), [o[1:] for o in ODD], ids=[o[0] for o in ODD])
def test_odd_messages_are_kept_and_noted(value: Json, parts: tuple[Part, ...], noted: list[tuple[str, str]]) -> None:
    said = request(value)
    assert said.messages[0].parts == parts
    assert sorted((a.slug, a.pointer) for a in said.anomalies) == sorted(noted)
    laws.check(dump({"messages": [value]}), REQUEST, NAME)


# -- requests


def test_a_request() -> None:
    schema = {"type": "object"}
    said = request(
        {"role": "user", "content": "a"},
        tools=[{"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}}],
        think="low",
        stream=False,
        keep_alive="5m",
        options={"temperature": 0},
    )
    assert (said.model, said.stream, said.thinking) == ("m", False, "on")
    assert said.tools == (ToolDef("f", "d", schema),)
    assert said.params == {"think": "low", "keep_alive": "5m", "options": {"temperature": 0}}


@pytest.mark.parametrize(
    ("body", "stream"), [({}, True), ({"stream": True}, True), ({"stream": None}, True), ({"stream": False}, False)]
)
def test_a_stream_is_what_one_gets_without_asking(body: Json, stream: bool) -> None:
    assert request(**body).stream is stream


@pytest.mark.parametrize(
    ("think", "thinking"), [(True, "on"), (False, "off"), ("high", "on"), ("", None), (3, None), (None, None)]
)
def test_thinking(think: Any, thinking: str | None) -> None:
    said = request(think=think)
    assert said.thinking == thinking
    assert "think" in said.params


PARAMS: list[tuple[Json, list[Param]]] = [
    (
        {"options": {"num_predict": 5, "stop": "x", "num_ctx": 9, "top_k": 3}},
        [
            Param("/options/num_predict", 5, "max_tokens"),
            Param("/options/stop", ["x"], "stop"),
            Param("/options/num_ctx", 9),
            Param("/options/top_k", 3, "top_k"),
        ],
    ),
    ({"options": {"num_predict": -1}}, [Param("/options/num_predict", -1)]),
    ({"think": True}, []),
    ({"think": "high"}, [Param("/think", "high", "effort")]),
    ({"format": "json"}, [Param("/format", True, "response_json")]),
    ({"format": {"type": "object"}}, [Param("/format", {"schema": {"type": "object"}}, "response_schema")]),
    ({"format": "", "keep_alive": 0}, [Param("/format", ""), Param("/keep_alive", 0)]),
]


@pytest.mark.parametrize(("body", "params"), PARAMS, ids=[str(p[0]) for p in PARAMS])
def test_params(body: Json, params: list[Param]) -> None:
    found = adapter.params(request(**body))
    assert list(found) == params
    assert {p.name for p in found if p.name} <= adapter.capabilities.request.params


def test_a_prompt_is_a_message() -> None:
    body = dump({"model": "m", "prompt": "a", "system": "s", "images": ["AA=="], "raw": True})
    said = adapter.decode_request(body)
    assert said.system == (Text("s"),)
    assert said.messages == (Message("user", (Text("a"), Media("image", data="AA=="))),)
    assert said.stream and said.params == {"raw": True}
    laws.check(body, REQUEST, NAME)
    edited = replace(said, system=(replace(said.system[0], text="é"),))
    assert adapter.encode_request(edited, body) == body.replace(b'"s"', '"é"'.encode())


def test_no_request() -> None:
    for body in (b"[]", b"{}", b'{"input": "x"}'):
        with pytest.raises(ProtocolMismatch):
            adapter.decode_request(body)
    with pytest.raises(WireError):
        adapter.decode_request(b"{")


def test_known_messages_are_the_same() -> None:
    body = (FIXTURES / "loop-whole-2.request.json").read_bytes()
    known = KnownMessages()
    assert [adapter.decode_request(body, known) for _ in range(2)] == [adapter.decode_request(body)] * 2


# -- answers


def test_an_answer() -> None:
    counts = {"prompt_eval_count": 3, "eval_count": 2, "total_duration": 9}
    said = answer(line({"content": "b", "thinking": "a"}, done=True, done_reason="stop", **counts))
    assert said.messages == (Message("assistant", (thought("a"), Text("b"))),)
    assert said.messages[0].pointer == "/message"
    assert (said.id, said.model, said.finish_reason, said.stop) == (None, "m", "stop", "stop")
    assert said.usage == Usage(3, 2, raw=counts)
    assert set(said.params) == {"created_at", "done"}
    assert said.is_complete and not said.is_stream


STOPS: list[tuple[str | None, list[Json], str | None]] = [
    ("stop", [], "stop"),
    ("stop", [call("f", {})], "tool_calls"),
    ("length", [call("f", {})], "length"),
    ("load", [], "other"),
    ("unload", [], "other"),
    (None, [], None),
]


@pytest.mark.parametrize(("reason", "calls", "stop"), STOPS)
def test_stop_reasons(reason: str | None, calls: list[Json], stop: str | None) -> None:
    said = answer(line({"content": "", "tool_calls": calls}, done=True, done_reason=reason))
    assert (said.finish_reason, said.stop) == (reason, stop)
    assert not said.anomalies


def test_an_answer_to_a_prompt() -> None:
    body = dump({"model": "m", "response": "b", "thinking": "a", "done": True, "context": [1], "images": None})
    said = adapter.decode_response(body)
    assert said.messages == (Message("assistant", (thought("a"), Text("b")), {"images": None}),)
    assert said.params == {"done": True, "context": [1]}
    laws.check(body, RESPONSE, NAME)


ERRORS: list[tuple[Any, str, str]] = [
    ({"error": "model not found"}, "model not found", "/error"),
    ({"error parsing tool call": "bad"}, "error parsing tool call: bad", "/error parsing tool call"),
    ({"error": {"message": "no"}}, "no", "/error/message"),
]


@pytest.mark.parametrize(("body", "message", "pointer"), ERRORS)
def test_errors(body: Any, message: str, pointer: str) -> None:
    said = answer(body, 400)
    assert said.error and (said.error.message, said.error.pointer) == (message, pointer)
    assert said.messages == ()


def test_no_answer() -> None:
    with pytest.raises(ProtocolMismatch):
        answer({"choices": []})
    with pytest.raises(WireError):
        adapter.decode_response(b"<html>")
    said = adapter.decode_response(b"<title>502</title>", status=502)
    assert said.error and said.error.message.startswith("<title>") is False


# -- claims


RESULT: Json = {"role": "tool", "tool_call_id": "c", "content": "a"}

CLAIMED: list[Json] = [
    {"messages": [], "options": {}},
    {"messages": [], "think": True, "tools": [{"type": "function", "function": {"name": "f"}}]},
    {"messages": [], "keep_alive": "5m", "model": "llama3"},
    {"messages": [{"role": "tool", "tool_name": "f", "content": ""}]},
    {"messages": [{"role": "assistant", "tool_calls": [call("f", {})]}]},
    {"messages": [{"role": "user", "content": "", "images": ["AA=="]}], "model": "llava"},
    {"messages": [], "format": "json"},
    {"prompt": "a", "options": {}},
    {"model": "llama3.2:3b", "messages": [{"role": "assistant", "tool_calls": [{"id": "c", **call("f", {})}]}, RESULT]},
    {"messages": [{"role": "assistant", "tool_calls": [call("f", {})]}, RESULT], "options": {}},
]
LEFT: list[Json] = [
    {"messages": [{"role": "assistant", "tool_calls": [{"id": "c", **call("f", {})}]}, RESULT]},
    {"model": "gpt-4.1", "messages": [{"role": "assistant", "tool_calls": [call("f", {})]}]},
    {"temperature": 0, "messages": [{"role": "assistant", "tool_calls": [call("f", {})]}]},
    {"model": "llama3", "messages": [{"role": "user", "content": "a"}]},
    {"messages": [], "parallel_tool_calls": True, "options": {}},
    {"messages": [{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", **call("f", "{}")}]}]},
    {"messages": [], "max_tokens": 5, "think": True, "tools": [{"type": "function", "function": {"name": "f"}}]},
]


@pytest.mark.parametrize("body", CLAIMED, ids=str)
def test_requests_are_claimed(body: Json) -> None:
    assert adapter.claims_request(body) > max(chat.claims_request(body), 0.7)


@pytest.mark.parametrize("body", LEFT, ids=str)
def test_requests_of_others_are_left(body: Json) -> None:
    assert adapter.claims_request(body) < chat.claims_request(body)


@pytest.mark.parametrize(
    ("url", "claimed"),
    [
        ("http://localhost:11434/api/chat", True),
        ("https://ollama.com/api/chat?x=1", True),
        ("http://h/ollama/api/generate", True),
        ("http://h/v1/chat/completions", False),
        ("http://h/api/chats", False),
        ("http://h/api/tags", False),
        ("http://h/?next=/api/chat", False),
    ],
)
def test_urls(url: str, claimed: bool) -> None:
    assert adapter.claims_url(url) is claimed
    assert adapter.read_url(url) == UrlFacts()


# -- edits


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("a choice of tools", {"tool_choice": ToolChoice("any")}),
    ("no parallel calls", {"parallel": False}),
    ("a stream", {"stream": False}),
    ("thinking", {"thinking": "on"}),
    ("no tools", {"tools": (ToolDef("f", None, None),)}),
    ("a message less", {"messages": ()}),
]


@pytest.mark.parametrize("fields", [r[1] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_has_no_leaf_cannot_be_edited(fields: dict[str, Any]) -> None:
    body = dump({"model": "m", "messages": [{"role": "user", "content": "a"}]})
    with pytest.raises(LocalProtocolError):
        adapter.encode_request(replace(adapter.decode_request(body), **fields), body)


def test_keys_are_edited_where_they_stand() -> None:
    body = b'{"model": "m", "think" : true, "messages": [], "tools": [{"type":"function","function":{"name":"f"}}]}'
    said = adapter.decode_request(body)
    assert adapter.encode_request(replace(said, model="n"), body) == body.replace(b'"m"', b'"n"')
    off = replace(said, params={"think": False}, thinking="off")
    assert adapter.encode_request(off, body) == body.replace(b"true", b"false")
    renamed = replace(said, tools=(replace(said.tools[0], name="g"),))
    assert adapter.encode_request(renamed, body) == body.replace(b'"f"', b'"g"')


def test_an_answer_is_edited_where_it_stands() -> None:
    body = dump(line({"content": "a"}, done=True, done_reason="stop", eval_count=2))
    said = adapter.decode_response(body)
    edited = replace(said, finish_reason="length", usage=replace(said.usage, raw={"eval_count": 3}))
    expected = body.replace(b'"stop"', b'"length"').replace(b'"eval_count": 2', b'"eval_count": 3')
    assert adapter.encode_response(edited, body) == expected


# -- real traffic, anything at all


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda p: p.name)
def test_fixtures_obey_the_laws(path: Path) -> None:
    laws.check(path.read_bytes(), REQUEST if ".request." in path.name else RESPONSE, NAME)


@pytest.mark.parametrize("name", ["loop-whole", "look-whole", "loop-stream", "look-stream", "old-stream"])
def test_what_the_client_replays_is_what_came(name: str) -> None:
    """The second request of a fixture holds the first answer, as the real client understood it."""
    first = next(FIXTURES.glob(f"{name}-1.response.*")).read_bytes()
    second = adapter.decode_request((FIXTURES / f"{name}-2.request.json").read_bytes())
    came = laws.decode(first, RESPONSE, NAME).response
    replayed = next(m for m in second.messages if m.role == "assistant")
    assert came and not came.anomalies and not second.anomalies
    assert [_kept(p) for p in replayed.parts if p != Text("")] == [
        _kept(p) for p in came.messages[0].parts if p != Text("")
    ]


def _kept(part: Part) -> Part:
    """A part without what the client drops: ids and indices of calls."""
    return replace(part, id=None, extra={}) if isinstance(part, ToolCallIR) else part


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
        assert found.request and found.response, name
        assert not found.request.anomalies and not found.response.anomalies, name
        assert found.response.stop and found.response.usage and found.response.is_complete, name
        for side, body in ((REQUEST, found.request_text), (RESPONSE, found.response_text)):
            chance = random.Random(seen)
            laws.check(body, side, NAME, lambda leaves, c=chance: c.sample(leaves, min(9, len(leaves))))
            seen += 1
    assert seen == 8


@given(bodies.REQUEST.map(dump))
@settings(max_examples=80)
def test_generated_requests_obey_the_laws(body: bytes) -> None:
    laws.check(body, REQUEST, NAME)


@given(bodies.RESPONSE.map(dump))
@settings(max_examples=80)
def test_generated_answers_obey_the_laws(body: bytes) -> None:
    laws.check(body, RESPONSE, NAME)


def test_anomalies_have_a_place() -> None:
    body = json.loads((FIXTURES / "loop-whole-2.request.json").read_bytes())
    body["messages"][2]["tool_calls"][0]["function"]["arguments"] = "{}"
    (found,) = adapter.decode_request(dump(body)).anomalies
    message = "the arguments of a call are a string, not an object"
    assert found == Anomaly("args.not-object", message, "/messages/2/tool_calls/0/function/arguments")
