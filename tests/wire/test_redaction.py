"""Secrets never reach a disk, and nothing else is touched."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.planted import BY_SHAPE, converse_stream, invoke_stream
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.redaction import Redactor
from workbench.wire.stream import read_stream

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
        ("cf-aig-authorization", f"Bearer {KEY}"),
        ("Helicone-Auth", "Bearer 0123456789abcdef"),
        ("Ocp-Apim-Subscription-Key", "0123456789abcdef"),
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
        ("www-authenticate", 'Bearer resource_metadata="https://m.example/x"'),
        ("referer", "https://x.example/?q=1"),
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
        b"postgres://app:q7w2e@db.example/app",
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


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("SECRET", True),
        ("use SECRET now", True),
        ("It is SECRET. Keep it", True),
        *((f"x{mark}SECRET", False) for mark in ".@~#?"),
        *((f"SECRET{mark}x", False) for mark in ".@~"),
    ],
)
def test_a_secret_without_a_name_is_a_word_of_its_own(text: str, is_found: bool) -> None:
    body = text.replace("SECRET", BY_SHAPE["aws secret"]).encode()
    assert (redact(body=body).body.raw != body) is is_found


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


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        (f"sent {KEY}", KEY),
        ("https://x.example/cb?a=1&access_token=abcDEF123456&b=2", "abcDEF123456"),
        ("https://me:hunter2hunter2@x.example/", "me:hunter2hunter2"),
        ("it was opaque-credential", "opaque-credential"),
    ],
)
def test_secrets_inside_other_headers(value: str, secret: str) -> None:
    safe = redact(headers={"X-Odd": value, "x-api-key": "opaque-credential"})
    seen = safe.headers.get("x-odd") or ""
    start = value.index(secret)
    assert (len(seen), seen[:start], seen[start + len(secret) :]) == (
        len(value),
        value[:start],
        value[start + len(secret) :],
    )
    assert secret not in seen
    assert ("header:X-Odd", start, start + len(secret)) in [r[:3] for r in safe.redactions]


def test_secrets_in_what_is_said_of_an_exchange() -> None:
    request = HttpRequest("GET", "/", Headers((("x-api-key", "opaque-credential"),)))
    response = HttpResponse(401, reason="no opaque-credential here")
    safe = Redactor().exchange(Exchange("1", request, response, client=f"tool {KEY}", note=f"it said {KEY}"))
    assert safe.response
    assert "opaque-credential" not in safe.response.reason
    assert KEY not in safe.client + safe.note
    assert safe.note.startswith("it said ")


@pytest.mark.parametrize(
    ("key", "is_found"), [("local123", True), ("password", False), ("mine12", False), ("20260101", False)]
)
def test_how_short_a_secret_is_looked_for(key: str, is_found: bool) -> None:
    body = redact(headers={"x-api-key": key}, body=f"it is {key}.".encode()).body.raw
    assert (key.encode() not in body) == is_found


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("/?key=pass%2Bword%2F0123", {}),
        ("/", {"Authorization": "Basic " + b64encode(b"user:pass+word/0123").decode()}),
    ],
)
def test_a_secret_is_found_in_the_form_it_is_meant_in(url: str, headers: dict[str, str]) -> None:
    assert b"pass+word/0123" not in redact(url=url, headers=headers, body=b"it is pass+word/0123.").body.raw


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


def test_a_compressed_body_that_was_cut_keeps_no_secret() -> None:
    packed = gzip.compress(b'{"note": "' + KEY.encode() + b'"}' + bytes(range(256)) * 40)[:-200]
    request = HttpRequest(body=Body(packed, "gzip"))
    safe = Redactor().exchange(Exchange("1", request)).request
    assert safe
    assert KEY.encode() not in safe.body.raw
    assert safe.body.raw.startswith(b'{"note": "sk-ant-')
    assert (safe.body.is_raw, safe.body.original_length) == (False, len(packed))
    assert "incomplete" in safe.body.note


def test_secrets_that_overlap_are_replaced_to_the_end_of_the_last() -> None:
    dotted = "sk-" + "a1B2" * 6 + ".tail-of-the-key"
    safe = redact(headers={"x-api-key": dotted}, body=f"it was {dotted}!".encode())
    assert b"tail" not in safe.body.raw
    assert len(safe.redactions) == 2


def test_endless_backslashes_are_read_once() -> None:
    text = b"\\" * 1_000_000
    assert redact(body=text).body.raw == text


@pytest.mark.parametrize("stream", [converse_stream, invoke_stream])
def test_a_redacted_stream_of_aws_messages_is_whole(stream: Callable[..., bytes]) -> None:
    body = stream(KEY, 7)
    safe = redact(body=body)
    assert len(safe.body.raw) == len(body)
    assert not read_stream(safe.body.raw).faults
    assert sum(body[m.start : m.end] != safe.body.raw[m.start : m.end] for m in safe.redactions) > 5


def test_a_wrong_checksum_of_an_aws_message_stays_wrong() -> None:
    body = converse_stream(KEY, 999)[:-1] + b"?"
    safe = redact(body=body).body.raw
    assert KEY.encode() not in safe
    assert read_stream(safe).faults == read_stream(body).faults


@pytest.mark.parametrize("stream", [converse_stream, invoke_stream])
def test_a_stream_of_aws_messages_without_a_secret_stays(stream: Callable[..., bytes]) -> None:
    body = stream("${API_KEY}", 7)
    assert redact(body=body).body.raw is body


LINES = [
    b"data: hello\n",
    b"\n",
    b'"password": "hunter2hunter2"',
    b'"password":\n"hunter2hunter2"\n',
    b'\\"api_key\\": \\"0123456789abcdef\\"\n',
    b"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nQEFAASCBKcwggSj7y\n-----END PRIVATE KEY-----\n",
    b"Bearer abcdefghijklmnop0123456789\n",
    KEY.encode(),
    b" ",
    b'"',
    b'{"x": 1, "d": "f83OJ3D2xF1Bg8vub9tLe1gHMzV7",\n',
    b'"k":\n "hJtXIZ2uSN5kbQfbtTNWbg"\n',
    b'"kty": "EC",\n',
    b"}\n",
]


@given(st.lists(st.sampled_from(LINES), max_size=12), st.data())
def test_what_is_settled_is_redacted_the_same_by_itself(lines: list[bytes], data: st.DataObject) -> None:
    text = b"".join(lines)
    redactor = Redactor(salt=b"test")
    whole, _ = redactor.text(text)
    known = text[: data.draw(st.integers(0, len(text)))]
    settled = redactor.settled_length(known)
    assert redactor.text(text[:settled])[0] + redactor.text(text[settled:])[0] == whole


@given(st.lists(st.sampled_from([*LINES, b"TOKEN=q8Zt4LmW2pXv9Rb1TzK0\n", b"password: hunter2hunter2\n"]), max_size=8))
def test_a_redacted_text_stays_and_has_its_marks(lines: list[bytes]) -> None:
    text = b"".join(lines)
    once, found = Redactor(salt=b"one").text(text)
    again, _ = Redactor(salt=b"another").text(once)
    assert (len(once), again) == (len(text), once)
    assert all(text[mark.start : mark.end] != once[mark.start : mark.end] for mark in found)
