"""Messages of WebSocket connections and gRPC calls, readable."""

from __future__ import annotations

import pytest

from workbench.wire.exchange import Body, Exchange, ExchangeKind, Frame, HttpRequest, HttpResponse
from workbench.wire.frames import SeenFrame, seen_frames

CASES = [
    (Frame("sent", "text", b'{"type":"a.b","x":1}'), ("sent", "a.b", {"type": "a.b", "x": 1}, '{"type":"a.b","x":1}')),
    (
        Frame("received", "text", b'{"setup":{},"y":1,"z":2}'),
        ("received", "setup + y", {"setup": {}, "y": 1, "z": 2}, None),
    ),
    (Frame("sent", "binary", b'{"type":"a"}'), ("sent", "a", {"type": "a"}, None)),
    (Frame("sent", "text", b"hello"), ("sent", "text", None, "hello")),
    (Frame("sent", "text", b"{broken \xff"), ("sent", "text", None, "{broken \\xff")),
    (Frame("sent", "binary", bytes(40)), ("sent", "binary", None, " ".join(["00"] * 32) + " …")),
    (Frame("sent", "ping", b""), ("sent", "ping", None, "")),
    (Frame("sent", "text", b"[]"), ("sent", "text", [], "[]")),
    (Frame("sent", "text", b"{}"), ("sent", "text", {}, "{}")),
]


@pytest.mark.parametrize(("frame", "expected"), CASES, ids=[str(n) for n in range(len(CASES))])
def test_frames(frame, expected):
    (seen,) = seen_frames(Exchange("1", kind=ExchangeKind.WEBSOCKET, frames=(frame,)))
    direction, kind, value, text = expected
    assert (seen.direction, seen.type, seen.value, seen.size) == (direction, kind, value, len(frame.data))
    assert text is None or seen.text == text


def test_calls_of_grpc():
    exchange = Exchange(
        "1",
        HttpRequest(body=Body(b"\x0a")),
        HttpResponse(body=Body(b"\x0a\x0b")),
        meta={"grpc": {"request": {"a": 1}, "response": None}},
    )
    assert list(seen_frames(exchange)) == [
        SeenFrame(0, "sent", "protobuf", {"a": 1}, '{"a":1}', 1),
        SeenFrame(1, "received", "protobuf", None, "null", 2),
    ]


def test_http_has_none():
    assert list(seen_frames(Exchange("1", HttpRequest(), HttpResponse()))) == []
    assert list(seen_frames(Exchange("1", meta={"grpc": "odd"}))) == []
