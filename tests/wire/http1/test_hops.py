"""What stays on its hop."""

from __future__ import annotations

import pytest

from workbench.wire.http1.head import end_to_end, is_persistent, read_request, read_response

CASES = {
    "usual": (
        ["Connection: keep-alive", "Keep-Alive: 1", "TE: x", "Upgrade: x", "A: b", "Proxy-Connection: x"],
        ["A: b"],
    ),
    "named": (["connection: X-One,x-two ,, ", "X-One: 1", "x-Two: 2", "X-Three: 3"], ["X-Three: 3"]),
    "proxies": (
        ["Proxy-Authorization: x", "Proxy-Authenticate: x", "Proxy-Authentication-Info: x", "Via: x"],
        ["Via: x"],
    ),
    "framing cannot be named away": (
        ["Connection: host, content-length, transfer-encoding, trailer", "Host: x", "Content-Length: 1", "Trailer: x"],
        ["Host: x", "Content-Length: 1", "Trailer: x"],
    ),
    "nothing to drop": (["B: 1", "A: 2", "B: 3"], ["B: 1", "A: 2", "B: 3"]),
}


@pytest.mark.parametrize(("lines", "kept"), CASES.values(), ids=CASES)
def test_end_to_end(lines: list[str], kept: list[str]) -> None:
    head = read_request("\r\n".join(["GET / HTTP/1.1", *lines]).encode())
    assert [f.line.decode() for f in end_to_end(head)] == kept


@pytest.mark.parametrize(
    ("head", "stays"),
    [
        ("HTTP/1.1 200 OK", True),
        ("HTTP/1.1 200 OK\r\nConnection: keep-alive", True),
        ("HTTP/1.1 200 OK\r\nConnection: x, Close", False),
        ("HTTP/1.0 200 OK", False),
    ],
)
def test_who_keeps_a_connection(head: str, stays: bool) -> None:
    assert is_persistent(read_response(head.encode())) is stays
