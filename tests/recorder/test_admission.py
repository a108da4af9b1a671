"""Which requests are taken."""

from __future__ import annotations

import pytest

from workbench.wire.http1.head import Admission, BadMessage, read_request

TAKEN = {
    "address": ("GET /x HTTP/1.1\r\nHost: 127.0.0.1:8000", "/x"),
    "name": ("GET / HTTP/1.1\r\nHost: LOCALHOST:8000", "/"),
    "version 6": ("GET / HTTP/1.1\r\nHost: [::1]:8000", "/"),
    "absolute form, ours": ("GET http://127.0.0.1:8000/x?q HTTP/1.1\r\nHost: 127.0.0.1:8000", "/x?q"),
    "absolute form, no path": ("GET http://localhost:8000 HTTP/1.1\r\nHost: localhost:8000", "/"),
    "HTTP/1.0 without Host": ("GET /x HTTP/1.0", "/x"),
    "a page of this machine": (
        "POST /x HTTP/1.1\r\nHost: localhost:8000\r\nOrigin: http://localhost:3000\r\nSec-Fetch-Site: cross-site",
        "/x",
    ),
    "a desktop app": ("POST /x HTTP/1.1\r\nHost: localhost:8000\r\nOrigin: app://obsidian.md", "/x"),
    "an extension": (
        "POST /x HTTP/1.1\r\nHost: localhost:8000\r\nOrigin: chrome-extension://a\r\nSec-Fetch-Site: cross-site",
        "/x",
    ),
    "another upgrade": ("GET /x HTTP/1.1\r\nHost: localhost:8000\r\nUpgrade: h2c", "/x"),
}


@pytest.mark.parametrize(("block", "target"), TAKEN.values(), ids=TAKEN)
def test_taken(block: str, target: str) -> None:
    assert Admission(8000).target(read_request(block.encode())) == target.encode()


REFUSED = {
    "rebound name": ("GET / HTTP/1.1\r\nHost: evil.example", 421),
    "rebound name, our port": ("GET / HTTP/1.1\r\nHost: evil.example:8000", 421),
    "another port": ("GET / HTTP/1.1\r\nHost: 127.0.0.1:8001", 421),
    "no port": ("GET / HTTP/1.1\r\nHost: 127.0.0.1", 421),
    "looks like it": ("GET / HTTP/1.1\r\nHost: 127.0.0.1:8000.evil.example", 421),
    "user": ("GET / HTTP/1.1\r\nHost: x@127.0.0.1:8000", 421),
    "foreign in HTTP/1.0": ("GET / HTTP/1.0\r\nHost: evil.example", 421),
    "no Host": ("GET / HTTP/1.1", 400),
    "two Hosts": ("GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nhost: 127.0.0.1:8000", 400),
    "forward proxy": ("GET http://api.example.com/x HTTP/1.1\r\nHost: api.example.com", 400),
    "forward proxy, our Host": ("GET http://api.example.com/x HTTP/1.1\r\nHost: 127.0.0.1:8000", 400),
    "tunnel": ("CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443", 405),
    "asterisk": ("OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:8000", 400),
    "no slash": ("GET x HTTP/1.1\r\nHost: 127.0.0.1:8000", 400),
    "websocket": ("GET /v1/responses HTTP/1.1\r\nHost: localhost:8000\r\nUpgrade: WebSocket", 426),
    "foreign page": ("POST / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nOrigin: https://evil.example", 403),
    "foreign page, looks local": ("POST / HTTP/1.1\r\nHost: localhost:8000\r\nOrigin: http://localhost.x.com", 403),
    "broken origin": ("POST / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nOrigin: http://[", 403),
    "sandboxed page": ("POST / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nOrigin: null", 403),
    "two origins": ("GET / HTTP/1.0\r\nOrigin: http://[::1]\r\nOrigin: http://x.example", 403),
    "image of a foreign page": ("GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nSec-Fetch-Site: cross-site", 403),
}  # fmt: skip


@pytest.mark.parametrize(("block", "status"), REFUSED.values(), ids=REFUSED)
def test_refused(block: str, status: int) -> None:
    with pytest.raises(BadMessage) as caught:
        Admission(8000).target(read_request(block.encode()))
    assert caught.value.status == status


def test_the_usual_port_needs_no_naming() -> None:
    assert Admission(80).target(read_request(b"GET / HTTP/1.1\r\nHost: localhost")) == b"/"
