"""No cutting of a growing body lets a secret through."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from workbench.recorder.guard import BodyGuard
from workbench.wire.encoding import decode_partial
from workbench.wire.exchange import Body, Exchange, HttpResponse
from workbench.wire.redaction import Redactor

KEY = b"sk-ant-api03-" + b"Ab3_" * 20
ECHOED = "opaque/credential+without=prefix"
PARTS = [
    b'data: {"delta": "two words"}\n\n',
    b"event: ping\r\n",
    b'"password": "hunter2hunter2"',
    b'"password":\n\n"hunter2hunter2"\n',
    b'{\\"api_key\\": \\"0123456789abcdef\\"}\n',
    b'"authorization":"one\ntwo three\nfour"',
    b"authorization: Bearer abcdefghijklmnop0123456789\n",
    KEY,
    ECHOED.encode(),
    b"\n",
    b" ",
    b'"',
]
CODINGS = {
    "": bytes,
    "gzip": gzip.compress,
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


def test_a_member_that_never_ends_is_not_read_again_and_again() -> None:
    guard = BodyGuard(redactor(), "")
    guard.feed(b'{"password": "\n')
    for _ in range(20_000):
        assert guard.feed(b"a line of it\n") == b""
