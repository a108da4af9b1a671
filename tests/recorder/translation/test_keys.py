"""Keys reach the upstream in its own header, and nobody else."""

from __future__ import annotations

import pytest

from workbench.recorder.translation.keys import client_key, with_key
from workbench.send.outgoing import Outgoing
from workbench.send.target import Target
from workbench.wire.exchange import Headers, HttpRequest

DEEPSEEK = "https://api.deepseek.com"


@pytest.mark.parametrize(
    ("headers", "url", "key"),
    [
        ([("x-api-key", "k1")], "/v1/messages", "k1"),
        ([("Authorization", "bearer  k1 ")], "/", "k1"),
        ([("x-goog-api-key", "k1")], "/", "k1"),
        ([("api-key", "k1")], "/", "k1"),
        ([("x-api-key", "")], "/v1beta/models/m:generateContent?alt=sse&key=k%31", "k1"),
        ([], "/", ""),
    ],
)
def test_the_key_of_a_client(headers, url, key):
    assert client_key(Headers(tuple(headers)), url) == key


def sent(protocol, url=DEEPSEEK, variable="", environ=(), key="k1"):
    target = Target("t", protocol, url, key_variable=variable)
    outgoing = Outgoing(target, HttpRequest(url=f"{url}/v1/x"), protocol)
    return with_key(outgoing, Headers((("x-api-key", key),)), "/", dict(environ))


@pytest.mark.parametrize(
    ("protocol", "item"),
    [
        ("openai-chat", ("authorization", "Bearer k1")),
        ("anthropic-messages", ("x-api-key", "k1")),
        ("gemini", ("x-goog-api-key", "k1")),
    ],
)
def test_it_is_spelled_as_the_upstream_reads_it(protocol, item):
    assert sent(protocol).headers.items == (item,)


def test_the_key_of_the_target_comes_first():
    made = sent("openai-chat", variable="KEY_OF_IT", environ={"KEY_OF_IT": "own"}.items())
    assert made.headers.get("authorization") == "Bearer own" and "KEY_OF_IT" in made.note
    assert sent("openai-chat", variable="KEY_OF_IT").headers.get("authorization") == "Bearer k1"


def test_a_key_that_shows_whose_it_is_goes_to_nobody_else():
    assert sent("openai-chat", key="sk-ant-api03-x").headers.items == ()
    assert "anthropic" in sent("openai-chat", key="sk-ant-api03-x").note
    assert sent("openai-chat", url="https://gateway.example", key="sk-ant-api03-x").headers.items
    assert sent("anthropic-messages", url="https://api.anthropic.com", key="sk-ant-api03-x").headers.items
    assert sent("openai-chat", key="").headers.items == ()
