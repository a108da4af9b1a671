"""Dials: what goes wrong is what was asked for, and nothing else."""

from __future__ import annotations

import json

import pytest

from tests.simulator.conftest import JSON, SCHEMA, ask, block, chat
from workbench.errors import UsageError
from workbench.ir import ToolDef
from workbench.protocols.decode import DecodedExchange
from workbench.simulator import ARGUMENT_FAULTS, STREAM_FAULTS, HttpFault, ScriptedModel, Simulator, dials_of
from workbench.toolcalls import formats
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse

CHAT, BLOCKS = "/v1/chat/completions", "/v1/messages"


def simulator(label="generic", **dials):
    return Simulator(label, model=ScriptedModel(dials_of({k.replace("_", "-"): v for k, v in dials.items()})))


@pytest.mark.parametrize(
    ("fault", "name", "text"),
    [
        ("invalid-json", "list_dir", "{'path':'.'}"),
        ("double-encoded", "list_dir", '"{\\"path\\":\\".\\"}"'),
        ("empty", "list_dir", ""),
        ("truncated", "list_dir", '{"path":'),
        ("wrong-type", "list_dir", '{"path":["."]}'),
        ("missing-required", "list_dir", "{}"),
        ("unknown-tool", "no_such_tool", '{"path":"."}'),
    ],
)
def test_argument_faults(fault, name, text):
    _, said = ask(simulator(arguments=fault), CHAT, chat())
    called = said["choices"][0]["message"]["tool_calls"][0]["function"]
    assert (called["name"], called["arguments"]) == (name, text)
    _, said = ask(simulator(arguments=fault), BLOCKS, block())
    reply = simulator(arguments=fault).send("POST", BLOCKS, (JSON,), json.dumps(block(stream=True)).encode())
    events = [json.loads(line[6:]) for line in reply.body().split(b"\n") if line.startswith(b"data: ")]
    written = "".join(e["delta"].get("partial_json", "") for e in events if e["type"] == "content_block_delta")
    assert written == text, "a stream of blocks carries the same text"
    (held,) = (part["input"] for part in said["content"] if part["type"] == "tool_use")
    assert isinstance(held, str) == (fault in ("invalid-json", "double-encoded", "empty", "truncated"))


def test_every_argument_fault_is_tested():
    marks = test_argument_faults.pytestmark[0].args[1]
    assert {row[0] for row in marks} == set(ARGUMENT_FAULTS)


@pytest.mark.parametrize("place", ["content", "reasoning"])
@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "kimi", "deepseek-v3", "dsml", "glm"])
def test_calls_as_text(name, place):
    _, said = ask(simulator(calls=name, calls_in=place), CHAT, chat())
    message = said["choices"][0]["message"]
    text = message["content"] if place == "content" else message["reasoning_content"]
    found = formats.find_calls(text, (ToolDef("list_dir", None, SCHEMA),), [name], is_thought_shown=True)
    assert [(call.name, call.input) for call in found] == [("list_dir", {"path": "."})]
    assert "tool_calls" not in message and said["choices"][0]["finish_reason"] == "stop"


def streamed(path, body, **dials):
    """(pieces, decoded answer, whether the connection breaks)."""
    asked = json.dumps({**body, "stream": True}).encode()
    reply = simulator(**dials).send("POST", path, (JSON,), asked)
    pieces = [piece.data for piece in reply.pieces]
    response = HttpResponse(200, Headers(reply.headers), Body(b"".join(pieces)))
    http = HttpRequest("POST", path, Headers((JSON,)), Body(asked))
    return pieces, DecodedExchange(0, Exchange("1", http, response)).response, reply.is_cut


