"""Credentials in bodies: found by their shape or their name, told once, and never shown."""

from __future__ import annotations

import json

import pytest

from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.redaction import Redactor
from workbench.wire.session import MemorySession

KEY = "sk-ant-api03-" + "q8Zt4LmW2pXv9Rb1" * 2
TOKEN = "q8Zt4LmW2pXv9Rb1TzK0"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7y\n" + "x9" * 40 + "\n-----END RSA PRIVATE KEY-----"
CALL = {"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}}


def said(text):
    return {"role": "user", "content": text}


def called(**arguments):
    function = {"name": "login", "arguments": json.dumps(arguments)}
    return {"role": "assistant", "tool_calls": [{**CALL, "function": function}]}


FOUND = [
    ("a key in text", said(f"my key is {KEY}."), "/messages/0/content", KEY, "an API key"),
    ("a key in a result", {"role": "tool", "tool_call_id": "a", "content": f"OPENAI={KEY}"}, "/messages/0/content", KEY,
     "an API key"),
    ("a line of .env", said(f"DEBUG=1\nDB_PASSWORD={TOKEN}\nPORT=80"), "/messages/0/content", TOKEN, "a password"),
    ("a header", said(f"curl -H 'Authorization: Bearer {TOKEN}'"), "/messages/0/content", TOKEN, "a bearer token"),
    ("user and password in a URL", said("clone https://me:hunter2@example.org/x"), "/messages/0/content", "hunter2",
     "a password"),
    ("a private key", said(PEM), "/messages/0/content", PEM[31 : PEM.index("-----END")], "a private key"),
    ("JSON in text", said(json.dumps({"client_secret": TOKEN})), "/messages/0/content", TOKEN, "a password"),
    ("arguments", called(user="me", password=TOKEN), "/messages/0/tool_calls/0/function/arguments/password", None,
     "a password"),
]  # fmt: skip


def secrets(*bodies, protocol="openai-chat", answers=()):
    head = Headers((("content-type", "application/json"),))
    exchanges = [
        Exchange(str(n), HttpRequest(url="/v1/chat/completions", headers=head, body=Body(json.dumps(body).encode())),
                 HttpResponse(200, head, Body(json.dumps(answers[n]).encode())) if n < len(answers) else None)
        for n, body in enumerate(bodies)
    ]  # fmt: skip
    return exchanges, of(*exchanges)


def of(*exchanges):
    result = Inspector(MemorySession("t", tuple(exchanges)), provider="generic", protocol="openai-chat").run()
    return [f for f in result.findings if f.rule == "secret.in-body"]


@pytest.mark.parametrize(("message", "pointer", "secret", "words"), [r[1:] for r in FOUND], ids=[r[0] for r in FOUND])
def test_credentials_are_found_and_not_shown(message, pointer, secret, words):
    body = {"model": "m", "messages": [message]}
    (exchange,), (finding,) = secrets(body)
    assert (finding.pointer, finding.severity, finding.check) == (pointer, "warning", None)
    assert finding.message.startswith(words)
    if secret:
        here = exchange.request.body.raw[slice(*finding.span)]
        assert json.loads(b'"' + here + b'"') == secret
    shown = f"{finding.message} {finding.evidence}"
    assert KEY not in shown
    assert TOKEN not in shown
    assert "hunter2" not in shown


NOTHING = [
    "the example of the documentation is AKIAIOSFODNN7EXAMPLE",
    "set it to sk-ant-xxxxxxxxxxxxxxxxxxxx",
    "my key is sk-...",
    "API_KEY=$API_KEY PASSWORD=${PASSWORD} TOKEN=<your-token-here>",
    "password: required, at least eight characters",
    "https://example.org:8080/a@b",
    '{"password": "string", "api_key": "YOUR_API_KEY", "authorization": "Bearer"}',
    "the risk-assessment-of-everything-we-do, ask-me-anything-you-like-to",
    "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA7yMIIEpAIBAAKCAQEA7y\n-----END CERTIFICATE-----",
    "toolu_01A09q90qw90lq917835lq9 call_q8Zt4LmW2pXv9Rb1TzK0",
]


@pytest.mark.parametrize("text", NOTHING)
def test_words_about_credentials_are_none(text):
    assert not secrets({"model": "m", "messages": [said(text)]})[1]


def test_a_schema_describes_a_password_and_holds_none():
    schema = {"type": "object", "properties": {"password": {"type": "string", "description": "the password"}}}
    tools = [{"type": "function", "function": {"name": "login", "parameters": schema}}]
    assert not secrets({"model": "m", "messages": [said("go")], "tools": tools})[1]


def test_what_goes_along_is_told_where_it_came_from():
    first = {"model": "m", "messages": [said("read .env")]}
    answer = {"object": "chat.completion", "model": "m",
              "choices": [{"index": 0, "message": {"role": "assistant", "content": f"It says {KEY}"}}]}  # fmt: skip
    history = [*first["messages"], answer["choices"][0]["message"], said("and now?")]
    _, (finding,) = secrets(first, {"model": "m", "messages": history}, answers=[answer])
    assert (finding.exchange, finding.side, finding.pointer) == (0, "response", "/choices/0/message/content")


def test_instructions_tools_and_settings_are_read_too():
    tools = [{"type": "mcp", "server_url": "https://x.org", "authorization": TOKEN}]
    body = {
        "model": "m",
        "messages": [{"role": "system", "content": KEY}],
        "tools": tools,
        "metadata": {"api_key": TOKEN + "x"},
    }
    _, found = secrets(body)
    assert {f.pointer for f in found} == {"/messages/0/content", "/tools/0", "/metadata/api_key"}


@pytest.mark.parametrize("text", [f"key {KEY}", f"token xoxb-{TOKEN}", f'{{"password": "{TOKEN}"}}'])
def test_a_stand_in_tells_of_a_credential_too(text):
    (exchange,), _ = secrets({"model": "m", "messages": [said(text)]})
    stored = Redactor(salt=b"x").exchange(exchange)
    assert KEY.encode() not in stored.request.body.raw
    assert TOKEN.encode() not in stored.request.body.raw
    (finding,) = of(stored)
    assert (finding.pointer, finding.exchange) == ("/messages/0/content", 0)
    assert finding.span


def test_a_credential_that_came_in_pieces():
    pieces = ["it is sk-ant-api03-q8Zt4Lm", "W2pXv9Rb1q8Zt4LmW2p", "Xv9Rb1 there"]
    chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": p}}]} for p in pieces]
    stream = b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in chunks) + b"data: [DONE]\n\n"
    head = Headers((("content-type", "text/event-stream"),))
    asked = HttpRequest(url="/v1/chat/completions", body=Body(b'{"model": "m", "stream": true, "messages": []}'))
    (finding,) = of(Exchange("1", asked, HttpResponse(200, head, Body(stream))))
    assert (finding.side, finding.pointer, finding.events) == ("response", "/choices/0/message/content", (0, 1, 2))
    assert stream[slice(*finding.span)].startswith(b"sk-ant-api03-")
