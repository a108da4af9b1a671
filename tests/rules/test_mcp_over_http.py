"""What HTTP says beside the messages of tool servers: signing in, and streams that end and are resumed."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.breakages.tool_hops import HopArtefact
from workbench.rules.inspection import Inspector
from workbench.wire import secrets

Lines = list[dict[str, Any]]
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
RESOURCE = "https://tools.example.com/mcp"
GRANT = {"grant_type": "authorization_code", "code": "SplxlOBeZQQY", "client_id": "c1", "code_verifier": VERIFIER}
TOKENS = {"access_token": "2YotnFZFEjr1zCsicMWpAA", "token_type": "bearer"}
CLIENT = {"redirect_uris": ["http://127.0.0.1:33418"], "token_endpoint_auth_method": "none"}


def asked(method: str, path: str = "/mcp", body: Any = "", **headers: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"dir": "c2s", "http": {"method": method, "path": path, "headers": named, "body": body}}


def answered(status: int, body: Any = "", **headers: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"dir": "s2c", "http": {"status": status, "headers": named, "body": body}}


def token(status: int = 200, body: Any = TOKENS, **members: str) -> Lines:
    form = urlencode({name: value for name, value in {**GRANT, **members}.items() if value})
    return [asked("POST", "/token", form, content_type="application/x-www-form-urlencoded"), answered(status, body)]


def registered(status: int = 201, told: Any = None, **members: Any) -> Lines:
    body = {**CLIENT, **members}
    return [asked("POST", "/register", body), answered(status, {**body, "client_id": "c1"} if told is None else told)]


def document(kind: str, **members: Any) -> Lines:
    return [asked("GET", f"/.well-known/{kind}"), answered(200, members)]


def code(status: int = 302, body: Any = "", location: str = "", **members: str) -> Lines:
    given = {"response_type": "code", "client_id": "c1", "code_challenge": "kk", "code_challenge_method": "S256"}
    query = urlencode({name: value for name, value in {**given, **members}.items() if value})
    return [asked("GET", f"/authorize?{query}"), answered(status, body, **({"location": location} if location else {}))]


def endpoint(address: str, status: int = 202) -> Lines:
    message = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    given = {"accept": "application/json, text/event-stream"}
    return [
        asked("GET", "/v1/sse", accept="text/event-stream"),
        answered(200, f"event: endpoint\ndata: {address}\n\n", content_type="text/event-stream"),
        asked("POST", "/messages?sessionId=1", message, **given),
        answered(status, "Accepted" if status == 202 else "Not Found"),
    ]


def stream(body: str = "", status: int = 200, **headers: str) -> Lines:
    given = {"accept": "text/event-stream", "mcp_session_id": "s1", "mcp_protocol_version": "2025-11-25", **headers}
    return [asked("GET", **given), answered(status, body, content_type="text/event-stream")]


def call(body: str) -> Lines:
    message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "a", "arguments": {}}}
    given = {"accept": "application/json, text/event-stream", "mcp_session_id": "s1"}
    return [
        asked("POST", body=message, mcp_protocol_version="2025-11-25", **given),
        answered(200, body, content_type="text/event-stream"),
    ]


def first(response: dict[str, Any], **headers: str) -> Lines:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}
    return [asked("POST", body=message, accept="application/json, text/event-stream", **headers), response]


SHAKEN = {
    "jsonrpc": "2.0",
    "id": 0,
    "result": {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}},
}


def event(id_: str, data: str = "") -> str:
    return f"id: {id_}\ndata: {data}\n\n"


DONE = '{"jsonrpc": "2.0", "id": 5, "result": {"content": []}}'
NAMED = document("oauth-protected-resource/mcp", resource=RESOURCE, authorization_servers=["https://tools.example.com"])
INVALID = {"error": "invalid_request", "error_description": "bad"}

SIGN_INS: dict[str, tuple[Lines, str]] = {
    "a client that is registered": (registered(), ""),
    "a redirect URI without TLS": (registered(redirect_uris=["http://a.example/cb"]), "neither https nor"),
    "a redirect URI that is refused": (registered(400, {"error": "invalid_redirect_uri"}), "refuses the redirect URI"),
    "no endpoint": (registered(404, "no"), "was answered with 404"),
    "no client_id": (registered(told={"a": 1}), "no client_id"),
    "no secret": (registered(token_endpoint_auth_method="client_secret_post"), "gets no client_secret"),
    "a token": ([*NAMED, *token(resource=RESOURCE)], ""),
    "a token without PKCE": (token(400, INVALID, code_verifier=""), "code_verifier is missing"),
    "a short verifier": (token(400, INVALID, code_verifier="abc"), "43 to 128"),
    "no resource": ([*NAMED, *token(400, INVALID)], "resource is missing"),
    "a code that was used": ([*token(), *token(400, INVALID)], "a code can be used only once"),
    "a secret that nobody registered": ([*registered(), *token(401, INVALID, client_secret="a")], "without a secret"),
    "a refusal in another form": (token(400, {"errors": ["no"]}), "does not have the form"),
    "an error with status 200": (token(200, {"error": "bad_code"}), "has status 200"),
    "no token": (token(200, {"token": 1}), "no access_token"),
    "another type of token": (token(200, {**TOKENS, "token_type": "mac"}), "not Bearer"),
    "a request for a token as JSON": (
        [asked("POST", "/token", GRANT, content_type="application/json"), answered(400, INVALID)],
        "sent as 'application/json'",
    ),
    "a code": (code(location="http://127.0.0.1:33418/cb?code=a&state=s"), ""),
    "a code without PKCE": (code(code_challenge="", resource=RESOURCE), "code_challenge is missing"),
    "a plain challenge": (code(400, INVALID, code_challenge_method="plain"), "have to use S256"),
    "a code for another resource": ([*NAMED, *code(resource="https://a.example/")], "the tool server's metadata"),
    "a resource that its server does not know": (
        [*NAMED, *code(location="http://127.0.0.1:33418/cb?error=invalid_target", resource=RESOURCE)],
        "although the tool server names this resource",
    ),
    "a scope that is refused": (code(location="http://127.0.0.1:1/cb?error=invalid_scope"), "refuses the scope"),
    "a code whose request is not recorded": (token(400, {"error": "invalid_grant"}), "is not in this recording"),
    "a code whose request is recorded": ([*code(), *token(400, {"error": "invalid_grant"})], "the code, or its"),
    "a code without the redirect URI of its request": (
        [*code(redirect_uri="https://a.example/cb"), *token(400, {"error": "invalid_grant"})],
        "redirect_uri is missing",
    ),
    "a code for another redirect URI": (
        [*code(redirect_uri="https://a.example/cb"), *token(400, INVALID, redirect_uri="https://b.example/cb")],
        "the authorization request had 'https://a.example/cb'",
    ),
    "a redirect URI that was not registered": (
        [*registered(), *code(400, INVALID, redirect_uri="https://b.example/cb")],
        "but the client is registered with",
    ),
    "a redirect URI with another port of this machine": (
        [*registered(), *code(location="http://127.0.0.1:9/?code=a", redirect_uri="http://127.0.0.1:9")],
        "",
    ),
    "a user who declines": (code(location="http://127.0.0.1:1/cb?error=access_denied"), "declines"),
    "no page for codes": (code(404, "no"), "the request for an authorization code was answered with 404"),
    "a token in the URL": ([asked("DELETE", "/mcp?access_token=a", mcp_session_id="s1"), answered(200)], "in the URL"),
}

STREAMS: dict[str, tuple[Lines, str]] = {
    "a call that is polled": ([*call(event("e1")), *stream(event("e2", DONE), last_event_id="e1")], ""),
    "a call whose stream breaks twice": (
        [*call(event("e1")), *stream(event("e2"), last_event_id="e1"), *stream(event("e3", DONE), last_event_id="e2")],
        "",
    ),
    "a call that nobody resumes": (call(event("e1")), "ended without its message"),
    "an id that no event had": ([*call(event("e1", DONE)), *stream(last_event_id="e9")], "no event of this session"),
    "an event that comes again": (
        [*call(event("e1")), *stream(event("e1", DONE), last_event_id="e1")],
        "was already sent in exchange 1",
    ),
    "too early": (
        [*call("retry: 5000\n" + event("e1")), *stream(event("e2", DONE), last_event_id="e1")],
        "requires a wait of 5.00 s",
    ),
    "a call that is resumed behind a hundred other streams": (
        [*call(event("e1")), *(stream() * 100), *stream(event("e2", DONE), last_event_id="e1")],
        "without Last-Event-ID",
    ),
    "an address for messages": (endpoint("/messages?sessionId=1"), ""),
    "an address without the path of its stream": (endpoint("/messages?sessionId=1", 404), "the address lacks '/v1'"),
    "an address of another host": (endpoint("https://a.example/messages"), "names the host 'a.example'"),
    "an encoded address": (endpoint("https%3A//tools.example.com/messages"), "percent-encoded: clients"),
    "a session id with a space": (first(answered(200, SHAKEN, mcp_session_id="s 1")), "not visible ASCII"),
    "an origin that is refused": (first(answered(403, "Invalid Origin header"), origin="null"), "refuses the Origin"),
    "a host that is refused": (first(answered(421, "Invalid Host header")), "refuses the Host"),
    "an original that is refused": (first(answered(403, "the original file is locked on the origin server")), ""),
    "a scope that this origin lacks": (first(answered(403, "origin: insufficient_scope")), ""),
    "a content type that is refused": (first(answered(415, "no")), "answers 415, but the Content-Type is"),
    "two responses of one id": (call(event("e1", DONE) + event("e2", DONE)), "two responses with the id 5"),
    "a server that does not resume": ([*call(event("e1", DONE)), *stream("", 405, last_event_id="e1")], "does not let"),
}


@pytest.mark.parametrize("name", SIGN_INS | STREAMS)
def test_each_is_named_in_its_words(name: str) -> None:
    lines, expected = (SIGN_INS | STREAMS)[name]
    family = {"mcp.auth"} if name in SIGN_INS else {"mcp.http", "mcp.no-answer", "mcp.response-id"}
    found = [f.message for f in Inspector(HopArtefact({"mcp": lines}).session()).run().findings if f.rule in family]
    assert [expected in message for message in found] == [True] * bool(expected), found


def test_what_signs_in_is_secret() -> None:
    form = urlencode({**GRANT, "client_secret": "hV9sT4mNq2Lk8", "refresh_token": "8xLOxBtZp8aaaQ12"}).encode()
    held = b'{"access_token": "2YotnFZFEjr1zCsicMWpAA", "registration_access_token": "rA7fQ0pLx92kMz81nVtW"}'
    found = [text[each.start : each.end] for text in (form, held) for each in secrets.find(text)]
    assert found == [
        *(b"SplxlOBeZQQY", VERIFIER.encode(), b"hV9sT4mNq2Lk8", b"8xLOxBtZp8aaaQ12"),
        *(b"2YotnFZFEjr1zCsicMWpAA", b"rA7fQ0pLx92kMz81nVtW"),
    ]
