"""No cutting of a growing body lets a secret through."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.planted import BY_SHAPE, converse_stream, invoke_stream
from workbench.recorder.capture.redaction_guard import BodyGuard
from workbench.wire.encoding import decode_partial
from workbench.wire.exchange import Body, Exchange, HttpResponse
from workbench.wire.redaction import Redactor
from workbench.wire.stream import aws_message, read_stream

KEY = b"sk-ant-api03-" + b"Ab3_" * 20
ECHOED = "opaque/credential+without=prefix"
PARTS = [
    b'data: {"delta": "two words"}\n\n',
    b"event: ping\r\n",
    b'"password": "hunter2hunter2"',
    b'"password":\n\n"hunter2hunter2"\n',
    b'{\\"api_key\\": \\"0123456789abcdef\\"}\n',
    b"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nQEFAASCBKcwggSj7y\n-----END PRIVATE KEY-----\n",
    b"authorization: Bearer abcdefghijklmnop0123456789\n",
    KEY,
    ECHOED.encode(),
    b"\n",
    b" ",
    b'"',
    b'{"d": "f83OJ3D2xF1Bg8vub9tLe1gHMzV7",\n',
    b'"kty": "EC",\n',
    b"}",
]
CODINGS = {
    "": bytes,
    "gzip": lambda text: gzip.compress(text, mtime=0),  # else each second has its own bytes
    "br": lambda text: brotli.compress(text, quality=5),
    "zstd": zstandard.ZstdCompressor(level=1).compress,
}


def cuts(data: st.DataObject, whole: bytes) -> Iterator[bytes]:
    marks = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    for start, end in zip((0, *marks), (*marks, len(whole)), strict=True):
        yield whole[start:end]


def redactor() -> Redactor:
    made = Redactor(salt=b"test")
    made.remember(ECHOED)
    return made


def finished(raw: bytes, encoding: str) -> Body:
    response = redactor().exchange(Exchange("1", response=HttpResponse(body=Body(raw, encoding)))).response
    assert response
    return response.body


@given(st.lists(st.sampled_from(PARTS), max_size=10).map(b"".join), st.data())
def test_text_that_leaves_begins_what_the_whole_becomes(text: bytes, data: st.DataObject) -> None:
    guard, gone, whole = BodyGuard(redactor(), ""), b"", finished(text, "").raw
    for piece in cuts(data, text):
        gone += guard.feed(piece)
        assert whole.startswith(gone)


SAID = [
    "it is ", KEY.decode(), ECHOED, " and ", '{"api_key": "0123456789abcdefABCDEF"}', "\n",
    "DB_PASSWORD=hunter2hunter2\n", "a word, ", 'Authorization: Bearer abcdefghijklmnop0123456789 ', 
    "xoxb-123456789012-abcdefghijklMNOP1234 ", "secret", "the password is hunter2hunter2", BY_SHAPE["azure client"],
    "user,password\nbob,hunter2hunter2\n", "| user | password |\n|---|---|\n| bob | hunter2hunter2 |\n",
]  # fmt: skip


def deltas(data: st.DataObject, text: str) -> Iterator[bytes]:
    """The events of a stream that says a text in any pieces, of two texts at once."""
    marks = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    for n, (start, end) in enumerate(zip((0, *marks), (*marks, len(text)), strict=True)):
        delta = {"type": "text_delta", "text": text[start:end]}
        yield b"data: " + json.dumps({"index": 0, "delta": delta}).encode() + b"\n\n"
        if n % 2:
            yield b'data: {"index": 1, "delta": {"type": "input_json_delta", "partial_json": "word "}}\n\n'


@given(st.lists(st.sampled_from(SAID), max_size=6).map(" ".join), st.data())
def test_no_piece_of_a_secret_leaves_before_it_is_known(text: str, data: st.DataObject) -> None:
    events = list(deltas(data, text))
    guard, gone, whole = BodyGuard(redactor(), ""), b"", finished(b"".join(events), "").raw
    for event in events:
        gone += guard.feed(event)
        assert whole.startswith(gone)
    rest = guard.finish(b"", b"".join(events))
    assert rest is None or gone + rest.text == whole
    said = "".join(json.loads(b'"' + piece + b'"') for piece in re.findall(rb'"text": "((?:[^"\\]|\\.)*)"', whole))
    assert len(said) == len(text)
    for secret in (KEY.decode()[20:], ECHOED, "0123456789abcdefABCDEF", "hunter2hunter2", "abcdefghijklmnop0123456789"):
        assert secret not in said


@given(st.permutations(('"kty": "EC"', '"d": "f83OJ3D2xF1Bg8vub9tLe1gHMzV7"', '"x": "some point"')), st.data())
def test_no_private_member_of_a_web_key_leaves_before_its_kind_is_known(
    members: list[str], data: st.DataObject
) -> None:
    events = list(deltas(data, "a key: {" + ", ".join(members) + "} as you wished"))
    guard, whole = BodyGuard(redactor(), ""), finished(b"".join(events), "").raw
    assert whole.startswith(b"".join(map(guard.feed, events)))
    said = "".join(json.loads(b'"' + piece + b'"') for piece in re.findall(rb'"text": "((?:[^"\\]|\\.)*)"', whole))
    assert "bub9tLe1gHMzV7" not in said


@given(st.lists(st.sampled_from(SAID), max_size=6).map(" ".join), st.lists(st.integers(1, 9), min_size=1), st.data())
def test_of_aws_messages_whole_ones_leave(text: str, sizes: list[int], data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from((converse_stream, invoke_stream)))(text, *sizes)
    guard, gone, whole = BodyGuard(redactor(), ""), b"", finished(raw, "").raw
    for piece in cuts(data, raw):
        gone += guard.feed(piece)
        assert whole.startswith(gone)
        assert not read_stream(gone).faults
    said = "".join(map(str, _texts(whole)))
    for secret in (KEY.decode()[20:], ECHOED, "0123456789abcdefABCDEF", "hunter2hunter2", "abcdefghijklmnop0123456789"):
        assert secret not in said


def _texts(body: bytes) -> Iterator[str]:
    for event in read_stream(body).events:
        yield json.loads(event.data or b"{}")["delta"]["text"]


def test_messages_leave_as_they_come() -> None:
    guard, gone = BodyGuard(redactor(), ""), b""
    messages = [aws_message("contentBlockDelta", b'{"delta":{"text":" a word"}}') for _ in range(20)]
    for n, message in enumerate(messages):
        gone += guard.feed(message)
        assert len(gone) >= len(b"".join(messages[: max(n - 1, 0)]))


def test_deltas_of_words_leave_with_the_next_word() -> None:
    guard, gone = BodyGuard(redactor(), ""), b""
    events = [b"data: " + json.dumps({"delta": {"text": f" {word}"}}).encode() + b"\n\n" for word in "abcdefgh" * 9]
    for n, event in enumerate(events):
        gone += guard.feed(event)
        assert len(gone) >= len(b"".join(events[: max(n - 1, 0)]))


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
@given(data=st.data())
def test_of_a_compressed_body_only_clean_bytes_leave(encoding: str, data: st.DataObject) -> None:
    """What left is the beginning of the raw body, and unpacks to the beginning of what the whole becomes."""
    clean = data.draw(st.lists(st.sampled_from(PARTS[:2]), max_size=200).map(b"".join))
    text = clean + data.draw(st.lists(st.sampled_from(PARTS), max_size=6).map(b"".join))
    raw = CODINGS[encoding](text)
    safe = decode_partial(finished(raw, encoding))[0]
    guard, gone = BodyGuard(redactor(), encoding), b""
    for piece in cuts(data, raw):
        gone += guard.feed(piece)
        assert raw.startswith(gone)
        assert safe.startswith(decode_partial(Body(gone, encoding))[0])


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
def test_a_stream_that_is_flushed_can_be_followed(encoding: str) -> None:
    gzipped = zlib.compressobj(wbits=31)
    brotlied, zstd = brotli.Compressor(), zstandard.ZstdCompressor().compressobj()
    pack = {
        "gzip": lambda t: gzipped.compress(t) + gzipped.flush(2),
        "br": lambda t: brotlied.process(t) + brotlied.flush(),
        "zstd": lambda t: zstd.compress(t) + zstd.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK),
    }[encoding]
    guard, events = BodyGuard(redactor(), encoding), [b'data: {"n": %d}\n\n' % n for n in range(20)]
    gone = b""
    for n, event in enumerate(events):
        gone += guard.feed(pack(event))
        assert decode_partial(Body(gone, encoding))[0] == b"".join(events[: max(n, 0)])


def test_events_leave_as_they_come() -> None:
    guard = BodyGuard(redactor(), "")
    for n in range(20):
        event = b'data: {"n": %d}\n\n' % n
        assert guard.feed(event) == event


@pytest.mark.parametrize(
    ("encoding", "raw"),
    [
        ("gzip", b"plain text\n" * 9),
        ("", gzip.compress(b"packed without a label\n")),
        ("gzip, br", brotli.compress(gzip.compress(b"packed twice\n"))),
        ("sdch", b"what is it\n"),
        ("gzip", b"\x1f\x8b\x08" + b"broken" * 9),
        ("gzip", gzip.compress(b"one\n") + gzip.compress(KEY)),
    ],
)
def test_what_cannot_be_read_on_the_way_waits_for_the_end(encoding: str, raw: bytes) -> None:
    guard = BodyGuard(redactor(), encoding)
    assert b"".join(guard.feed(raw[at : at + 5]) for at in range(0, len(raw), 5)) in (b"", raw[:5], raw[:10])


def test_a_private_key_that_never_ends_is_not_read_again_and_again() -> None:
    guard, line = BodyGuard(redactor(), ""), b"MIIEvQIBADANBgkqhkiG9w0\n"
    guard.feed(b"-----BEGIN PRIVATE KEY-----\n")
    assert not any(guard.feed(line) for _ in range(64 * 1024 // len(line)))
