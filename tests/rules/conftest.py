"""Bodies in, findings out: what every family's test needs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from workbench.contracts import EnforcedCheck, Fact
from workbench.contracts.reader import Node
from workbench.contracts.relations import check_of, of_refused_params, read_relation
from workbench.rules import clients
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin
from workbench.wire.session import MemorySession

URLS = {
    "anthropic-messages": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini-interactions": "/v1beta/interactions",
    "ollama": "/api/chat",
    "bedrock-converse": "/model/m/converse",
    "cohere-v2": "/v2/chat",
    "gemini": "/v1beta/models/gemini-3-pro-preview:generateContent",
}


def text_of(body):
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def exchange(request=None, response=None, *, protocol, status=200, origin=Origin.IMPORTED, name="1", host=""):
    is_page = isinstance(response, bytes) and response.startswith(b"<")
    kind = "text/html" if is_page else "text/event-stream" if isinstance(response, bytes) else "application/json"
    return Exchange(
        id=name,
        request=None if request is None else HttpRequest(url=host + URLS[protocol], body=Body(text_of(request))),
        response=None
        if response is None
        else HttpResponse(status, Headers((("content-type", kind),)), Body(text_of(response))),
        origin=origin,
    )


OF_FORMS = ("test_client_forms", "test_clients", "test_documented")
"""Tests of what single clients make of the form of an answer; in all others an answer has the members in question."""


@pytest.fixture(autouse=True)
def no_remarks_on_forms(request, monkeypatch):
    """Leave out which single clients fail on the small answers of these tests, most without id and model."""
    if request.module.__name__.rpartition(".")[2] not in OF_FORMS:
        monkeypatch.setattr(clients, "check_forms", lambda case, answer: ())


@pytest.fixture
def inspect():
    """A function from bodies to (findings of the last exchange); a list of (request, response) is a session."""

    def run(request=None, response=None, *, protocol, provider="generic", **more):
        pairs = request if isinstance(request, list) else [(request, response)]
        exchanges = tuple(exchange(*p, protocol=protocol, name=str(n), **more) for n, p in enumerate(pairs))
        result = Inspector(MemorySession("test", exchanges), provider=provider, protocol=protocol).run()
        assert not [p for row in result.rows for p in row.problems]
        return [f for f in result.findings if f.exchange == len(pairs) - 1]

    return run


@pytest.fixture
def anthropic(inspect):
    """The same for Anthropic bodies, under Anthropic's contract."""

    def run(messages=None, response=None, *, provider="anthropic", model="claude-sonnet-4-5", **more):
        keys = {k: more.pop(k) for k in ("tools", "thinking", "system", "max_tokens") if k in more}
        request = None if messages is None else {"model": model, "max_tokens": 4096, **keys, "messages": messages}
        return inspect(request, response, protocol="anthropic-messages", provider=provider, **more)

    return run


@pytest.fixture
def chat(inspect):
    """The same for Chat Completions bodies, under OpenAI's contract."""

    def run(messages=None, response=None, *, provider="openai", model="gpt-4.1", **more):
        names = ("tools", "thinking", "tool_choice", "max_tokens", "stream", "stream_options")
        keys = {k: more.pop(k) for k in names if k in more}
        request = None if messages is None else {"model": model, **keys, "messages": messages}
        return inspect(request, response, protocol="openai-chat", provider=provider, **more)

    return run


@pytest.fixture
def under():
    """``say`` as a fixture."""
    return say


def say(family, terms, checks, body, *, protocol="openai-chat", headers=(), url="", relations=()):
    """What a family says of a request under a contract of these terms, checks and relations alone.

    Terms are key → value; checks are (rule, message) or (rule, message, when); relations are mappings, as in a file.
    """
    request = HttpRequest(url=url, headers=Headers(tuple(headers)), body=Body(text_of(body)))
    inspector = Inspector(MemorySession("test", (Exchange("1", request),)), protocol=protocol, provider="generic")
    case = inspector.trial(0, request, protocol=protocol).case
    enforced = tuple(
        EnforcedCheck(rule, 400, message, "a test", "2026-01", when=(*more, "")[0]) for rule, message, *more in checks
    )
    facts = {key: Fact(value, "a test", "2026-01") for key, value in terms.items()}
    older = of_refused_params(terms.get("params.refused"), "a test", "2026-01")
    nodes = [Node(relation, "a test") for relation in relations]
    read = [read_relation(node, "a test", "2026-01") for node in nodes]
    enforced += tuple(filter(None, map(check_of, read, nodes)))
    contract = replace(case.contract, name="test", terms=facts, enforces=enforced, relations=(*older, *read))
    return list(family.check(replace(case, contract=contract)))


def brief(findings):
    """(rule, severity, pointer) of each, for comparison in tables."""
    return [(f.rule, f.severity.value, f.pointer) for f in findings]
