"""Heads: read as h11 reads them, cut anywhere; what could be read in two ways is refused."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.limits import MAX_HEADER_BLOCK
from workbench.wire.http1.head import BadMessage, HeadBuffer, Request, read_request, read_response, render

TOKEN = st.text("!#$%&'*+-.^_`|~09azAZ", min_size=1, max_size=8).map(str.encode)
VALUE = st.binary(max_size=12).map(lambda b: bytes(c for c in b if c == 9 or 32 <= c != 127).strip(b" \t"))
SPACE = st.sampled_from([b"", b" ", b"\t ", b"  "])
LINES = st.lists(st.tuples(TOKEN, SPACE, VALUE, SPACE), max_size=6)
FRAMING = (b"content-length", b"transfer-encoding", b"host", b"expect", b"connection")


def cuts(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """Any cutting of the bytes into pieces."""
    places = st.lists(st.integers(0, len(data)), max_size=8).map(lambda p: [0, *sorted(p), len(data)])
    return places.map(lambda p: [data[a:b] for a, b in pairwise(p)])


@given(st.data(), TOKEN, LINES)
def test_requests_are_read_as_h11_reads_them(
    data: st.DataObject, method: bytes, lines: list[tuple[bytes, ...]]
) -> None:
    lines = [line for line in lines if line[0].lower() not in FRAMING]
    raw = [name + b":" + before + value + after for name, before, value, after in lines]
    wire = render(method + b" /p?q HTTP/1.1", [b"Host: x", *raw])
    buffer, block = HeadBuffer(), None
    for piece in data.draw(cuts(wire)):
        assert block is None or not piece
        buffer.add(piece)
        block = buffer.take() or block
    assert block is not None
    head = read_request(block)
    oracle = h11.Connection(h11.SERVER)
    oracle.receive_data(wire)
    event = oracle.next_event()
    assert isinstance(event, h11.Request)
    assert (head.method, head.target, head.version[5:]) == (event.method, event.target, event.http_version)
    assert [(f.name, f.value) for f in head.fields] == event.headers.raw_items()
    assert [f.line for f in head.fields] == [b"Host: x", *raw]
    assert render(head.start, [f.line for f in head.fields]) == wire


@given(st.integers(200, 599), VALUE, LINES)
def test_responses_are_read_as_h11_reads_them(status: int, reason: bytes, lines: list[tuple[bytes, ...]]) -> None:
    raw = [name + b":" + before + value + after for name, before, value, after in lines if name.lower() not in FRAMING]
    wire = render(b"HTTP/1.1 %d %s" % (status, reason), raw)
    head = read_response(wire[:-4])
    oracle = h11.Connection(h11.CLIENT)
    oracle.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    oracle.receive_data(wire)
    event = oracle.next_event()
    assert isinstance(event, h11.Response)
    assert (head.status, head.reason) == (event.status_code, event.reason)
    assert [(f.name, f.value) for f in head.fields] == event.headers.raw_items()


BAD = {
    "space before the colon": (b"GET / HTTP/1.1\r\nHost : x", "space before the colon"),
    "tab before the colon": (b"GET / HTTP/1.1\r\nHost\t: x", "space before the colon"),
    "folded": (b"GET / HTTP/1.1\r\nX: a\r\n b", "line folding"),
    "folded at once": (b"GET / HTTP/1.1\r\n X: a", "line folding"),
    "no colon": (b"GET / HTTP/1.1\r\nHost", "not a header line"),
    "no name": (b"GET / HTTP/1.1\r\n: x", "not a header line"),
    "empty header line": (b"GET / HTTP/1.1\r\n", "not a header line"),
    "bare LF": (b"GET / HTTP/1.1\r\nX: a\nY: b", "not a header line"),
    "bare CR": (b"GET / HTTP/1.1\r\nX: a\rY: b", "not a header line"),
    "NUL": (b"GET / HTTP/1.1\r\nX: a\x00b", "not a header line"),
    "escape": (b"GET / HTTP/1.1\r\nX: a\x1b[2J", "not a header line"),
    "name outside ASCII": (b"GET / HTTP/1.1\r\nX\xe9: a", "not a header line"),
    "LF after the request line": (b"GET / HTTP/1.1\nX: a", "not an HTTP/1.1 request line"),
    "two spaces": (b"GET  / HTTP/1.1", "not an HTTP/1.1 request line"),
    "space in the target": (b"GET /a b HTTP/1.1", "not an HTTP/1.1 request line"),
    "control in the target": (b"GET /a\x01 HTTP/1.1", "not an HTTP/1.1 request line"),
    "no version": (b"GET /", "not an HTTP/1.1 request line"),
    "lower-case version": (b"GET / http/1.1", "not an HTTP/1.1 request line"),
    "HTTP/2": (b"PRI * HTTP/2.0", "only HTTP/1.1"),
    "HTTP/0.9 by name": (b"GET / HTTP/0.9", "only HTTP/1.1"),
    "HTTP/1.10": (b"GET / HTTP/1.10", "only HTTP/1.1"),
    "odd method": (b"G(T / HTTP/1.1", "not an HTTP/1.1 request line"),
    "nothing": (b"", "not an HTTP/1.1 request line"),
}  # fmt: skip


@pytest.mark.parametrize(("block", "why"), BAD.values(), ids=BAD)
def test_what_two_readers_could_read_differently_is_refused(block: bytes, why: str) -> None:
    with pytest.raises(BadMessage, match=why) as caught:
        read_request(block)
    assert str(caught.value).isascii() and str(caught.value).isprintable()


@pytest.mark.parametrize(
    "start", [b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK", b"HTTP/2 200", b"HTTP/1.1 099 x", b"HTTP/1.1  200"]
)
def test_a_bad_status_line_is_refused(start: bytes) -> None:
    with pytest.raises(BadMessage, match=r"not an HTTP/1\.1 status line"):
        read_response(start)


@pytest.mark.parametrize(
    "data", [b"\x16\x03\x01\x02\x00", b" GET / HTTP/1.1", b"GET / HTTP/1.1\nHost", b"GET / HTTP/1.1\rHost"]
)
def test_what_can_never_become_a_head_is_refused_before_its_end(data: bytes) -> None:
    for size in (1, len(data)):
        buffer = HeadBuffer()
        with pytest.raises(BadMessage):
            for at in range(0, len(data), size):
                buffer.add(data[at : at + size])
                buffer.take()


def test_an_endless_head_is_refused() -> None:
    buffer = HeadBuffer()
    buffer.add(b"GET / HTTP/1.1\r\nX: ")
    with pytest.raises(BadMessage) as caught:
        for _ in range(MAX_HEADER_BLOCK // 1000 + 1):
            buffer.add(b"x" * 1000)
            assert buffer.take() is None
    assert caught.value.status == 431
    whole = HeadBuffer()
    whole.add(b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEADER_BLOCK + b"\r\n\r\n")
    with pytest.raises(BadMessage, match="longer than"):
        whole.take()


def test_heads_follow_one_another_and_leave_the_rest() -> None:
    buffer = HeadBuffer()
    buffer.add(b"\r\n\r\nGET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\nA: b\r\n\r\nrest")
    assert buffer.take() == b"GET /1 HTTP/1.1"
    assert buffer.take() == b"GET /2 HTTP/1.1\r\nA: b"
    assert buffer.take_rest() == b"rest"
    assert (len(buffer), buffer.take()) == (0, None)


def test_headers_are_asked_by_name() -> None:
    head = read_request(b"GET / HTTP/1.1\r\nA: 1, B,, \r\na:\t2 \r\nc: x")
    assert isinstance(head, Request)
    assert (head.values(b"a"), head.tokens(b"a"), head.values(b"d")) == ([b"1, B,,", b"2"], [b"1", b"b", b"2"], ())
    assert head.headers.items == (("A", "1, B,,"), ("a", "2"), ("c", "x"))
