"""Bodies: framed as h11 frames them, cut anywhere, and passed on byte by byte as they came."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.http1.test_head import cuts
from workbench.limits import MAX_CHUNK_LINE, MAX_HEADER_BLOCK
from workbench.wire.http1.body import BodyReader, ChunkedBody, LengthBody, OpenBody, request_body, response_body
from workbench.wire.http1.head import BadMessage, read_request, read_response

SIZE = st.sampled_from(["%x", "%X", "0%x", "%x ", "%x;a", '%x;a="b c"; d'])
CHUNKS = st.lists(st.tuples(st.binary(min_size=1, max_size=40), SIZE), max_size=5)
TRAILERS = st.sampled_from(["", "X: 1\r\n", "X: 1\r\nx-y:2 \r\n"])
BEHIND = st.sampled_from([b"", b"GET / HTTP/1.1\r\n", b"\r\n"])


def chunked(chunks: list[tuple[bytes, str]], trailers: str) -> bytes:
    parts = [(form % len(data)).encode() + b"\r\n" + data + b"\r\n" for data, form in chunks]
    return b"".join(parts) + b"0\r\n" + trailers.encode() + b"\r\n"


def follow(body: BodyReader, pieces: list[bytes]) -> tuple[bytes, bytes, bytes]:
    """What was sent on, the body, and what came behind it."""
    wire, content, rest = b"", b"", b""
    for piece in pieces:
        fed = body.feed(piece)
        assert body.is_done or not fed.rest
        wire, content, rest = wire + fed.wire, content + b"".join(fed.pieces), rest + fed.rest
    return wire, content, rest


def by_h11(wire: bytes) -> tuple[bytes, bytes]:
    """The body and what comes behind it, as h11 reads a request."""
    oracle = h11.Connection(h11.SERVER)
    oracle.receive_data(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + wire)
    content = b""
    while not isinstance(event := oracle.next_event(), h11.EndOfMessage):
        assert event is not h11.NEED_DATA
        content += bytes(event.data) if isinstance(event, h11.Data) else b""
    return content, oracle.trailing_data[0]


@given(st.data(), CHUNKS, TRAILERS, BEHIND)
def test_chunks_are_read_as_h11_reads_them(
    data: st.DataObject, chunks: list[tuple[bytes, str]], trailers: str, behind: bytes
) -> None:
    message = chunked(chunks, trailers)
    body = ChunkedBody()
    wire, content, rest = follow(body, data.draw(cuts(message + behind)))
    assert (wire, rest, body.is_done) == (message, behind, True)
    assert (content, rest) == by_h11(message + behind)


@given(st.data(), CHUNKS, TRAILERS)
def test_data_of_a_chunk_are_never_held_back(
    data: st.DataObject, chunks: list[tuple[bytes, str]], trailers: str
) -> None:
    """What is held is at most an unfinished line of framing."""
    message = chunked(chunks, trailers)
    end = data.draw(st.integers(0, len(message)))
    fed = ChunkedBody().feed(message[:end])
    held = message[len(fed.wire) : end]
    assert message.startswith(fed.wire) and b"\n" not in held
    whole = b"".join(c for c, _ in chunks)
    assert whole.startswith(b"".join(fed.pieces))


@given(st.data(), st.binary(max_size=50), BEHIND)
def test_a_length_is_counted(data: st.DataObject, content: bytes, behind: bytes) -> None:
    body = LengthBody(len(content))
    assert body.is_done is not bool(content)
    assert follow(body, data.draw(cuts(content + behind))) == (content, content, behind)
    assert body.is_done


def test_whole_pieces_are_passed_on_without_a_copy() -> None:
    piece = bytes(1000)
    body = ChunkedBody()
    body.feed(b"ffff\r\n")
    for follower in (LengthBody(2000), body, OpenBody()):
        fed = follower.feed(piece)
        assert fed.wire is piece and fed.pieces[0] is piece


def test_space_before_an_extension_is_allowed() -> None:
    """RFC 9112 7.1.1 allows it; h11 does not."""
    message = b"2 \t;x=1 ; y\r\nhi\r\n0\r\n\r\n"
    assert follow(ChunkedBody(), [message]) == (message, b"hi", b"")


BAD_CHUNKS = {
    "no size": b"\r\n",
    "not hexadecimal": b"xyz\r\n",
    "prefix": b"0x5\r\nhello\r\n",
    "sign": b"+5\r\nhello\r\n",
    "negative": b"-1\r\n",
    "underscore": b"1_0\r\n",
    "space first": b" 5\r\nhello\r\n",
    "too big": b"1" * 16 + b"\r\n",
    "bare LF": b"5\nhello\r\n",
    "bare LF behind an extension": b"5;a\nhello\r\n",
    "NUL in an extension": b"5;\x00\r\nhello\r\n",
    "CR in an extension": b"5;a\rb\r\nhello\r\n",
    "longer than its declared size": b"5\r\nhello!\r\n0\r\n\r\n",
    "LF behind the data": b"5\r\nhello\n0\r\n\r\n",
    "CR behind the data": b"5\r\nhello\r0\r\n\r\n",
    "trailer without colon": b"0\r\nX\r\n\r\n",
    "trailer folded": b"0\r\nX: 1\r\n 2\r\n\r\n",
    "trailer with LF": b"0\r\nX: 1\n\r\n",
    "endless size line": b"5;" + b"a" * (MAX_CHUNK_LINE + 1),
    "endless trailer line": b"0\r\nX: " + b"a" * (MAX_CHUNK_LINE + 1),
    "endless trailers": b"0\r\n" + b"X: 1\r\n" * (MAX_HEADER_BLOCK // 6 + 1),
}


@pytest.mark.parametrize("message", BAD_CHUNKS.values(), ids=BAD_CHUNKS)
@pytest.mark.parametrize("size", [997, 1_000_000])
def test_bad_chunks_are_refused(message: bytes, size: int) -> None:
    body = ChunkedBody()
    with pytest.raises(BadMessage):
        follow(body, [message[at : at + size] for at in range(0, len(message), size)])


@pytest.mark.parametrize("message", [m for m in BAD_CHUNKS.values() if len(m) < 100])
def test_bad_chunks_are_refused_byte_by_byte(message: bytes) -> None:
    with pytest.raises(BadMessage):
        follow(ChunkedBody(), [message[at : at + 1] for at in range(len(message))])


REQUESTS = {
    "none": ("", LengthBody),
    "length": ("Content-Length: 5", LengthBody),
    "chunked": ("Transfer-Encoding: chunked", ChunkedBody),
    "chunked in capitals": ("transfer-encoding: CHUNKED", ChunkedBody),
    "both": ("Content-Length: 5\r\nTransfer-Encoding: chunked", 400),
    "two lengths": ("Content-Length: 5\r\nContent-Length: 6", 400),
    "the same length twice": ("Content-Length: 5\r\nContent-Length: 5", 400),
    "a list of lengths": ("Content-Length: 5, 5", 400),
    "empty length": ("Content-Length:", 400),
    "negative": ("Content-Length: -1", 400),
    "signed": ("Content-Length: +5", 400),
    "hexadecimal": ("Content-Length: 0x5", 400),
    "decimal point": ("Content-Length: 5.0", 400),
    "digits of elsewhere": ("Content-Length: \xb2", 400),
    "endless": ("Content-Length: " + "9" * 19, 400),
    "other coding": ("Transfer-Encoding: gzip, chunked", 501),
    "identity": ("Transfer-Encoding: identity", 501),
    "chunked twice": ("Transfer-Encoding: chunked, chunked", 501),
    "chunked in two headers": ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 501),
    "chunked behind a vertical tab": ("Transfer-Encoding: chunked;x", 501),
}


@pytest.mark.parametrize(("lines", "expected"), REQUESTS.values(), ids=REQUESTS)
def test_the_length_of_a_request_is_never_ambiguous(lines: str, expected: type[BodyReader] | int) -> None:
    block = b"POST / HTTP/1.1\r\nHost: x" + (b"\r\n" + lines.encode("latin-1") if lines else b"")
    if isinstance(expected, int):
        with pytest.raises(BadMessage) as caught:
            request_body(read_request(block))
        assert caught.value.status == expected
    else:
        assert type(request_body(read_request(block))) is expected


def test_http_1_0_has_no_chunks() -> None:
    with pytest.raises(BadMessage):
        request_body(read_request(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked"))


RESPONSES = {
    "open": ("GET", "200", "", OpenBody, False),
    "length": ("GET", "200", "Content-Length: 5", LengthBody, False),
    "same length twice": ("GET", "200", "Content-Length: 5, 5\r\nContent-Length: 5", LengthBody, False),
    "none": ("GET", "200", "Content-Length: 0", LengthBody, True),
    "chunked": ("GET", "200", "Transfer-Encoding: chunked", ChunkedBody, False),
    "chunked counts": ("GET", "200", "Transfer-Encoding: chunked\r\nContent-Length: 5", ChunkedBody, False),
    "to HEAD": ("HEAD", "200", "Content-Length: 5", LengthBody, True),
    "chunked to HEAD": ("HEAD", "200", "Transfer-Encoding: chunked", LengthBody, True),
    "204": ("GET", "204", "Content-Length: 5", LengthBody, True),
    "304": ("GET", "304", "Content-Length: 5", LengthBody, True),
}


@pytest.mark.parametrize(("method", "status", "lines", "kind", "done"), RESPONSES.values(), ids=RESPONSES)
def test_where_a_response_ends(method: str, status: str, lines: str, kind: type[BodyReader], done: bool) -> None:
    block = f"HTTP/1.1 {status} X" + (f"\r\n{lines}" if lines else "")
    body = response_body(read_response(block.encode()), method.encode())
    assert (type(body), body.is_done, body.ends_with_connection) == (kind, done, kind is OpenBody)