@pytest.mark.parametrize(
    ("fault", "path", "slugs"),
    [
        ("reused-index", CHAT, {"stream.index"}),
        ("missing-index", CHAT, {"stream.index"}),
        ("cut", CHAT, {"stream.truncated"}),
        ("cut", BLOCKS, {"stream.truncated"}),
        ("no-terminator", CHAT, {"stream.no-terminator"}),
        ("no-terminator", BLOCKS, {"stream.no-terminator"}),
        ("error", CHAT, {"stream.error-event"}),
        ("error", BLOCKS, {"stream.error-event"}),
        ("empty-choices", CHAT, {"stream.empty-choices"}),
        ("comments", CHAT, set()),
        ("split-utf8", CHAT, set()),
    ],
)
def test_stream_faults(fault, path, slugs):
    body = chat() if path == CHAT else block()
    _, response, is_cut = streamed(path, body, stream=fault)
    assert {a.slug for a in response.anomalies} & slugs == slugs
    assert slugs or not response.anomalies
    assert is_cut == (fault == "cut")


def test_every_stream_fault_is_tested():
    marks = test_stream_faults.pytestmark[0].args[1]
    assert {row[0] for row in marks} | {"json-body"} == set(STREAM_FAULTS)


def test_characters_are_split_and_whole_again():
    pieces, response, _ = streamed(CHAT, chat(tools=[]), stream="split-utf8")
    broken = 0
    for piece in pieces:
        try:
            piece.decode()
        except UnicodeDecodeError:
            broken += 1
    assert broken > 4 and "naïve 東京" in response.messages[0].parts[0].text


def test_comments_and_empty_choices_are_there():
    assert all(p.startswith(b": keep-alive") for p in streamed(CHAT, chat(), stream="comments")[0])
    assert b'"choices":[]' in streamed(CHAT, chat(), stream="empty-choices")[0][0]


def test_a_body_of_json_where_a_stream_was_asked_for():
    reply = simulator(stream="json-body").send("POST", CHAT, (JSON,), json.dumps(chat(stream=True)).encode())
    assert dict(reply.headers)["content-type"] == "application/json"
    assert json.loads(reply.body())["choices"]


def test_chunks_and_latency():
    reply = simulator(chunk=7, latency=0.5).send("POST", CHAT, (JSON,), json.dumps(chat()).encode())
    pieces = list(reply.pieces)
    assert {len(piece.data) for piece in pieces[:-1]} == {7} and {piece.delay for piece in pieces} == {0.5}
    assert json.loads(b"".join(piece.data for piece in pieces))["choices"]


@pytest.mark.parametrize(
    ("label", "path", "body", "kind"),
    [("anthropic", BLOCKS, block(), "rate_limit_error"), ("openai", CHAT, chat(), "requests")],
)
def test_http_faults_pass(label, path, body, kind):
    provider = simulator(label, http="429:2", retry_after=3)
    replies = [provider.send("POST", path, (JSON,), json.dumps(body).encode()) for _ in range(3)]
    assert [reply.status for reply in replies] == [429, 429, 200]
    assert dict(replies[0].headers)["retry-after"] == "3"
    assert json.loads(replies[0].body())["error"]["type"] == kind


def test_a_fault_that_stays():
    provider = simulator("anthropic", http=529)
    for _ in range(3):
        status, said = ask(provider, BLOCKS, block())
        assert (status, said["error"]["type"], said["error"]["message"]) == (529, "overloaded_error", "Overloaded")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"calls": "morse"}, "calls: 'morse' is not known"),
        ({"arguments": "x"}, "arguments: 'x' is not known"),
        ({"stream": 3}, "stream: 3 is not text"),
        ({"parallel": 0}, "parallel: 0 is not between 1 and 128"),
        ({"parallel": True}, "parallel: True is not a number"),
        ({"latency": float("nan")}, "latency: nan is not between"),
        ({"http": "lots"}, "not an HTTP fault: 'lots'"),
        ({"http": "200"}, "http status: 200 is not between 400 and 599"),
        ({"retry-after": 1}, "retry-after can only be used together with http"),
        ({"colour": 1}, "dial: 'colour' is not known"),
    ],
)
def test_dials_that_cannot_be_read(given, message):
    with pytest.raises(UsageError, match="^" + message.replace("'", ".")):
        dials_of(given)


def test_http_faults_in_words():
    said = [dials_of({"http": text}).http for text in (503, "503:once", "503:always", "503:4")]
    assert said == [HttpFault(503), HttpFault(503, 1), HttpFault(503), HttpFault(503, 4)]
