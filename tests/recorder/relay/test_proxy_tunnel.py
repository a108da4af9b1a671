"""Upstreams behind the proxy of the environment."""

from __future__ import annotations

import ssl

import pytest
import trustme

from tests.recorder.relaying import serving, staged
from workbench.recorder.relay.connector import Proxy, proxy_for
from workbench.recorder.relay.routes import parse_upstream
from workbench.wire.exchange import State

GET = b"GET /x HTTP/1.1\r\nHost: %s\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


CHOICES: dict[str, tuple[dict[str, str], str, Proxy | None]] = {
    "none": ({}, "https://h.example", None),
    "plain": ({"HTTPS_PROXY": "http://p:3128"}, "https://h.example", Proxy("p", 3128, b"")),
    "lower case, no scheme": ({"https_proxy": "p:1"}, "https://h.example", Proxy("p", 1, b"")),
    "for all": ({"ALL_PROXY": "http://p"}, "https://h.example", Proxy("p", 80, b"")),
    "with a password": ({"HTTPS_PROXY": "http://u:p%40@p:1"}, "https://h.example", Proxy("p", 1, b"Basic dTpwQA==")),
    "not for this host": ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x,.example"}, "https://h.example", None),
    "not for loopback": ({"HTTPS_PROXY": "http://p:1"}, "https://localhost:1", None),
    "not for http": ({"HTTPS_PROXY": "http://p:1"}, "http://h.example", None),
}


@pytest.mark.parametrize(("environment", "base", "proxy"), CHOICES.values(), ids=CHOICES)
def test_which_proxy(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], base: str, proxy: Proxy | None
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(parse_upstream("x", base)) == proxy


def test_only_http_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://p:1")
    with pytest.raises(ValueError, match="must be an http:// URL"):
        proxy_for(parse_upstream("x", "https://h"))


async def test_tls_goes_through_the_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    serves, trusts = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("api.example").configure_cert(serves)
    authority.configure_trust(trusts)
    async with serving() as proxy, staged({"x": "https://api.example/v1"}, tls=trusts) as stage:
        monkeypatch.setenv("HTTPS_PROXY", f"http://u:p@127.0.0.1:{proxy.port}")
        client = await stage.client()
        client.send(GET % stage.host)
        peer = await proxy.accept()
        await peer.expects(
            b"CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
        )
        peer.send(b"HTTP/1.1 200 Connection established\r\nX: 1\r\n\r\n")
        await peer.writer.start_tls(serves)
        for _ in range(2):
            await peer.expects(b"GET /v1/x HTTP/1.1\r\nHost: api.example\r\n\r\n")
            peer.send(OK)
            await client.expects(OK)
            client.send(GET % stage.host)
        assert proxy.seen == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", b"answered 407"),
        (b"SSH-2.0-x\r\n\r\n", b"the proxy's response is not HTTP/1.1"),
        (b"", b"the proxy closed the connection"),
    ],
)
async def test_a_proxy_that_does_not_connect(monkeypatch: pytest.MonkeyPatch, answer: bytes, said: bytes) -> None:
    async with serving() as proxy, staged({"x": "https://api.example"}) as stage:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        client = await stage.client()
        client.send(GET % stage.host)
        peer = await proxy.accept()
        await peer.until(b"\r\n\r\n")
        peer.send(answer)
        await peer.close()
        assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 502 ")
        assert said in await client.until(b"\n")
        assert (await stage.tap.end(1))[0] is State.ABORTED
