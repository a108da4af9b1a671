"""HTTP to endpoints: proxies, certificates, redirects."""

from __future__ import annotations

import ssl

import pytest
import trustme

from tests.targets.hostile import answer, hostile
from tests.targets.test_sending import leaving, send, target


def test_redirects_are_answers():
    with (
        hostile(answer()) as elsewhere,
        hostile(answer(b"", "307 Temporary Redirect", f"Location: {elsewhere.url}/x")) as server,
    ):
        exchange, _, waits = send(leaving(target(server.url)))
    assert exchange.response.status == 307 and "not followed" in exchange.note
    assert not elsewhere.asked and not waits


def test_proxies_are_for_others(monkeypatch):
    """What is for this machine goes to no proxy; what is for others does, as the environment says."""
    with hostile(answer(b'{"by": "proxy"}')) as proxy, hostile(answer()) as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        send(leaving(target(server.url)))
        assert server.asked and not proxy.asked
        exchange, _, _ = send(leaving(target("http://models.example/v1")))
        assert proxy.asked[0][0].startswith(b"POST http://models.example/v1/chat/completions ")
        assert exchange.response.body.raw == b'{"by": "proxy"}'


def test_certificates_are_checked(tmp_path, monkeypatch):
    """One that nobody vouches for ends it at once; who vouches may be said as httpx has it."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with hostile(answer(), tls=context) as server:
        with pytest.raises(OSError, match=r"cannot be reached: .*certificate"):
            send(leaving(target(server.url)))
        assert not server.asked
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        exchange, _, _ = send(leaving(target(server.url)))
    assert exchange.response.status == 200 and len(server.asked) == 1
