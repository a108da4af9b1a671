"""Secrets never reach a disk, and nothing else is touched."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.redaction import Redactor

KEY = "sk-ant-api03-" + "Ab3_" * 20 + "-qwAA"


def redact(
    *, url: str = "https://api.example.com/v1/messages", headers: dict[str, str] | None = None, body: bytes = b""
) -> HttpRequest:
    request = HttpRequest("POST", url, Headers(tuple((headers or {}).items())), Body(body))
    safe = Redactor(salt=b"test").exchange(Exchange("1", request)).request
    assert safe is not None
    return safe


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", f"Bearer {KEY}"),
        ("x-api-key", KEY),
        ("api-key", "0123456789abcdef"),
        ("X-Custom-Token", "0123456789abcdef"),
        ("X-Goog-Api-Key", "AIza" + "x1" * 17 + "y"),
        ("Proxy-Authorization", "Basic dXNlcjpwYXNzd29yZA=="),
        ("Cookie", "session=abcdef123456; theme=dark99"),
        ("set-cookie", "__cf_bm=Zm9vYmFy.123; path=/; HttpOnly"),
        ("x-amz-security-token", "IQoJb3JpZ2luX2VjE"),
    ],
)
def test_secret_headers_become_stand_ins_of_the_same_shape(name: str, value: str) -> None:
    safe = redact(headers={name: value})
    ((_, seen),) = safe.headers
    assert seen != value
    assert len(seen) == len(value)
    assert [c.isalpha() for c in seen] == [c.isalpha() for c in value]
    assert safe.redactions[0].where == f"header:{name}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("anthropic-ratelimit-tokens-remaining", "49000"),
        ("x-ratelimit-limit-tokens", "49000"),
        ("request-id", "req_011CSHoEeqs5C35K2UUqR7Fy"),
        ("anthropic-version", "2023-06-01"),
        ("idempotency-key", "stainless-python-retry-0b1"),
        ("authorization", "${API_KEY}"),
    ],
)
def test_other_headers_stay(name: str, value: str) -> None:
    assert redact(headers={name: value}).headers.get(name) == value


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("https://g.example/v1beta/models/m:generateContent?key=AIzaSyA-1234567890", "AIzaSyA-1234567890"),
        ("https://x.example/path?a=1&access_token=abcDEF123456&b=2", "abcDEF123456"),
        ("https://user:hunter2hunter2@x.example/v1", "user:hunter2hunter2"),
    ],
)
def test_keys_in_urls(url: str, secret: str) -> None:
    safe = redact(url=url)
    assert secret not in safe.url
    assert len(safe.url) == len(url)
    start, end = safe.redactions[0].start, safe.redactions[0].end
    assert url[start:end] == secret
    assert safe.url[:start] == url[:start]


@pytest.mark.parametrize(
    "body",
    [
        b'{"api_key": "0123456789abcdef"}',
        b'{"arguments": "{\\"password\\": \\"correct horse\\"}"}',
        f'{{"content": "export ANTHROPIC_API_KEY={KEY}"}}'.encode(),
        b'{"cmd": "curl -H \'Authorization: Bearer abcdefghijklmnop123456\'"}',
        b"AKIAABCDEFGHIJKLMNOP",
    ],
)
def test_keys_in_bodies(body: bytes) -> None:
    safe = redact(body=body)
    (mark,) = safe.redactions
    assert safe.body.raw[mark.start : mark.end] != body[mark.start : mark.end]
    assert safe.body.raw[: mark.start] == body[: mark.start]
    assert safe.body.raw[mark.end :] == body[mark.end :]


@pytest.mark.parametrize(
    "body",
    [
        b'{"signature": "EqQBCkYIARgCKkD1sigAsk+ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef/0123456789=="}',
        b'{"encrypted_content": "gAAAAABok-sk-ABCDEFGHIJKLMNOPQRSTUVWX"}',
        b'{"id": "toolu_01A09q90qw90lq917835lq9", "call_id": "call_00_abcdefghijklmnopqrst"}',
        b'{"input_schema": {"properties": {"api_key": {"type": "string"}, "password": {"type": "string"}}}}',
        b'{"max_tokens": 4096, "token": "hello world how are you"}',
        b'{"api_key": "${OPENAI_API_KEY}"}',
    ],
)
def test_state_of_the_chain_and_ordinary_text_stay(body: bytes) -> None:
    assert redact(body=body).body == Body(body)


def test_the_same_secret_has_the_same_stand_in_within_a_session_and_another_in_the_next() -> None:
    one, other = Redactor(), Redactor()
    assert one.stand_in(KEY) == one.stand_in(KEY)
    assert one.stand_in(KEY) != other.stand_in(KEY)
    assert one.stand_in(KEY).startswith("sk-ant-")


def test_a_key_seen_in_a_header_is_found_in_bodies_too() -> None:
    secret = "opaque/credential+without=prefix"
    request = HttpRequest("POST", "/", Headers((("x-api-key", secret),)), Body(f"my key is {secret}.".encode()))
    response = HttpResponse(401, body=Body(f"bad key {secret}".encode()))
    safe = Redactor().exchange(Exchange("1", request, response))
    assert safe.request and safe.response
    assert secret.encode() not in safe.request.body.raw + safe.response.body.raw


def test_a_compressed_body_with_a_secret_is_kept_decoded_and_says_so() -> None:
    raw = gzip.compress(f'{{"api_key": "{KEY}"}}'.encode())
    request = HttpRequest("POST", "/", Headers(), Body(raw, encoding="gzip"))
    safe = Redactor().exchange(Exchange("1", request)).request
    assert safe
    assert KEY.encode() not in safe.body.raw
    assert (safe.body.is_raw, safe.body.encoding, safe.body.original_length) == (False, "", len(raw))
    assert "gzip" in safe.body.note


def test_a_compressed_body_without_a_secret_stays_raw() -> None:
    raw = gzip.compress(b'{"model": "m"}')
    request = HttpRequest("POST", "/", Headers(), Body(raw, encoding="gzip"))
    safe = Redactor().exchange(Exchange("1", request)).request
    assert safe and safe.body == Body(raw, encoding="gzip")


@given(st.text(min_size=1, max_size=60))
def test_stand_ins_keep_length_and_never_fail(secret: str) -> None:
    redactor = Redactor()
    assert len(redactor.stand_in(secret)) == len(secret)
    assert redactor.stand_in(secret) == redactor.stand_in(secret)
