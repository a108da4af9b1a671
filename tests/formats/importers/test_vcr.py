from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import vcr
from workbench.wire.encoding import decode_body
from workbench.wire.exchange import Exchange, State
from workbench.wire.jsontext import loads


@pytest.fixture
def read(data: Path):
    return lambda name: vcr.read((data / name).read_bytes(), name)


def both(exchange: Exchange):
    assert exchange.request and exchange.response
    return exchange.request, exchange.response


def test_vcrpy_keeps_text_exact_and_bytes_compressed(read) -> None:
    request, response = both(read("vcrpy.yaml").exchange(0))
    assert (request.method, request.url) == ("POST", "https://api.anthropic.com/v1/messages")
    assert request.body.raw == (
        '{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"café"}]}'.encode()
    )
    assert request.body.is_raw
    assert request.headers.all("X-Twice") == ("one", "two")
    assert (response.status, response.reason, response.body.encoding) == (200, "OK", "gzip")
    assert response.body.raw.startswith(b"\x1f\x8b")
    assert loads(decode_body(response.body))["content"][0]["text"] == "gzip"


def test_what_is_no_model_call_is_listed_too(read) -> None:
    request, response = both(read("vcrpy.yaml").exchange(1))
    assert (request.method, request.url) == ("GET", "https://api.anthropic.com/v1/models")
    assert request.headers.get("authorization") == "AWS4-HMAC"
    assert (response.body.raw, response.body.is_raw, response.body.encoding) == (b'{"data":[]}', False, "")


def test_parsed_bodies_become_json_and_say_what_is_lost(read) -> None:
    request, response = both(read("parsed.yaml").exchange(0))
    assert request.body.raw == (
        '{"max_tokens":9,"messages":[{"content":"café","role":"user"}],'
        '"model":"claude-sonnet-4-5","temperature":1e-05}'.encode()
    )
    assert loads(response.body.raw)["content"] == [{"text": "yes", "type": "text"}]
    assert loads(response.body.raw)["created"] == "2026-03-01"
    assert not request.body.is_raw and not response.body.is_raw


def test_go_vcr(read) -> None:
    exchange = read("go.yaml").exchange(0)
    request, response = both(exchange)
    assert (request.http_version, response.http_version) == ("HTTP/1.1", "HTTP/2.0")
    assert (response.status, response.reason) == (200, "OK")
    assert response.body.raw.endswith(b"data: [DONE]\n\n")
    assert exchange.duration == pytest.approx(0.2575)


def test_r_vcr(read) -> None:
    exchange = read("r.yml").exchange(0)
    _, response = both(exchange)
    assert response.status == 429
    assert response.headers.items == (("retry-after", "2"), ("vary", "Origin"), ("vary", "Accept"))
    assert exchange.started_at == 1783593084.0


def test_ruby_vcr(read) -> None:
    session = read("ruby.yml")
    exchange = session.exchange(0)
    request, response = both(exchange)
    assert (request.method, response.body.raw) == ("POST", b'{"choices":[]}')
    assert exchange.started_at == 1783593084.0
    unanswered = session.exchange(1)
    assert (unanswered.response, unanswered.state) == (None, State.INCOMPLETE)
    assert session.damage == ("interaction 3: not a mapping",)


def test_a_json_cassette(read) -> None:
    request, response = both(read("cassette.json").exchange(0))
    assert (request.body.raw, response.body.raw) == (b'{"model":"m","messages":[]}', b'{"choices":[]}')


def test_a_cassette_of_httpx_has_status_and_body_under_other_names() -> None:
    cassette = (
        b"interactions:\n- request: {body: '{}', method: POST, uri: http://x/, headers: {}}\n"
        b"  response: {content: '{}', headers: {}, http_version: HTTP/1.1, status_code: 429}\n"
    )
    _, response = both(vcr.read(cassette, "x").exchange(0))
    assert (response.status, response.body.raw) == (429, b"{}")


def test_requests_and_responses_in_two_lists(read) -> None:
    """As LangChain writes them."""
    request = b"- {body: '{}', headers: {Content-Type: ['**REDACTED**']}, method: POST, uri: 'http://x/a'}\n"
    answer = b"- body: {string: '{}'}\n  headers: {}\n  status: {code: 201, message: Made}\n"
    cassette = b"requests:\n- body: '{}'\n  headers: {}\n  method: POST\n  uri: http://x/\n" + request
    assert vcr.sniff(cassette) > 0.9
    session = vcr.read(cassette + b"responses:\n" + answer, "x")
    first, second = (session.exchange(n) for n in range(2))
    assert (first.request.url, first.response.status) == ("http://x/", 201)
    assert (second.request.url, second.response) == ("http://x/a", None)


def test_text_that_was_in_another_encoding_is_not_raw() -> None:
    cassette = (
        b"http_interactions:\n- request:\n    method: get\n    uri: http://x/\n"
        b"  response:\n    status: {code: 200}\n    body: {encoding: Windows-31J, string: x}\n"
    )
    _, response = both(vcr.read(cassette, "x").exchange(0))
    assert not response.body.is_raw and "Windows-31J" in response.body.note


@pytest.mark.parametrize(
    ("head", "is_cassette"),
    [
        (b"interactions:\n- request:\n", True),
        (b"---\nversion: 2\ninteractions:\n", True),
        (b"# made by hand\nhttp_interactions:\n", True),
        (b'{"version": 1, "interactions": [', True),
        (b'{"http_interactions": [', True),
        (b'{"model": "m", "messages": [{"content": "\\ninteractions:\\n"}]}', False),
        (b"  interactions:\n", False),
        (b"the interactions: many\n", False),
    ],
)
def test_sniff(head: bytes, is_cassette: bool) -> None:
    assert (vcr.sniff(head) > 0) == is_cassette


def test_a_cassette_without_interactions_is_refused() -> None:
    for text in (b"interactions: []\n", b"interactions:\n", b"interactions: {a: b}\n", b'{"interactions": 5}'):
        with pytest.raises(UnreadableInput):
            vcr.read(text, "x")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("1m2.5s", 62.5), ("250µs", 0.00025), (0.5, 0.5), ("", None), ("soon", None), (None, None), (True, None)],
)
def test_durations(value: object, seconds: float | None) -> None:
    assert vcr._duration(value) == (pytest.approx(seconds) if seconds else None)
