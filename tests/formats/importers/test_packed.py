from __future__ import annotations

import base64
import gzip
import json

import pytest

from workbench.formats.importers import open_input
from workbench.formats.importers._http import bytes_of_numbers, hidden_base64, joined_chunks, stored_body
from workbench.wire.encoding import decode_body
from workbench.wire.exchange import Headers

JSON = b'{"choices": [{"message": {"role": "assistant", "content": "hi"}}]}'
EVENTS = b'data: {"choices": []}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize("body", [JSON, b"[" + JSON + b"]", EVENTS, gzip.compress(JSON)])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.encodebytes])
def test_a_body_that_is_base64_of_a_body_is_unwrapped(body: bytes, encode) -> None:
    held = stored_body(encode(body), Headers())
    assert decode_body(held) == decode_body(stored_body(body, Headers()))
    assert "base64" in held.note


@pytest.mark.parametrize("body", [JSON, b"\x8b\x02\x80brotli, or anything else", b""])
def test_a_body_that_says_to_be_base64_is_unwrapped(body: bytes) -> None:
    assert hidden_base64(b"base64:" + base64.b64encode(body)) == body


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        JSON,
        b"base64: is a coding of bytes as text",
        base64.b64encode(b"just some words of a text that is no body"),
        base64.b64encode(JSON)[:-8] + b"!!!!!!!!",
        base64.b64encode(JSON[:-2]),
        b"H4sI no base64 behind it",
        b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    ],
)
def test_nothing_else_is_unwrapped(raw: bytes) -> None:
    assert hidden_base64(raw) is None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


CHUNKED = [
    ([_base64(JSON[:20]), _base64(JSON[20:])], JSON),
    ([JSON[:20].hex(), JSON[20:].hex()], JSON),
    (json.dumps([_base64(JSON[:20]), _base64(JSON[20:])]), JSON),
    ([], None),
    (["no base64!"], None),
    (["aGk=", 5], None),
    ("[1", None),
    ({"a": "b"}, None),
]


@pytest.mark.parametrize(("value", "body"), CHUNKED)
def test_chunks_are_joined(value: object, body: bytes | None) -> None:
    assert joined_chunks(value) == body


@pytest.mark.parametrize(
    ("value", "body"),
    [
        ([104, 105], b"hi"),
        ({"type": "Buffer", "data": [104, 105]}, b"hi"),
        ([104, 256], None),
        ([True], None),
        ({"type": "Buffer"}, None),
        ("hi", None),
    ],
)
def test_numbers_are_bytes(value: object, body: bytes | None) -> None:
    assert bytes_of_numbers(value) == body


@pytest.mark.parametrize("encode", [lambda chunk: base64.b64encode(chunk).decode(), bytes.hex])
@pytest.mark.parametrize("mark", [{"encoding": "base64"}, {}])
def test_an_archive_of_chunks_is_read(encode, mark, tmp_path) -> None:
    packed = gzip.compress(JSON)
    content = {"text": json.dumps([encode(packed[:30]), encode(packed[30:])]), **mark}
    answer = {"status": 200, "content": content, "headers": [{"name": "content-encoding", "value": "gzip"}]}
    entry = {"request": {"method": "POST", "url": "https://api.openai.com/v1/chat/completions"}, "response": answer}
    path = tmp_path / "a.har"
    path.write_text(json.dumps({"log": {"entries": [entry]}}))
    exchange = open_input(str(path)).exchange(0)
    assert exchange.response
    assert decode_body(exchange.response.body) == JSON


def test_an_archive_may_be_yaml(tmp_path) -> None:
    text = """log:
  _recordingName: one
  creator: {name: Polly.JS}
  entries:
    - _id: a
      request:
        method: POST
        url: https://api.openai.com/v1/chat/completions
        postData: {mimeType: application/json, text: '{"model": "m", "messages": []}'}
      response: {status: 200, content: {text: "{}"}}
"""
    path = tmp_path / "recording.har.yaml"
    path.write_text(text)
    session = open_input(str(path))
    assert session.format == "HAR archive"
    request = session.exchange(0).request
    assert request
    assert request.body.raw == b'{"model": "m", "messages": []}'
